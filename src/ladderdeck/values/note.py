"""Notes as plain data: what composing makes of a pack, and what identity adds before packaging."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .model import Kind, Position

FIELDS = (
    "Question",  # what is asked or shown on the front; never empty, and what Anki's browser lists
    "Topic",  # the topic's title
    "Pack",  # the pack's name
    "Language",  # the value of the lang attribute: zh-CN or en
    "Place",  # where on the ladder: '2 / 4'
    "Earlier",  # the rungs before this one
    "Next",  # the rung after this one
    "Ladder",  # all rungs of the topic in order
    "Key Points",  # the answer's testable clauses
    "Answer",  # the answer's details
    "Follow Up",  # what a probe will press on
    "Signs",  # the topic's signs of a solid answer
    "Red Flags",  # the topic's red flags
    "Sources",  # where the answer's facts come from
    "Provenance",  # the pack's version and blob
    "Notice",  # a message about the note itself, such as that it was retired
    "Extra",  # spare
    "Data",  # JSON for the template's script
)
"""The field list of every note type, in order. **Frozen**: Anki stops updating all notes of a type whose list changes."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where in the packs a note comes from: what identity needs to find the note again after an edit.

    ``topic`` is the topic's title as written ('' for a note without one), ``wording`` the item's own text as written,
    ``place`` its index among its kind in the topic (in the pack, for a note without a topic), counted from 0.
    """

    pack: str
    language: str
    kind: Kind
    topic: str
    wording: str
    place: int


@dataclass(frozen=True, slots=True)
class Note:
    """A note before it has an identity: its content as Anki would store it.

    ``fields`` maps names of :data:`FIELDS` to HTML, an absent name is an empty field. ``tags`` are sorted, ``deck`` is
    the full name with its parents, ``due`` the order among new cards, counted from 0, ``position`` where its text stands
    (None for a note whose text is gone).
    """

    origin: Origin
    fields: Mapping[str, str]
    tags: tuple[str, ...]
    deck: str
    due: int
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class IdentifiedNote:
    """A note that Anki can recognise: ``guid`` never changes, ``modified`` (Unix seconds) moves with the content."""

    note: Note
    guid: str
    modified: int
