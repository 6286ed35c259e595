"""`check`: what is wrong with packs, for a person, a script or GitHub."""

from __future__ import annotations

from pathlib import Path

import click

from ..discover import discover
from ..inputs import read_inputs
from ..model import Severity
from ..report import count_of, problem_count
from ..views import github_command, problem_view
from .common import echo_json, given_language, given_paths, pack_arguments, show_problems


@click.command("check")
@pack_arguments
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), default="text", show_default=True)
@click.option("-v", "--verbose", is_flag=True, help="Also name the Markdown files that are no packs.")
def command(paths: tuple[Path, ...], language: str | None, form: str, verbose: bool) -> None:
    """Show what is wrong with the packs at PATH, or in the folder cards/. Nothing is written.

    Exits with 1 where there are errors, with 0 where there are none or only warnings.

    Example: python build.py check cards/ --format github
    """
    inputs = read_inputs(given_paths(paths), given_language(language))
    problems = inputs.problems
    if form == "json":
        echo_json({"problems": [problem_view(problem) for problem in problems]})
    elif form == "github":
        for problem in problems:
            click.echo(github_command(problem))
    else:
        show_problems(problems, err=False)
        packs = count_of(len(inputs.library.packs), "pack", "packs")
        click.echo(f"{packs}: {problem_count(problems)}")
    if verbose:
        for path in discover(given_paths(paths)).passed_over:
            click.echo(f"{path}: passed over, it has no ladder front matter", err=form != "text")
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise SystemExit(1)
