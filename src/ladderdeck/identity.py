"""Which note is which: guids, times of change, and the ledger that remembers them. Pure; the clock comes as a value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import count
from types import MappingProxyType

from .ledger import Entry, Ledger, TypeEntry, newest
from .matching import Doubt, match
from .model import Kind
from .note import FIELDS, IdentifiedNote, Note, Origin
from .retired import retired_note
from .wording import wording_key

KEPT_RETIRED = 60 * 24 * 3600
"""Seconds for which a retired note stays in the package, counted to the latest change and not to the clock, so that an
unchanged pack gives the same package on any day."""


class Change(Enum):
    """What happened to a note since the last build."""

    NEW = "new"
    REWORDED = "reworded"
    MOVED = "moved"
    UPDATED = "updated"
    RETURNED = "returned"
    RETIRED = "retired"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Changed:
    """What happened to one note: its entry now, and before (None for a new one)."""

    change: Change
    entry: Entry
    before: Entry | None


@dataclass(frozen=True)
class Identified:
    """The notes with their identity, the ledger as it must be kept from now on, and what happened to each note."""

    notes: tuple[IdentifiedNote, ...]
    ledger: Ledger
    changes: tuple[Changed, ...]
    doubts: tuple[tuple[Note, Doubt], ...]


def identify(
    notes: Sequence[Note],
    ledger: Ledger,
    now: int,
    types: Mapping[Kind, str],
    present: frozenset[tuple[str, str]],
) -> Identified:
    """Give every note its guid and time of change.

    ``now`` is the time of this build in Unix seconds. ``types`` are the fingerprints of the note types' templates and
    style. ``present`` are the packs (name, language) that exist, whether they are among ``notes`` or not: the ledger's
    notes of packs that exist and are not built now stay untouched. A time of change is later than the one before,
    whatever ``now`` is, for Anki takes no change with an earlier or equal one.
    """
    built = frozenset((note.origin.pack, note.origin.language) for note in notes)
    known = {(entry.pack, entry.language) for entry in ledger.notes.values()}
    gone = frozenset(known - present - built)
    matches = match([note.origin for note in notes], ledger.notes.values(), gone)
    guids = _guids([note.origin for note in notes], matches.entries, ledger)
    changes: list[Changed] = []
    identified: list[IdentifiedNote] = []
    for index, (note, guid) in enumerate(zip(notes, guids, strict=True)):
        before = matches.entries.get(index)
        entry, stored = _entry(note, guid, before, now)
        changes.append(Changed(_change(entry, before), entry, before))
        identified.append(IdentifiedNote(stored, guid, entry.modified))
    taken = {change.entry.guid for change in changes}
    renamed = {(c.before.pack, c.before.language) for c in changes if c.before} & gone
    for old in sorted(ledger.notes.values(), key=lambda e: e.guid):
        if old.guid not in taken and (old.pack, old.language) in built | gone | renamed:
            changes.append(_retire(old, now))
    entries = {**ledger.notes, **{change.entry.guid: change.entry for change in changes}}
    type_entries = {**ledger.types, **{kind: _type(ledger.types.get(kind), fp, now) for kind, fp in types.items()}}
    new = Ledger(MappingProxyType(entries), MappingProxyType(type_entries))
    identified.extend(_still_retired(changes, notes, newest(new)))
    doubts = tuple((notes[doubt.note], doubt) for doubt in matches.doubts)
    return Identified(tuple(identified), new, tuple(changes), doubts)
