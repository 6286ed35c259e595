"""The note types as Anki knows them: their ids, names, fields and the one card template of each.

**Frozen.** Anki recognises a note type by its id together with the names of its fields and templates; once one of
these differs from what a user has imported, it stops updating the notes without a word. All numbers below were drawn
at random once for this project, and ``tests/golden/note_types.json`` holds them. A new kind of card is a new note
type here, never a second template on an old one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..values.model import Kind
from ..values.note import FIELDS

FIELD_NUMBERS: Mapping[str, int] = MappingProxyType(
    {
        "Question": 1,
        "Topic": 2,
        "Pack": 3,
        "Language": 4,
        "Place": 5,
        "Earlier": 6,
        "Next": 7,
        "Ladder": 8,
        "Key Points": 9,
        "Answer": 10,
        "Follow Up": 11,
        "Signs": 12,
        "Red Flags": 13,
        "Sources": 14,
        "Provenance": 15,
        "Notice": 16,
        "Extra": 17,
        "Data": 18,
    }
)
"""The part of a field's id that is the same in every note type. The number belongs to the field, not to its place or
its name: whoever renames a field keeps its number, and then Anki renames it in place."""

TEMPLATE_NUMBER = 900
"""The part of the template's id that is the same in every note type; far from the fields', so that no two meet."""


@dataclass(frozen=True)
class Field:
    """A field of a note type: its name, and the id by which Anki follows it through a rename."""

    name: str
    id: int


@dataclass(frozen=True)
class NoteType:
    """A note type: the kind of note it is for, its id and name, its only card template, and its fields in order."""

    kind: Kind
    id: int
    name: str
    template_name: str
    template_id: int
    fields: tuple[Field, ...]


def _note_type(kind: Kind, id: int, name: str, base: int) -> NoteType:
    """The note type whose field and template ids are ``base`` plus the numbers above.

    ``id`` is below 2**40: read as milliseconds that is before Anki existed, so no note type that a user made has it.
    ``base`` ends in three zeros and is below 2**53, so that its sums are exact also where JavaScript reads them.
    """
    fields = tuple(Field(field, base + FIELD_NUMBERS[field]) for field in FIELDS)
    return NoteType(kind, id, f"Ladderdeck {name}", name, base + TEMPLATE_NUMBER, fields)


NOTE_TYPES: Mapping[Kind, NoteType] = MappingProxyType(
    {
        note_type.kind: note_type
        for note_type in (
            _note_type(Kind.RUNG, 622351937953, "Rung", 6310873447914000),
            _note_type(Kind.SIGN, 717913484091, "Sign", 3134877328240000),
            _note_type(Kind.LADDER, 604679399723, "Ladder", 4336021829336000),
            _note_type(Kind.RED_FLAG, 562374883214, "Red Flag", 5655402347065000),
            _note_type(Kind.PROBE, 559747287318, "Probe", 1318964334147000),
            _note_type(Kind.DRILL, 682452255645, "Drill", 7743704674174000),
        )
    }
)
"""The note type of every kind."""
