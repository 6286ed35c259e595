"""The results as tables to read, in Markdown, and as JSON to keep."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .goals import Verdict
from .results import Results

_LIBRARIES = ("ladderdeck", "genanki", "markdown-it-py", "Pygments", "PyYAML", "click", "rapidfuzz", "scipy", "numpy")


def machine() -> dict[str, Any]:
    """What the figures depend on: Python, system, cores, load, and the versions of the libraries."""
    versions = {}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "sqlite": sqlite3.sqlite_version,
        "zlib": zlib.ZLIB_RUNTIME_VERSION,
        "libraries": versions,
        "executable bits": 64 if sys.maxsize > 2**32 else 32,
    }


def as_json(results: Results, found: Sequence[Verdict], facts: dict[str, Any]) -> dict[str, Any]:
    """Everything, with every single sample: wall and processor seconds, peak memory and output in bytes."""
    return {
        "machine": facts,
        "goals": [vars(verdict) for verdict in found],
        "rows": [
            {
                "part": row.part,
                "name": row.name,
                "size": row.size,
                **{what: [vars(sample)[what] for sample in row.samples] for what in ("wall", "cpu", "peak", "out")},
            }
            for row in results.rows
        ],
        "checks": [vars(check) for check in results.checks],
        "skipped": [vars(skipped) for skipped in results.skipped],
    }


def as_text(results: Results, found: Sequence[Verdict], facts: dict[str, Any]) -> str:
    """The tables: the goals first, then every row, then what was skipped."""
    load = f"load {facts['load']} at the start"
    lines = [f"Python {facts['python']}, {facts['system']}, {facts['cores']} cores, {load}", ""]
    lines += _table(("goal", "at most", "measured", "verdict"), (_goal(verdict) for verdict in found))
    lines += ["", "Wall and processor seconds (medians), the fastest run, peak memory and output in MB:", ""]
    heads = ("part", "what", "size", "wall", "fastest", "processor", "peak", "out", "runs")
    lines += _table(heads, _rows(results), right=2)
    if results.skipped:
        lines += ["", "Not measured:", ""]
        lines += [f"- {skipped.part}: {skipped.name}: {skipped.reason}" for skipped in results.skipped]
    return "\n".join(lines) + "\n"


def _goal(verdict: Verdict) -> tuple[str, ...]:
    return verdict.goal, verdict.limit, verdict.measured, verdict.verdict


def _rows(results: Results) -> Iterator[tuple[str, ...]]:
    for row in results.rows:
        typical, best = row.typical(), row.best()
        yield (
            row.part,
            row.name,
            f"{row.size:,}" if row.size else "",
            f"{typical.wall:.3f}",
            f"{best.wall:.3f}",
            f"{typical.cpu:.3f}",
            f"{typical.peak / 1e6:.0f}" if typical.peak else "",
            f"{typical.out / 1e6:.2f}" if typical.out else "",
            str(len(row.samples)),
        )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], right: int | None = None) -> list[str]:
    """A Markdown table; the columns from the one with index ``right`` on hold numbers."""
    cells = [list(heads), *([cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows)]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(heads))]
    is_right = [right is not None and column >= right for column in range(len(heads))]
    rule = [
        f"{'-' * (width - 1)}:" if on_right else "-" * width for width, on_right in zip(widths, is_right, strict=True)
    ]
    lines = []
    for row in (cells[0], rule, *cells[1:]):
        padded = (
            cell.rjust(width) if on_right else cell.ljust(width)
            for cell, width, on_right in zip(row, widths, is_right, strict=True)
        )
        lines.append(f"| {' | '.join(padded)} |")
    return lines
