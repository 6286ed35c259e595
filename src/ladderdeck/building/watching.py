"""Notices when what a deck is made of was saved. The edge where the disk is watched.

The system's events only wake this up. What has changed is told by comparing two looks at the files, and a look is taken
every second anyway: so it does not matter how an editor saves, whether a folder went away and came back in between, or
that a network disk sends no events at all.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..keeping.home import find_home
from ..reading.discover import searched

LOOK_AGAIN = 1.0
"""Seconds after which the files are looked at even without an event."""

QUIET = 0.15
"""Seconds without a further change after which a burst of saves is taken to be over."""

LONGEST_BURST = 3.0
"""Seconds after which a burst that does not end is answered all the same."""

_PACK_FILES = frozenset(
    [".md", ".markdown", ".yaml", ".yml", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"]
)  # packs, answers, drills, settings, pictures
_TEMPLATE_FILES = frozenset([".html", ".css", ".js"])

Stamp = tuple[int, int, int]
"""What tells two states of a file apart without reading it: time of change (ns), size and inode."""


@dataclass(frozen=True)
class Look:
    """The files that a deck is made of as they were at one moment, and the folders that they may appear in.

    ``own`` is the ledger: a build changes it itself.
    """

    files: Mapping[Path, Stamp]
    folders: Mapping[Path, tuple[int, int]]
    own: Path | None = None


def look(paths: Sequence[Path], templates: Path, ledger: Path | None = None) -> Look:
    """What the packs at ``paths``, everything beside them, and ``templates`` look like now. Nothing of it need exist."""
    home = find_home(paths, ledger)
    folders: dict[Path, tuple[int, int]] = {}
    files: dict[Path, Stamp] = {}
    for path in paths:
        if path.is_dir():
            _search(path, _PACK_FILES, files, folders)
        else:
            # Only what belongs to this pack: its folder may be somebody's whole home.
            _search(path.parent / "answers", _PACK_FILES, files, folders)
            _note(path, files)
            _note(path.parent / "drills.yaml", files)
            _note_folder(path.parent, folders)
    _search(templates, _TEMPLATE_FILES, files, folders)
    for file in (home.settings, home.ledger):
        _note(file, files)
        _note_folder(file.parent, folders)
    return Look(files, folders, home.ledger)


def _search(
    folder: Path, suffixes: frozenset[str], files: dict[Path, Stamp], folders: dict[Path, tuple[int, int]]
) -> None:
    for parent, below, names in os.walk(folder):
        below[:] = searched(below)
        _note_folder(Path(parent), folders)
        for name in names:
            if not name.startswith(".") and Path(name).suffix.lower() in suffixes:
                _note(Path(parent, name), files)


def _note(file: Path, files: dict[Path, Stamp]) -> None:
    try:
        status = file.stat()
    except (OSError, ValueError):
        return
    if stat.S_ISREG(status.st_mode):
        files[file] = (status.st_mtime_ns, status.st_size, status.st_ino)


def _note_folder(folder: Path, folders: dict[Path, tuple[int, int]]) -> None:
    """Note a folder by what it is and not only by its name: one that was made anew must be watched anew."""
    try:
        status = folder.stat()
    except (OSError, ValueError):
        return
    folders[folder] = (status.st_dev, status.st_ino)


def difference(before: Look, after: Look) -> tuple[Path, ...]:
    """The files that were changed, made or removed between two looks, in order."""
    names = before.files.keys() | after.files.keys()
    return tuple(sorted(name for name in names if before.files.get(name) != after.files.get(name)))


def with_own(before: Look, after: Look) -> Look:
    """The look ``before`` with the ledger as it is ``after`` a build, which may have written it."""
    files = {file: stamp for file, stamp in before.files.items() if file not in (before.own, after.own)}
    if after.own is not None and after.own in after.files:
        files[after.own] = after.files[after.own]
    return Look(files, before.folders, after.own)


def saves(take_look: Callable[[], Look]) -> Iterator[tuple[Path, ...]]:
    """The files that were saved, once for each burst; at first nothing, for the work that comes before any save.

    Whoever takes a value works while this stands still, and what is saved during the work is the next value. It never
    ends by itself; Ctrl-C raises KeyboardInterrupt.
    """
    before, waiter = take_look(), Waiter()
    yield ()
    before = with_own(before, take_look())
    while True:
        now = take_look()
        if not difference(before, now):
            waiter.wait(now.folders)
            continue
        now = _settled(take_look, now)
        changed = difference(before, now)
        before = now
        if changed:
            yield changed
            before = with_own(before, take_look())


def _settled(take_look: Callable[[], Look], now: Look) -> Look:
    """The first look at which nothing has changed any more, after one that saw a change."""
    pause = threading.Event()
    for _ in range(int(LONGEST_BURST / QUIET)):
        pause.wait(QUIET)
        later = take_look()
        if not difference(now, later):
            return later
        now = later
    return now


class Waiter:
    """Waits for events in folders, and LOOK_AGAIN seconds at most. The watch goes on between two calls."""

    def __init__(self) -> None:
        self._folders: Mapping[Path, tuple[int, int]] = {}
        self._events: Iterator[Any] = iter(())

    def wait(self, folders: Mapping[Path, tuple[int, int]]) -> None:
        """Return when something may have changed in ``folders``."""
        if folders != self._folders:
            self._folders, self._events = dict(folders), _events(folders)
        try:
            next(self._events)
        except (OSError, StopIteration):
            # A folder has just gone, or the system has no more watches to give: look every second then.
            self._events = iter(())
            threading.Event().wait(LOOK_AGAIN)


def _events(folders: Iterable[Path]) -> Iterator[Any]:
    from watchfiles import watch

    milliseconds = int(1000 * LOOK_AGAIN)
    return watch(
        *folders,
        watch_filter=None,
        step=20,
        debounce=100,
        rust_timeout=milliseconds,
        yield_on_timeout=True,
        recursive=False,
    )
