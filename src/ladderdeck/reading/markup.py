"""Where code and math are in a text: the stretches in which nothing else is markup. One pass, no HTML, no Anki."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^ {0,3}(?:(`{3,})[^`\n]*|(~{3,})[^\n]*)$", re.MULTILINE)
_TICKS_OR_DOLLARS = re.compile(r"`+|\$+")
_TEX = re.compile(r"\\.|[{}%$\"，。；、：？！]", re.DOTALL)
_DELIMITERS = (r"\(", r"\)", r"\[", r"\]")
_NO_FORMULA = re.compile(
    r"[?!@#&;,/\])}]"  # shell's $? and $@, jQuery's $/, a regular expression after its $, Anki's [$]x[/$]
    r"|\.\D|\|\^"  # $.ajax and $..path, ^$|^x$
    r"|\d[\d.,]*\s+(?:and|for|or|per|to|vs)\b"  # $5 and 6$
    r"|.*[/:&@$]\Z"  # $$HOME/$$PATH; a dollar sign at the end would be taken for a mark
    r"|(?![-+=<>*|]{1,3}\Z|:=\Z)[!-/:-@\[\]^_`{-~]+\Z",  # $*,$@: signs alone, but for operators
    re.DOTALL,
)
LONGEST_MATH = 2000
"""Characters between two dollar signs; formulas are shorter, and a text with that much between them is a text."""


@dataclass(frozen=True)
class Span:
    """A stretch of text, with its marks: ``what`` is `code`, `fence`, `math` or `display`, from ``start`` to ``end``.

    ``inner_start`` and ``inner_end`` enclose the content without the marks.
    """

    what: str
    start: int
    end: int
    inner_start: int
    inner_end: int


def protected_spans(text: str) -> tuple[tuple[int, int], ...]:
    """The ranges of code and math in ``text``, ascending; in them no arrow, semicolon or bracket counts."""
    return tuple((span.start, span.end) for span in spans(text))


def spans(text: str) -> tuple[Span, ...]:
    """The code spans, fenced blocks and formulas of ``text``, ascending; they do not overlap."""
    found: list[Span] = []
    position = 0
    for fence in _fences(text):
        found.extend(_inline(text, position, fence.start))
        found.append(fence)
        position = fence.end
    found.extend(_inline(text, position, len(text)))
    return tuple(found)


def _fences(text: str) -> Iterator[Span]:
    """Fenced blocks: a line of three or more marks, up to a line of as many or the end (CommonMark, 'Fenced code')."""
    if "\n" not in text:
        return
    position = 0
    while opening := _FENCE.search(text, position):
        marks = opening.group(1) or opening.group(2)
        content = min(opening.end() + 1, len(text))
        closing = re.compile(rf"^ {{0,3}}{re.escape(marks[0])}{{{len(marks)},}}[ \t]*$", re.MULTILINE).search(
            text, content
        )
        if closing is None and not text[content:].strip():
            return  # a last line of marks encloses nothing, and must not vanish
        end = closing.end() if closing else len(text)
        yield Span("fence", opening.start(), end, content, max(content, closing.start() - 1) if closing else len(text))
        position = end


def _inline(text: str, start: int, end: int) -> Iterator[Span]:
    ticks = _last_runs(text, start, end)
    position = start
    while match := _TICKS_OR_DOLLARS.search(text, position, end):
        run = match.group()
        position = match.end()
        span = None
        if run[0] == "`":
            if ticks.get(len(run), -1) > match.start():
                span = _code(text, match.start(), len(run), end)
        elif len(run) == 1:
            span = math_at(text, match.start(), end)
        elif len(run) == 2:
            span = display_at(text, match.start(), end)
        if span:
            yield span
            position = span.end


def _last_runs(text: str, start: int, end: int) -> dict[int, int]:
    """For each length of a run of backticks where the last one stands: none after that can be closed."""
    return {len(m.group()): m.start() for m in re.compile("`+").finditer(text, start, end)}


def _code(text: str, start: int, length: int, end: int) -> Span | None:
    for match in re.compile("`+").finditer(text, start + length, end):
        if len(match.group()) == length:
            return Span("code", start, match.end(), start + length, match.start())
    return None


def math_at(text: str, start: int, end: int | None = None) -> Span | None:
    """The formula that a single dollar sign at ``start`` opens, or None where the dollar is only a dollar.

    A formula does not begin or end with a blank, stands on one line, has its braces in pairs and no letter or digit of
    ASCII beside it. So `$5 to $10`, `$PATH:$HOME`, `/proc/$PID/fd/$FD` and Perl's `$x[$]` are text, `$x$` and `$x_1$` in
    the middle of Chinese are math (the rule of Pandoc's `tex_math_dollars`, made stricter). In doubt it is text: a
    formula that shows its dollars loses nothing, a text that is set as a formula does.
    """
    stop = min(len(text) if end is None else end, start + LONGEST_MATH)
    before = text[start - 1] if start else " "
    first = text[start + 1 : start + 2]
    if not first or first.isspace() or first == "$" or _is_word(before) or before in "$\\^":
        return None
    position = start + 1
    line_end = text.find("\n", position, stop)
    stop = line_end if line_end >= 0 else stop
    while (close := text.find("$", position, stop)) >= 0:
        position = close + 1
        if text[close - 1] == "\\":
            continue
        after = text[close + 1 : close + 2]
        if text[close - 1].isspace() or _is_word(after) or (after and after in "_${(@"):
            return None
        content = text[start + 1 : close]
        if before == content[-1] == "'":
            return None  # '$1' and '$*' are two words in quotes
        return Span("math", start, close + 1, start + 1, close) if _is_formula(content, after) else None
    return None


def display_at(text: str, start: int, end: int | None = None) -> Span | None:
    """The displayed formula that a double dollar sign at ``start`` opens, or None. It may hold line breaks."""
    stop = min(len(text) if end is None else end, start + LONGEST_MATH)
    before = text[start - 1] if start else " "
    close = text.find("$$", start + 2, stop)
    if close < 0 or before == "\\" or text[close + 2 : close + 3] == "$" or _is_word(text[close + 2 : close + 3]):
        return None
    content = text[start + 2 : close]
    on_one_line = "\n" not in content
    if not content.strip() or (on_one_line and content != content.strip()) or not _is_formula(content, ""):
        return None
    return Span("display", start, close + 2, start + 2, close)


def _is_formula(content: str, after: str) -> bool:
    if _NO_FORMULA.match(content):
        return False
    depth = 0
    for token in _TEX.findall(content):
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
        elif token == "%" and "\n" not in content:
            return False  # TeX would take the rest for a comment, and show neither
        elif token in _DELIMITERS or (depth == 0 and token in '$"，。；、：？！'):
            return False
        if depth < 0:
            return False
    # Perl's $x[$] is an index, [$x$] a formula in brackets.
    opened_before = after == "]" and content.count("[") > content.count("]")
    return depth == 0 and not opened_before


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()
