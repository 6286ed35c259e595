"""`check`: what is wrong with packs, for a person, a script or GitHub."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..building.report import count_of, problem_count
from ..building.views import github_command, problem_view
from ..keeping.store import NO_STORE, user_store
from ..keeping.unchanged import Remembered, Watched, recall, remember, state_of
from ..values.model import Language, Problem, Severity
from .build import DEFAULT_OUTPUT
from .common import (
    echo_json,
    given_language,
    given_paths,
    json_option,
    no_cache_option,
    pack_arguments,
    quiet_option,
    show_problems,
    templates_option,
)

if TYPE_CHECKING:
    from ..building.inputs import Inputs


@click.command("check")
@pack_arguments
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), default="text", show_default=True)
@json_option
@quiet_option
@templates_option
@no_cache_option
@click.option("-v", "--verbose", is_flag=True, help="Also name the Markdown files that are no packs.")
def command(
    paths: tuple[Path, ...],
    language: str | None,
    form: str,
    as_json: bool,
    quiet: bool,
    templates: Path,
    no_cache: bool,
    verbose: bool,
) -> None:
    """Show what is wrong with the packs at PATH, or in the folder cards/. Nothing is written.

    --json is short for --format json.

    Exits with 1 where there are errors, with 0 where there are none or only warnings.

    Example: python build.py check cards/ --format github
    """
    wanted = given_paths(paths)
    found = _checked(wanted, given_language(language), templates, no_cache=no_cache)
    problems = found.problems
    if form == "json" or as_json:
        echo_json({"problems": [problem_view(problem) for problem in problems]})
    elif form == "github":
        for problem in problems:
            click.echo(github_command(problem))
    else:
        show_problems(problems, err=False)
        if not quiet:
            click.echo(f"{count_of(found.view, 'pack', 'packs')}: {problem_count(problems)}")
    if verbose:
        for path in found.lines:
            click.echo(f"{path}: passed over, it has no ladder front matter", err=as_json or form != "text")
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise SystemExit(1)


def _checked(paths: Sequence[Path], language: Language | None, templates: Path, *, no_cache: bool) -> Remembered:
    """The problems of the packs, the files that are none as lines, and as ``view`` how many packs there are."""
    store, clock = NO_STORE if no_cache else user_store(), int(time.time())
    watched = Watched(paths, None, language, (DEFAULT_OUTPUT,), templates, ("check",))
    state = None if no_cache else state_of(watched)
    if (known := recall(store, state, clock)) is not None:
        return known
    from ..building.inputs import read_inputs
    from ..packaging.templates import load_templates
    from ..reading.discover import discover

    inputs = read_inputs(paths, language, store=store)
    problems = (*inputs.problems, *load_templates(templates).problems, *_lost(inputs))
    passed_over = tuple(path for path in discover(paths).passed_over if path not in inputs.files)
    found = Remembered(problems, passed_over, len(inputs.library.packs))
    if state is not None:
        remember(store, state, state_of(watched), found, clock)
    return found


def _lost(inputs: Inputs) -> tuple[Problem, ...]:
    """Whether the ledger was lost, as far as the package at its usual place tells."""
    if inputs.ledger is not None or not DEFAULT_OUTPUT.is_file():
        return ()
    from ..building.build import notes_of, without_ledger
    from ..building.former import read_former
    from ..identity.identify import guids

    return without_ledger(inputs, read_former(DEFAULT_OUTPUT), guids(notes_of(inputs)))
