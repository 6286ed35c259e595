"""The goals, and whether they are met: each is a ratio or a difference of rows of one run.

A verdict is *met* where the medians of wall time meet the goal, *missed* where neither they nor the fastest runs nor
the processor time do, and *unclear* where these disagree, as on a machine that others use at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import parts
from .measure import Row, Sample
from .results import Results

MET, MISSED, UNCLEAR, OPEN = "met", "missed", "unclear", "not measured"


@dataclass(frozen=True)
class Verdict:
    """A goal, its limit, what was measured (medians, fastest runs, processor time), and the verdict."""

    goal: str
    limit: str
    measured: str
    verdict: str


@dataclass(frozen=True)
class _Three:
    """A measure taken three ways."""

    typical: float
    best: float
    cpu: float

    def shown(self, digits: int) -> str:
        """The three as text."""
        return f"{self.typical:.{digits}f} (fastest {self.best:.{digits}f}, processor {self.cpu:.{digits}f})"


_Compare = Callable[[float, float], float]


def verdicts(results: Results, sizes: tuple[int, ...], library: int, scale: int) -> list[Verdict]:
    """Every goal with its verdict; those whose rows are missing are `not measured`."""
    found = [
        *_builds(results, sizes),
        *_packaging(results, sizes),
        *_library(results, library),
        *_identity(results, scale),
        *_startup(results),
        *_pathological(results),
    ]
    found.extend(Verdict(c.name, "always", "yes" if c.holds else "no", _met(c.holds)) for c in results.checks)
    return found


def _builds(results: Results, sizes: tuple[int, ...]) -> Iterator[Verdict]:
    size = 10_000 if 10_000 in sizes else max(sizes)
    cold = results.find("builds", parts.COLD, size)
    for name in (parts.RAW, parts.RAW_SHORT):
        yield _ratio(f"cold build of {size:,} notes, to {name}", cold, results.find("builds", name, size), 3)
    for name in parts.PEERS_THAT_RENDER:
        rows = results.find("peers", parts.COLD, size), results.find("peers", name, size)
        yield _ratio(f"cold build of {size:,} notes, to {name}", *rows, 1)
    large = results.find("builds", parts.COLD, 100_000)
    yield _ratio("cold build of 100,000 notes, to 10,000", large, results.find("builds", parts.COLD, 10_000), 11)
    start = results.find("startup", parts.FIRST, 0)
    biggest = max((s for s in sizes if results.find("builds", parts.COLD, s)), default=max(sizes))
    row = results.find("builds", parts.COLD, biggest)
    goal = f"peak memory of a cold build of {biggest:,} notes, above that of one pack"
    if start is None or row is None:
        yield Verdict(goal, "4 kB a note", "", OPEN)
    else:
        each = (row.typical().peak - start.typical().peak) / biggest / 1000
        yield Verdict(goal, "4 kB a note", f"{each:.1f} kB a note", _met(each < 4))


def _packaging(results: Results, sizes: tuple[int, ...]) -> Iterator[Verdict]:
    for size in sizes:
        alone, floor = (results.find("packaging", name, size) for name in (parts.PACKAGING, parts.FLOOR))
        yield _ratio(f"packaging {size:,} notes, to the floor", alone, floor, 1.2)
        raw = results.find("builds", parts.RAW, size) or results.find("packaging", parts.RAW, size)
        goal = f"output of {size:,} notes, to genanki's"
        if alone is None or raw is None:
            yield Verdict(goal, "0.3", "", OPEN)
        else:
            share = alone.typical().out / raw.typical().out
            yield Verdict(goal, "0.3", f"{share:.2f}", _met(share <= 0.3))


def _library(results: Results, library: int) -> Iterator[Verdict]:
    cold = results.find("library", parts.COLD, library)
    for name, limit in ((parts.UNCHANGED, 0.1), (parts.EDITED, 0.15)):
        row = results.find("library", name, library)
        yield _ratio(f"{library} packs: {name}, to a cold build", row, cold, limit)


def _identity(results: Results, scale: int) -> Iterator[Verdict]:
    known, half, pack = 1000 * scale, 500 * scale, f"reworded {20 * scale}"
    for name, what in (("match alone", "matching"), ("known", "identifying")):
        row = results.find("identity", name, known)
        yield _seconds(f"{what} {known:,} known notes, per 10,000", row, 0.3, share=10_000 / known)
    reworded, in_half = results.find("identity", pack, known), results.find("identity", pack, half)
    yield _seconds(f"a pack of {20 * scale:,} notes, all reworded, among {known:,}", reworded, 5)
    yield _ratio("the same, to one in half the library", reworded, in_half, 3)
    half_pack = results.find("identity", f"reworded {10 * scale}", known)
    yield _ratio("the same, to a pack of half the notes", reworded, half_pack, 3)


def _startup(results: Results) -> Iterator[Verdict]:
    bare = results.find("startup", parts.BARE, 0)
    for name, limit in ((parts.HELP, 60), (parts.AGAIN, 250), (parts.AGAIN_REAL, 250)):
        goal, row = f"start-up: {name}, above bare Python", results.find("startup", name, 0)
        if bare is None or row is None:
            yield Verdict(goal, f"{limit} ms", "", OPEN)
        else:
            three = _three(row, bare, lambda one, other: (one - other) * 1000)
            yield Verdict(goal, f"{limit} ms", f"{three.shown(0)} ms", _judged(three, limit))


def _pathological(results: Results) -> Iterator[Verdict]:
    """Twice the input in less than 3 times the time, above that of a small pack: n log n still passes, n² does not."""
    base = results.find("pathological", parts.SMALL, 0)
    small = base.best() if base else Sample(0, 0)
    for skipped in results.skipped:
        if skipped.part == "pathological":
            yield Verdict(f"{skipped.name}, at twice the size", "3", skipped.reason, MISSED)
    names = dict.fromkeys(r.name for r in results.rows if r.part == "pathological" and r.name != parts.SMALL)
    if not names:
        yield Verdict("pathological input, at twice the size", "3", "", OPEN)
    for name in names:
        rows = sorted((r for r in results.rows if r.part == "pathological" and r.name == name), key=lambda r: r.size)
        if len(rows) == 2:
            # Below a tenth of a second the noise is larger than what is measured.
            once, twice = (max(row.best().cpu - small.cpu, 0.1) for row in rows)
            refused = "" if all(row.best().out for row in rows) else ", refused with an error"
            measured = f"{twice / once:.1f} ({rows[0].best().cpu:.2f} s, {rows[1].best().cpu:.2f} s{refused})"
            yield Verdict(f"{name}, {rows[1].size:,} to {rows[0].size:,}", "3", measured, _met(twice / once <= 3))


def _ratio(goal: str, row: Row | None, other: Row | None, limit: float) -> Verdict:
    if row is None or other is None:
        return Verdict(goal, f"{limit:g}", "", OPEN)
    three = _three(row, other, lambda one, base: one / base if base > 0 else float("inf"))
    return Verdict(goal, f"{limit:g}", three.shown(2), _judged(three, limit))


def _seconds(goal: str, row: Row | None, limit: float, share: float = 1) -> Verdict:
    if row is None:
        return Verdict(goal, f"{limit:g} s", "", OPEN)
    typical, best = row.typical(), row.best()
    three = _Three(typical.wall * share, best.wall * share, typical.cpu * share)
    return Verdict(goal, f"{limit:g} s", f"{three.shown(2)} s", _judged(three, limit))


def _three(row: Row, other: Row, compare: _Compare) -> _Three:
    typical, best, base, base_best = row.typical(), row.best(), other.typical(), other.best()
    return _Three(compare(typical.wall, base.wall), compare(best.wall, base_best.wall), compare(typical.cpu, base.cpu))


def _judged(three: _Three, limit: float) -> str:
    if three.typical <= limit:
        return MET
    return UNCLEAR if min(three.best, three.cpu) <= limit else MISSED


def _met(holds: bool) -> str:
    return MET if holds else MISSED
