"""Taking a pack that was downloaded into the folder of packs: where it goes, whether it is what it says, and what it would
change for notes that exist. Nothing is written here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from ..building.build import identify_notes, notes_of, packs_present
from ..building.inputs import Inputs, read_inputs
from ..identity.identify import Change, Changed
from ..identity.ledger import Ledger
from ..reading.discover import Document, discover, read_file
from ..reading.front_matter import blob_fits
from ..reading.library import read_library
from ..values.model import Pack, Position, Problem, Severity
from ..values.paths import on_disk, shown
from .starting import PACK_FILE, wrong_name

_DATE = re.compile(r"git:(\d{8})(?:\.|\Z)")


class Standing(Enum):
    """How a pack that arrives stands to the one that is there."""

    FIRST = "first"
    SAME = "same"
    NEWER = "newer"
    OLDER = "older"
    EDITED = "edited"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Arrival:
    """A pack that arrives: its content, the file that it is to be, and the version (if any) that is there.

    ``changes`` is what a build would say of its notes, with what is retired already left out; ``was_built`` whether the
    notes of the version that is there are in the ledger.
    """

    pack: Pack
    data: bytes
    target: Path
    standing: Standing
    before: Pack | None = None
    changes: tuple[Changed, ...] = ()
    was_built: bool = False


@dataclass(frozen=True)
class Arrivals:
    """All packs that arrive. ``problems`` are those of the packs themselves; with an error among them none may be added.
    ``later`` are the problems that the rest of the folder, such as answers, would have with them."""

    packs: tuple[Arrival, ...] = ()
    problems: tuple[Problem, ...] = ()
    later: tuple[Problem, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether nothing may be added."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)

    @property
    def is_plain(self) -> bool:
        """Whether nobody needs to be asked: nothing is replaced, and nothing is doubtful."""
        firsts = all(arrival.standing in (Standing.FIRST, Standing.SAME) for arrival in self.packs)
        return firsts and not self.later and not any(problem.code == "blob" for problem in self.problems)


def plan_arrivals(source: Path, folder: Path, now: int) -> Arrivals:
    """What adding the packs in the file or folder ``source`` to ``folder`` would do; ``now`` is in Unix seconds."""
    found = discover([source])
    arriving = read_library(found)
    problems = list(arriving.problems)
    for pack, document in zip(arriving.packs, _parsed(found.documents, arriving.packs), strict=True):
        problems.extend(_doubts(pack, document))
    problems = [replace(p, severity=Severity.ERROR) if p.code == "envelope-name" else p for p in problems]
    if any(problem.severity is Severity.ERROR for problem in problems):
        return Arrivals(problems=tuple(problems))
    there = _packs_in(folder)
    packs: list[Arrival] = []
    for pack, document in zip(arriving.packs, _parsed(found.documents, arriving.packs), strict=True):
        taken = {arrival.target for arrival in packs}
        arrival = _arrival(pack, document.data, there, folder, taken, problems)
        packs.append(arrival)
    if any(arrival.standing not in (Standing.FIRST, Standing.SAME) for arrival in packs):
        return _compared(packs, folder, now, problems)
    if folder.is_dir():
        later = read_inputs([folder], None, arriving=_documents(packs)).problems
        return Arrivals(tuple(packs), tuple(problems), _others(later, read_inputs([folder], None).problems, packs))
    return Arrivals(tuple(packs), tuple(problems))


def _packs_in(folder: Path) -> list[tuple[Pack, Path]]:
    """The packs that are there, each with its file."""
    if not folder.is_dir():
        return []
    found = discover([folder])
    packs = read_library(found).packs
    return [(pack, document.file) for pack, document in zip(packs, _parsed(found.documents, packs), strict=True)]


def _parsed(documents: Sequence[Document], packs: Sequence[Pack]) -> list[Document]:
    """The documents of ``packs``, in their order."""
    by_path = {document.path: document for document in documents}
    return [by_path[pack.path] for pack in packs]


def _doubts(pack: Pack, document: Document) -> list[Problem]:
    """What is wrong with a pack's name as a folder's, and a warning where its content is not what its envelope says."""
    problems = []
    if wrong := wrong_name(pack.name):
        hint = "change `name:`, and ask whoever made the pack to do so too"
        problems.append(Problem("wrong-name", Severity.ERROR, Position(document.path), wrong, hint))
    if blob_fits(document.data) is False:
        message = f"the content is not the one that its envelope names, {pack.blob}"
        hint = "it was edited, or damaged on its way: download it again, if you did not edit it"
        problems.append(Problem("blob", Severity.WARNING, Position(document.path), message, hint))
    return problems


def _arrival(
    pack: Pack,
    data: bytes,
    there: Sequence[tuple[Pack, Path]],
    folder: Path,
    taken: set[Path],
    problems: list[Problem],
) -> Arrival:
    """Where a pack goes: over its own older version, wherever that lies, else into a folder of its own name."""
    twins = [(p, file) for p, file in there if p.name.casefold() == pack.name.casefold()]
    for before, target in twins:
        if before.language is not pack.language:
            continue
        old = read_file(target, problems)
        return Arrival(pack, data, target, _standing(pack, before, is_same=old == data), before)
    # The pack in its other language is a neighbour, unless it lies among others that have nothing to do with it.
    homes = [file.parent for _, file in twins if file.stem.startswith(Path(PACK_FILE).stem)]
    home = (homes or [folder / on_disk(pack.name)])[0]
    names = (PACK_FILE, f"{Path(PACK_FILE).stem}.{pack.language.value}.md")
    for target in (home / name for name in names):
        if target not in taken and not (target.exists() or target.is_symlink()):
            return Arrival(pack, data, target, Standing.FIRST)
    message = "there is another file already"
    hint = "move it away, or name another folder with --to"
    problems.append(Problem("taken", Severity.ERROR, Position(shown(home / names[0])), message, hint))
    return Arrival(pack, data, home / names[0], Standing.FIRST)


def _standing(pack: Pack, before: Pack, *, is_same: bool) -> Standing:
    """By the dates of the two versions, where both have one."""
    if is_same:
        return Standing.SAME
    if pack.version and pack.version == before.version:
        return Standing.EDITED
    new, old = _DATE.match(pack.version), _DATE.match(before.version)
    if new is None or old is None or new[1] == old[1]:
        return Standing.UNKNOWN
    return Standing.NEWER if new[1] > old[1] else Standing.OLDER


def _documents(packs: Sequence[Arrival]) -> list[Document]:
    return [Document(arrival.pack.path, arrival.data, arrival.target) for arrival in packs]


def _compared(packs: Sequence[Arrival], folder: Path, now: int, problems: list[Problem]) -> Arrivals:
    """The arrivals with what a build would make of their notes, compared with the ledger.

    A pack that was never built is compared with the file that is there, as if that had been built just now.
    """
    before, after = read_inputs([folder], None), read_inputs([folder], None, arriving=_documents(packs))
    damaged = [p for p in before.problems if p.code.startswith("ledger")]
    if damaged:
        return Arrivals(problems=(*problems, *damaged))
    known = before.ledger or Ledger()
    as_built = _identify(before, folder, known, now)[1]
    built = {(entry.pack, entry.language) for entry in known.notes.values()}
    never_built = {guid: e for guid, e in as_built.notes.items() if (e.pack, e.language) not in built}
    changes, _, doubts = _identify(after, folder, replace(known, notes={**known.notes, **never_built}), now)
    compared = []
    for arrival in packs:
        name = (arrival.pack.name, arrival.pack.language.value)
        own = tuple(c for c in changes if _is_of(c, name) and not (c.change is Change.UNCHANGED and c.entry.retired))
        compared.append(replace(arrival, changes=own, was_built=name in built))
    later = (*_others(after.problems, before.problems, packs), *doubts)
    return Arrivals(tuple(compared), tuple(problems), later)


def _identify(
    inputs: Inputs, folder: Path, ledger: Ledger, now: int
) -> tuple[tuple[Changed, ...], Ledger, tuple[Problem, ...]]:
    present = packs_present(inputs, [folder], None, ledger)
    if inputs.library.has_errors:
        # What cannot be read is not gone.
        present |= {(entry.pack, entry.language) for entry in ledger.notes.values()}
    identified, doubts = identify_notes(notes_of(inputs), inputs, ledger, now, present, {})
    return identified.changes, identified.ledger, doubts


def _is_of(changed: Changed, name: tuple[str, str]) -> bool:
    entries = (changed.entry, changed.before or changed.entry)
    return any((entry.pack, entry.language) == name for entry in entries)


def _others(later: Sequence[Problem], now: Sequence[Problem], packs: Sequence[Arrival]) -> tuple[Problem, ...]:
    """The problems that are new, but for those of the arriving packs themselves, which are shown anyway."""
    own, known = {arrival.pack.path for arrival in packs}, set(now)
    return tuple(problem for problem in later if problem not in known and problem.position.file not in own)
