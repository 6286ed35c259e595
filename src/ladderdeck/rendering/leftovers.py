"""Marks that were meant and are none: what an answer would show as brackets, stars and dollars instead of what they make.

CommonMark knows no mistakes; what it does not take for markup is text. An author finds it on the phone, weeks later. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..reading.slips import open_marks

_BETWEEN = "\0"
"""Stands between two pieces of text for what is code, a formula, a link or a picture there."""

_PATTERNS = (
    (
        re.compile(r"!?\[[^\[\]\0]*\]\([^()\0]*\)"),
        "open-link",
        "this is no link and no picture, but is shown as it stands",
        "write a destination that holds a blank between < and >, and nothing behind it but a title in quotes",
    ),
    (
        re.compile(r"！\[[^\[\]\0]*\]|!?\[[^\[\]\0]*\]\s*（[^（）\0]*）"),
        "wide-mark",
        "the marks around this link or picture are full-width ones, which Markdown does not know",
        "write ![…](…) or […](…)",
    ),
    (
        re.compile(r"\[[^\[\]\0]+\]\[[^\[\]\0]*\]"),
        "open-reference",
        "this link has no destination, and is shown as it stands",
        "add a line `[label]: https://…` to the file, or mend the label",
    ),
    (
        re.compile(r"(?<![\w*])\*\*[ \t][^*\0]+\*\*|\*\*[^*\0]+[ \t]\*\*(?![\w*])|＊＊[^＊\0]+＊＊"),
        "open-bold",
        "this is not bold, but is shown with its stars",
        "write **…** with half-width stars and no blank inside of them",
    ),
)


def leftovers(text: str) -> Iterator[tuple[str, str, str, str]]:
    """The marks in ``text`` that make nothing: each with the piece of text, a code, what is wrong, and what to do.

    ``text`` is what is left of a piece of Markdown when code, formulas, links and pictures are taken out of it.
    """
    for pattern, code, message, hint in _PATTERNS:
        for found in pattern.finditer(text):
            yield found.group(), code, message, hint
    for needle, code, message, hint in open_marks(text):
        yield needle, code, message, hint


def text_between(pieces: Iterator[str | None]) -> str:
    """Pieces of text with a mark for each None, which stands for what is no text."""
    return "".join(_BETWEEN if piece is None else piece for piece in pieces)
