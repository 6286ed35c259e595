"""`preview`: all cards in one page, to look at before anything goes to Anki."""

from __future__ import annotations

from pathlib import Path

import click

from ..build_problems import overwrites
from ..compose import compose
from ..files import replace_together, unwritable
from ..inputs import read_inputs
from ..model import Severity
from ..paths import shown
from ..preview import pictures_shown, preview_page
from ..report import count_of, problem_count
from ..templates import load_templates
from .common import (
    given_language,
    given_paths,
    ledger_option,
    output_option,
    pack_arguments,
    quiet_option,
    show_problems,
    templates_option,
)

DEFAULT_OUTPUT = Path("dist", "preview.html")


@click.command("preview")
@pack_arguments
@ledger_option
@output_option("The page to write.", DEFAULT_OUTPUT)
@templates_option
@quiet_option
@click.option("--open", "open_it", is_flag=True, help="Open the page in the browser.")
def command(
    paths: tuple[Path, ...],
    language: str | None,
    ledger: Path | None,
    output: Path,
    templates: Path,
    quiet: bool,
    open_it: bool,
) -> None:
    """Write a page that shows every card of the packs at PATH, or of the folder cards/, as a phone does.

    The page is one file and needs no network. Problems stand beside the cards they belong to, and do not keep the page
    from being written.

    Example: python build.py preview cards/ --open
    """
    inputs = read_inputs(given_paths(paths), given_language(language), ledger)
    look = load_templates(templates)
    taken = overwrites(output, [*inputs.files.values(), inputs.home.settings, inputs.home.ledger])
    problems = (*inputs.problems, *look.problems, *taken)
    notes = compose(inputs.library.packs, inputs.settings, inputs.answer_html)
    if not notes or taken or any(p.severity is Severity.ERROR for p in look.problems):
        show_problems(problems, err=True)
        click.echo(f"{problem_count(problems)}; nothing was written", err=True)
        raise SystemExit(1)
    page = preview_page(notes, problems, look, pictures_shown(notes, inputs.pictures))
    content = page.encode("utf-8", "replace")
    try:
        replace_together({output: lambda file: _write(file, content)})
    except OSError as error:
        show_problems([unwritable(output, error)], err=True)
        raise SystemExit(1) from error
    if not quiet:
        click.echo(f"{shown(output)}: {count_of(len(notes), 'card', 'cards')}, {problem_count(problems)}")
    if open_it:
        click.launch(output.resolve().as_uri())


def _write(file: Path, content: bytes) -> None:
    file.write_bytes(content)
