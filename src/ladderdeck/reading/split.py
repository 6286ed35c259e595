"""Splitting a line at arrows and semicolons, but never inside brackets, quotes, code or math.

Brackets are matched first, over the whole text. A bracket without a partner protects nothing, so one slip of the pen
costs a warning and not the rest of the line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from html.entities import html5

from .markup import protected_spans

_OPENERS = {
    **dict.fromkeys("(（", "round"),
    **dict.fromkeys("[［【〔〖", "square"),
    **dict.fromkeys("{｛", "curly"),
    **dict.fromkeys("《〈", "title"),
    **dict.fromkeys("「『", "corner"),
    "«": "guillemet",
    "“": "double",
    "‘": "single",
}
_CLOSERS = {
    **dict.fromkeys(")）", "round"),
    **dict.fromkeys("]］】〕〗", "square"),
    **dict.fromkeys("}｝", "curly"),
    **dict.fromkeys("》〉", "title"),
    **dict.fromkeys("」』", "corner"),
    "»": "guillemet",
    "”": "double",
    "’": "single",
}
_MARKS = re.compile("[" + re.escape("".join([*_OPENERS, *_CLOSERS, '"', "＂", "'"])) + "]")
_ARROW = re.compile(r"→|(?<!\S)->(?!\S)")
_SEMICOLON = re.compile(r"；|;(?=\s|$)")
_LIST_MARK = re.compile(r"[、；]|[,;](?=\s|$)")
_ENTITY_END = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31})\Z")
_LONGEST_ENTITY = 34
_ENUMERATOR = re.compile(r"(?:^|[\s；;，,、：:。.→])(?:[0-9]{1,2}|[A-Za-z一二三四五六七八九十])\Z")
_INTERVAL = re.compile(r"[^()（）\[\]［］,，]{1,40}[,，][^()（）\[\]［］,，]{1,40}")
_LONGEST_INTERVAL = 82
_ELIDED = re.compile(r"(?:bout|cause|em|n|round|til|tis|twas)(?![A-Za-z])", re.IGNORECASE)
"""Words that English writes with an apostrophe in front."""


@dataclass(frozen=True)
class Shelter:
    """The parts of a text in which nothing splits: non-overlapping ``starts`` and ``ends``, ascending.

    ``unbalanced`` are the offsets of the brackets and quote marks that have no partner.
    """

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    unbalanced: tuple[int, ...]

    def holds(self, offset: int) -> bool:
        """Whether the character at ``offset`` is inside a bracket pair, a quotation, code or math."""
        index = bisect_right(self.starts, offset) - 1
        return index >= 0 and offset < self.ends[index]


@dataclass
class _Open:
    """The marks that are open at some point of a text: their shapes and offsets, and how many there are of a shape."""

    stack: list[tuple[str, int]] = field(default_factory=list)
    brackets: list[str] = field(default_factory=list)
    depth: dict[str, int] = field(default_factory=dict)
    lonely: list[int] = field(default_factory=list)

    def push(self, kind: str, offset: int) -> None:
        self.stack.append((kind, offset))
        self.depth[kind] = self.depth.get(kind, 0) + 1
        if kind != "apostrophe":
            self.brackets.append(kind)

    def pop(self) -> tuple[str, int]:
        kind, offset = self.stack.pop()
        self.depth[kind] -= 1
        if kind != "apostrophe":
            self.brackets.pop()
        return kind, offset

    def close(self, kind: str) -> int:
        """The offset of the nearest opener of this shape; openers behind it have no partner."""
        while True:
            opened, start = self.pop()
            if opened == kind:
                return start
            self.lonely.append(start)


def shelter(text: str) -> Shelter:
    """Where in ``text`` separators do not count, in one pass over it.

    Brackets pair by shape whatever their width, so ``(…）`` is a pair. A closer closes the nearest opener of its shape;
    openers between the two have no partner. What is a letter in disguise is no mark, and never reported: an apostrophe,
    the inches of 5", the bracket of an enumeration such as ``1）``, a bracket behind a backslash.
    """
    code = protected_spans(text)
    inside_code = Shelter(tuple(s for s, _ in code), tuple(e for _, e in code), ())
    is_open = _Open()
    pairs: list[tuple[int, int]] = list(code)
    last_curly_close = text.rfind("”")
    for match in _MARKS.finditer(text):
        offset = match.start()
        if code and inside_code.holds(offset):
            continue
        kind, opens = _role(text, offset, is_open, last_curly_close)
        if opens:
            is_open.push(kind, offset)
        elif kind and is_open.depth.get(kind):
            pairs.append((is_open.close(kind), offset + 1))
        elif kind:
            is_open.lonely.append(offset)
    is_open.lonely.extend(start for _, start in is_open.stack)
    unbalanced = sorted(o for o in is_open.lonely if text[o] not in "'‘’" and text[o - 1 : o] != "\\")
    starts, ends = _outermost(pairs)
    return Shelter(starts, ends, tuple(unbalanced))


def _role(text: str, offset: int, is_open: _Open, last_curly_close: int) -> tuple[str, bool]:
    """What the mark at ``offset`` is here: its shape, and whether it opens. Shape '' means that it is only a letter."""
    character = text[offset]
    innermost = is_open.brackets[-1] if is_open.brackets else ""
    if character in '"＂':
        return _straight_role(text, offset, innermost == "straight")
    if character in "'‘’":
        return _single_role(text, offset, is_open)
    if character == "”" and not is_open.depth.get("double"):
        # Typed the wrong way round, as Chinese input methods do: ”甲 → 乙”.
        kind, opens = _straight_role(text, offset, False)
        return ("double" if kind else "", opens)
    if character == "“" and innermost == "double" and last_curly_close < offset:
        return "double", _straight_role(text, offset, True)[1]
    if character in _OPENERS:
        return _OPENERS[character], True
    return _closer_role(text, offset, is_open), False


def _straight_role(text: str, offset: int, is_open: bool) -> tuple[str, bool]:
    """For a mark that looks the same at both ends, where ``is_open`` tells whether one is open, and innermost.

    English sets blanks around a quotation, Chinese none: where the neighbours decide nothing, a mark ends what is open.
    """
    before, after = _neighbours(text, offset)
    may_open = not after.isspace() and not _is_word(before)
    may_close = not before.isspace() and not _is_word(after)
    if is_open:
        return "straight", may_open and not may_close
    if may_close and not may_open:
        return ("", False) if before.isdigit() else ("straight", False)
    return "straight", True


def _single_role(text: str, offset: int, is_open: _Open) -> tuple[str, bool]:
    """For a single quote mark, which mostly is an apostrophe: don't, ‘don’t’, 'cause, the '90s, the workers' pool."""
    before, after = _neighbours(text, offset)
    inside_word = _is_word(before) and _is_word(after)
    elided = _ELIDED.match(text, offset + 1) is not None
    if text[offset] == "‘":
        return ("", False) if elided else ("single", True)
    if text[offset] == "’":
        return ("single", False) if is_open.depth.get("single") and not inside_word else ("", False)
    innermost = bool(is_open.stack) and is_open.stack[-1][0] == "apostrophe"
    if innermost and not before.isspace() and not _is_word(after):
        return "apostrophe", False
    opens = not (_is_word(before) or after.isspace() or after.isdigit() or elided)
    return ("apostrophe", True) if opens else ("", False)


def _closer_role(text: str, offset: int, is_open: _Open) -> str:
    kind = _CLOSERS[text[offset]]
    if kind in ("round", "square") and is_open.stack:
        opened, start = is_open.stack[-1]
        # A half-open interval, [0, n) or (0, n].
        if opened != kind and opened in ("round", "square") and offset - start <= _LONGEST_INTERVAL:
            kind = opened if _INTERVAL.fullmatch(text, start + 1, offset) else kind
    if kind == "round" and not is_open.depth.get(kind) and _ENUMERATOR.search(text, max(0, offset - 3), offset):
        return ""
    return kind


def _neighbours(text: str, offset: int) -> tuple[str, str]:
    before = text[offset - 1] if offset else " "
    return before, text[offset + 1] if offset + 1 < len(text) else " "


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
