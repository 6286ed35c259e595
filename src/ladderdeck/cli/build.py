"""`build`: from packs to an Anki package."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from ..build import Outcome, Request, build
from ..paths import shown
from ..report import change_lines, count_of, kind_counts, problem_count
from ..templates import default_folder
from .common import given_language, given_paths, ledger_option, pack_arguments, show_problems

DEFAULT_OUTPUT = Path("dist", "ladders.apkg")
_A_DAY = 24 * 3600


@click.command("build")
@pack_arguments
@ledger_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    default=DEFAULT_OUTPUT,
    show_default=True,
    help="The package to write.",
)
@click.option("--locked", is_flag=True, help="Fail where the ledger would change, as for CI.")
@click.option("--dry-run", is_flag=True, help="Show what would happen to every note, and write nothing.")
@click.option("-v", "--verbose", is_flag=True, help="Name every note that changed.")
def command(
    paths: tuple[Path, ...],
    language: str | None,
    ledger: Path | None,
    output: Path,
    locked: bool,
    dry_run: bool,
    verbose: bool,
) -> None:
    """Build an Anki package from the packs at PATH, or from the folder cards/.

    PATH is a pack or a folder, which is searched for packs. The ledger beside them, ledger.json, remembers which note
    is which: keep it with the packs.

    Example: python build.py cards/ -o dist/ladders.apkg
    """
    clock = int(time.time())
    request = Request(
        paths=given_paths(paths),
        output=output,
        templates=default_folder(),
        now=_now(clock),
        clock=clock,
        language=given_language(language),
        ledger=ledger,
        locked=locked,
        dry_run=dry_run,
    )
    outcome = build(request)
    show_problems(outcome.problems, err=True)
    if outcome.notes:
        _show(outcome, request, verbose=verbose or dry_run)
    if outcome.failed:
        click.echo(f"{problem_count(outcome.problems)}; nothing was written", err=True)
        raise SystemExit(1)


def _show(outcome: Outcome, request: Request, *, verbose: bool) -> None:
    decks = count_of(len({identified.note.deck for identified in outcome.notes}), "deck", "decks")
    output = shown(request.output)
    click.echo(f"{output}: {count_of(len(outcome.notes), 'note', 'notes')} in {decks}")
    click.echo(f"  {kind_counts(outcome.notes)}")
    for line in change_lines(outcome.changes, verbose=verbose):
        click.echo(line)
    if outcome.failed:
        return
    if request.dry_run:
        click.echo("Nothing was written, since this was a dry run.")
    elif request.output in outcome.written:
        click.echo("Next: send this file to your phone and open it with Anki; the README says how.")
    else:
        click.echo(f"{output} is up to date.")


def _now(clock: int) -> int:
    """The time to stamp changes with: SOURCE_DATE_EPOCH where it is set, as reproducible builds want, else the clock."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        return clock
    if not (given.isascii() and given.isdigit()):
        raise click.UsageError(f"SOURCE_DATE_EPOCH must be a number of seconds, not {given!r}.")
    if int(given) > clock + _A_DAY:
        raise click.UsageError("SOURCE_DATE_EPOCH lies in the future, and Anki would not take notes from there.")
    return int(given)
