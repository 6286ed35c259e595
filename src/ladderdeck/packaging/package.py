"""Write notes into an Anki package (.apkg): check them, plan their ids, and have them written.

The bytes depend on the arguments alone: nothing here reads the clock, the environment or a random number.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..values.model import Kind, Severity
from ..values.note import FIELDS, IdentifiedNote
from .anki_ids import derive_ids, plan_decks
from .templates import Templates

_LATEST = 10**11
"""A time in Unix seconds above this (the year 5138) is certainly one in milliseconds."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""What no text of a note may hold: control characters but tab and line feed (U+001F separates Anki's fields), and
halves of surrogate pairs, which cannot be stored."""

_FIELD_NAMES = frozenset(FIELDS)
_HTML_TAG = re.compile(r"<[^<>]*>")
_BEGINS_WITH_WORD = re.compile(r"(?:<[^<>]*>)*\w")
_VISIBLE_TAG = re.compile(r"<(?:img|svg|math|video|audio|object)\b", re.IGNORECASE)


def write_package(
    notes: Sequence[IdentifiedNote],
    templates: Templates,
    type_modified: Mapping[Kind, int],
    file: Path,
    media: Mapping[str, bytes] | None = None,
) -> None:
    """Write ``notes`` into ``file`` as an Anki package, overwriting it; replacing it atomically is the caller's task.

    ``type_modified`` says for every kind among the notes when its note type last changed (Unix seconds); it and a
    note's ``modified`` are stored as they are, and Anki takes a change only with a later one. They must not lie in the
    future: that cannot be checked without a clock, and Anki would then replace ids. The order of ``notes`` does not
    matter. The package holds only the note types and decks that the notes need, and the decks above those, and the
    ``media`` files, by name.

    Raises ValueError if something in the arguments cannot be packaged (nothing is written then), OSError if ``file`` or
    a temporary folder cannot be written.
    """
    _check_templates(templates)
    check_notes(notes)
    kinds = {note.note.origin.kind for note in notes}
    for kind in sorted(kinds, key=lambda kind: kind.value):
        if kind not in type_modified:
            raise ValueError(f"There is no time of change for the note type of {kind.value!r}.")
        _check_time(type_modified[kind], f"the note type of {kind.value!r}")
    # genanki takes a tenth of a second to import, which a run that builds nothing should not pay.
    from .anki_file import write_anki_file

    write_anki_file(
        notes=notes,
        note_ids=derive_ids("note", (note.guid for note in notes)),
        decks=plan_decks(note.note.deck for note in notes),
        templates=templates,
        type_modified={kind: type_modified[kind] for kind in kinds},
        file=file,
        media=media or {},
    )


def begins_as_package(beginning: bytes) -> bool:
    """Whether a file that begins with these bytes is a package as :func:`write_package` writes it, or empty."""
    # A zip archive whose first entry, named behind 30 bytes, is the database; Anki's own packages begin otherwise.
    return not beginning or (beginning.startswith(b"PK\x03\x04") and beginning[30:].startswith(b"collection.anki2"))


def check_notes(notes: Sequence[IdentifiedNote]) -> None:
    """Refuse, with a ValueError, notes that Anki would drop, mix up, misread or make no card of."""
    _check_guids(notes)
    fine: set[str] = set()
    for note in notes:
        _check_note(note, fine)


def _check_templates(templates: Templates) -> None:
    """Refuse templates that were loaded with an error."""
    errors = [problem for problem in templates.problems if problem.severity is Severity.ERROR]
    if errors:
        raise ValueError(f"The templates have errors, of which the first is: {errors[0].message}")


def _check_guids(notes: Sequence[IdentifiedNote]) -> None:
    """Refuse a guid that is empty, that holds what it must not, or that two notes have."""
    seen: dict[str, IdentifiedNote] = {}
    for note in notes:
        if not note.guid.strip():
            raise ValueError(f"A note has no guid: {_label(note)}.")
        _check_text(note.guid, note, "guid")
        if note.guid in seen:
            raise ValueError(f"Two notes have the guid {note.guid!r}: {_label(seen[note.guid])}, and {_label(note)}.")
        seen[note.guid] = note


def _check_note(note: IdentifiedNote, fine: set[str]) -> None:
    """Refuse what Anki would drop, split, misread or make no card of. ``fine`` gathers the texts that may be in a note:
    the notes of a topic share many."""
    if not note.note.fields.keys() <= _FIELD_NAMES:
        unknown = sorted(note.note.fields.keys() - _FIELD_NAMES)
        raise ValueError(f"A note has unknown fields ({', '.join(unknown)}): {_label(note)}.")
    _check_texts(note, fine)
    if not _shows_something(note.note.fields.get("Question", "")):
        raise ValueError(f"A note has nothing in its field 'Question': {_label(note)}.")
    for tag in note.note.tags:
        if tag.split() != [tag]:
            raise ValueError(f"A note's tag is empty or holds a blank ({tag!r}): {_label(note)}.")
    if not all(part.strip() for part in note.note.deck.split("::")):
        raise ValueError(f"A note's deck has a part without a name ({note.note.deck!r}): {_label(note)}.")
    if not 0 <= note.note.due < 2**31:
        raise ValueError(f"A note's place among the new ones is not from 0 to 2**31 - 1: {_label(note)}.")
    if not 0 <= note.modified < _LATEST:
        _check_time(note.modified, _label(note))


def _check_texts(note: IdentifiedNote, fine: set[str]) -> None:
    """Refuse the first field, tag or deck that holds what it must not; the others are ``fine`` from now on."""
    content = note.note
    for name, text in content.fields.items():
        if text not in fine:
            _check_text(text, note, f"field {name!r}")
    for tag in content.tags:
        if tag not in fine:
            _check_text(tag, note, f"tag {tag!r}")
    if content.deck not in fine:
        _check_text(content.deck, note, "deck")
    fine.update(content.fields.values(), content.tags, (content.deck,))


def _check_text(text: str, note: IdentifiedNote, what: str) -> None:
    """Refuse characters that no text of a note may hold."""
    # What can be printed holds none of them, and that is found out in half of the time.
    found = None if text.isprintable() else _CONTROL.search(text)
    if found:
        raise ValueError(f"A note's {what} holds the control character U+{ord(found.group()):04X}: {_label(note)}.")


def _check_time(seconds: int, what: str) -> None:
    """Refuse what cannot be a time in Unix seconds."""
    if not 0 <= seconds < _LATEST:
        raise ValueError(f"The time of change is not in Unix seconds ({seconds}): {what}.")


def _shows_something(text: str) -> bool:
    """Whether a field of HTML shows anything: a picture, or a character that is neither blank nor invisible."""
    if _BEGINS_WITH_WORD.match(text) or _VISIBLE_TAG.search(text):
        return True
    plain = html.unescape(_HTML_TAG.sub("", text))
    return any(unicodedata.category(character)[0] not in "CZ" for character in plain)


def _label(note: IdentifiedNote) -> str:
    """How messages name a note: kind, pack, topic and wording."""
    origin = note.note.origin
    topic = f" · {origin.topic}" if origin.topic else ""
    return f"{origin.kind.value} in {origin.pack}{topic}: {origin.wording[:60]!r}"
