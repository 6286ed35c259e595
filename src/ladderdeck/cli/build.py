"""`build`: from packs to an Anki package, or to another format."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from ..build import Outcome, Request, build
from ..formats import DEFAULT_FORMAT, format_names, format_of, load_format
from ..paths import shown
from ..report import change_lines, count_of, kind_counts, problem_count
from ..views import outcome_view
from .common import (
    echo_json,
    given_language,
    given_paths,
    json_option,
    ledger_option,
    output_option,
    pack_arguments,
    quiet_option,
    show_problems,
    templates_option,
)

DEFAULT_OUTPUT = Path("dist", "ladders.apkg")
"""With the suffix of another format, where that is asked for."""
_A_DAY = 24 * 3600


@click.command("build")
@pack_arguments
@ledger_option
@output_option("The file to write.", shown_default=DEFAULT_OUTPUT.as_posix())
@click.option(
    "--format", "form", type=click.Choice(format_names()), help="How to write it; without this, as -o ends, or apkg."
)
@templates_option
@click.option("--locked", is_flag=True, help="Fail where the ledger would change, as for CI.")
@click.option("--dry-run", is_flag=True, help="Show what would happen to every note, and write nothing.")
@click.option("-v", "--verbose", is_flag=True, help="Name every note that changed.")
@quiet_option
@json_option
def command(
    paths: tuple[Path, ...],
    language: str | None,
    ledger: Path | None,
    output: Path | None,
    form: str | None,
    templates: Path,
    locked: bool,
    dry_run: bool,
    verbose: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Build an Anki package from the packs at PATH, or from the folder cards/.

    PATH is a pack or a folder, which is searched for packs. The ledger beside them, ledger.json, remembers which note
    is which: keep it with the packs.

    Example: python build.py cards/ -o dist/ladders.apkg
    """
    clock = int(time.time())
    output, format_name = _output(output, form)
    request = Request(
        paths=given_paths(paths),
        output=output,
        format_name=format_name,
        templates=templates,
        now=_now(clock),
        clock=clock,
        language=given_language(language),
        ledger=ledger,
        locked=locked,
        dry_run=dry_run,
    )
    outcome = build(request)
    if as_json:
        echo_json(outcome_view(outcome, request))
    else:
        show_problems(outcome.problems, err=True)
        if outcome.notes and not quiet:
            _show(outcome, request, verbose=verbose or dry_run)
        if outcome.failed:
            click.echo(f"{problem_count(outcome.problems)}; nothing was written", err=True)
    if outcome.failed:
        raise SystemExit(1)


def _output(output: Path | None, form: str | None) -> tuple[Path, str]:
    """The file to write and its format: each follows from the other where it is not given."""
    if output is None:
        name = form or DEFAULT_FORMAT
        return DEFAULT_OUTPUT.with_suffix(load_format(name).suffixes[0]), name
    meant = format_of(output)
    if form and meant and form != meant:
        raise click.UsageError(f"{shown(output)} ends like the format {meant}, and --format says {form}.")
    return output, form or meant or DEFAULT_FORMAT


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
        if step := load_format(request.format_name).next_step:
            click.echo(f"Next: {step}")
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
