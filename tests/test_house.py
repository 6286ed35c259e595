"""How the house is built: who may import whom, where the heavy libraries are, and what must not be in the project."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import architecture
import libraries
import pytest
from command import CHECKOUT

PACKAGE = CHECKOUT / "src" / "ladderdeck"

LIBRARIES = CHECKOUT / "docs" / "libraries.md"

MAY_IMPORT = architecture.folders()
"""Which folders a folder may import from, besides itself; the commands may from all. Reading knows no Anki, packaging no
ladder, identity no Markdown."""

ONLY_IN = {
    "genanki": ("packaging",),
    "click": ("cli",),
    "yaml": ("reading", "answering"),
    "markdown_it": ("reading", "answering", "rendering"),
    "pint": ("calculating",),
    "pygments": ("rendering",),
    "rapidfuzz": ("comparing", "answering", "identity"),
    "scipy": ("comparing",),
    "numpy": ("comparing", "answering", "identity", "calculating"),
    "filelock": ("keeping",),
    "latex2mathml": ("previewing",),
    "segno": ("handing_over",),
    "watchfiles": ("building",),
}
"""Where each library is used, so that it can be replaced."""

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


def folder_of(module: str) -> str:
    return module.partition(".")[0]


FOLDERS = sorted({folder_of(name) for name in MODULES} - {"", "__main__", "cli"})


def folders_imported(folder: str) -> set[str]:
    found = [i for name, file in MODULES.items() if folder_of(name) == folder for i, _ in imports(name, file)]
    return {folder_of(i.removeprefix("ladderdeck.")) for i in found if i.startswith("ladderdeck.")} - {folder}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_imports_what_it_may_and_no_permission_is_idle(folder: str) -> None:
    assert folders_imported(folder) == MAY_IMPORT[folder]


def test_folders_import_one_way_only() -> None:
    done: set[str] = set()
    while len(done) < len(FOLDERS):
        ready = {folder for folder in set(FOLDERS) - done if MAY_IMPORT[folder] <= done}
        assert ready, f"these import each other in a circle: {sorted(set(FOLDERS) - done)}"
        done |= ready


def test_modules_import_one_way_only() -> None:
    inner = {
        name: {i.removeprefix("ladderdeck.") for i, _ in imports(name, file) if i.startswith("ladderdeck.")}
        for name, file in MODULES.items()
        if name and folder_of(name) not in ("cli", "__main__")
    }
    done: set[str] = set()
    while len(done) < len(inner):
        ready = {name for name, others in inner.items() if name not in done and others <= done}
        assert ready, f"these import each other in a circle: {sorted(set(inner) - done)}"
        done |= ready


def test_libraries_stay_in_their_folders_and_heavy_ones_come_late() -> None:
    for name, file in MODULES.items():
        for imported, at_top in imports(name, file):
            library = imported.partition(".")[0]
            if library in ONLY_IN:
                assert folder_of(name) in ONLY_IN[library], f"{name} imports {library}"
            if library in LATE and name != "packaging.anki_file":
                assert not at_top, f"{name} imports {library} at its top"


def test_the_page_on_architecture_lists_every_module() -> None:
    page = architecture.PAGE.read_text(encoding="utf-8")
    assert page.endswith(architecture.ABOVE + architecture.module_list()), "run tools/architecture.py"


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


@pytest.mark.parametrize(("page", "tests"), [("SECURITY.md", 20), ("docs/recipes.md", 39)])
def test_every_test_that_a_page_names_is_there(page: str, tests: int) -> None:
    named = re.findall(r"`(test_\w+)::(test_\w+)`", (CHECKOUT / page).read_text(encoding="utf-8"))
    assert len(set(named)) > tests
    for file, name in named:
        tree = ast.parse((CHECKOUT / "tests" / f"{file}.py").read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, f"{file}::{name}"


def test_the_page_on_libraries_lists_every_one() -> None:
    listed = re.findall(
        r"^\| `([\w-]+)` \|.*\| [\d.]+ ms \| [\d.]+ MB \|$", LIBRARIES.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert sorted(listed) == sorted(libraries.dependencies())
