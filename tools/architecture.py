"""Writes the list of modules at the end of docs/architecture.md from the modules' own first sentences."""

from __future__ import annotations

import ast
import re
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
PACKAGE = CHECKOUT / "src" / "ladderdeck"
PAGE = CHECKOUT / "docs" / "architecture.md"
HEADING = "\n## Modules\n"
ABOVE = "\nThe first sentence of each module; `tools/architecture.py` writes this list.\n"


def folders() -> dict[str, frozenset[str]]:
    """The page's table: what each folder may import from, in the order of the table."""
    rows = re.findall(r"^\| (\w+) \| ([\w, ]+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {folder: frozenset(others.split(", ")) - {"nothing"} for folder, others in rows if folder != "folder"}


def module_list() -> str:
    """All modules, folder by folder, each with the first paragraph of its docstring."""
    lines = []
    for folder in (*folders(), "cli"):
        lines.append(f"\n**{folder}**: {_first(PACKAGE / folder / '__init__.py')}\n")
        for file in sorted((PACKAGE / folder).rglob("*.py")):
            name = ".".join(file.relative_to(PACKAGE / folder).with_suffix("").parts).removesuffix(".__init__")
            if name != "__init__":
                lines.append(f"- `{name}`: {_first(file)}")
    return "\n".join(lines) + "\n"


def _first(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    text = " ".join(text.partition("\n\n")[0].split()).replace("``", "`")
    return re.sub(r":\w+:`\.?([^`]*)`", r"`\1`", text)


if __name__ == "__main__":
    head = PAGE.read_text(encoding="utf-8").partition(HEADING)[0]
    PAGE.write_text(head + HEADING + ABOVE + module_list(), encoding="utf-8")
