"""The package that a command hands over: where it is, what is in it, and whether it is behind its packs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from ..building.build import build
from ..building.report import count_of
from ..building.request import Request
from ..keeping.store import user_store
from ..packaging.package_reading import read_package
from ..packaging.templates import default_folder
from ..values.model import Position, Problem, Severity
from ..values.paths import shown
from .build import DEFAULT_OUTPUT
from .common import called, given_language, given_paths, show_problems

_Function = TypeVar("_Function", bound=Callable[..., Any])


def package_option(function: _Function) -> _Function:
    """Give a command the option -o, which names the package as it does for a build."""
    return click.option(
        "-o",
        "--output",
        "package",
        metavar="FILE",
        type=click.Path(dir_okay=False, path_type=Path),
        default=DEFAULT_OUTPUT,
        show_default=True,
        help="The package, as a build wrote it.",
    )(function)


def read_package_file(package: Path) -> bytes:
    """The bytes of the package, which is read once, so that a build meanwhile changes nothing.

    Exits with 1, and says why, if it is not there, cannot be read, or is no package.
    """
    try:
        data = package.read_bytes()
        read_package(data)
    except FileNotFoundError:
        option = "" if package == DEFAULT_OUTPUT else f" -o {shown(package)}"
        _fail(package, "no-package", "there is no package here yet", f"build it first: {called()}{option}")
    except OSError as error:
        _fail(package, "cannot-read", f"this cannot be read: {error.strerror or error}", "check its permissions")
    except ValueError as error:
        _fail(package, "not-a-package", str(error), "build the package again, or name another one with -o")
    return data


def warn_if_stale(data: bytes, package: Path, paths: Sequence[Path], language: str | None, ledger: Path | None) -> None:
    """Warn if a build of the packs would make other notes than the package holds; exit with 1 if PATH is wrong.

    Without PATH only the package that a build makes by default is looked at: where another one comes from is unknown.
    """
    if not paths and package != DEFAULT_OUTPUT:
        return
    if missing := [path for path in paths if not path.exists()]:
        _fail(missing[0], "no-such-path", "there is no such file or folder", "name a pack, or a folder with packs")
    if not paths and not given_paths(paths)[0].exists():
        return
    clock = int(time.time())
    request = Request(
        paths=given_paths(paths),
        output=package,
        templates=default_folder(),
        now=clock,
        clock=clock,
        language=given_language(language),
        ledger=ledger,
        dry_run=True,
    )
    outcome = build(request, store=user_store())
    code, position = "stale-package", Position(shown(package))
    if outcome.failed:
        message = "the packs have mistakes now, and this package is from before"
        hint = f"{called()} check shows them"
    else:
        held = {note.guid: note.modified for note in read_package(data)}
        made = {identified.guid: identified.modified for identified in outcome.notes}
        behind = sum(held.get(guid) != made.get(guid) for guid in held.keys() | made.keys())
        if not behind:
            return
        message = (
            f"the packs have changed since this package was built: {count_of(behind, 'note', 'notes')} would differ"
        )
        hint = f"build first: {called()}"
    show_problems([Problem(code, Severity.WARNING, position, message, hint)], err=True)


def _fail(file: Path, code: str, message: str, hint: str) -> NoReturn:
    show_problems([Problem(code, Severity.ERROR, Position(shown(file)), message, hint)], err=True)
    raise SystemExit(1)
