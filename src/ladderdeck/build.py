"""A build from paths to a package: the one place where reading, composing, identity and packaging meet."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .answer_html import AnswerHtml, render_answers
from .answering import Answers, ItemKey, match_answers
from .answers import parse_answers
from .beside import Pictures, answer_documents, drill_documents
from .build_problems import about_ledger, busy, doubtful, locked, no_package, overwrites
from .compose import compose, retired_note
from .discover import Document, discover
from .drill_file import parse_drills
from .drill_html import DrillHtml, render_drills
from .drill_match import place_drills
from .files import only_one, replace_together, unwritable
from .home import Home, find_home, other_ledgers
from .identity import Changed, Scope, identify
from .ledger import Ledger, read_ledger, write_ledger
from .library import Library, read_library
from .model import Language, Position, Problem, Severity
from .note import IdentifiedNote
from .package import write_package
from .paths import shown
from .quality import judge
from .settings import Settings, read_settings
from .templates import load_templates, type_fingerprints


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

    ``ledger`` is None where there is none yet, ``ledger_data`` its file's content. ``files`` are the packs, answer files and
    drill files by their paths as they are shown.
    """

    home: Home
    settings: Settings
    ledger: Ledger | None
    files: Mapping[str, Path]
    library: Library
    answers: Answers
    answer_html: Mapping[ItemKey, AnswerHtml]
    pictures: Mapping[str, bytes]
    problems: tuple[Problem, ...]
    ledger_data: bytes = b""
    drills: tuple[DrillHtml, ...] = ()


def read_inputs(paths: Sequence[Path], language: Language | None, ledger: Path | None = None) -> Inputs:
    """The packs at ``paths``, and what belongs to their deck."""
    home = find_home(paths, ledger)
    found_packs = discover(paths)
    library = read_library(found_packs, language)
    problems = [*library.problems, *other_ledgers(home, paths)]
    documents = answer_documents(found_packs.documents, problems)
    drill_files = drill_documents(found_packs.documents, problems)
    pictures = Pictures(home.folder, [*documents, *drill_files])
    answers = _read_answers(documents, library, problems)
    answer_html, answer_problems = render_answers(answers, pictures.find)
    drills = _read_drills(drill_files, library, language, pictures, problems)
    problems.extend((*answer_problems, *pictures.problems, *judge(library.packs, answers)))
    settings, known = Settings(), None
    if (data := _read(home.settings, problems)) is not None:
        settings, found = read_settings(data, shown(home.settings))
        problems.extend(found)
    if (data := _read(home.ledger, problems)) is not None:
        known, found = _parse_ledger(data, shown(home.ledger))
        problems.extend(found)
    files = {document.path: document.file for document in (*found_packs.documents, *documents, *drill_files)}
    return Inputs(
        home,
        settings,
        known,
        files,
        library,
        answers,
        answer_html,
        pictures.files,
        tuple(problems),
        data or b"",
        drills,
    )


def _read_answers(documents: Sequence[Document], library: Library, problems: list[Problem]) -> Answers:
    files = []
    for document in documents:
        file, found = parse_answers(document.data, document.path)
        problems.extend(found)
        if file is not None:
            files.append(file)
    answers = match_answers(library.packs, files)
    problems.extend(answers.problems)
    return answers


def _read_drills(
    documents: Sequence[Document],
    library: Library,
    language: Language | None,
    pictures: Pictures,
    problems: list[Problem],
) -> tuple[DrillHtml, ...]:
    files = []
    for document in documents:
        file, found = parse_drills(document.data, document.path)
        problems.extend(found)
        if file is not None:
            files.append(file)
    placed, place_problems = place_drills(library.packs, files, all_languages=language is None)
    drills, drill_problems = render_drills(placed, pictures.find)
    problems.extend((*place_problems, *drill_problems))
    return drills


def build(request: Request) -> Outcome:
    """Read the packs, and write package and ledger, unless there is an error in anything that was read."""
    home = find_home(request.paths, request.ledger)
    if request.dry_run:
        return _build(request)
    try:
        with only_one((home.ledger, request.output)):
            return _build(request)
    except TimeoutError:
        return Outcome(problems=(busy(home.ledger),))
    except OSError as error:
        # What reading and writing meet is among the problems already: this is about the folder for temporary files.
        return Outcome(problems=(unwritable(Path(error.filename or tempfile.gettempdir()), error),))


def _build(request: Request) -> Outcome:
    inputs = read_inputs(request.paths, request.language, request.ledger)
    templates = load_templates(request.templates)
    ledger = inputs.ledger or Ledger()
    file, read = inputs.home.ledger, [*inputs.files.values(), inputs.home.settings]
    problems = (
        *inputs.problems,
        *templates.problems,
        *(overwrites(request.output, [*read, file]) or no_package(request.output)),
    )
    problems = (*problems, *about_ledger(file, inputs.ledger, request.clock, was_built=request.output.is_file()))
    if _has_error(problems):
        return Outcome(problems=problems)
    notes = compose(inputs.library.packs, inputs.settings, inputs.answer_html, inputs.drills)
    if not notes:
        position = Position(inputs.library.packs[0].path)
        empty = Problem("no-notes", Severity.ERROR, position, "the packs make no note", "check `kinds:` in deck.yaml")
        return Outcome(problems=(*problems, empty))
    retire = functools.partial(retired_note, settings=inputs.settings)
    built = frozenset((pack.name, pack.language.value) for pack in inputs.library.packs)
    scope = Scope(built, _present(inputs, request, ledger), type_fingerprints(templates), retire)
    identified = identify(notes, ledger, request.now, scope)
    problems = (*problems, *(doubtful(doubt, notes) for doubt in identified.doubts))
    text = _ledger_content(identified.ledger, inputs.ledger_data)
    if request.locked and text != inputs.ledger_data:
        problems = (*problems, locked(file))
    outcome = Outcome(identified.notes, identified.changes, problems)
    if outcome.failed or request.dry_run:
        return outcome
    types = {kind: entry.modified for kind, entry in identified.ledger.types.items()}
    # The ledger first: should the machine die between the two, the next build makes the package that belongs to it.
    writers: dict[Path, Callable[[Path], None]] = {}
    if text != inputs.ledger_data:
        writers[file] = lambda temporary: _write_bytes(temporary, text)
    writers[request.output] = lambda temporary: write_package(
        identified.notes, templates, types, temporary, inputs.pictures
    )
    return _write(outcome, writers)


def _ledger_content(ledger: Ledger, known: bytes) -> bytes:
    """The ledger as its file's content. One that was checked out with other line ends stays as it is."""
    data = write_ledger(ledger).encode("utf-8", "surrogatepass")
    return known if known.replace(b"\r\n", b"\n") == data else data


def _write(outcome: Outcome, writers: Mapping[Path, Callable[[Path], None]]) -> Outcome:
    ledger, output = next(iter(writers)), list(writers)[-1]
    try:
        written = replace_together(writers)
    except OSError as error:
        failed = Path(str(error.filename or output)).parent.resolve()
        file = ledger if failed == ledger.parent.resolve() != output.parent.resolve() else output
        problem = unwritable(file, error)
    except ValueError as error:
        hint = "change the text that is named"
        problem = Problem("cannot-package", Severity.ERROR, Position(shown(output)), str(error), hint)
    else:
        return Outcome(outcome.notes, outcome.changes, outcome.problems, tuple(written))
    return Outcome(outcome.notes, outcome.changes, (*outcome.problems, problem))


def _write_bytes(file: Path, data: bytes) -> None:
    file.write_bytes(data)


def _parse_ledger(data: bytes, file: str) -> tuple[Ledger, tuple[Problem, ...]]:
    try:
        return read_ledger(data.decode("utf-8"), file)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message, hint = "the ledger is damaged: it is not UTF-8", "restore the file from git or a backup"
        return Ledger(), (Problem("ledger-damaged", Severity.ERROR, Position(file, line), message, hint),)


def _read(file: Path, problems: list[Problem]) -> bytes | None:
    """The content of a file that need not exist; None where it does not, or where it cannot be read."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"this cannot be read: {error.strerror}"
        position = Position(shown(file))
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


def _has_error(problems: Sequence[Problem]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)
