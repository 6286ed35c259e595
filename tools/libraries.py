"""Measure what each library costs at start-up and on the disk, and write it into the table of docs/libraries.md.

A line of the table begins with the library's name in backticks; its last two cells are written here: milliseconds that its
import adds to a bare Python (median of seven processes), and megabytes of its files with what it alone brings along.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import time
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "libraries.md"
IMPORTED = {
    "PyYAML": "yaml",
    "markdown-it-py": "markdown_it",
    "Pygments": "pygments.formatters",
    "scipy": "scipy.optimize",
    "latex2mathml": "latex2mathml.converter",
    "rapidfuzz": "rapidfuzz.fuzz",
}
"""The module that is imported, where it is not called like the library."""


def dependencies() -> list[str]:
    """The names of the libraries that pyproject.toml asks for."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return re.findall(r'^ +"([\w-]+)', project.split("\ndependencies = [", 1)[1].split("]", 1)[0], re.MULTILINE)


def milliseconds(statement: str) -> float:
    """How long a process takes that does only this."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return (time.perf_counter() - start) * 1000


def needs(name: str) -> set[str]:
    """A library and all that it brings along, in small letters."""
    found, todo = set(), [name]
    while todo:
        if (current := todo.pop().lower().replace("_", "-")) not in found:
            found.add(current)
            asked = (line.split(";") for line in distribution(current).requires or ())
            todo += [re.split(r"[^\w.-]", parts[0].strip())[0] for parts in asked if len(parts) == 1]
    return found


def megabytes(name: str) -> float:
    """The size of the files of a library, and of what it brings along and no other one."""
    others = set().union(*(needs(other) for other in dependencies() if other != name))
    files = (file for part in {name.lower()} | needs(name) - others for file in distribution(part).files or ())
    return sum(Path(str(f.locate())).stat().st_size for f in files if Path(str(f.locate())).is_file()) / 1e6


def main() -> None:
    """Measure all, and write the page."""
    bare = statistics.median(milliseconds("pass") for _ in range(7))
    text = PAGE.read_text(encoding="utf-8")
    for name in dependencies():
        module = IMPORTED.get(name, name)
        cost = statistics.median(milliseconds(f"import {module}") for _ in range(7)) - bare
        cells = f"| {max(cost, 0):.0f} ms | {megabytes(name):.1f} MB |"
        text, count = re.subn(
            rf"^(\| `{name}` \|.*?)(?:\| *[\d.]+ ms \| *[\d.]+ MB )?\|$", rf"\1{cells}", text, flags=re.M
        )
        assert count == 1, f"{name} has {count} lines in {PAGE.name}"
    PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
