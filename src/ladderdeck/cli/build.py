"""`build`: from packs to an Anki package, or to another format."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..building.report import change_lines, count_of, kind_counts, problem_count
from ..building.request import Request
from ..building.views import outcome_view
from ..keeping.store import NO_STORE, Store, user_store
from ..keeping.unchanged import Remembered, State, Watched, recall, remember, state_of
from ..packaging.formats import DEFAULT_FORMAT, format_names, format_of, load_format
from ..values.paths import shown
from .common import (
    echo_json,
    given_language,
    given_paths,
    json_option,
    ledger_option,
    named,
    no_cache_option,
    output_option,
    pack_arguments,
    quiet_option,
    show_problems,
    templates_option,
)
from .progress import progress

if TYPE_CHECKING:
    from ..building.build import Outcome

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
@click.option("--watch", is_flag=True, help="Build again whenever a file is saved, until Ctrl-C.")
@no_cache_option
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
    watch: bool,
    no_cache: bool,
    verbose: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Build an Anki package from the packs at PATH, or from the folder cards/.

    PATH is a pack or a folder, which is searched for packs. The ledger beside them, ledger.json, remembers which note
    is which: keep it with the packs.

    Example: python build.py cards/ -o dist/ladders.apkg
    """
    file, format_name = _output(output, form)

    def request() -> Request:
        clock = int(time.time())
        return Request(
            paths=given_paths(paths),
            output=file,
            format_name=format_name,
            templates=templates,
            now=_now(clock),
            clock=clock,
            language=given_language(language),
            ledger=ledger,
            locked=locked,
            dry_run=dry_run,
        )

    store = NO_STORE if no_cache else user_store()
    if watch and as_json:
        raise click.UsageError("--watch tells a person what happens; it has no JSON.")
    if watch:
        _watch(request, store, verbose=verbose or dry_run, quiet=quiet)
        return
    asked = request()
    state = None if no_cache or dry_run else _state(asked)
    if (known := recall(store, state, asked.clock)) is not None:
        _show_known(known, quiet=quiet, as_json=as_json)
        return
    outcome = _build(asked, store, wanted=not (quiet or as_json))
    _remember(store, state, outcome, asked)
    if as_json:
        echo_json(outcome_view(outcome, asked))
    else:
        show_problems(outcome.problems, err=True)
        _show(outcome, asked, verbose=verbose or dry_run, quiet=quiet)
    if outcome.failed:
        raise SystemExit(1)


def _build(request: Request, store: Store, *, wanted: bool) -> Outcome:
    # What a build needs is loaded only when there is something to build.
    from ..building.build import build

    with progress(wanted=wanted) as report:
        outcome = build(request, report, store)
    store.tidy()
    return outcome


def _show_known(known: Remembered, *, quiet: bool, as_json: bool) -> None:
    if as_json:
        echo_json(known.view)
        return
    show_problems(known.problems, err=True)
    for line in () if quiet else known.lines:
        click.echo(line)


def _state(request: Request) -> State | None:
    """What the surroundings of a build hold."""
    options = ("build", request.format_name, str(request.locked))
    return state_of(
        Watched(request.paths, request.ledger, request.language, (request.output,), request.templates, options)
    )


def _remember(store: Store, state: State | None, outcome: Outcome, request: Request) -> None:
    """Keep what the same build would come to now, so that it need not be done."""
    from ..building.build import again

    if state is not None and (then := again(outcome)) is not None:
        what = Remembered(then.problems, tuple(_note_lines(then, request, verbose=False)), outcome_view(then, request))
        remember(store, state, _state(request), what, request.clock)


def _watch(request: Callable[[], Request], store: Store, *, verbose: bool, quiet: bool) -> None:
    """Build now and at every save, until Ctrl-C."""
    from .watch import NewProblems, rounds, say_round, say_what_is_watched

    first = request()
    problems = NewProblems()
    for changed in rounds(first.paths, first.templates, first.ledger):
        outcome = _build(request(), store, wanted=not quiet)
        problems.show(outcome.problems)
        if not changed:
            _show(outcome, first, verbose=verbose, quiet=quiet)
            say_what_is_watched(first.paths)
        elif not quiet:
            say_round(changed, _round(outcome, first))
            for line in change_lines(outcome.changes, verbose=True)[1:] if verbose else ():
                click.echo(line)


def _round(outcome: Outcome, request: Request) -> str:
    """What a build after a save came to, in one line."""
    from ..identity.identify import Change

    if outcome.failed:
        return f"{problem_count(outcome.problems)}; {shown(request.output)} stays as it is"
    if request.dry_run or request.output in outcome.written:
        if all(changed.change is Change.UNCHANGED for changed in outcome.changes):
            return f"no note has changed, but decks or the cards' look; {shown(request.output)} is new"
        return change_lines(outcome.changes, verbose=False)[0]
    return f"nothing has changed in {shown(request.output)}"


def _output(output: Path | None, form: str | None) -> tuple[Path, str]:
    """The file to write and its format: each follows from the other where it is not given."""
    name = form or DEFAULT_FORMAT
    default = DEFAULT_OUTPUT.with_suffix(load_format(name).suffixes[0])
    if output is None:
        return default, name
    if named(output, default) != output:
        return named(output, default), name
    meant = format_of(output)
    if form and meant and form != meant:
        raise click.UsageError(f"{shown(output)} ends like the format {meant}, and --format says {form}.")
    return output, form or meant or DEFAULT_FORMAT


def _show(outcome: Outcome, request: Request, *, verbose: bool, quiet: bool) -> None:
    if outcome.failed:
        # What the notes would have been is of no use now, but for what --locked has refused.
        if any(problem.code == "locked" for problem in outcome.problems):
            for line in change_lines(outcome.changes, verbose=verbose):
                click.echo(line)
        click.echo(f"{problem_count(outcome.problems)}; nothing was written", err=True)
    elif not quiet:
        for line in _note_lines(outcome, request, verbose=verbose):
            click.echo(line)


def _note_lines(outcome: Outcome, request: Request, *, verbose: bool) -> Iterator[str]:
    """What a build that was no failure tells."""
    output = shown(request.output)
    present, retired = outcome.present, len(outcome.notes) - len(outcome.present)
    decks = count_of(len({identified.note.deck for identified in present}), "deck", "decks")
    yield f"{output}: {count_of(len(present), 'note', 'notes')} in {decks}"
    yield f"  {kind_counts(present)}"
    if retired:
        yield f"  and {count_of(retired, 'retired note', 'retired notes')}, whose text has left the packs"
    if outcome.left_out:
        others = count_of(len(outcome.left_out), "pack", "packs")
        more = ", …" * (len(outcome.left_out) > 3)
        yield f"  without {others} of this deck: {', '.join(outcome.left_out[:3])}{more}"
    yield from change_lines(outcome.changes, verbose=verbose)
    if request.dry_run:
        yield "Nothing was written, since this was a dry run."
    elif request.output in outcome.written:
        if step := load_format(request.format_name).next_step:
            yield f"Next: {step}"
    else:
        yield f"{output} is up to date."


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
