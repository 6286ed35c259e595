"""Text that remembers where in its file each character stands, also across soft-wrapped lines."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from ..values.model import Position, Text


@dataclass(frozen=True, slots=True)
class Located:
    """A run of text put together from pieces of a file's lines.

    ``offsets`` are the indices in ``text`` at which a piece begins, ascending and starting with 0; ``places`` the line
    and column (from 1) of that piece's first character.
    """

    text: str
    file: str
    offsets: tuple[int, ...]
    places: tuple[tuple[int, int], ...]

    def position(self, offset: int) -> Position:
        """The place in the file of the character at ``offset`` (its end, if ``offset`` is the length of the text)."""
        piece = max(bisect_right(self.offsets, offset) - 1, 0)
        line, column = self.places[piece]
        return Position(self.file, line, column + offset - self.offsets[piece])

    def piece(self, start: int, end: int) -> Text:
        """The text from ``start`` to ``end`` without blanks around it, and where it begins; '' stands at ``start``."""
        raw = self.text[start:end]
        lead = len(raw) - len(raw.lstrip())
        stripped = raw.strip()
        return Text(stripped, self.position(start + lead if stripped else start))

    def cut(self, start: int, end: int) -> Located:
        """The part from ``start`` to ``end``, without blanks around it."""
        piece = self.piece(start, end)
        lead = start + len(self.text[start:end]) - len(self.text[start:end].lstrip()) if piece.text else start
        stop = lead + len(piece.text)
        inner = slice(bisect_right(self.offsets, lead), bisect_left(self.offsets, stop))
        offsets = (0, *(o - lead for o in self.offsets[inner]))
        places = ((piece.position.line, piece.position.column), *self.places[inner])
        return Located(piece.text, self.file, offsets, places)

    def whole(self) -> Text:
        """All of it, without blanks around it."""
        return self.piece(0, len(self.text))


def join_lines(file: str, pieces: list[tuple[str, int, int]]) -> Located:
    """Soft-wrapped lines as one: ``pieces`` are (text, line, column), of which the texts hold no line break.

    Two lines are joined with a blank, as Markdown does, but without one between two Chinese characters or full-width
    punctuation, where a blank would be a gap on the card.
    """
    text = ""
    offsets: list[int] = []
    places: list[tuple[int, int]] = []
    for raw, line, column in pieces:
        lead = len(raw) - len(raw.lstrip())
        part = raw.strip()
        if not part:
            continue
        if text and not (is_wide(text[-1]) and is_wide(part[0])):
            text += " "
        offsets.append(len(text))
        places.append((line, column + lead))
        text += part
    if not offsets:
        offsets, places = [0], [(pieces[0][1], pieces[0][2]) if pieces else (1, 1)]
    return Located(text, file, tuple(offsets), tuple(places))


def is_wide(character: str) -> bool:
    """Whether a character belongs to a script that is set without blanks: CJK ideographs, kana, full-width forms."""
    code = ord(character)
    return (
        0x2E80 <= code <= 0x9FFF
        or 0xF900 <= code <= 0xFAFF
        or 0xFE30 <= code <= 0xFE4F
        or 0xFF00 <= code <= 0xFFEF
        or 0x20000 <= code <= 0x3FFFF
        or character in "“”‘’…—"
    )
