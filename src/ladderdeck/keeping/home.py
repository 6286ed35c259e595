"""Where a deck's own files lie: the folder with its ledger and its `deck.yaml`, for the paths that a command is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path

from ..values.model import Position, Problem, Severity
from ..values.paths import shown

LEDGER_FILE = "ledger.json"
LEDGER_BEGINNING = b'{"format": '
SETTINGS_FILE = "deck.yaml"
DEFAULT_PATH = Path("cards")


@dataclass(frozen=True)
class Home:
    """The folder that a deck belongs to, and its files, whether they exist or not."""

    folder: Path
    ledger: Path
    settings: Path


def find_home(paths: Sequence[Path], ledger: Path | None = None) -> Home:
    """The home of the packs at ``paths``: the nearest folder above them that has a ledger, else one with a `deck.yaml`.

    Without either it is `cards/` where the paths lie in it, else the folder of the paths itself. The search ends at the
    working folder or at a git checkout's. Where it would end before it began (the paths are that folder, or lie outside
    of both) it goes on for a file that begins as a ledger, so that no stranger's is taken. ``ledger`` names it outright.
    """
    if ledger is not None:
        return Home(ledger.parent, ledger, ledger.parent / SETTINGS_FILE)
    start = _common_folder(paths)
    folders = _upwards(start)
    outside = (
        [] if len(folders) > 1 else [folder for folder in start.parents if _begins_as_ledger(folder / LEDGER_FILE)]
    )
    for folder in (*(f for f in folders if (f / LEDGER_FILE).is_file()), *outside[:1]):
        return _home(folder)
    for folder in folders:
        if (folder / SETTINGS_FILE).is_file():
            return _home(folder)
    default = DEFAULT_PATH.resolve()
    return _home(default if default in folders else start)


def _home(folder: Path) -> Home:
    shown = _as_written(folder)
    return Home(shown, shown / LEDGER_FILE, shown / SETTINGS_FILE)


def _common_folder(paths: Sequence[Path]) -> Path:
    resolved = [path.resolve() for path in paths]
    folders = [path if path.is_dir() else path.parent for path in resolved]
    try:
        return Path(commonpath(folders))
    except ValueError:
        # On Windows, paths on two drives have nothing in common.
        return folders[0]


def _upwards(start: Path) -> list[Path]:
    """The folders from ``start`` up to the working folder or a git checkout's; ``start`` alone where it is in neither."""
    working = Path.cwd().resolve()
    above = [start, *start.parents]
    ends = [index for index, folder in enumerate(above) if folder == working or (folder / ".git").exists()]
    return above[: ends[0] + 1] if ends else [start]


def _begins_as_ledger(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            return stream.read(len(LEDGER_BEGINNING)) == LEDGER_BEGINNING
    except OSError:
        return False


def _as_written(folder: Path) -> Path:
    """A path relative to the working folder where that is shorter, as a person would write it."""
    working = Path.cwd().resolve()
    return folder.relative_to(working) if folder.is_relative_to(working) else folder


def other_ledgers(home: Home, paths: Sequence[Path]) -> tuple[Problem, ...]:
    """An error for each ledger that lies deeper than the home's: its notes would get a second identity."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found.extend(file for file in path.rglob(LEDGER_FILE) if file.resolve() != home.ledger.resolve())
    return tuple(
        Problem(
            "second-ledger",
            Severity.ERROR,
            Position(shown(file)),
            f"this ledger lies inside a deck that has one of its own: {shown(home.ledger)}",
            "build that folder by itself, or name the ledger that counts with --ledger",
        )
        for file in sorted(set(found))
    )
