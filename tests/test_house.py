"""How the house is built: who may import whom, where the heavy libraries are, and what must not be in the project."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command import CHECKOUT

PACKAGE = CHECKOUT / "src" / "ladderdeck"

ROOMS = {
    "values": {"model", "note", "paths", "wording", "progress"},
    "keeping": {"store", "pack_data"},
    "comparing": {"likeness", "assignment"},
    "reading": {
        "reading", "yaml_nodes", "located", "markup", "split", "labels", "outline", "front_matter",
        "linking", "lines", "slips", "parser", "recognise", "discover", "library", "settings", "answers", "drills", "drill_file",
    },
    "rendering": {
        "render", "units", "calc_line", "calc", "columns", "worked", "quoting", "rich", "drill_values", "drill_numbers",
    },
    "answering": {"answering", "answer_html", "beside", "quality", "coverage", "drill_match", "drill_html"},
    "identity": {"ledger", "matching", "identity"},
    "composing": {"tags", "compose"},
    "packaging": {
        "note_types", "templates", "anki_ids", "package", "anki_file", "package_reading",
        "formats", "formats.contract", "formats.apkg", "formats.csv", "formats.json",
    },
    "edges": {
        "home", "files", "inputs", "build_problems", "build", "report", "views", "starting", "adding", "watching", "former",
        "request", "program", "unchanged", "kept",
    },
    "handing over": {"transfer", "handover", "qr_code", "anki_connect", "push", "pushing"},
    "previewing": {"preview", "preview_math", "preview_server"},
    "commands": {
        "cli", "cli.common", "cli.build", "cli.check", "cli.answers", "cli.preview", "cli.inspect",
        "cli.new", "cli.add", "cli.templates", "cli.package_file", "cli.serve", "cli.push", "cli.watch", "cli.progress", "__main__",
    },
}  # fmt: skip
"""Every module is in one room."""

MAY_IMPORT = {
    "values": set(),
    "keeping": {"values"},
    "comparing": {"values"},
    "reading": {"values", "comparing"},
    "rendering": {"values", "reading"},
    "answering": {"values", "comparing", "reading", "rendering"},
    "identity": {"values", "comparing"},
    "composing": {"values", "reading", "rendering", "answering", "identity"},
    "packaging": {"values"},
    "previewing": {"values", "packaging"},
    "handing over": {"values", "composing", "packaging"},
    "edges": {"values", "keeping", "reading", "rendering", "answering", "identity", "composing", "packaging"},
    "commands": {
        "values",
        "keeping",
        "reading",
        "answering",
        "identity",
        "composing",
        "edges",
        "packaging",
        "previewing",
        "handing over",
    },
}
"""Which rooms a room may import from, besides itself. Reading knows no Anki, packaging no ladder, identity no Markdown."""

ONLY_IN = {
    "genanki": {"anki_file"},
    "click": ROOMS["commands"],
    "yaml": {"yaml_nodes", "front_matter", "settings", "drill_file"},
    "markdown_it": {"outline", "answers", "render", "rich"},
    "pint": {"units", "calc", "columns"},
    "pygments": {"rich"},
    "rapidfuzz": {"quality", "matching", "answering", "linking", "likeness", "drill_match"},
    "scipy": {"assignment", "likeness"},
    "numpy": {"assignment", "likeness", "matching", "answering", "columns", "drill_values", "drill_numbers"},
    "filelock": {"files"},
    "latex2mathml": {"preview_math"},
    "segno": {"qr_code"},
    "watchfiles": {"watching"},
}
"""Where each library is used, so that it can be replaced, and is loaded only where it is needed."""

LATE = ("genanki", "pint", "pygments", "rapidfuzz", "scipy", "numpy", "filelock", "latex2mathml", "segno", "watchfiles")
"""Libraries that cost a start-up: imported inside the functions that need them."""


def module_names() -> dict[str, Path]:
    names = {}
    for file in PACKAGE.rglob("*.py"):
        name = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        names[name.removesuffix(".__init__") if name != "__init__" else ""] = file
    return names


MODULES = module_names()


def imports(name: str, file: Path) -> list[tuple[str, bool]]:
    """What a module imports, as absolute names, and whether at its top (and not only for type checking)."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    top = {id(node) for node in tree.body}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.extend((alias.name, id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            parts = [*name.split("."), "__init__"] if file.name == "__init__.py" and name else name.split(".")
            base = parts[: -node.level]
            target = ".".join([*base, *([node.module] if node.module else [])])
            members = [f"{target}.{a.name}".strip(".") for a in node.names]
            found.extend((f"ladderdeck.{m if m in MODULES else target}".rstrip("."), id(node) in top) for m in members)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append((node.module, id(node) in top))
    return found


def room_of(module: str) -> str:
    return next((room for room, modules in ROOMS.items() if module in modules), "")


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_module_is_in_a_room_and_imports_only_from_where_it_may(name):
    if not name:
        assert not [i for i, _ in imports(name, MODULES[name]) if i.startswith("ladderdeck")]
        return
    room = room_of(name)
    assert room, f"{name} is in no room: say in ROOMS where it belongs"
    for imported, _ in imports(name, MODULES[name]):
        if imported.startswith("ladderdeck."):
            other = room_of(imported.removeprefix("ladderdeck."))
            assert other == room or other in MAY_IMPORT[room], f"{name} ({room}) imports {imported} ({other})"


def test_imports_go_one_way():
    inner = {
        name: {i.removeprefix("ladderdeck.") for i, _ in imports(name, file) if i.startswith("ladderdeck.")}
        for name, file in MODULES.items()
        if name and room_of(name) != "commands"
    }
    done: set[str] = set()
    while len(done) < len(inner):
        ready = {name for name, others in inner.items() if name not in done and others <= done}
        assert ready, f"these import each other in a circle: {sorted(set(inner) - done)}"
        done |= ready


def test_libraries_stay_in_their_rooms_and_heavy_ones_come_late():
    for name, file in MODULES.items():
        for imported, at_top in imports(name, file):
            library = imported.partition(".")[0]
            if library in ONLY_IN:
                assert name in ONLY_IN[library], f"{name} imports {library}"
            if library in LATE and name != "anki_file":
                assert not at_top, f"{name} imports {library} at its top"


def test_help_loads_no_heavy_library():
    program = (
        "import sys; sys.argv = ['ladderdeck', '--help']\n"
        "from ladderdeck.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print('LOADED', [m for m in {[*LATE, 'markdown_it', 'yaml', 'pathlib']!r} if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=CHECKOUT / "src"
    )
    assert run.stdout.endswith("LOADED []\n")


def test_a_module_fits_in_a_readers_head():
    for name, file in MODULES.items():
        lines = file.read_text(encoding="utf-8").count("\n")
        assert lines <= 350, f"{name} has {lines} lines"


def test_a_function_fits_on_a_screen():
    for name, file in MODULES.items():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                lines = (node.end_lineno or 0) - node.lineno
                assert lines <= 60, f"{name}.{node.name} has {lines} lines"


def tracked_files() -> list[Path]:
    run = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=False)
    if run.returncode:
        return [p for p in CHECKOUT.rglob("*") if p.is_file() and not {".venv", ".git", "dist"} & set(p.parts)]
    return [CHECKOUT / name for name in run.stdout.decode().split("\0") if name]


def test_no_lock_file_names_an_address():
    for name in ("requirements.lock", "requirements-dev.lock", "requirements-assets.lock"):
        for line in (CHECKOUT / name).read_text().splitlines():
            assert re.match(r"[A-Za-z0-9._-]+==[^\s;]+( ;.*)?$", line), line


def test_no_tracked_file_names_the_host_of_a_registry():
    host = re.compile(rb"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|deb\.debian\.org|proxy\.golang\.org")
    for file in tracked_files():
        if file.is_file():
            found = host.search(file.read_bytes())
            assert not found, f"{file.relative_to(CHECKOUT)} names {found[0].decode()}"


def test_the_version_stands_in_one_place():
    text = (PACKAGE / "__init__.py").read_text(encoding="utf-8")
    version = re.search(r'__version__ = "([^"]+)"', text)[1]
    assert 'dynamic = ["version"]' in (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    run = subprocess.run([sys.executable, str(CHECKOUT / "build.py"), "--version"], capture_output=True, text=True)
    assert version in run.stdout


def test_the_pack_in_the_checkout_is_the_one_that_was_received():
    assert (
        (CHECKOUT / "cards" / "llm-inference-serving" / "SKILL.md")
        .read_bytes()
        .startswith(b"llm-inference-serving git:20260920.a4843f5A\n\nImmutable.")
    )
