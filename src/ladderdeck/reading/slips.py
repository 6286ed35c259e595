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


def slips(pack: Pack) -> tuple[Problem, ...]:
    """Warnings about titles that are nearly alike or hold unseen characters, and about code and formulas without an end."""
    return (*_titles(pack.topics), *(problem for text in _texts(pack) for problem in _open_marks(text)))


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


def _open_marks(text: Text) -> Iterator[Problem]:
    rest, position = [], 0
    for span in spans(text.text):
        rest.append(text.text[position : span.start])
        position = span.end
    plain = " ".join([*rest, text.text[position:]])
    ticks = list(_TICKS.finditer(plain))
    # Beside a letter it is a mark; one that stands alone is what the text is about.
    if len(ticks) % 2 and re.search(r"\w`|`\w", plain):
        yield _warning("open-code", text, "a ` in this text has no partner, and is shown as it is", "add the other `")
    if _OPEN_MATH.search(plain):
        yield _warning("open-math", text, "the formula that begins in this text has no end", "add the other $")


def _warning(code: str, text: Text, message: str, hint: str) -> Problem:
    return Problem(code, Severity.WARNING, text.position, message, hint)
