"""`templates`: a copy of the packaged templates for one's own look, and what is wrong with such a copy."""

from __future__ import annotations

from pathlib import Path

import click

from ..authoring.starting import missing_templates, write_files
from ..building.report import count_of, problem_count
from ..keeping.files import unwritable
from ..packaging.templates import default_folder, load_templates
from ..values.paths import shown
from .common import show_problems

_FOLDER = click.Path(file_okay=False, path_type=Path)


@click.command("templates")
@click.option("--export", metavar="DIR", type=_FOLDER, help="Write the packaged templates that are not in DIR yet.")
@click.option("--check", metavar="DIR", type=_FOLDER, help="Show what is wrong with the templates in DIR.")
def command(export: Path | None, check: Path | None) -> None:
    """Write the templates of the cards into a folder, to change them, or check such a folder.

    A file that is there already stays as it is: after an update of ladderdeck, --export adds what is new. `build`,
    `check` and `preview` take the folder with --templates DIR.

    Example: python build.py templates --export my-look
    """
    if (export is None) == (check is None):
        raise click.UsageError("Say either --export DIR or --check DIR.")
    if export is not None:
        _export(export)
    if check is not None:
        problems = load_templates(check).problems
        show_problems(problems, err=False)
        click.echo(f"{shown(check)}: {problem_count(problems)}")
        if problems:
            raise SystemExit(1)


def _export(folder: Path) -> None:
    files = missing_templates(default_folder(), folder)
    try:
        write_files(files)
    except OSError as error:
        show_problems([unwritable(folder, error)], err=True)
        raise SystemExit(1) from None
    for file in files:
        click.echo(shown(file))
    click.echo(f"{shown(folder)}: {count_of(len(files), 'file', 'files')} written, none overwritten")
    if files:
        click.echo(f"Next: change them, and build with --templates {shown(folder)}")
