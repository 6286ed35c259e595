"""Writing files so that what is on disk is always the old content or the new, whatever happens in between."""

from __future__ import annotations

import contextlib
import filecmp
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from .model import Position, Problem, Severity

LOCK_PATIENCE = 120.0
"""Seconds that a build waits for another one that writes the same files."""

_SUFFIX = ".ladderdeck.tmp"
_LEFT_OVER = 3600
"""Seconds after which a temporary file belongs to no build that still runs."""


def replace_together(writers: Mapping[Path, Callable[[Path], None]]) -> list[Path]:
    """Replace several files, all or none, and return those whose content has changed.

    Each writer makes the new content in a temporary file beside its file. Only when all have succeeded, the new files
    take their places, in the given order; a file whose content stays the same is not touched. Missing folders are made.
    Raises OSError (and whatever a writer raises), and then everything is as it was, with nothing left beside it.
    """
    for file in writers:
        _clear_left_over(file)
    made: list[Path] = []
    temporaries: list[Path] = []
    replaced: list[tuple[Path, Path | None]] = []
    try:
        fresh = []
        for file, write in writers.items():
            made.extend(_make_folders(file.parent))
            temporary = _temporary(file)
            temporaries.append(temporary)
            write(temporary)
            if not (file.exists() and filecmp.cmp(temporary, file, shallow=False)):
                _settle(temporary, file)
                fresh.append((temporary, file))
        backups = [_backup(file, temporaries) for _, file in fresh]
        for (temporary, file), backup in zip(fresh, backups, strict=True):
            replaced.append((file, backup))
            temporary.replace(file)
    except BaseException:
        _restore(replaced)
        _remove(temporaries)
        for folder in made:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    _remove(temporaries)
    return [file for _, file in fresh]


@contextlib.contextmanager
def only_one(file: Path) -> Iterator[None]:
    """Hold back any other process that wants to read and replace ``file`` until this one is done.

    Raises TimeoutError after LOCK_PATIENCE seconds. The lock is a file in the system's temporary folder, and ends with
    the process, however it ends.
    """
    from filelock import FileLock, Timeout

    user = getattr(os, "getuid", lambda: 0)()
    name = hashlib.sha256(str(file.absolute().resolve()).encode("utf-8", "surrogatepass")).hexdigest()[:20]
    lock = FileLock(Path(tempfile.gettempdir(), f"ladderdeck-{user}-{name}.lock"))
    try:
        lock.acquire(timeout=LOCK_PATIENCE)
    except Timeout as error:
        raise TimeoutError(str(file)) from error
    try:
        yield
    finally:
        lock.release()


def unwritable(file: Path, error: OSError) -> Problem:
    """The problem for a file that could not be written."""
    reason = error.strerror or type(error).__name__
    message = f"the file cannot be written: {reason}"
    hint = "check its folder's permissions and the space left, or name another file with -o"
    return Problem("cannot-write", Severity.ERROR, Position(file.as_posix()), message, hint)


def _prefix(file: Path) -> str:
    return f".{file.stem[:20]}-"


def _clear_left_over(file: Path) -> None:
    """Remove what a build that was killed has left beside ``file``."""
    with contextlib.suppress(OSError):
        for path in file.parent.iterdir():
            is_ours = path.name.startswith(_prefix(file)) and path.name.endswith(_SUFFIX)
            if is_ours and time.time() - path.stat().st_mtime > _LEFT_OVER:
                path.unlink()


def _temporary(file: Path) -> Path:
    handle, name = tempfile.mkstemp(prefix=_prefix(file), suffix=_SUFFIX, dir=file.parent)
    os.close(handle)
    return Path(name)


def _settle(temporary: Path, file: Path) -> None:
    """Make the temporary file safe against a power cut, and give it the permissions that its file has or would get."""
    with temporary.open("rb+") as stream:
        os.fsync(stream.fileno())
    if file.exists():
        temporary.chmod(file.stat().st_mode & 0o777)
        return
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod(0o666 & ~mask)


def _backup(file: Path, temporaries: list[Path]) -> Path | None:
    if not file.exists():
        return None
    backup = _temporary(file)
    temporaries.append(backup)
    shutil.copy2(file, backup)
    return backup


def _restore(replaced: list[tuple[Path, Path | None]]) -> None:
    """Undo the replacements. The last of them may not have happened: its backup has the same content then."""
    for file, backup in reversed(replaced):
        with contextlib.suppress(OSError):
            if backup is None:
                file.unlink()
            else:
                backup.replace(file)


def _remove(temporaries: list[Path]) -> None:
    for temporary in temporaries:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _make_folders(folder: Path) -> list[Path]:
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing
