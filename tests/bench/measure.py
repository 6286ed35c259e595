"""Measuring: a command run as a process of its own, and rows of samples that can be compared with each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
PYTHON = sys.executable
LONGEST = 900
"""Seconds after which a command is ended."""


class Failed(Exception):
    """A command that is measured did not end well; the message says which, and how."""


@dataclass(frozen=True)
class Sample:
    """What one run cost: wall and processor seconds (user and system), peak memory and output in bytes."""

    wall: float
    cpu: float
    peak: int = 0
    out: int = 0


@dataclass
class Row:
    """The samples of one thing that is measured, at one size (notes, packs or characters; 0 where there is none)."""

    part: str
    name: str
    size: int
    samples: list[Sample] = field(default_factory=list)

    def typical(self) -> Sample:
        """The medians."""
        return self._each(median)

    def best(self) -> Sample:
        """The smallest of each."""
        return self._each(min)

    def _each(self, pick: Callable[[Sequence[float]], float]) -> Sample:
        return Sample(
            pick([sample.wall for sample in self.samples]),
            pick([sample.cpu for sample in self.samples]),
            int(pick([sample.peak for sample in self.samples])),
            int(pick([sample.out for sample in self.samples])),
        )


@dataclass
class Workplace:
    """A folder to measure in: with packs that were generated, and whatever the commands leave beside them.

    Cache, home and temporary folder are inside, so that :meth:`forget` really makes the next build a first one.
    """

    folder: Path
    kept: frozenset[Path] = frozenset()

    @property
    def output(self) -> Path:
        """Where a build without `-o` writes its package."""
        return self.folder / "dist" / "ladders.apkg"

    @property
    def ledger(self) -> Path:
        """Where a build keeps its ledger."""
        return self.folder / "cards" / "ledger.json"

    def keep(self) -> None:
        """From now on, what lies here now belongs to the packs."""
        self.kept = frozenset(path for path in self.folder.rglob("*") if path.is_file())

    def forget(self, but: Collection[Path] = ()) -> None:
        """Remove every file that was made since :meth:`keep`, but for those in ``but``."""
        for path in self.folder.rglob("*"):
            if not path.is_dir() and path not in self.kept and path not in but:
                path.unlink()

    def environment(self) -> dict[str, str]:
        """That of a user whose home is this folder, on a day that never changes."""
        return {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.folder / "home"),
            "XDG_CACHE_HOME": str(self.folder / "home" / "cache"),
            "TMPDIR": str(self.folder / "tmp"),
            "LANG": "C.UTF-8",
            "SOURCE_DATE_EPOCH": "1700000000",
        }

    def run(
        self,
        command: Sequence[str],
        *,
        output: Path | None = None,
        codes: Collection[int] = (0,),
        longest: int = LONGEST,
        memory: int = 0,
        **environment: str,
    ) -> tuple[Sample, str]:
        """What a command cost that ran here, and what it printed. ``output`` is the file that it makes, ``codes`` the
        exit codes that are fine, ``longest`` and ``memory`` the seconds and bytes that it may take.

        Raises Failed where it ends otherwise.
        """
        (self.folder / "tmp").mkdir(exist_ok=True)
        result = self.folder / "tmp" / "cost.json"
        run = subprocess.run(
            [PYTHON, "-I", "-S", str(HERE / "launch.py"), str(result), str(longest), str(memory), *command],
            cwd=self.folder,
            env={**self.environment(), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        said = run.stderr.decode("utf-8", "replace").strip()
        if run.returncode:
            raise Failed(f"{command[0]} cannot be started: {said[-300:]}")
        cost: dict[str, Any] = json.loads(result.read_text())
        name = " ".join(Path(command[0]).name if word == command[0] else word for word in command)[-100:]
        if cost["code"] == -1:
            raise Failed(f"`{name}` did not end within {longest} s")
        printed = run.stdout.decode("utf-8", "replace")
        if cost["code"] not in codes or "Traceback" in said:
            raise Failed(f"`{name}` ended with {cost['code']}: {(said or printed.strip())[-200:]}")
        size = output.stat().st_size if output is not None and output.exists() else 0
        return Sample(cost["wall"], cost["cpu"], cost["peak"], size), printed

    def work(self, task: str, *arguments: str | Path | int, longest: int = LONGEST) -> tuple[Sample, dict[str, Any]]:
        """A task of :mod:`bench.work` in a process of its own, and what it found out.

        What the task names as preparation is taken off wall and processor time.
        """
        path = os.pathsep.join((str(CHECKOUT / "src"), str(CHECKOUT / "tests")))
        command = (PYTHON, "-m", "bench.work", task, *map(str, arguments))
        sample, printed = self.run(command, longest=longest, PYTHONPATH=path)
        found: dict[str, Any] = json.loads(printed.splitlines()[-1])
        wall, cpu = found.get("preparation", (0.0, 0.0))
        return Sample(sample.wall - wall, sample.cpu - cpu, sample.peak, int(found.get("out", 0))), found


def program(*arguments: str | Path) -> tuple[str, ...]:
    """The command line of this project, as a user calls it."""
    return (PYTHON, str(CHECKOUT / "build.py"), *map(str, arguments))
