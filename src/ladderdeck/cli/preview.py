"""`preview`: all cards in one page, to look at before anything goes to Anki."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click
from click.core import ParameterSource

from ..building.build import notes_of
from ..building.build_problems import not_ours, overwrites
from ..building.inputs import Inputs, read_inputs
from ..building.report import count_of, problem_count
from ..keeping.files import replace_together, unwritable
from ..keeping.store import user_store
from ..packaging.templates import Templates, load_templates
from ..previewing.preview import is_preview, live_data, live_page, pictures_shown, preview_data, preview_page
from ..previewing.preview_server import DEFAULT_PORT, PreviewServer
from ..values.model import Language, Problem, Severity
from ..values.note import Note
from ..values.paths import shown
from .common import (
    given_language,
    given_paths,
    ledger_option,
    named,
    output_option,
    pack_arguments,
    quiet_option,
    show_problems,
    templates_option,
)
from .progress import progress
from .watch import NewProblems, rounds, say_round, say_what_is_watched

DEFAULT_OUTPUT = Path("dist", "preview.html")


@click.command("preview")
@pack_arguments
@ledger_option
@output_option("The page to write.", DEFAULT_OUTPUT)
@templates_option
@quiet_option
@click.option("--open", "open_it", is_flag=True, help="Open the page in the browser.")
@click.option("--serve", is_flag=True, help="Show the page in the browser, new after every save, until Ctrl-C.")
@click.option("--port", type=click.IntRange(1, 65535), help=f"The port for --serve.  [default: {DEFAULT_PORT}]")
def command(
    paths: tuple[Path, ...],
    language: str | None,
    ledger: Path | None,
    output: Path,
    templates: Path,
    quiet: bool,
    open_it: bool,
    serve: bool,
    port: int | None,
) -> None:
    """Write a page that shows every card of the packs at PATH, or of the folder cards/, as a phone does.

    The page is one file and needs no network. Problems stand beside the cards they belong to, and do not keep the page
    from being written.

    With --serve nothing is written: the page comes from this machine, to this machine only, and follows every save.

    \b
    Examples:
      python build.py preview cards/ --open
      python build.py preview --serve --open
    """
    make = partial(_make, given_paths(paths), given_language(language), ledger, templates, quiet=quiet)
    if serve:
        if click.get_current_context().get_parameter_source("output") is ParameterSource.COMMANDLINE:
            raise click.UsageError("--serve writes no file: leave out -o.")
        _serve(make, given_paths(paths), templates, ledger, port=port, quiet=quiet, open_it=open_it)
    elif port is not None:
        raise click.UsageError("--port belongs to --serve.")
    else:
        _write(make(), named(output, DEFAULT_OUTPUT), quiet=quiet, open_it=open_it)


@dataclass(frozen=True)
class _Made:
    """What there is to show. ``failed`` says that the problems leave nothing that could be."""

    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]
    look: Templates
    inputs: Inputs

    @property
    def failed(self) -> bool:
        return not self.notes or any(p.severity is Severity.ERROR for p in self.look.problems)

    @property
    def pictures(self) -> dict[str, bytes]:
        return pictures_shown(self.notes, self.inputs.pictures)


def _make(
    paths: Sequence[Path], language: Language | None, ledger: Path | None, templates: Path, *, quiet: bool
) -> _Made:
    with progress(wanted=not quiet) as report:
        inputs = read_inputs(paths, language, ledger, report=report, store=user_store())
    look = load_templates(templates)
    notes = notes_of(inputs)
    return _Made(tuple(notes), (*inputs.problems, *look.problems), look, inputs)


def _write(made: _Made, output: Path, *, quiet: bool, open_it: bool) -> None:
    home = made.inputs.home
    taken = overwrites(output, [*made.inputs.files.values(), home.settings, home.ledger]) or not_ours(
        output, is_preview
    )
    problems = (*made.problems, *taken)
    if made.failed or taken:
        show_problems(problems, err=True)
        click.echo(f"{problem_count(problems)}; nothing was written", err=True)
        raise SystemExit(1)
    content = preview_page(made.notes, problems, made.look, made.pictures).encode("utf-8", "replace")

    def fill(file: Path) -> None:
        file.write_bytes(content)

    try:
        replace_together({output: fill})
    except OSError as error:
        show_problems([unwritable(output, error)], err=True)
        raise SystemExit(1) from error
    if not quiet:
        click.echo(f"{shown(output)}: {_summary(made)}")
    if open_it:
        click.launch(output.resolve().as_uri())


def _summary(made: _Made) -> str:
    return f"{count_of(len(made.notes), 'card', 'cards')}, {problem_count(made.problems)}"


def _serve(
    make: Callable[[], _Made],
    paths: Sequence[Path],
    templates: Path,
    ledger: Path | None,
    *,
    port: int | None,
    quiet: bool,
    open_it: bool,
) -> None:
    """Show the page now and after every save, until Ctrl-C."""
    problems, data = NewProblems(), None
    with _server(port) as server:
        for changed in rounds(paths, templates, ledger):
            made = make()
            problems.show(made.problems)
            errors = [problem for problem in made.problems if problem.severity is Severity.ERROR]
            if not made.failed:
                data = preview_data(made.notes, made.problems, made.look, made.pictures)
            server.publish(live_data(data, errors))
            if not changed:
                click.echo(f"Preview: {server.address}")
                say_what_is_watched(paths)
                if open_it:
                    click.launch(server.address)
            elif not quiet:
                stays = f"{problem_count(made.problems)}; the page stays as it is"
                say_round(changed, stays if made.failed else _summary(made))


def _server(port: int | None) -> PreviewServer:
    """A server at ``port``, or at the usual port, or at any that is free where somebody has that one."""
    page = live_page()
    try:
        return PreviewServer(page, port or DEFAULT_PORT)
    except OSError as error:
        if port is not None:
            message = f"The port {port} cannot be used: {error.strerror}. Leave out --port, or name another."
            raise click.ClickException(message) from None
        return PreviewServer(page, 0)
