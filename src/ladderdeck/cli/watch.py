"""What `build --watch` and `preview --serve` share: going on at every save, and a line for each round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import click

from ..building.watching import look, saves
from ..values.model import Problem, Severity
from ..values.paths import shown
from .common import show_problems

_NAMED_AT_MOST = 2


def rounds(paths: Sequence[Path], templates: Path, ledger: Path | None) -> Iterator[tuple[Path, ...]]:
    """The files that were saved, for each round of work; at first nothing. See :func:`ladderdeck.building.watching.saves`."""
    return saves(lambda: look(paths, templates, ledger))


def say_what_is_watched(paths: Sequence[Path]) -> None:
    """Tell that the command goes on, and how to end it."""
    names = ", ".join(shown(path) for path in paths)
    click.echo(f"Watching {names}: save a file to see the change, press Ctrl-C to end.")


def say_round(changed: Sequence[Path], what: str) -> None:
    """One line about a round: the time, the files that were saved, and what came of it."""
    names = ", ".join(shown(_from_here(file)) for file in changed[:_NAMED_AT_MOST])
    more = len(changed) - _NAMED_AT_MOST
    others = f" and {more} more" if more > 0 else ""
    click.echo(f"{time.strftime('%H:%M:%S')}  {names}{others}: {what}")


def _from_here(file: Path) -> Path:
    here = Path.cwd()
    return file.relative_to(here) if file.is_relative_to(here) else file


class NewProblems:
    """Shows the problems of each round, but a warning that stood before only once."""

    def __init__(self, show: Callable[..., None] = show_problems) -> None:
        self._show, self._known = show, frozenset[tuple[str, str, str]]()

    def show(self, problems: Iterable[Problem]) -> None:
        """Print errors, and the warnings that the last round did not have."""
        problems = tuple(problems)
        found = {problem: (problem.code, problem.position.file, problem.message) for problem in problems}
        fresh = [p for p in problems if p.severity is Severity.ERROR or found[p] not in self._known]
        self._known = frozenset(found.values())
        self._show(fresh, err=True)
