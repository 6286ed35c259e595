"""Writing files so that what is on disk is always the old content or the new, whatever happens in between."""

from __future__ import annotations

import contextlib
import filecmp
import hashlib
import os
import shutil
import signal
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from ..values.model import Position, Problem, Severity
from ..values.paths import TEMPORARY, shown

LOCK_PATIENCE = 120.0
"""Seconds that a build waits for another one that writes the same files."""

_REQUESTS_TO_END = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
"""Signals that ask a process to end: of the last two each system has one, for a terminal that is closed."""

_PAUSES = (0.05, 0.1, 0.2, 0.4) if os.name == "nt" else ()
"""Seconds to wait before a replacement is tried again: on Windows a virus scanner holds a fresh file for a moment."""


def replace_together(writers: Mapping[Path, Callable[[Path], None]]) -> list[Path]:
    """Replace several files, all or none, and return those whose content has changed.

    Each writer makes the new content in a temporary file beside its file. Only when all have succeeded, the new files
    take their places, in the given order; a file whose content stays the same is not touched. Missing folders are made.
    Whoever calls this holds :func:`only_one` for all of the files. Raises OSError (and whatever a writer raises), and
    then everything is as it was, with nothing left beside it.
    """
    # A link is followed, so that it stays one.
    targets = {file: Path(os.path.realpath(file)) for file in writers}
    undo = _Undo()
    try:
        fresh = _prepare_all(writers, targets, undo)
        for file in fresh:
            undo.back_up(targets[file])
        with _undisturbed():
            for file in fresh:
                undo.replace(targets[file])
            undo.forget()
    except BaseException:
        with _undisturbed():
            undo.all()
        raise
    return fresh


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold Ctrl-C, and a friendly request to end, back until a few quick steps are done."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals come to the main thread only
        return
    caught: list[int] = []
    numbers = [getattr(signal, name) for name in _REQUESTS_TO_END if hasattr(signal, name)]
    handlers = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in handlers:
            signal.signal(number, lambda number, _: caught.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)
        for held_back in caught:
            signal.raise_signal(held_back)


def _prepare_all(
    writers: Mapping[Path, Callable[[Path], None]], targets: Mapping[Path, Path], undo: _Undo
) -> list[Path]:
    """Make the new content of all files, and return those whose content has changed.

    This is a function of its own since Python 3.12 and 3.13 put a comprehension's code into the function around it, and
    leave its jump back outside of that function's `try`: Ctrl-C at that moment would pass the undoing by.
    """
    return [file for file, write in writers.items() if _prepare(targets[file], write, undo)]


def _prepare(target: Path, write: Callable[[Path], None], undo: _Undo) -> bool:
    """Make the new content of a file beside it; whether it differs from the old."""
    undo.make_folders(target.parent)
    temporary = undo.temporary(target)
    write(temporary)
    if target.exists() and filecmp.cmp(temporary, target, shallow=False):
        return False
    _settle(temporary, target)
    return True


class _Undo:
    """What was done to the disk so far. Each step is noted before it is taken, since it may be interrupted within."""

    def __init__(self) -> None:
        self.folders: list[Path] = []
        self.fresh: dict[Path, Path] = {}
        self.backups: dict[Path, Path] = {}
        self.replaced: list[Path] = []

    def make_folders(self, folder: Path) -> None:
        self.folders.extend(parent for parent in (folder, *folder.parents) if not parent.exists())
        folder.mkdir(parents=True, exist_ok=True)

    def temporary(self, target: Path) -> Path:
        self.fresh[target] = _name_beside(target)
        _create(self.fresh[target])
        return self.fresh[target]

    def back_up(self, target: Path) -> None:
        if target.exists():
            self.backups[target] = _name_beside(target)
            _create(self.backups[target])
            shutil.copy2(target, self.backups[target])

    def replace(self, target: Path) -> None:
        self.replaced.append(target)
        _replace(self.fresh[target], target)
        _sync_folder(target.parent)

    def forget(self) -> None:
        """From here on nothing is put back."""
        self.replaced.clear()
        self.remove_temporaries()

    def all(self) -> None:
        """Put everything back. The last replacement may not have happened: its backup has the same content then."""
        for target in reversed(self.replaced):
            with contextlib.suppress(OSError):
                if target in self.backups:
                    _replace(self.backups[target], target)
                else:
                    target.unlink()
        self.remove_temporaries()
        for folder in sorted(set(self.folders), reverse=True):
            with contextlib.suppress(OSError):
                folder.rmdir()

    def remove_temporaries(self) -> None:
        for temporary in (*self.fresh.values(), *self.backups.values()):
            with contextlib.suppress(OSError):
                temporary.unlink()


@contextlib.contextmanager
def only_one(files: Iterable[Path]) -> Iterator[None]:
    """Hold back any other process that wants to read and replace one of ``files`` until this one is done, and clear
    away what a build that was killed has left beside them.

    Raises TimeoutError after LOCK_PATIENCE seconds, OSError if there is nowhere to keep the lock. It is a file in the
    system's temporary folder, and ends with the process, however it ends.
    """
    from filelock import FileLock, Timeout

    user = getattr(os, "getuid", lambda: 0)()
    with contextlib.ExitStack() as stack:
        # In one order for all processes, lest two of them wait for each other.
        for path in sorted({os.path.realpath(file) for file in files}):
            name = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:20]
            lock = FileLock(Path(tempfile.gettempdir(), f"ladderdeck-{user}-{name}.lock"))
            try:
                stack.enter_context(lock.acquire(timeout=LOCK_PATIENCE))
            except Timeout as error:
                raise TimeoutError(path) from error
            _clear_left_over(Path(path))
        yield


def unwritable(file: Path, error: OSError) -> Problem:
    """The problem for a file that could not be written."""
    reason = error.strerror or str(error) or type(error).__name__
    message = f"the file cannot be written: {reason}"
    hint = "check its folder's permissions and the space left, or name another file with -o"
    return Problem("cannot-write", Severity.ERROR, Position(shown(file)), message, hint)


def _prefix(target: Path) -> str:
    digest = hashlib.sha256(target.name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f".{target.stem[:20]}-{digest}-"


def _clear_left_over(target: Path) -> None:
    """Remove what a build that was killed has left beside ``target``; no other is at work there now."""
    with contextlib.suppress(OSError):
        for path in list(target.parent.iterdir()):
            if path.name.startswith(_prefix(target)) and path.name.endswith(TEMPORARY):
                path.unlink()


def _name_beside(target: Path) -> Path:
    return target.with_name(f"{_prefix(target)}{uuid.uuid4().hex[:12]}{TEMPORARY}")


def _create(file: Path) -> None:
    """Make an empty file that only its user can read until it is settled."""
    os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


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


def _replace(fresh: Path, target: Path) -> None:
    for pause in _PAUSES:
        try:
            fresh.replace(target)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    fresh.replace(target)


def _sync_folder(folder: Path) -> None:
    """Make a replacement last through a power cut, before the next is made. Not every system can do that to a folder."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
