"""`build`: from packs to an Anki package."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from ..build import Outcome, Request, build
from ..report import count_of, kind_counts, problem_count
from ..templates import default_folder
from .common import given_language, given_paths, pack_arguments, show_problems

DEFAULT_OUTPUT = Path("dist", "ladders.apkg")


@click.command("build")
@pack_arguments
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    default=DEFAULT_OUTPUT,
    show_default=True,
    help="The package to write.",
)
def command(paths: tuple[Path, ...], language: str | None, output: Path) -> None:
    """Build an Anki package from the packs at PATH, or from the folder cards/.

    PATH is a pack or a folder, which is searched for packs.

    Example: python build.py cards/ -o dist/ladders.apkg
    """
    request = Request(given_paths(paths), output, default_folder(), _now(), given_language(language))
    outcome = build(request)
    show_problems(outcome.problems, err=True)
    if outcome.failed:
        click.echo(f"{problem_count(outcome.problems)}; nothing was written", err=True)
        raise SystemExit(1)
    _show(outcome, output)


def _show(outcome: Outcome, output: Path) -> None:
    decks = count_of(len({note.deck for note in outcome.notes}), "deck", "decks")
    click.echo(f"{output.as_posix()}: {count_of(len(outcome.notes), 'note', 'notes')} in {decks}")
    click.echo(f"  {kind_counts(outcome.notes)}")
    click.echo("Next: send this file to your phone and open it with Anki; the README says how.")


def _now() -> int:
    """The time to stamp changes with: SOURCE_DATE_EPOCH where it is set, as reproducible builds want, else the clock."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given and not (given.isascii() and given.isdigit()):
        raise click.UsageError(f"SOURCE_DATE_EPOCH must be a number of seconds, not {given!r}.")
    return int(given) if given else int(time.time())
