"""What reads well and is likely a slip all the same: warnings about the texts of a pack. They change nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..values.model import Pack, Problem, Severity, Text, Topic
from ..values.wording import wording_key
from .markup import spans

_UNSEEN = {"\u200b": "zero-width space", "\u2060": "word joiner", "\ufeff": "byte order mark", "\u00ad": "soft hyphen"}
"""Characters that nobody sees and nobody means in a title; joiners, which some scripts need, are not among them."""

_TICKS = re.compile(r"(?<!\\)`+")
_OPEN_MATH = re.compile(
    r"(?<!\\)\$(?=[A-Za-z\\({])[^$]*?(?:[\^_]\{|\\(?:frac|sqrt|sum|prod|int|log|ln|exp|max|min|times|cdot|leq?|geq?|approx"
    r"|sim|alpha|beta|gamma|delta|lambda|mu|sigma|theta|text|mathrm|mathbf|left|lceil|lfloor|infty|partial)\b)"
)
"""A dollar sign that nothing closes, and behind it what only a formula has: `$5`, `$PATH` and `$x = 1` are texts."""

_WIDE = "\u3007\u3400-\u4dbf\u4e00-\u9fff（）「」“”"
_LIKE_AN_ARROW = re.compile(rf"(?:(?<=[{_WIDE}])\s*)(?:[-—–=]+>|[⇒➜➔➡⟶⟹])|(?:[-—–=]+>|[⇒➜➔➡⟶⟹])(?=\s*[{_WIDE}])")
_LIKE_A_SEMICOLON = re.compile(rf"(?<=[{_WIDE}]);(?=[{_WIDE}])")
"""What parts nothing, since code may hold it, and beside Chinese is likely to be meant to."""


def slips(pack: Pack) -> tuple[Problem, ...]:
    """Warnings about titles that are nearly alike or hold unseen characters, about code and formulas without an end,
    and about marks that part nothing."""
    found = list(_titles(pack.topics))
    for text in _texts(pack):
        found.extend(_warning(code, text, message, hint) for _, code, message, hint in open_marks(_plain(text)))
    for topic in pack.topics:
        for rung in topic.rungs:
            found.extend(_unparted(rung.text, _LIKE_AN_ARROW, "two rungs", "→"))
        for text in (*(rung.text for rung in topic.rungs), *topic.signs, *topic.red_flags):
            found.extend(_unparted(text, _LIKE_A_SEMICOLON, "two", "；"))
    return tuple(found)


def _texts(pack: Pack) -> Iterator[Text]:
    for topic in pack.topics:
        yield topic.title
        for rung in topic.rungs:
            yield rung.text
        yield from (*topic.signs, *topic.red_flags)
    yield from (flag.flag for flag in pack.red_flags)
    for probe in pack.probes:
        yield from (probe.trigger, probe.follow_up)


def _titles(topics: Iterable[Topic]) -> Iterator[Problem]:
    first: dict[str, Text] = {}
    for topic in topics:
        title = topic.title
        for name in sorted({name for character, name in _UNSEEN.items() if character in title.text}):
            message = f"the title `{title.text}` holds a {name}, which nobody sees"
            yield _warning("unseen-character", title, message, "type the title anew")
        known = first.setdefault(wording_key(title.text).casefold(), title)
        if known is not title and wording_key(known.text) != wording_key(title.text):
            message = (
                f"the topics `{known.text}` (line {known.position.line}) and `{title.text}` differ in letter case only"
            )
            yield _warning("similar-topic", title, message, "put them together, or name what sets them apart")


def _plain(text: Text) -> str:
    """A text without its code and formulas."""
    rest, position = [], 0
    for span in spans(text.text):
        rest.append(text.text[position : span.start])
        position = span.end
    return " ".join([*rest, text.text[position:]])


def _unparted(text: Text, mark: re.Pattern[str], what: str, right: str) -> Iterator[Problem]:
    if found := mark.search(text.text) and mark.search(_plain(text)):
        message = f"`{found.group().strip()}` in this text parts nothing"
        yield _warning("likely-mark", text, message, f"write `{right}` if these are {what}, or leave it")


def open_marks(plain: str) -> Iterator[tuple[str, str, str, str]]:
    """A ` and a $ that nothing closes, in a text without code and formulas: the mark, a code, what is wrong, what to do."""
    ticks = list(_TICKS.finditer(plain))
    # Beside a letter it is a mark; one that stands alone is what the text is about.
    if len(ticks) % 2 and re.search(r"\w`|`\w", plain):
        yield "`", "open-code", "a ` in this text has no partner, and is shown as it is", "add the other `"
    if found := _OPEN_MATH.search(plain):
        yield found.group(), "open-math", "the formula that begins in this text has no end", "add the other $"


def _warning(code: str, text: Text, message: str, hint: str) -> Problem:
    return Problem(code, Severity.WARNING, text.position, message, hint)
