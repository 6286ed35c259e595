"""Splitting a line at arrows and semicolons, but never inside brackets, quotes, code or math.

Brackets are matched first, over the whole text. A bracket without a partner protects nothing, so one slip of the pen
costs a warning and not the rest of the line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from html.entities import html5

from .markup import protected_spans

_OPENERS = {
    **dict.fromkeys("(（", "round"),
    **dict.fromkeys("[［【〔", "square"),
    **dict.fromkeys("{｛", "curly"),
    **dict.fromkeys("《〈", "title"),
    **dict.fromkeys("「『", "corner"),
    "“": "double",
    "‘": "single",
}
_CLOSERS = {
    **dict.fromkeys(")）", "round"),
    **dict.fromkeys("]］】〕", "square"),
    **dict.fromkeys("}｝", "curly"),
    **dict.fromkeys("》〉", "title"),
    **dict.fromkeys("」』", "corner"),
    "”": "double",
    "’": "single",
}
_MARKS = re.compile("[" + re.escape("".join([*_OPENERS, *_CLOSERS, '"', "'"])) + "]")
_ARROW = re.compile(r"→|(?<=\s)->(?=\s)")
_SEMICOLON = re.compile(r"；|;(?=\s|$)")
_LIST_MARK = re.compile(r"[、；]|[,;](?=\s|$)")
_ENTITY_END = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31})\Z")
_LONGEST_ENTITY = 34


@dataclass(frozen=True)
class Mark:
    """A bracket or quote mark at ``offset`` that has no partner."""

    character: str
    offset: int


@dataclass(frozen=True)
class Shelter:
    """The parts of a text in which nothing splits: non-overlapping ``starts`` and ``ends``, and the ``unbalanced`` marks."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    unbalanced: tuple[Mark, ...]

    def holds(self, offset: int) -> bool:
        """Whether the character at ``offset`` is inside a bracket pair, a quotation, code or math."""
        index = bisect_right(self.starts, offset) - 1
        return index >= 0 and offset < self.ends[index]


def shelter(text: str) -> Shelter:
    """Where in ``text`` separators do not count, in one pass over it.

    Brackets pair by shape whatever their width, so ``(…）`` is a pair. A closer closes the nearest opener of its shape;
    openers between the two have no partner. An apostrophe is no quote mark, and never reported.
    """
    code = protected_spans(text)
    inside_code = Shelter(tuple(s for s, _ in code), tuple(e for _, e in code), ())
    stack: list[tuple[str, int]] = []
    depth: dict[str, int] = {}
    pairs: list[tuple[int, int]] = list(code)
    lonely: list[Mark] = []
    last_curly_close = text.rfind("”")

    def close(kind: str, offset: int) -> None:
        while True:
            opened, start = stack.pop()
            depth[opened] -= 1
            if opened == kind:
                pairs.append((start, offset + 1))
                return
            lonely.append(Mark(text[start], start))

    for match in _MARKS.finditer(text):
        offset, character = match.start(), match.group()
        if inside_code.holds(offset):
            continue
        kind, opens = _role(text, offset, stack, depth, last_curly_close)
        if opens:
            stack.append((kind, offset))
            depth[kind] = depth.get(kind, 0) + 1
        elif kind and depth.get(kind):
            close(kind, offset)
        elif kind:
            lonely.append(Mark(character, offset))
    lonely.extend(Mark(text[start], start) for _, start in stack)
    unbalanced = sorted((m for m in lonely if m.character not in "'‘’"), key=lambda m: m.offset)
    starts, ends = _outermost(pairs)
    return Shelter(starts, ends, tuple(unbalanced))


def _role(
    text: str, offset: int, stack: list[tuple[str, int]], depth: dict[str, int], last_curly_close: int
) -> tuple[str, bool]:
    """What the mark at ``offset`` is here: its shape, and whether it opens. Shape '' means that it is only a letter."""
    character = text[offset]
    before = text[offset - 1] if offset else " "
    after = text[offset + 1] if offset + 1 < len(text) else " "
    if character == '"':
        inner = next((kind for kind, _ in reversed(stack) if kind != "apostrophe"), "")
        return "straight", inner != "straight"
    if character == "'":
        if stack and stack[-1][0] == "apostrophe" and not before.isspace() and not _is_word(after):
            return "apostrophe", False
        opens = not _is_word(before) and not after.isspace() and not after.isdigit()
        return ("apostrophe", True) if opens else ("", False)
    if character == "’" and not depth.get("single"):
        return "", False
    if character == "”" and not depth.get("double"):
        # Typed the wrong way round, as Chinese input methods do: ”甲 → 乙”.
        return "double", True
    if character == "“" and stack and stack[-1][0] == "double" and last_curly_close < offset:
        return "double", False
    return (_OPENERS[character], True) if character in _OPENERS else (_CLOSERS[character], False)


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _outermost(pairs: list[tuple[int, int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted(pairs):
        if ends and start < ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return tuple(starts), tuple(ends)


def split_at_arrows(text: str, sheltered: Shelter) -> tuple[tuple[int, int], ...]:
    """The spans between the arrows of ``text``: ``→`` anywhere, ``->`` with a blank on both sides.

    Together with the arrows the spans are the whole text; a span may be blank, and there is always at least one.
    """
    return _between(text, [m.span() for m in _ARROW.finditer(text) if not sheltered.holds(m.start())])


def split_at_semicolons(
    text: str, sheltered: Shelter, start: int = 0, end: int | None = None
) -> tuple[tuple[int, int], ...]:
    """The spans between the semicolons of ``text[start:end]``: ``；`` anywhere, ``;`` before a blank or the end.

    The semicolon that ends a character reference (``&amp;``) is part of it. Spans are offsets into the whole text.
    """
    stop = len(text) if end is None else end
    cuts = [
        m.span()
        for m in _SEMICOLON.finditer(text, start, stop)
        if not sheltered.holds(m.start()) and not _ends_reference(text, m.start())
    ]
    return _between(text, cuts, start, stop)


def split_at_list_marks(text: str, sheltered: Shelter) -> tuple[tuple[int, int], ...]:
    """The spans between the marks that part the points of a sentence: ``、``, ``；``, and ``,`` or ``;`` before a blank."""
    cuts = [
        m.span()
        for m in _LIST_MARK.finditer(text)
        if not sheltered.holds(m.start()) and not _ends_reference(text, m.start())
    ]
    return _between(text, cuts)


def first_arrow(text: str, sheltered: Shelter) -> tuple[int, int] | None:
    """The span of the first arrow outside brackets and quotes, or None."""
    return next((m.span() for m in _ARROW.finditer(text) if not sheltered.holds(m.start())), None)


def _ends_reference(text: str, semicolon: int) -> bool:
    match = (
        _ENTITY_END.search(text[max(0, semicolon - _LONGEST_ENTITY) : semicolon]) if text[semicolon] == ";" else None
    )
    return match is not None and (match.group(1).startswith("#") or match.group(1) + ";" in html5)


def _between(
    text: str, cuts: list[tuple[int, int]], start: int = 0, end: int | None = None
) -> tuple[tuple[int, int], ...]:
    edges = [start, *(edge for cut in cuts for edge in cut), len(text) if end is None else end]
    return tuple(zip(edges[::2], edges[1::2], strict=True))
