"""What the benchmarks found: rows, checks, and what was skipped and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .measure import Row, Sample, Workplace


@dataclass(frozen=True)
class Check:
    """Something that must hold, whatever the time: such as that two outputs have the same bytes."""

    name: str
    holds: bool


@dataclass(frozen=True)
class Skipped:
    """Something that was not measured, or did not end, with the reason."""

    part: str
    name: str
    reason: str


@dataclass
class Results:
    """All rows in the order in which they were begun."""

    rows: list[Row] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def add(self, part: str, name: str, size: int, sample: Sample) -> None:
        """One more sample of a row, which is begun where there is none yet."""
        row = self.find(part, name, size)
        if row is None:
            row = Row(part, name, size)
            self.rows.append(row)
        row.samples.append(sample)

    def find(self, part: str, name: str, size: int) -> Row | None:
        """A row, or None where it was not measured."""
        wanted = (part, name, size)
        return next((row for row in self.rows if (row.part, row.name, row.size) == wanted), None)

    def check(self, name: str, holds: bool) -> None:
        """Remember whether something held; once it did not, it does not."""
        before = [check for check in self.checks if check.name == name]
        self.checks = [check for check in self.checks if check.name != name]
        self.checks.append(Check(name, holds and all(check.holds for check in before)))

    def skip(self, part: str, name: str, reason: object) -> None:
        """Remember that something was not measured."""
        self.skipped.append(Skipped(part, name, str(reason)))


@dataclass(frozen=True)
class Plan:
    """What is to be measured: sizes in notes, the packs of the large library, where, and how often.

    ``rounds`` is how often a quick thing is measured; slow ones less often. ``scale`` is the size of the odd inputs and of
    identity in per cent of what the goals name. ``say`` tells a person what is going on.
    """

    sizes: tuple[int, ...]
    library: int
    rounds: int
    folder: Path
    peers: Path
    scale: int
    say: Callable[[str], None]
    places: dict[str, Workplace] = field(default_factory=dict)

    def rounds_for(self, notes: int) -> int:
        """How often a build of so many notes is measured."""
        return self.rounds if notes <= 1000 else max(1, min(self.rounds, 3)) if notes <= 10_000 else 1
