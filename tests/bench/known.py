"""Identity at a size that no build of the other rows has: what is known comes again, and what is worded anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ladderdeck.composing.compose import retired_note
from ladderdeck.identity.identify import Change, Identified, Scope, identify
from ladderdeck.identity.ledger import Ledger
from ladderdeck.identity.matching import match
from ladderdeck.reading.settings import Settings
from ladderdeck.values.model import Kind
from ladderdeck.values.note import Note, Origin

from .stages import Watch
from .words import Words

_NOW = 1_700_000_000


def measure_identity(known: int, reworded: Sequence[int]) -> dict[str, Any]:
    """Seconds for ``known`` notes, in packs of 100, that come again unchanged; and for packs of so many notes as
    ``reworded`` says, each built by itself with every wording changed while the ledger holds all the others."""
    library = [note for number in range(-(-known // 100)) for note in _notes(f"known {number}", 100)]
    packs = {count: _notes(f"reworded {count}", count) for count in reworded}
    everything = [*library, *(note for pack in packs.values() for note in pack)]
    present = frozenset((note.origin.pack, note.origin.language) for note in everything)
    # A small one first: what is imported late is here from now on.
    identify([_worded_anew(note) for note in library[:100]], _ledger(library[:100]), _NOW + 1, _scope(library[:100]))
    ledger = identify(everything, Ledger(), _NOW, _scope(everything)).ledger
    watch, changes = Watch(), {}
    with watch.of("match alone"):
        match([note.origin for note in everything], ledger.notes.values(), frozenset())
    with watch.of("known"):
        again = identify(everything, ledger, _NOW + 1, _scope(everything))
    changes["known"] = _count(again)
    for count, pack in packs.items():
        anew = [_worded_anew(note) for note in pack]
        scope = replace(_scope(anew), present=present)
        with watch.of(f"reworded {count}"):
            again = identify(anew, ledger, _NOW + 1, scope)
        changes[f"reworded {count}"] = _count(again)
    return {"wall": watch.wall, "cpu": watch.cpu, "changes": changes, "notes": len(everything)}


def _scope(notes: Sequence[Note]) -> Scope:
    packs = frozenset((note.origin.pack, note.origin.language) for note in notes)
    return Scope(packs, packs, {}, lambda entry: retired_note(entry, Settings()))


def _ledger(notes: Sequence[Note]) -> Ledger:
    return identify(notes, Ledger(), _NOW, _scope(notes)).ledger


def _count(identified: Identified) -> dict[str, int]:
    counts = {change.value: 0 for change in Change}
    for changed in identified.changes:
        counts[changed.change.value] += 1
    return {name: count for name, count in counts.items() if count}


def _notes(name: str, count: int) -> list[Note]:
    words = Words(name, chinese=False)
    notes = []
    for number in range(count):
        origin = Origin(name, "en", Kind.SIGN, f"topic {number // 10}", words.sentence(), number % 10)
        fields = {"Question": origin.wording, "Topic": origin.topic, "Pack": name}
        notes.append(Note(origin, fields, ("kind::sign", f"pack::{name}"), f"Ladders::{name}", number))
    return notes


def _worded_anew(note: Note) -> Note:
    wording = f"{note.origin.wording}, and since when"
    return replace(note, origin=replace(note.origin, wording=wording), fields={**note.fields, "Question": wording})
