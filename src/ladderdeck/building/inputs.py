"""All that a build reads, in one value: packs, answers, settings and ledger. Other commands read the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..answering.answer_match import Answers, ItemKey, match_answers, pack_meant, without_pack
from ..answering.answers import AnswerFile, parse_answers
from ..answering.beside import ANSWER_FOLDER, Pictures, answer_documents, drill_documents
from ..answering.drill_file import parse_drills
from ..answering.drill_match import place_drills
from ..answering.quality import judge
from ..composing.answer_html import AnswerHtml
from ..composing.drill_html import DrillHtml
from ..identity.ledger import Ledger, read_ledger
from ..keeping.home import Home, find_home, other_ledgers
from ..keeping.kept import kept_answers, kept_drills, kept_parse
from ..keeping.store import NO_STORE, Store
from ..reading.discover import Document, discover, with_arriving
from ..reading.library import Library, read_library
from ..reading.settings import Settings, read_settings, unknown_packs
from ..values.model import Language, Position, Problem, Severity
from ..values.paths import shown
from ..values.progress import Report, silent


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


def read_inputs(
    paths: Sequence[Path],
    language: Language | None,
    ledger: Path | None = None,
    arriving: Sequence[Document] = (),
    report: Report = silent,
    store: Store = NO_STORE,
) -> Inputs:
    """The packs at ``paths``, and what belongs to their deck. ``arriving`` are packs that are taken as if their files were
    there already, in place of what is. ``store`` may have what was rendered before."""
    home = find_home(paths, ledger)
    found_packs = with_arriving(discover(paths), arriving)
    library = read_library(found_packs, language, report, kept_parse(store))
    problems = [*library.problems, *other_ledgers(home, paths)]
    documents = answer_documents(found_packs.documents, problems)
    drill_files = drill_documents(found_packs.documents, problems)
    pictures = Pictures(home.folder, [*documents, *drill_files])
    answers = _read_answers(documents, library, problems)
    report("rendering answers")
    answer_html, answer_problems = kept_answers(answers, pictures.find, store)
    everything = language is None and all(path.is_dir() for path in paths)
    folders = {document.path: document.file.parent for document in (*found_packs.documents, *drill_files)}
    drills = _read_drills(drill_files, library, folders, everything, pictures, problems, store)
    problems.extend((*answer_problems, *pictures.problems, *judge(library.packs, answers)))
    settings, known = Settings(), None
    if (data := _read(home.settings, problems)) is not None:
        settings, found = read_settings(data, shown(home.settings))
        problems.extend(found)
        names = {pack.name for pack in library.packs}
        if settings.decks.keys() - names and not library.has_errors:
            problems.extend(unknown_packs(settings, names | _names_in(home.folder)))
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
        tuple(dict.fromkeys(problems)),
        data or b"",
        drills,
    )


def _names_in(folder: Path) -> frozenset[str]:
    """The names of all packs in a folder, whatever was asked for."""
    return frozenset(pack.name for pack in read_library(discover([folder])).packs) if folder.is_dir() else frozenset()


def _read_answers(documents: Sequence[Document], library: Library, problems: list[Problem]) -> Answers:
    files = []
    for document in documents:
        file, found = parse_answers(document.data, document.path)
        problems.extend(found)
        if file is not None:
            files.append(file)
    names = {pack.name for pack in library.packs}
    paths = {document.path: document.file for document in documents}
    lost: list[AnswerFile] = []
    names_there: frozenset[str] = frozenset()
    for number, file in enumerate(files if not library.has_errors else ()):
        if file.pack.text not in names:
            # It may belong to a pack that was not asked for, or that was renamed.
            beside = _names_in(_beside(paths[file.path]))
            meant, renamed = pack_meant(file.pack, beside)
            problems.extend(renamed)
            files[number] = replace(file, pack=meant)
            if meant.text not in names | beside:
                lost.append(file)
                names_there |= beside
    answers = match_answers(library.packs, files)
    problems.extend((*answers.problems, *without_pack(lost, names | names_there)))
    return answers


def _beside(answer_file: Path) -> Path:
    """The folder that holds the packs of an answer file."""
    return next(parent.parent for parent in answer_file.parents if parent.name == ANSWER_FOLDER)


def _read_drills(
    documents: Sequence[Document],
    library: Library,
    folders: Mapping[str, Path],
    everything: bool,
    pictures: Pictures,
    problems: list[Problem],
    store: Store,
) -> tuple[DrillHtml, ...]:
    files = []
    for document in documents:
        file, found = parse_drills(document.data, document.path)
        problems.extend(found)
        if file is not None:
            files.append(file)
    placed, place_problems = place_drills(library.packs, files, folders, all_languages=everything)
    drills, drill_problems = kept_drills(placed, pictures.find, store)
    problems.extend((*place_problems, *drill_problems))
    return drills


def _parse_ledger(data: bytes, file: str) -> tuple[Ledger, tuple[Problem, ...]]:
    try:
        ledger, problems = read_ledger(data.decode("utf-8"), file)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message, hint = "the ledger is damaged: it is not UTF-8", "restore the file from git or a backup"
        return Ledger(), (Problem("ledger-damaged", Severity.ERROR, Position(file, line), message, hint),)
    if ledger.types and not ledger.notes and not problems:
        # A build without notes writes no ledger: this one lost the lines that would tell how many there were.
        message, hint = "the ledger holds no notes any more", "restore the file from git or a backup"
        return Ledger(), (Problem("ledger-damaged", Severity.ERROR, Position(file), message, hint),)
    return ledger, problems


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
