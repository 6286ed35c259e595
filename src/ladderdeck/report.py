"""What people read: problems and the outcome of a build as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from .model import Kind, Problem, Severity
from .note import Note

_NAMES = {
    Kind.RUNG: ("rung", "rungs"),
    Kind.SIGN: ("sign", "signs"),
    Kind.LADDER: ("ladder", "ladders"),
    Kind.RED_FLAG: ("red flag", "red flags"),
    Kind.PROBE: ("probe", "probes"),
}


def problem_text(problem: Problem) -> str:
    """A problem in two lines: where and what, then what to do."""
    where = f"{problem.position}: {problem.severity.value}: "
    return f"{where}{problem.message} [{problem.code}]\n    {problem.hint}"


def problem_count(problems: Iterable[Problem]) -> str:
    """How many errors and warnings there are, in words: '1 error and 2 warnings', 'no problems'."""
    counts = Counter(problem.severity for problem in problems)
    parts = [count_of(counts[s], s.value, f"{s.value}s") for s in Severity if counts[s]]
    return " and ".join(parts) or "no problems"


def count_of(number: int, singular: str, plural: str) -> str:
    """A number with its noun: '1 card', '2 cards'."""
    return f"{number} {singular if number == 1 else plural}"


def kind_counts(notes: Sequence[Note]) -> str:
    """How many notes of each kind there are: '36 rungs, 29 signs, 9 ladders'."""
    counts = Counter(note.origin.kind for note in notes)
    return ", ".join(count_of(counts[kind], *_NAMES[kind]) for kind in Kind if counts[kind])
