"""A build from paths to a package: the one place where reading, composing, identity and packaging meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .compose import compose
from .discover import Document, discover
from .files import replace_file, unwritable
from .identity import guids
from .library import Library, read_library
from .model import Kind, Language, Position, Problem, Severity
from .note import IdentifiedNote, Note
from .package import write_package
from .settings import Settings, read_settings
from .templates import Templates, load_templates

SETTINGS_FILE = "deck.yaml"


@dataclass(frozen=True)
class Request:
    """What a build is asked for: the packs' ``paths``, the package to write, and the time (Unix seconds) it is made."""

    paths: Sequence[Path]
    output: Path
    templates: Path
    now: int
    language: Language | None = None


@dataclass(frozen=True)
class Outcome:
    """What a build made; with an error among the ``problems`` nothing on disk has changed."""

    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]

    @property
    def failed(self) -> bool:
        """Whether an error kept the package from being written."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)


def build(request: Request) -> Outcome:
    """Read the packs, and write the package unless there is an error in anything that was read."""
    library, settings = read_inputs(request.paths, request.language)
    templates = load_templates(request.templates)
    problems = (*library.problems, *templates.problems)
    if any(problem.severity is Severity.ERROR for problem in problems):
        return Outcome((), problems)
    notes = compose(library.packs, settings)
    if not notes:
        hint = "check `kinds:` in deck.yaml"
        empty = Problem("no-notes", Severity.ERROR, Position(library.packs[0].path), "the packs make no note", hint)
        return Outcome((), (*problems, empty))
    identified = [IdentifiedNote(note, guid, request.now) for note, guid in zip(notes, guids(notes), strict=True)]
    return Outcome(notes, (*problems, *_write(identified, templates, request)))


def read_inputs(paths: Sequence[Path], language: Language | None) -> tuple[Library, Settings]:
    """The packs at ``paths`` and the deck's settings, with the problems of both in the library."""
    library = read_library(discover(paths), language)
    settings, problems = _read_settings(paths)
    return replace(library, problems=(*library.problems, *problems)), settings


def _read_settings(paths: Sequence[Path]) -> tuple[Settings, tuple[Problem, ...]]:
    file = next((folder / SETTINGS_FILE for folder in homes(paths) if (folder / SETTINGS_FILE).is_file()), None)
    if file is None:
        return Settings(), ()
    try:
        document = Document(file.as_posix(), file.read_bytes())
    except OSError as error:
        message = f"the settings cannot be read: {error.strerror}"
        position = Position(file.as_posix())
        return Settings(), (Problem("cannot-read", Severity.ERROR, position, message, "check the permissions"),)
    return read_settings(document.data, document.path)


def homes(paths: Sequence[Path]) -> list[Path]:
    """The folders in which a deck's own files may lie: those of ``paths``, then the ones above, nearest first.

    The search ends at the folder that git keeps, or at the working folder, so that no stranger's file is found.
    """
    found: dict[Path, None] = {}
    for path in paths:
        folder = path if path.is_dir() else path.parent
        for candidate in (folder, *folder.absolute().parents):
            found.setdefault(candidate)
            if (candidate / ".git").exists() or candidate.absolute() == Path.cwd():
                break
    return list(found)


def _write(notes: Sequence[IdentifiedNote], templates: Templates, request: Request) -> tuple[Problem, ...]:
    types = dict.fromkeys(Kind, request.now)
    try:
        replace_file(request.output, lambda file: write_package(notes, templates, types, file))
    except OSError as error:
        return (unwritable(request.output, error),)
    return ()
