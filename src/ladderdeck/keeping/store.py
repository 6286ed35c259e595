"""Keeps what was computed for the next run, in the user's cache folder. It may be deleted at any moment.

An entry is one file of plain JSON, named by a hash of all that it was made of. Nothing in it is ever run, and a check sum
lets none pass that was damaged. Where there is no folder to write to, or one that others may write to, nothing is kept,
and nobody is told: all of it can be computed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LARGEST = 64 * 1024 * 1024
"""Bytes that the store may hold; beyond that the entries that were not used for the longest time go, down to half."""

FOLDER_VARIABLE = "LADDERDECK_CACHE"
"""The environment variable that names the store's folder, or with an empty value says that nothing is to be kept."""

_SUFFIX = ".entry"
_DAY = 24 * 3600


class Store:
    """What is kept in ``folder``; nothing, where that is None. Several processes may use it at once."""

    def __init__(self, folder: Path | None, largest: int = LARGEST) -> None:
        self._folder = folder
        self._largest = largest
        self._is_ours: bool | None = None
        self._written = False

    def read(self, key: str) -> Any:
        """What was kept under a key, as JSON has it; None where there is nothing, or nothing that is whole."""
        file = self._file(key)
        if file is None:
            return None
        try:
            data = file.read_bytes()
            check, _, body = data.partition(b"\n")
            if check != _check(key, body):
                return None
            self._touch(file)
            return json.loads(body.decode("utf-8", "surrogatepass"))
        except (OSError, ValueError, RecursionError):
            return None

    def write(self, key: str, value: Any) -> None:
        """Keep a value, which must be what JSON can hold, under a key; do nothing where that cannot be done."""
        file = self._file(key, make=True)
        if file is None:
            return
        body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        temporary = file.with_name(f".{file.name}.{os.getpid()}.{os.urandom(4).hex()}")
        try:
            with os.fdopen(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as stream:
                stream.write(_check(key, body) + b"\n" + body)
            temporary.replace(file)
            self._written = True
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()

    def tidy(self) -> None:
        """Make room, if this process has written and the store has grown beyond its size."""
        if not self._written or self._folder is None:
            return
        self._written = False
        entries = sorted(self._entries(), reverse=True)
        if sum(size for _, size, _ in entries) <= self._largest:
            return
        kept = 0
        for _, size, path in entries:
            kept += size
            if kept > self._largest // 2:
                with contextlib.suppress(OSError):
                    path.unlink()

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """When each file was last used, its size in bytes, and where it is."""
        if self._folder is None:
            return
        with contextlib.suppress(OSError), os.scandir(self._folder) as found:
            for entry in found:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode) and _SUFFIX in entry.name:
                        yield status.st_mtime, status.st_size, Path(entry.path)

    def _file(self, key: str, *, make: bool = False) -> Path | None:
        if self._folder is None:
            return None
        if not self._is_ours and (make or self._is_ours is None):
            self._is_ours = _is_ours(self._folder, make=make)
        return self._folder / f"{key}{_SUFFIX}" if self._is_ours else None

    def _touch(self, file: Path) -> None:
        """Note that an entry was used, once a day."""
        now = time.time()
        with contextlib.suppress(OSError):
            if now - file.stat().st_mtime > _DAY:
                os.utime(file, (now, now))


NO_STORE = Store(None)
"""Keeps nothing."""


def user_store() -> Store:
    """The store of whoever runs this process."""
    return Store(_user_folder())


def _user_folder() -> Path | None:
    named = os.environ.get(FOLDER_VARIABLE)
    if named is not None:
        return Path(named) if named else None
    # By hand and not with platformdirs, whose import takes longer than all that is done with its result.
    given = os.environ.get("XDG_CACHE_HOME", "")
    if given and Path(given).is_absolute():
        return Path(given, "ladderdeck")
    try:
        if sys.platform == "win32":
            local = os.environ.get("LOCALAPPDATA", "")
            return Path(local, "ladderdeck", "Cache") if local else None
        return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "ladderdeck"
    except RuntimeError:
        return None


def _is_ours(folder: Path, *, make: bool) -> bool:
    """Whether a folder is there, or can be made, that nobody but its user can write to."""
    try:
        if make:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return False
    user = getattr(os, "geteuid", None)
    return stat.S_ISDIR(status.st_mode) and (
        user is None or (status.st_uid == user() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
    )


def _check(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\n" + body).hexdigest().encode()


def key_of(*parts: str | bytes) -> str:
    """The key of what was made of these parts, and of nothing else."""
    digest = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()
