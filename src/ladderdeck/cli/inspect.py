"""`inspect`: the parsed packs as JSON."""

from __future__ import annotations

from pathlib import Path

import click

from ..building.views import library_view
from ..reading.discover import discover
from ..reading.library import read_library
from .common import echo_json, given_language, given_paths, pack_arguments


@click.command("inspect")
@pack_arguments
def command(paths: tuple[Path, ...], language: str | None) -> None:
    """Print the packs at PATH, or in the folder cards/, as JSON, with the problems found.

    Exits with 1 where there are errors.

    Example: python build.py inspect cards/ > packs.json
    """
    library = read_library(discover(given_paths(paths)), given_language(language))
    echo_json(library_view(library.packs, library.problems))
    if library.has_errors:
        raise SystemExit(1)
