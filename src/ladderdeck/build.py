"""A build from paths to a package: the one place where reading, composing, identity and packaging meet."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .answer_html import AnswerHtml, render_answers
from .answering import Answers, ItemKey, match_answers
from .answers import parse_answers
from .beside import Pictures, answer_documents
from .compose import compose, retired_note
from .discover import Document, discover
from .files import only_one, replace_together, unwritable
from .home import Home, find_home, other_ledgers
from .identity import Changed, Identified, Scope, identify
from .ledger import Ledger, newest, read_ledger, write_ledger
from .library import Library, read_library
from .model import Language, Position, Problem, Severity
from .note import IdentifiedNote
from .package import write_package
from .settings import Settings, read_settings
from .templates import Templates, load_templates, type_fingerprints

_A_DAY = 24 * 3600


@dataclass(frozen=True)
class Request:
    """What a build is asked for.

    ``paths`` are packs and folders, ``output`` the package to write. ``now`` is the time (Unix seconds) with which
    changes are stamped, ``clock`` what the machine's clock says. ``locked`` forbids a change of the ledger, ``dry_run``
    writes nothing. ``ledger`` names the ledger's file, if it is not where it is looked for.
    """

    paths: Sequence[Path]
    output: Path
    templates: Path
    now: int
    clock: int
    language: Language | None = None
    ledger: Path | None = None
    locked: bool = False
    dry_run: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a build made, or would make: the notes, what happened to each, the problems, and the files that changed.

    With an error among the problems nothing on disk has changed.
    """

    notes: tuple[IdentifiedNote, ...] = ()
    changes: tuple[Changed, ...] = ()
    problems: tuple[Problem, ...] = ()
    written: tuple[Path, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether an error kept the package from being written."""
        return _has_error(self.problems)


@dataclass(frozen=True)
class Inputs:
    """Everything that a build reads: the deck's home with its settings and ledger, packs and answers, all problems.

    ``ledger`` is None where there is none yet.
    """

    home: Home
    settings: Settings
    ledger: Ledger | None
    library: Library
    answers: Answers
    answer_html: Mapping[ItemKey, AnswerHtml]
    pictures: Mapping[str, bytes]
    problems: tuple[Problem, ...]


def read_inputs(paths: Sequence[Path], language: Language | None, ledger: Path | None = None) -> Inputs:
    """The packs at ``paths``, and what belongs to their deck."""
    home = find_home(paths, ledger)
    found_packs = discover(paths)
    library = read_library(found_packs, language)
    problems = [*library.problems, *other_ledgers(home, paths)]
    pictures = Pictures(home.folder)
    answers = _read_answers(found_packs.documents, library, problems)
    answer_html, answer_problems = render_answers(answers, pictures.find)
    problems.extend((*answer_problems, *pictures.problems))
    settings, known = Settings(), None
    if (data := _read(home.settings, problems)) is not None:
        settings, found = read_settings(data, home.settings.as_posix())
        problems.extend(found)
    if (data := _read(home.ledger, problems)) is not None:
        known, found = _parse_ledger(data, home.ledger.as_posix())
        problems.extend(found)
    return Inputs(home, settings, known, library, answers, answer_html, pictures.files, tuple(problems))


def _read_answers(packs: Sequence[Document], library: Library, problems: list[Problem]) -> Answers:
    files = []
    for document in answer_documents(packs, problems):
        file, found = parse_answers(document.data, document.path)
        problems.extend(found)
        if file is not None:
            files.append(file)
    answers = match_answers(library.packs, files)
    problems.extend(answers.problems)
    return answers


def build(request: Request) -> Outcome:
    """Read the packs, and write package and ledger, unless there is an error in anything that was read."""
    home = find_home(request.paths, request.ledger)
    if request.dry_run:
        return _build(request)
    try:
        with only_one(home.ledger):
            return _build(request)
    except TimeoutError:
        message = "another build has been writing this deck for too long"
        position = Position(home.ledger.as_posix())
        return Outcome(problems=(Problem("busy", Severity.ERROR, position, message, "end it, and build again"),))


def _build(request: Request) -> Outcome:
    inputs = read_inputs(request.paths, request.language, request.ledger)
    templates = load_templates(request.templates)
    ledger = inputs.ledger or Ledger()
    problems = (*inputs.problems, *templates.problems, *_about_ledger(inputs, request))
    if _has_error(problems):
        return Outcome(problems=problems)
    notes = compose(inputs.library.packs, inputs.settings, inputs.answer_html)
    if not notes:
        position = Position(inputs.library.packs[0].path)
        empty = Problem("no-notes", Severity.ERROR, position, "the packs make no note", "check `kinds:` in deck.yaml")
        return Outcome(problems=(*problems, empty))
    retire = functools.partial(retired_note, settings=inputs.settings)
    scope = Scope(_present(inputs, request, ledger), type_fingerprints(templates), retire)
    identified = identify(notes, ledger, request.now, scope)
    problems = (*problems, *_doubts(identified))
    if request.locked and write_ledger(identified.ledger) != write_ledger(ledger):
        problems = (*problems, _locked(inputs.home))
    outcome = Outcome(identified.notes, identified.changes, problems)
    if outcome.failed or request.dry_run:
        return outcome
    return _write(outcome, identified, inputs, templates, request)


def _write(outcome: Outcome, identified: Identified, inputs: Inputs, templates: Templates, request: Request) -> Outcome:
    home = inputs.home
    types = {kind: entry.modified for kind, entry in identified.ledger.types.items()}
    text = write_ledger(identified.ledger).encode("utf-8")
    try:
        # The ledger first: should the machine die between the two, the next build makes the package that belongs to it.
        written = replace_together(
            {
                home.ledger: lambda file: _write_bytes(file, text),
                request.output: lambda file: write_package(identified.notes, templates, types, file, inputs.pictures),
            }
        )
    except OSError as error:
        failed = Path(error.filename) if isinstance(error.filename, str) else request.output
        file = home.ledger if failed.parent == home.ledger.parent != request.output.parent else request.output
        return Outcome(outcome.notes, outcome.changes, (*outcome.problems, unwritable(file, error)))
    return Outcome(outcome.notes, outcome.changes, outcome.problems, tuple(written))


def _write_bytes(file: Path, data: bytes) -> None:
    file.write_bytes(data)


def _parse_ledger(data: bytes, file: str) -> tuple[Ledger, tuple[Problem, ...]]:
    try:
        return read_ledger(data.decode("utf-8"), file)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message, hint = "the ledger is damaged: it is not UTF-8", "restore the file from git or a backup"
        return Ledger(), (Problem("ledger-damaged", Severity.ERROR, Position(file, line), message, hint),)


def _about_ledger(inputs: Inputs, request: Request) -> tuple[Problem, ...]:
    """Warnings for a ledger that was lost, and for one that comes from the future."""
    file = inputs.home.ledger.as_posix()
    if inputs.ledger is None:
        if not request.output.is_file():
            return ()
        message = "there is no ledger, though this deck was built before; cards that were reworded count as new"
        hint = f"if {file} was lost, restore it from git before anybody imports this package"
        return (Problem("no-ledger", Severity.WARNING, Position(file), message, hint),)
    ahead = newest(inputs.ledger) - request.clock
    if ahead <= _A_DAY:
        return ()
    message = f"the ledger's latest change lies {ahead // _A_DAY} day(s) in the future; changes go on from there"
    return (Problem("future-ledger", Severity.WARNING, Position(file), message, "check this machine's clock"),)


def _read(file: Path, problems: list[Problem]) -> bytes | None:
    """The content of a file that need not exist; None where it does not, or where it cannot be read."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"this cannot be read: {error.strerror}"
        position = Position(file.as_posix())
        problems.append(Problem("cannot-read", Severity.ERROR, position, message, "check its permissions"))
        return None


def _present(inputs: Inputs, request: Request, ledger: Ledger) -> frozenset[tuple[str, str]]:
    """The packs that exist in the deck's home, also those that this build leaves out.

    Where one of them cannot be read, none of the ledger's packs counts as gone: it may be that one.
    """
    packs = inputs.library.packs
    covers_home = request.language is None and any(p.resolve() == inputs.home.folder.resolve() for p in request.paths)
    if not covers_home and inputs.home.folder.is_dir():
        whole = read_library(discover([inputs.home.folder]))
        if whole.has_errors:
            return frozenset((entry.pack, entry.language) for entry in ledger.notes.values())
        packs = (*packs, *whole.packs)
    return frozenset((pack.name, pack.language.value) for pack in packs)


def _doubts(identified: Identified) -> tuple[Problem, ...]:
    problems = []
    for note, doubt in identified.doubts:
        position = note.position or Position("")
        message = (
            f"`{note.origin.wording}` could be the old `{doubt.chosen.text}` ({doubt.chosen.topic}) or "
            f"`{doubt.other.text}` ({doubt.other.topic}); it is taken for the first"
        )
        hint = "if that is wrong, undo the edit, and make it in two steps with a build between them"
        problems.append(Problem("close-identity", Severity.WARNING, position, message, hint))
    return tuple(problems)


def _locked(home: Home) -> Problem:
    message = "the ledger would change, and --locked forbids it"
    hint = "build without --locked, and commit the ledger"
    return Problem("locked", Severity.ERROR, Position(home.ledger.as_posix()), message, hint)


def _has_error(problems: Sequence[Problem]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)
