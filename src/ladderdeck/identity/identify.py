"""Which note is which: guids, times of change, and the ledger that remembers them. Pure; the clock comes as a value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import count
from types import MappingProxyType

from ..values.model import Kind
from ..values.note import FIELDS, IdentifiedNote, Note, Origin
from ..values.wording import wording_key
from .ledger import Entry, Ledger, TypeEntry, newest
from .matching import Doubt, match

KEPT_RETIRED = 60 * 24 * 3600
"""Seconds for which a retired note stays in the package, counted to the latest change and not to the clock, so that an
unchanged pack gives the same package on any day."""


_FINGERPRINTED = tuple(name for name in FIELDS if name != "Provenance")

_Pack = tuple[str, str]
"""A pack's name and language."""


class Change(Enum):
    """What happened to a note since the last build."""

    NEW = "new"
    REWORDED = "reworded"
    MOVED = "moved"
    UPDATED = "updated"
    RETURNED = "returned"
    RETIRED = "retired"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
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
    doubts: tuple[Doubt, ...]


@dataclass(frozen=True)
class Scope:
    """What a build covers. ``built`` are the packs (name, language) that are built, ``present`` those that exist: the
    ledger's notes of packs that exist elsewhere stay untouched. ``types`` are the fingerprints of the note types'
    templates and style, ``retire`` makes what a note becomes when its text has left the pack."""

    built: frozenset[_Pack]
    present: frozenset[_Pack]
    types: Mapping[Kind, str]
    retire: Callable[[Origin], Note]


def identify(notes: Sequence[Note], ledger: Ledger, now: int, scope: Scope) -> Identified:
    """Give every note its guid and time of change, and retire the ledger's notes that are no longer there.

    ``now`` is the time of this build in Unix seconds. A time of change is always later than the one before, whatever
    ``now`` is, for Anki takes no change with an earlier or equal one.
    """
    gone = frozenset((e.pack, e.language) for e in ledger.notes.values()) - scope.present - scope.built
    matches = match([note.origin for note in notes], ledger.notes.values(), gone)
    changes: list[Changed] = []
    identified: list[IdentifiedNote] = []
    origins = [note.origin for note in notes]
    known = {**matches.entries, **_first_worded(origins, matches.entries, ledger)}
    for index, (note, guid) in enumerate(zip(notes, _guids(origins, known, ledger), strict=True)):
        before = known.get(index)
        entry, stored = _entry(note, guid, before, now)
        changes.append(Changed(_change(entry, before), entry, before))
        identified.append(IdentifiedNote(stored, guid, entry.modified))
    left = _left(ledger, {c.entry.guid for c in changes}, scope.built | gone, matches.renamed)
    retired = [_retire(before, now, scope) for before in left]
    changes.extend(changed for changed, _ in retired)
    types = {kind: _type(ledger.types.get(kind), print_now, now) for kind, print_now in scope.types.items()}
    entries = {**ledger.notes, **{c.entry.guid: c.entry for c in changes}}
    new = Ledger(MappingProxyType(entries), MappingProxyType({**ledger.types, **types}))
    kept_since = newest(new) - KEPT_RETIRED
    identified.extend(note for changed, note in retired if changed.entry.retired >= kept_since)
    return Identified(tuple(identified), new, tuple(changes), matches.doubts)


def _first_worded(origins: Sequence[Origin], found: Mapping[int, Entry], ledger: Ledger) -> dict[int, Entry]:
    """Retired entries of which a note has the very first wording: they were reworded, retired, and are back as they
    began. The ledger knows the last wording only, but the guid was made of the first."""
    used = {entry.guid for entry in found.values()}
    result: dict[int, Entry] = {}
    if not any(entry.retired for entry in ledger.notes.values()):
        return result
    for own_topic in (True, False):
        for index, origin in enumerate(origins):
            if index in found or index in result:
                continue
            entry = ledger.notes.get(next(_candidates(origin)))
            if entry is None or not entry.retired or entry.guid in used:
                continue
            if not own_topic or wording_key(entry.topic) == wording_key(origin.topic):
                result[index] = entry
                used.add(entry.guid)
    return result


def _left(ledger: Ledger, found: set[str], packs: frozenset[_Pack], renamed: Mapping[_Pack, _Pack]) -> list[Entry]:
    """The entries of ``packs`` that no note is, in packs as they are called now: a renamed one takes them along too."""
    left = []
    for entry in sorted(ledger.notes.values(), key=lambda e: e.guid):
        pack = (entry.pack, entry.language)
        if entry.guid not in found and pack in packs:
            left.append(replace(entry, pack=renamed.get(pack, pack)[0]))
    return left


def _retire(before: Entry, now: int, scope: Scope) -> tuple[Changed, IdentifiedNote]:
    """What becomes of an entry that no note is: one that retired before stays retired, any other retires now."""
    since = before.retired or max(now, before.modified + 1)
    origin = Origin(before.pack, before.language, before.kind, before.topic, before.text, before.place)
    entry, stored = _entry(scope.retire(origin), before.guid, before, now, retired=since)
    change = Change.UNCHANGED if before.retired else Change.RETIRED
    return Changed(change, entry, before), IdentifiedNote(stored, before.guid, entry.modified)


def guids(notes: Sequence[Note]) -> tuple[str, ...]:
    """The guids of notes that nothing is known of yet: made of pack, language, kind and wording, none twice.

    Blanks, emphasis and punctuation do not count. Where a wording comes again in the pack, as a sign may under two
    topics, the topic is added for all but one, and if that is not enough, a number.
    """
    return _guids([note.origin for note in notes], {}, Ledger())


def _guids(origins: Sequence[Origin], found: Mapping[int, Entry], ledger: Ledger) -> tuple[str, ...]:
    result = {index: entry.guid for index, entry in found.items()}
    taken = set(ledger.notes)
    # By topic and not in order, so that reordered sections change nothing where a wording stands twice.
    by_topic = sorted((wording_key(o.topic), o.topic, o.place, o.wording, index) for index, o in enumerate(origins))
    for *_, index in by_topic:
        if index not in result:
            result[index] = next(guid for guid in _candidates(origins[index]) if guid not in taken)
            taken.add(result[index])
    return tuple(result[index] for index in range(len(origins)))


def _candidates(origin: Origin) -> Iterator[str]:
    parts = (origin.pack, origin.language, origin.kind.value, wording_key(origin.wording))
    yield _digest(20, *parts)
    for number in count():
        yield _digest(20, *parts, wording_key(origin.topic), *([str(number)] if number else []))


def _digest(length: int, *parts: str) -> str:
    # 20 hexadecimal digits are 80 bits: with a million notes the chance of two alike is below one in a trillion.
    text = "\x1f".join(("ladderdeck", *parts))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def fingerprint(note: Note) -> str:
    """What Anki would store of a note, in 16 hexadecimal digits. Not counted are the deck and the order, which Anki
    takes at the first import only, and the provenance, which tells of which pack version the content is."""
    fields = [note.fields.get(name, "") for name in _FINGERPRINTED]
    return _digest(16, json.dumps([note.origin.kind.value, fields, note.tags], ensure_ascii=False))


def _entry(note: Note, guid: str, before: Entry | None, now: int, retired: int = 0) -> tuple[Entry, Note]:
    """The note's entry from now on, and the note as it is to be stored: with the provenance of its latest change."""
    origin, print_now = note.origin, fingerprint(note)
    provenance = note.fields.get("Provenance", "")
    modified = now
    if before is not None and before.fingerprint == print_now:
        modified, provenance = before.modified, before.provenance
    elif before is not None:
        modified = max(now, before.modified + 1)
    entry = Entry(
        guid,
        origin.kind,
        origin.pack,
        origin.language,
        origin.topic,
        origin.wording,
        origin.place,
        print_now,
        modified,
        provenance,
        retired,
    )
    if note.fields.get("Provenance") == provenance:
        return entry, note
    return entry, replace(note, fields={**note.fields, "Provenance": provenance})


def _change(entry: Entry, before: Entry | None) -> Change:
    if before is None:
        return Change.NEW
    if before.retired:
        return Change.RETURNED
    if wording_key(entry.text) != wording_key(before.text):
        return Change.REWORDED
    if (entry.pack, wording_key(entry.topic)) != (before.pack, wording_key(before.topic)):
        return Change.MOVED
    return Change.UNCHANGED if entry.fingerprint == before.fingerprint else Change.UPDATED


def _type(before: TypeEntry | None, print_now: str, now: int) -> TypeEntry:
    if before is None:
        return TypeEntry(print_now, now)
    return before if before.fingerprint == print_now else TypeEntry(print_now, max(now, before.modified + 1))
