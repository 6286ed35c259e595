"""What a push means for each note and card: compared before and after, and planned. Pure, Anki's answers come as values."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..packaging.anki_ids import deck_key
from ..packaging.package_reading import StoredNote
from ..values.tags import RETIRED_TAG


class Fate(Enum):
    """What happened to a note of the package in Anki."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    KEPT = "kept as it is in Anki"
    MISSING = "missing"


@dataclass(frozen=True)
class SeenNote:
    """A note as it is in Anki: the name of its type, when it last changed there (Unix seconds, None where the add-on does
    not tell), its tags, its fields by name, and the ids of its cards."""

    note_type: str
    modified: int | None
    tags: tuple[str, ...]
    fields: Mapping[str, str]
    cards: tuple[int, ...]


@dataclass(frozen=True)
class Places:
    """Where cards are: the deck of each, those that are suspended, and those that a filtered deck has borrowed."""

    decks: Mapping[int, str]
    suspended: frozenset[int] = frozenset()
    borrowed: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Move:
    """Cards that belong into another deck than they are in."""

    cards: tuple[int, ...]
    source: str
    target: str


@dataclass(frozen=True)
class Plan:
    """What a package cannot do: cards to move, to suspend because they retired, to wake because they came back."""

    moves: tuple[Move, ...] = ()
    suspend: tuple[int, ...] = ()
    wake: tuple[int, ...] = ()

    @property
    def moved(self) -> int:
        """How many cards are to be moved."""
        return sum(len(move.cards) for move in self.moves)

    def __bool__(self) -> bool:
        return bool(self.moves or self.suspend or self.wake)


def seen_note(info: Mapping[str, Any]) -> SeenNote | None:
    """A note from AnkiConnect's `notesInfo`; None for an id that Anki does not have.

    Raises KeyError, TypeError or AttributeError for what has another form.
    """
    if not info:
        return None
    fields = {name: str(field["value"]) for name, field in info["fields"].items()}
    modified = info.get("mod")
    return SeenNote(
        info["modelName"],
        modified if isinstance(modified, int) else None,
        tuple(info["tags"]),
        fields,
        tuple(int(card) for card in info["cards"]),
    )


def holds(seen: SeenNote, note: StoredNote) -> bool:
    """Whether Anki has the package's content. Tags of the user's own do not matter, nor fields that they added."""
    if seen.note_type != note.note_type:
        return False
    tags = {_tag_key(tag) for tag in seen.tags}
    return all(_tag_key(tag) in tags for tag in note.tags) and all(
        _same(seen.fields.get(name, ""), value) for name, value in note.fields.items()
    )


def outcome(note: StoredNote, before: SeenNote | None, after: SeenNote | None) -> Fate:
    """What an import did to a note, from what Anki had before and has after."""
    if after is None:
        return Fate.MISSING
    if not holds(after, note):
        return Fate.KEPT
    if before is None:
        return Fate.NEW
    return Fate.UNCHANGED if holds(before, note) and not _was_retired(before, note) else Fate.UPDATED


def forecast(note: StoredNote, before: SeenNote | None) -> Fate:
    """What an import would do to a note: Anki takes what is later than its own."""
    if before is None:
        return Fate.NEW
    if before.modified is not None and before.modified >= note.modified:
        return Fate.UNCHANGED if holds(before, note) else Fate.KEPT
    return Fate.UNCHANGED if holds(before, note) and not _was_retired(before, note) else Fate.UPDATED


def plan(
    notes: Sequence[StoredNote],
    before: Mapping[int, SeenNote],
    now: Mapping[int, SeenNote],
    places: Places,
    retired: Iterable[int],
) -> Plan:
    """What is to be done about the cards of ``notes``, and about ``retired``, all cards in Anki that bear the tag.

    ``before`` is what Anki had before the import, ``now`` what it has, or will have; both by note id. A card that a
    filtered deck has borrowed stays there: its learner is using that deck.
    """
    moves: dict[tuple[str, str], list[int]] = {}
    returned: set[int] = set()
    leaving = set(retired)
    for note in notes:
        seen = now.get(note.id)
        if seen is None:
            continue
        if is_retired(seen.tags):
            leaving.update(seen.cards)
        elif note.id in before and is_retired(before[note.id].tags):
            returned.update(seen.cards)
        for card in seen.cards:
            deck = places.decks.get(card)
            if deck is not None and card not in places.borrowed and _deck_key(deck) != _deck_key(note.deck):
                moves.setdefault((deck, note.deck), []).append(card)
    return Plan(
        tuple(Move(tuple(cards), source, target) for (source, target), cards in sorted(moves.items())),
        tuple(sorted(leaving - returned - places.suspended)),
        tuple(sorted(returned & places.suspended)),
    )


def expected(notes: Iterable[StoredNote], before: Mapping[int, SeenNote]) -> dict[int, SeenNote]:
    """The notes that Anki has, with the tags that an import would leave them."""
    result = {}
    for note in notes:
        seen = before.get(note.id)
        if seen is not None:
            tags = note.tags if forecast(note, seen) is Fate.UPDATED else seen.tags
            result[note.id] = SeenNote(seen.note_type, seen.modified, tags, seen.fields, seen.cards)
    return result


def is_retired(tags: Iterable[str]) -> bool:
    """Whether a note bears the tag of those whose text has left its pack."""
    return any(_tag_key(tag) == RETIRED_TAG for tag in tags)


def _was_retired(before: SeenNote, note: StoredNote) -> bool:
    """Whether the note comes back: its text may be the same, but a tag goes."""
    return is_retired(before.tags) and not is_retired(note.tags)


def _same(stored: str, written: str) -> bool:
    return stored == written or unicodedata.normalize("NFC", stored) == unicodedata.normalize("NFC", written)


def _deck_key(name: str) -> str:
    """A deck's name as Anki knows it, which drops control characters, and blanks around each part."""
    plain = "".join(character for character in name if unicodedata.category(character) != "Cc")
    return deck_key("::".join(part.strip() for part in plain.split("::")))


def _tag_key(tag: str) -> str:
    return unicodedata.normalize("NFC", tag).casefold()
