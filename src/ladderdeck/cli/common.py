"""What several commands share: arguments, and how problems are shown."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from ..building.report import problem_text
from ..keeping.home import DEFAULT_PATH
from ..packaging.templates import default_folder
from ..values.model import Language, Problem, Severity

_Function = TypeVar("_Function", bound=Callable[..., Any])


def pack_arguments(function: _Function) -> _Function:
    """Give a command the arguments PATH... and --language."""
    function = click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))(function)
    languages = click.Choice([language.value for language in Language])
    option = click.option("--language", type=languages, help="Take only the packs in this language.")
    return option(function)


def ledger_option(function: _Function) -> _Function:
    """Give a command the option --ledger."""
    kind = click.Path(dir_okay=False, path_type=Path)
    text = "The ledger to use, if it is not the ledger.json above the packs."
    return click.option("--ledger", metavar="FILE", type=kind, help=text)(function)


_IN_FOLDER = "*"
"""Stands for the name of a file of which only the folder was given: no file is called so."""


class _Output(click.Path):
    """A file to write. What ends with a slash is the folder that it shall be in, whether that exists or not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and value.endswith(("/", os.sep)):
            return Path(value, _IN_FOLDER)
        return super().convert(value, param, ctx)


def named(output: Path, default: Path) -> Path:
    """The file that -o means: where only a folder was given, the one of that folder that is called as ``default`` is."""
    return output.with_name(default.name) if output.name == _IN_FOLDER else output


def output_option(
    what: str, default: Path | None = None, shown_default: str | bool = True
) -> Callable[[_Function], _Function]:
    """Give a command the option -o; ``what`` says for its help what is written."""
    return click.option(
        "-o",
        "--output",
        metavar="FILE",
        type=_Output(dir_okay=False, path_type=Path),
        default=default,
        show_default=shown_default,
        help=what,
    )


def templates_option(function: _Function) -> _Function:
    """Give a command the option --templates; its value is the program's own folder where it is not given."""
    kind = click.Path(file_okay=False, path_type=Path)
    text = "A folder with your own look; `templates --export` makes one to start from."
    return click.option("--templates", metavar="DIR", type=kind, default=default_folder, help=text)(function)


def quiet_option(function: _Function) -> _Function:
    """Give a command the option --quiet."""
    return click.option("-q", "--quiet", is_flag=True, help="Print nothing but problems.")(function)


def no_cache_option(function: _Function) -> _Function:
    """Give a command the option --no-cache."""
    text = "Use nothing that earlier runs have computed, and keep nothing."
    return click.option("--no-cache", is_flag=True, help=text)(function)


def json_option(function: _Function) -> _Function:
    """Give a command the option --json, whose value is called ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")(function)


def given_paths(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The paths that were given, or the folder cards/."""
    return tuple(paths) or (DEFAULT_PATH,)


def given_language(language: str | None) -> Language | None:
    """The language of --language, if it was given."""
    return Language(language) if language else None


def called() -> str:
    """What a person types to call this program, the way it was called now."""
    return click.get_current_context().find_root().info_name or "ladderdeck"


def show_problems(problems: Iterable[Problem], *, err: bool) -> None:
    """Print problems for a person, in colour where the terminal has it and NO_COLOR is not set."""
    for problem in problems:
        first, _, rest = problem_text(problem).partition("\n")
        word = f" {problem.severity.value}: "
        colour = "red" if problem.severity is Severity.ERROR else "yellow"
        place, _, message = first.partition(word)
        text = f"{click.style(place, bold=True)}{click.style(word, fg=colour)}{message}\n{rest}"
        click.echo(text, err=err, color=False if os.environ.get("NO_COLOR") else None)


def echo_json(data: Any) -> None:
    """Print data as JSON, in the characters that standard output can take."""
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "").replace("_", "")
    click.echo(json.dumps(data, ensure_ascii=encoding != "utf8", indent=2))
