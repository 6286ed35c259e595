"""`check`: what is wrong with packs, for a person, a script or GitHub."""

from __future__ import annotations

from pathlib import Path

import click

from ..build import notes_of, without_ledger
from ..discover import discover
from ..former import read_former
from ..identity import guids
from ..inputs import Inputs, read_inputs
from ..model import Problem, Severity
from ..report import count_of, problem_count
from ..templates import load_templates
from ..views import github_command, problem_view
from .build import DEFAULT_OUTPUT
from .common import (
    echo_json,
    given_language,
    given_paths,
    json_option,
    pack_arguments,
    quiet_option,
    show_problems,
    templates_option,
)


@click.command("check")
@pack_arguments
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), default="text", show_default=True)
@json_option
@quiet_option
@templates_option
@click.option("-v", "--verbose", is_flag=True, help="Also name the Markdown files that are no packs.")
def command(
    paths: tuple[Path, ...],
    language: str | None,
    form: str,
    as_json: bool,
    quiet: bool,
    templates: Path,
    verbose: bool,
) -> None:
    """Show what is wrong with the packs at PATH, or in the folder cards/. Nothing is written.

    --json is short for --format json.

    Exits with 1 where there are errors, with 0 where there are none or only warnings.

    Example: python build.py check cards/ --format github
    """
    inputs = read_inputs(given_paths(paths), given_language(language))
    problems = (*inputs.problems, *load_templates(templates).problems, *_lost(inputs))
    if form == "json" or as_json:
        echo_json({"problems": [problem_view(problem) for problem in problems]})
    elif form == "github":
        for problem in problems:
            click.echo(github_command(problem))
    else:
        show_problems(problems, err=False)
        packs = count_of(len(inputs.library.packs), "pack", "packs")
        if not quiet:
            click.echo(f"{packs}: {problem_count(problems)}")
    if verbose:
        for path in discover(given_paths(paths)).passed_over:
            if path in inputs.files:
                continue
            click.echo(f"{path}: passed over, it has no ladder front matter", err=as_json or form != "text")
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise SystemExit(1)


def _lost(inputs: Inputs) -> tuple[Problem, ...]:
    """Whether the ledger was lost, as far as the package at its usual place tells."""
    if inputs.ledger is not None or not DEFAULT_OUTPUT.is_file():
        return ()
    return without_ledger(inputs, read_former(DEFAULT_OUTPUT), guids(notes_of(inputs)))
