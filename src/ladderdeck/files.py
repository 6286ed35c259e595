"""Writing files so that what is on disk is always the old content or the new, whatever happens in between."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from .model import Position, Problem, Severity


def replace_file(file: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` make the new content in a temporary file beside ``file``, then put it in the place of ``file``.

    Folders that are missing are made. Raises OSError, and then leaves ``file`` as it was and nothing beside it.
    """
    made = _make_folders(file.parent)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{file.name[:40]}.", suffix=".tmp", dir=file.parent)
    except OSError:
        _remove_folders(made)
        raise
    temporary = Path(name)
    try:
        os.close(handle)
        write(temporary)
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        temporary.chmod(_mode(file))
        temporary.replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        _remove_folders(made)
        raise


def unwritable(file: Path, error: OSError) -> Problem:
    """The problem for a file that could not be written."""
    reason = error.strerror or type(error).__name__
    message = f"the file cannot be written: {reason}"
    hint = "check its folder's permissions and the space left, or name another file with -o"
    return Problem("cannot-write", Severity.ERROR, Position(file.as_posix()), message, hint)


def _mode(file: Path) -> int:
    """The permissions that the new file should have: the old one's, else what any new file gets."""
    if file.exists():
        return file.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _make_folders(folder: Path) -> list[Path]:
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _remove_folders(made: list[Path]) -> None:
    for folder in made:
        with contextlib.suppress(OSError):
            folder.rmdir()
