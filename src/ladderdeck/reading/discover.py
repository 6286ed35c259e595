"""Finding and reading the files that a command is given: the edge where paths and the disk begin and end."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..values.model import Position, Problem, Severity
from ..values.paths import shown
from .recognise import is_pack

LARGEST_FILE = 16 * 1024 * 1024
"""Bytes. A pack of 5,000 topics is a tenth of that; more is no document that a person wrote."""

_NOT_SEARCHED = frozenset(["node_modules", "__pycache__"])


@dataclass(frozen=True)
class Document:
    """The content of a file, its path as the user would write it, and where it is."""

    path: str
    data: bytes
    file: Path


@dataclass(frozen=True)
class Found:
    """The packs among the given paths, the Markdown files that are none, and what could not be found or read."""

    documents: tuple[Document, ...]
    passed_over: tuple[str, ...]
    problems: tuple[Problem, ...]


def discover(paths: Sequence[Path]) -> Found:
    """Read the packs at ``paths``: a file is taken as a pack, a folder is searched for packs at any depth.

    A file that is reached twice is read once. Folders whose name begins with a dot are not searched, links to folders
    are not followed.
    """
    documents: list[Document] = []
    passed_over: dict[Path, str] = {}
    problems: list[Problem] = []
    seen: set[Path] = set()
    for given in paths:
        before = len(documents), len(problems)
        for path in _files(given, problems):
            real = path.resolve()
            # What a folder's search passed over is still a pack where it is named.
            if real in seen and not (path == given and real in passed_over):
                continue
            seen.add(real)
            data = read_file(path, problems)
            if data is None:
                continue
            if path == given or is_pack(data):
                documents.append(Document(shown(path), data, path))
                passed_over.pop(real, None)
            else:
                passed_over[real] = shown(path)
        nothing_new = (len(documents), len(problems)) == before
        if nothing_new and given.is_dir() and not any(_is_under(d.file, given) for d in documents):
            message = "no pack is in this folder"
            hint = "a pack is a Markdown file whose front matter has name: and layer:"
            problems.append(_problem("no-packs", given, message, hint))
    return Found(tuple(documents), tuple(passed_over.values()), tuple(problems))


def with_arriving(found: Found, arriving: Sequence[Document]) -> Found:
    """What would be found if the packs ``arriving`` had their places on the disk."""
    if not arriving:
        return found
    places = {document.file.resolve() for document in arriving}
    documents = [document for document in found.documents if document.file.resolve() not in places]
    problems = [problem for problem in found.problems if problem.code != "no-packs"]
    return Found((*documents, *arriving), found.passed_over, tuple(problems))


def _is_under(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _files(given: Path, problems: list[Problem]) -> Iterator[Path]:
    try:
        mode = given.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        if given.is_symlink():
            problems.append(_dangling(given))
        else:
            problems.append(_problem("no-such-path", given, "there is no such file or folder", "check the path"))
    except OSError as error:
        problems.append(_unreadable(given, error))
    else:
        if stat.S_ISDIR(mode):
            yield from _search(given, problems)
        elif stat.S_ISREG(mode):
            yield given
        else:
            message, hint = "this is neither a file nor a folder", "name a pack or a folder"
            problems.append(_problem("not-a-file", given, message, hint))


def searched(folders: Sequence[str]) -> list[str]:
    """Those of the names of folders in which packs are searched for, in order."""
    return sorted(name for name in folders if not name.startswith(".") and name not in _NOT_SEARCHED)


def _search(folder: Path, problems: list[Problem]) -> Iterator[Path]:
    def failed(error: OSError) -> None:
        problems.append(_unreadable(Path(error.filename or folder), error))

    for parent, folders, files in os.walk(folder, onerror=failed):
        folders[:] = searched(folders)
        for name in sorted(files):
            path = Path(parent, name)
            if not name.lower().endswith((".md", ".markdown")) or name.startswith("."):
                continue
            if path.is_file():
                yield path
            elif path.is_symlink():
                problems.append(_dangling(path))


def read_file(path: Path, problems: list[Problem]) -> bytes | None:
    """The content of a file; None, and a problem, where it cannot be read or is too large."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            message = f"the file is larger than {LARGEST_FILE // 1024 // 1024} MB"
            problems.append(_problem("file-too-large", path, message, "split it into several packs"))
            return None
        return path.read_bytes()
    except OSError as error:
        problems.append(_unreadable(path, error))
        return None


def _dangling(path: Path) -> Problem:
    return _problem(
        "not-a-file", path, "this is a link to a file that is not there", "remove it, or mend where it leads"
    )


def _unreadable(path: Path, error: OSError) -> Problem:
    reason = error.strerror or type(error).__name__
    return _problem("cannot-read", path, f"this cannot be read: {reason}", "check its permissions")


def _problem(code: str, path: Path, message: str, hint: str) -> Problem:
    return Problem(code, Severity.ERROR, Position(shown(path)), message, hint)
