"""A build from paths to a package: the one place where reading, composing, identity and packaging meet."""

from __future__ import annotations

import contextlib
import functools
import gc
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..composing.compose import compose, retired_note
from ..identity.identify import Change, Changed, Identified, Scope, identify
from ..identity.ledger import Ledger, ledger_data
from ..keeping.files import only_one, replace_together, unwritable
from ..keeping.home import find_home
from ..keeping.kept import kept_parse
from ..keeping.store import NO_STORE, Store
from ..packaging.formats import load_format
from ..packaging.formats.contract import Content
from ..packaging.templates import load_templates, type_fingerprints
from ..reading.discover import discover
from ..reading.library import Parse, read_library
from ..reading.parser import parse_pack
from ..values.model import Kind, Language, Position, Problem, Severity
from ..values.note import IdentifiedNote, Note
from ..values.paths import shown
from ..values.progress import Report, silent
from .build_problems import busy, doubtful, from_the_future, locked, not_ours, overwrites
from .former import Former, left_out_kinds, lost_ledger, read_former, renamed_decks
from .inputs import Inputs, read_inputs
from .request import Request


@dataclass(frozen=True)
class Outcome:
    """What a build made, or would make: the notes, what happened to each, the problems, and the files that changed.
    ``left_out`` are the names of the deck's other packs, which were not asked for.

    With an error among the problems nothing on disk has changed.
    """

    notes: tuple[IdentifiedNote, ...] = ()
    changes: tuple[Changed, ...] = ()
    problems: tuple[Problem, ...] = ()
    written: tuple[Path, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether an error kept the output from being written."""
        return _has_error(self.problems)

    @property
    def present(self) -> tuple[IdentifiedNote, ...]:
        """The notes whose text is in the packs: those that are not retired."""
        retired = {changed.entry.guid for changed in self.changes if changed.entry.retired}
        return tuple(identified for identified in self.notes if identified.guid not in retired)


def build(request: Request, report: Report = silent, store: Store = NO_STORE) -> Outcome:
    """Read the packs, and write output and ledger, unless there is an error in anything that was read.

    ``report`` hears what is being done, ``store`` may have some of it from an earlier build; the outcome is the same.
    """
    home = find_home(request.paths, request.ledger)
    if request.dry_run:
        return _build(request, report, store)
    try:
        with only_one((home.ledger, request.output)), _seldom_collecting():
            return _build(request, report, store)
    except TimeoutError:
        return Outcome(problems=(busy(home.ledger),))
    except OSError as error:
        # What reading and writing meet is among the problems already: this is about the folder for temporary files.
        return Outcome(problems=(unwritable(Path(error.filename or tempfile.gettempdir()), error),))


@contextlib.contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Let Python look for cycles of objects seldom: a build makes many objects and hardly a cycle, and each look goes
    through all of them."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _build(request: Request, report: Report, store: Store) -> Outcome:
    inputs = read_inputs(request.paths, request.language, request.ledger, report=report, store=store)
    templates, form = load_templates(request.templates), load_format(request.format_name)
    ledger = inputs.ledger or Ledger()
    file, read = inputs.home.ledger, [*inputs.files.values(), inputs.home.settings]
    problems = (
        *inputs.problems,
        *templates.problems,
        *(overwrites(request.output, [*read, file]) or not_ours(request.output, form.is_ours)),
        *from_the_future(file, ledger, request.clock),
    )
    if _has_error(problems):
        return Outcome(problems=problems)
    report("making cards")
    notes = notes_of(inputs)
    if not notes:
        position = Position(inputs.library.packs[0].path)
        empty = Problem("no-notes", Severity.ERROR, position, "the packs make no note", "check `kinds:` in deck.yaml")
        return Outcome(problems=(*problems, empty))
    report(f"comparing {len(notes)} cards with the last build")
    present = packs_present(inputs, request.paths, request.language, ledger, kept_parse(store))
    identified, doubts = identify_notes(notes, inputs, ledger, request.now, present, type_fingerprints(templates))
    problems = (*problems, *doubts, *_since_the_last_build(inputs, identified, request.output))
    text = _ledger_content(identified.ledger, inputs.ledger_data)
    if request.locked and text != inputs.ledger_data:
        problems = (*problems, locked(file))
    built = {pack.name for pack in inputs.library.packs}
    left_out = tuple(sorted({name for name, _ in present} - built))
    outcome = Outcome(identified.notes, identified.changes, problems, left_out=left_out)
    if outcome.failed or request.dry_run:
        return outcome
    report(f"packing {len(notes)} cards")
    types = {kind: entry.modified for kind, entry in identified.ledger.types.items()}
    # The ledger first: should the machine die between the two, the next build makes the package that belongs to it.
    writers: dict[Path, Callable[[Path], None]] = {}
    if text != inputs.ledger_data:
        writers[file] = lambda temporary: _write_bytes(temporary, text)
    content = Content(identified.notes, templates, types, inputs.pictures)
    writers[request.output] = lambda temporary: form.write(content, temporary)
    return _write(outcome, writers)


_ONCE = frozenset(["no-ledger", "kind-left-out", "renamed-deck"])
"""Codes of the warnings about the difference to the package that was there: the next build finds none."""

_UNSURE = frozenset(["close-identity", "future-ledger"])
"""Codes of the warnings that the next build may have or not."""


def again(outcome: Outcome) -> Outcome | None:
    """What the same build would come to right after this one; None where that cannot be said for sure."""
    if outcome.failed or any(problem.code in _UNSURE for problem in outcome.problems):
        return None
    problems = tuple(problem for problem in outcome.problems if problem.code not in _ONCE)
    changes = tuple(Changed(Change.UNCHANGED, each.entry, each.entry) for each in outcome.changes)
    return replace(outcome, problems=problems, changes=changes, written=())


def notes_of(inputs: Inputs) -> tuple[Note, ...]:
    """The notes that are made of what was read."""
    return compose(inputs.library.packs, inputs.settings, inputs.answer_html, inputs.drills)


def identify_notes(
    notes: Sequence[Note],
    inputs: Inputs,
    ledger: Ledger,
    now: int,
    present: frozenset[tuple[str, str]],
    types: Mapping[Kind, str],
) -> tuple[Identified, tuple[Problem, ...]]:
    """The notes that were made of ``inputs`` with their identity, and a warning for each choice too close to call.

    ``now`` is in Unix seconds, ``present`` are the packs (name, language) that exist, ``types`` the fingerprints of the
    note types' look.
    """
    retire = functools.partial(retired_note, settings=inputs.settings)
    built = frozenset((pack.name, pack.language.value) for pack in inputs.library.packs)
    identified = identify(notes, ledger, now, Scope(built, present, types, retire))
    return identified, tuple(doubtful(doubt, notes) for doubt in identified.doubts)


def _since_the_last_build(inputs: Inputs, identified: Identified, output: Path) -> tuple[Problem, ...]:
    """What a person should know of the difference to the package that is there."""
    former, changes, settings = read_former(output), identified.changes, inputs.settings
    if lost := without_ledger(inputs, former, (note.guid for note in identified.notes)):
        return lost
    return (
        *left_out_kinds(changes, settings, inputs.home.settings),
        *renamed_decks(former, identified.notes, changes, settings),
    )


def without_ledger(inputs: Inputs, former: Former, guids: Iterable[str]) -> tuple[Problem, ...]:
    """What it means that there is no ledger, for a deck of which a ``former`` package is there; nothing where there is
    one. ``guids`` are those of its notes."""
    if inputs.ledger is not None:
        return ()
    packs = [(pack.name, pack.language.value) for pack in inputs.library.packs]
    return lost_ledger(inputs.home.ledger, former, guids, packs)


def _ledger_content(ledger: Ledger, known: bytes) -> bytes:
    """The ledger as its file's content. One that was checked out with other line ends stays as it is."""
    data = ledger_data(ledger)
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
        return replace(outcome, written=tuple(written))
    return replace(outcome, problems=(*outcome.problems, problem))


def _write_bytes(file: Path, data: bytes) -> None:
    file.write_bytes(data)


def packs_present(
    inputs: Inputs,
    paths: Sequence[Path],
    language: Language | None,
    ledger: Ledger,
    parse: Parse = parse_pack,
) -> frozenset[tuple[str, str]]:
    """The packs (name, language) that exist in the deck's home, also those that this build leaves out.

    Where one of them cannot be read, none of the ledger's packs counts as gone: it may be that one.
    """
    packs = inputs.library.packs
    covers_home = language is None and any(p.resolve() == inputs.home.folder.resolve() for p in paths)
    if not covers_home and inputs.home.folder.is_dir():
        whole = read_library(discover([inputs.home.folder]), parse=parse)
        if whole.has_errors:
            return frozenset((entry.pack, entry.language) for entry in ledger.notes.values())
        packs = (*packs, *whole.packs)
    return frozenset((pack.name, pack.language.value) for pack in packs)


def _has_error(problems: Sequence[Problem]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)
