"""`answers`: how far the packs are answered, and skeletons for what is missing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from ..answering.beside import new_answer_file
from ..answering.coverage import Row, coverage, skeletons
from ..building.inputs import Inputs, read_inputs
from ..building.report import coverage_table
from ..building.views import coverage_view
from ..keeping.files import replace_together, unwritable
from ..values.model import Severity
from ..values.paths import shown
from .common import echo_json, given_language, given_paths, json_option, pack_arguments, show_problems


@click.command("answers")
@pack_arguments
@json_option
@click.option("--new", "write_new", is_flag=True, help="Write skeletons for what is missing, into files of their own.")
def command(paths: tuple[Path, ...], language: str | None, as_json: bool, write_new: bool) -> None:
    """Show which items of the packs at PATH, or in the folder cards/, are answered.

    Answers lie in the folder answers/ beside a pack. An answer is stale where its heading is worded otherwise than the
    pack; it still is on the card.

    Example: python build.py answers cards/ --new
    """
    inputs = read_inputs(given_paths(paths), given_language(language))
    errors = [problem for problem in inputs.problems if problem.severity is Severity.ERROR]
    rows = () if errors else coverage(inputs.library.packs, inputs.answers)
    if as_json:
        echo_json(coverage_view(rows, errors))
    else:
        show_problems(errors, err=True)
    if errors:
        raise SystemExit(1)
    if not as_json:
        for line in coverage_table(rows):
            click.echo(line)
    if write_new:
        _write(rows, inputs, aside=as_json)


def _write(rows: tuple[Row, ...], inputs: Inputs, *, aside: bool) -> None:
    folders = {(pack.name, pack.language.value): inputs.files[pack.path].parent for pack in inputs.library.packs}
    # A skeleton that waits to be filled in is missing still, and needs no second one.
    waiting = inputs.answers.by_item
    unwritten = [replace(row, missing=tuple(item for item in row.missing if item not in waiting)) for row in rows]
    for (pack, language, topic), text in skeletons(unwritten).items():
        file = new_answer_file(folders[pack, language], topic)
        try:
            replace_together({file: partial(_fill, text=text)})
        except OSError as error:
            show_problems([unwritable(file, error)], err=True)
            raise SystemExit(1) from None
        click.echo(f"{shown(file)}: to be filled in", err=aside)


def _fill(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8"))
