"""`add`: takes a downloaded pack into the folder of packs."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from ..authoring.adding import Arrival, Arrivals, Standing, plan_arrivals
from ..authoring.starting import write_files
from ..building.report import arrival_lines, problem_count
from ..keeping.files import only_one, unwritable
from ..keeping.home import DEFAULT_PATH
from ..values.model import Severity
from ..values.paths import shown
from .common import called, show_problems


@click.command("add")
@click.argument("source", metavar="FILE", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=DEFAULT_PATH,
    show_default=True,
    help="The folder that holds the packs.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask before a pack is replaced.")
def command(source: Path, folder: Path, yes: bool) -> None:
    """Take the downloaded pack FILE, or the packs in the folder FILE, into the folder cards/.

    A pack that is there already is replaced, after its difference was shown: which rungs and signs are new, reworded,
    moved or gone, and what becomes of your history. With a mistake in a pack nothing is changed.

    Example: python build.py add ~/Downloads/SKILL.md
    """
    arrivals = plan_arrivals(source, folder, int(time.time()))
    show_problems(arrivals.problems, err=True)
    if arrivals.failed:
        _give_up(f"{problem_count(arrivals.problems)}; nothing was changed")
    for arrival in arrivals.packs:
        for line in arrival_lines(arrival.pack, arrival.before, arrival.changes, built=arrival.was_built):
            click.echo(line)
        if warning := _WARNINGS.get(arrival.standing):
            click.echo(f"  {warning}")
    if arrivals.later:
        click.echo("  With it, a build would say:")
        show_problems(arrivals.later, err=False)
    wanted = [arrival for arrival in arrivals.packs if arrival.standing is not Standing.SAME]
    if wanted and not arrivals.is_plain and not yes:
        _ask(wanted)
    _write(wanted, arrivals)


_WARNINGS = {
    Standing.SAME: "It is there already, byte by byte.",
    Standing.OLDER: "Warning: this version is OLDER than the one that is there.",
    Standing.EDITED: "Warning: both call themselves the same version, and one of them was edited.",
    Standing.UNKNOWN: "Which of the two is newer, their versions do not say.",
}


def _give_up(message: str) -> None:
    click.echo(message, err=True)
    raise SystemExit(1)


def _ask(wanted: list[Arrival]) -> None:
    names = ", ".join(shown(arrival.target) for arrival in wanted)
    if not sys.stdin.isatty():
        _give_up(f"Nothing was changed. To write {names}, say --yes.")
    if not click.confirm(f"Write {names}?", default=False):
        _give_up("Nothing was changed.")


def _write(wanted: list[Arrival], arrivals: Arrivals) -> None:
    targets = {arrival.target: arrival.data for arrival in wanted}
    try:
        with only_one(targets):
            write_files(targets)
    except TimeoutError:
        _give_up("Another program has been writing there for too long; nothing was changed")
    except OSError as error:
        show_problems([unwritable(Path(error.filename or wanted[0].target), error)], err=True)
        _give_up("nothing was changed")
    for arrival in wanted:
        click.echo(f"{shown(arrival.target)}: {'written' if arrival.before is None else 'replaced'}")
    if wanted:
        is_broken = any(problem.severity is Severity.ERROR for problem in arrivals.later)
        first = "mend what a build would not take, then " if is_broken else ""
        click.echo(f"Next: {first}{called()}")
