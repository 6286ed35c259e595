"""Knows when a command would do what it did last time, since nothing has changed that it reads.

What a command reads is looked at as a whole, and more of it than the command needs: all files beside the packs that could
be packs, answers, drills, pictures, settings or ledgers, the templates, the output, and this program. Their contents make
a state; what came out in a state is kept under it. Where something is odd there is no state, and the work is done.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..values.model import Language, Position, Problem, Severity
from ..values.paths import TEMPORARY
from .home import LEDGER_FILE, find_home
from .program import program
from .store import Store, key_of

READ = (".md", ".markdown", ".yaml", ".yml", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
"""How the names of files end that a deck may be made of, besides its ledger."""

_LARGEST = 64 * 1024 * 1024
"""Bytes of a file above which nothing is remembered."""


class _OddError(Exception):
    """Something that makes it doubtful whether all that a command reads was seen."""


@dataclass(frozen=True)
class Watched:
    """What a command depends on: the ``paths`` that it was given, the ``ledger`` and the ``language`` if they were,
    ``files`` that it reads or replaces besides, the folder with the ``templates``, and its other ``options`` in words."""

    paths: Sequence[Path]
    ledger: Path | None
    language: Language | None
    files: Sequence[Path]
    templates: Path
    options: Sequence[str] = ()


@dataclass(frozen=True)
class State:
    """What the command's surroundings hold. ``key`` names the command and ``content`` all that it reads; ``inputs`` is the
    content without the ledger and the files that it may write, and ``stamps`` are the times at which those changed."""

    key: str
    content: str
    inputs: str
    stamps: str


@dataclass(frozen=True)
class Remembered:
    """What a command came to: the problems, the lines that it prints, and the same as data for JSON."""

    problems: tuple[Problem, ...]
    lines: tuple[str, ...]
    view: Any


def state_of(watched: Watched) -> State | None:
    """The state of all that a command reads; None where that cannot be told for sure."""
    try:
        return _state(watched)
    except (_OddError, OSError, ValueError, RuntimeError):
        return None


def recall(store: Store, state: State | None, clock: int) -> Remembered | None:
    """What came out in this very state before; None where nothing is known of it. ``clock`` is now, in Unix seconds."""
    found = store.read(state.key) if state is not None else None
    try:
        # A clock that was set back may make a warning of its own.
        if state is None or found is None or found["content"] != state.content or found["clock"] > clock:
            return None
        return Remembered(
            tuple(_problem(each) for each in found["problems"]), tuple(map(str, found["lines"])), found["view"]
        )
    except (KeyError, TypeError, ValueError):
        return None


def remember(store: Store, before: State | None, after: State | None, what: Remembered, clock: int) -> None:
    """Keep what a command came to, if nothing that it reads has changed while it worked. ``before`` and ``after`` are the
    states at its beginning and its end; it is recalled in the latter."""
    if before is None or after is None or (before.inputs, before.stamps) != (after.inputs, after.stamps):
        return
    problems = [
        [p.code, p.severity.value, p.position.file, p.position.line, p.position.column, p.message, p.hint]
        for p in what.problems
    ]
    value = {"content": after.content, "clock": clock, "problems": problems, "lines": what.lines, "view": what.view}
    store.write(after.key, value)
    store.tidy()


def _problem(values: list[Any]) -> Problem:
    code, severity, file, line, column, message, hint = values
    return Problem(code, Severity(severity), Position(file, line, column), message, hint)


def _state(watched: Watched) -> State:
    home = find_home(watched.paths, watched.ledger)
    roots = [home.folder] if home.folder.is_dir() else []
    for path in watched.paths:
        # What lies outside of the deck's own folder may take its answers and pictures from anywhere.
        if path.is_symlink() or not path.resolve().is_relative_to(home.folder.resolve()):
            raise _OddError
        if path.is_dir() and not _is_below(path, roots):
            roots.append(path)
    written = [home.ledger, *watched.files]
    for file in written:
        _refuse_left_over(file.parent)
    look = _Look({os.path.realpath(file) for file in written})
    for root in roots:
        look.walk(str(root), READ)
    for path in (home.settings, *(path for path in watched.paths if not path.is_dir())):
        look.file(str(path))
    look.walk(str(watched.templates), ())
    inputs = key_of(look.content.digest(), program())
    asked = [*map(str, watched.paths), "", str(watched.ledger), str(watched.language), str(watched.templates)]
    key = key_of(str(Path.cwd()), str(home.folder), *asked, *map(str, watched.files), *watched.options)
    now = _Look(set())
    for file in written:
        now.file(str(file))
    return State(key, key_of(inputs, now.content.digest()), inputs, look.stamps.hexdigest())


def _is_below(path: Path, folders: Sequence[Path]) -> bool:
    return any(path.resolve().is_relative_to(folder.resolve()) for folder in folders)


def _refuse_left_over(folder: Path) -> None:
    """A build that was killed left something behind, which the next one clears away; or it cannot write there."""
    if folder.is_dir():
        if not os.access(folder, os.W_OK) or any(name.endswith(TEMPORARY) for name in os.listdir(folder)):  # noqa: PTH208
            raise _OddError
    elif folder.exists():
        raise _OddError


class _Look:
    """Reads files and folders, and makes a digest of their names and contents, and one of their times of change."""

    def __init__(self, passed_over: set[str]) -> None:
        self.content = hashlib.sha256()
        self.stamps = hashlib.sha256()
        self._passed_over = passed_over

    def walk(self, folder: str, suffixes: tuple[str, ...]) -> None:
        """All files below a folder whose names end so, without it all; ledgers always. Links to folders are odd."""
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                self.walk(entry.path, suffixes)
            elif entry.is_symlink() and entry.is_dir():
                raise _OddError
            elif not suffixes or entry.name == LEDGER_FILE or entry.name.lower().endswith(suffixes):
                if entry.is_symlink():
                    self._add(self.content, os.fsencode(Path(entry.path).readlink()))
                self.file(entry.path)

    def file(self, path: str) -> None:
        """A file, or that there is none."""
        if os.path.realpath(path) in self._passed_over:
            return
        self._add(self.content, os.fsencode(path))
        try:
            status = Path(path).stat()
        except FileNotFoundError:
            self._add(self.content, b"there is none")
            return
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            raise _OddError
        with Path(path).open("rb") as stream:
            self._add(self.content, hashlib.sha256(stream.read()).digest())
        times = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        self._add(self.stamps, repr(times).encode())

    @staticmethod
    def _add(digest: Any, data: bytes) -> None:
        digest.update(b"%d:" % len(data))
        digest.update(data)
