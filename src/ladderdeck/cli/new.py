"""`new`: a commented pack to start from."""

from __future__ import annotations

from pathlib import Path

import click

from ..authoring.starting import new_pack, packs_in, write_files, wrong_name
from ..keeping.files import unwritable
from ..keeping.home import DEFAULT_PATH
from ..reading.located import is_wide
from ..values.model import Language
from ..values.paths import shown
from .common import called, given_language, show_problems


@click.command("new")
@click.argument("name")
@click.option("--language", type=click.Choice([language.value for language in Language]), help="What it is written in.")
@click.option(
    "--in",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=DEFAULT_PATH,
    show_default=True,
    help="The folder that holds the packs.",
)
def command(name: str, language: str | None, folder: Path) -> None:
    """Write a commented pack called NAME, with an answer and a drill, to start from.

    It builds as it is; replace its contents piece by piece. Nothing that is there is overwritten. Without --language it is
    written in Chinese where NAME is, else as the packs are that are there, in English where there are none or both.

    Example: python build.py new system-design --language en
    """
    name = shown(Path(name)) if name else name
    if wrong := wrong_name(name):
        raise click.BadParameter(f"{wrong}.", param_hint="NAME")
    files, problems = new_pack(name, given_language(language) or _usual_language(name, folder), folder, called())
    show_problems(problems, err=True)
    if problems:
        raise SystemExit(1)
    try:
        write_files(files)
    except OSError as error:
        show_problems([unwritable(folder, error)], err=True)
        raise SystemExit(1) from None
    for file in files:
        click.echo(shown(file))
    where = "" if folder == DEFAULT_PATH else f" {shown(folder)}"
    click.echo(
        f"Next: edit the first of them, then look with `{called()} check{where}` and `{called()} preview{where}`."
    )


def _usual_language(name: str, folder: Path) -> Language:
    if any(is_wide(character) for character in name):
        return Language.CHINESE
    languages = {pack.language for pack in packs_in(folder)}
    return languages.pop() if len(languages) == 1 else Language.ENGLISH
