"""`make bench`: measure, print the table with every goal and its verdict, and keep the figures as JSON.

No figure ever fails a run: the exit code is 0 but for wrong usage (2), where outputs differ that must not (1), and after
Ctrl-C (130), when what was measured until then is shown.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from . import parts
from .goals import verdicts
from .measure import CHECKOUT, Failed
from .pathological import pathological
from .peers import peers
from .results import Plan, Results
from .table import as_json, as_text, machine

PARTS: dict[str, Callable[[Plan, Results], None]] = {
    "startup": parts.startup,
    "builds": parts.builds,
    "stages": parts.stages,
    "packaging": parts.packaging,
    "library": parts.library,
    "identity": parts.identity,
    "pathological": pathological,
    "peers": peers,
}


_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that are asked for. Returns the exit code."""
    parser = _parser()
    asked = parser.parse_args(arguments)
    if not hasattr(os, "wait4"):
        parser.error("what a process costs can be asked on Linux and macOS only")
    results, facts = Results(), machine()
    stopped = False
    with tempfile.TemporaryDirectory(prefix="ladderdeck-bench-") as folder:
        plan = Plan(asked.sizes, asked.library, asked.rounds, Path(folder), asked.peers.resolve(), asked.scale, _say)
        for name in asked.parts:
            try:
                PARTS[name](plan, results)
            except Failed as failed:
                results.skip(name, "the rest of this part", failed)
            except KeyboardInterrupt:
                results.skip(name, "the rest", "stopped")
                stopped = True
                break
    _say("")
    found = verdicts(results, asked.sizes, asked.library, asked.scale)
    print(as_text(results, found, facts), end="")
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(
        json.dumps(as_json(results, found, facts), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    if stopped:
        return _INTERRUPTED
    return 0 if all(check.holds for check in results.checks) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--sizes", type=_sizes, default=(1000, 10_000), metavar="N,N", help="notes of a deck")
    parser.add_argument("--parts", type=_parts, default=tuple(PARTS), metavar="P,P", help=", ".join(PARTS))
    parser.add_argument("--library", type=_positive, default=500, metavar="N", help="packs of the large library")
    parser.add_argument("--rounds", type=_positive, default=5, metavar="N", help="how often quick things are measured")
    parser.add_argument("--scale", type=_positive, default=100, metavar="PERCENT", help="of odd inputs and of identity")
    parser.add_argument("--output", type=Path, default=CHECKOUT / "build" / "bench.json", help="the JSON file to write")
    parser.add_argument("--peers", type=Path, default=CHECKOUT / "build" / "peers", help="where peers are installed")
    return parser


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def _sizes(text: str) -> tuple[int, ...]:
    """Sizes in notes, rounded up to whole packs, smallest first."""
    return tuple(sorted({-(-_positive(size) // 100) * 100 for size in text.split(",")}))


def _parts(text: str) -> tuple[str, ...]:
    unknown = sorted(set(text.split(",")) - PARTS.keys())
    if unknown:
        raise argparse.ArgumentTypeError(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    return tuple(name for name in PARTS if name in text.split(","))


def _say(what: str) -> None:
    """Progress, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what[:79]}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
