"""The parser of answers: CommonMark with tables, formulas, and emphasis that Chinese can use."""

from __future__ import annotations

import functools
import re

from markdown_it import MarkdownIt
from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter

from ..reading.located import is_wide
from .render import install_math
from .tables import install_tables

_ENVIRONMENT = re.compile(r"\\begin\{([A-Za-z]+\*?)\}")


@functools.cache
def answer_markdown() -> MarkdownIt:
    """The one parser of answers, which holds nothing of what it parsed."""
    markdown = MarkdownIt("commonmark", {"html": False})
    install_tables(markdown)
    install_math(markdown, before="escape")
    markdown.inline.ruler.at("emphasis", _emphasis)
    markdown.block.ruler.before(
        "fence", "math_block", _math_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    return markdown


def _emphasis(state: StateInline, silent: bool) -> bool:
    """The runs of `*` and `_`, and whether each may open and close.

    CommonMark takes the marks of `**重点：**后面` for text: punctuation before a closing run wants a blank or punctuation
    behind it, and Chinese has neither. So full-width punctuation is a letter here, and a Chinese character beside a run
    does what a blank would do.
    """
    marker = state.src[state.pos]
    if silent or marker not in "*_":
        return False
    end = state.pos
    while end < state.posMax and state.src[end] == marker:
        end += 1
    before = state.src[state.pos - 1] if state.pos else " "
    after = state.src[end] if end < state.posMax else " "
    opens = not isWhiteSpace(ord(after)) and (not _is_narrow_stop(after) or _lets_begin(before))
    closes = not isWhiteSpace(ord(before)) and (not _is_narrow_stop(before) or _lets_begin(after))
    if marker == "_":
        opens, closes = opens and (not closes or _is_stop(before)), closes and (not opens or _is_stop(after))
    length = end - state.pos
    for _ in range(length):
        state.push("text", "", 0).content = marker
        state.delimiters.append(Delimiter(ord(marker), length, len(state.tokens) - 1, -1, opens, closes))
    state.pos = end
    return True


def _lets_begin(character: str) -> bool:
    return isWhiteSpace(ord(character)) or _is_stop(character) or is_wide(character)


def _is_narrow_stop(character: str) -> bool:
    return _is_stop(character) and not is_wide(character)


def _is_stop(character: str) -> bool:
    return isMdAsciiPunct(ord(character)) or isPunctChar(character)


def _math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A displayed formula, whatever is in between: from a line that begins with `$$` to one that ends with it.

    An environment of TeX that stands alone is one too. Markdown would halve its backslashes, and Anki's MathJax looks
    for formulas between delimiters only.
    """
    first = _line(state, start)
    environment = _ENVIRONMENT.match(first)
    closing = f"\\end{{{environment[1]}}}" if environment else "$$"
    if state.is_code_block(start) or not (environment or first.startswith("$$")):
        return False
    opened = first if environment else first[2:]
    last = start
    if not opened.endswith(closing) or not opened[: -len(closing)].strip():
        if closing in opened:
            return False
        last = next((n for n in range(start + 1, end) if _line(state, n).endswith(closing)), -1)
        if last < 0:
            return False
    content = "\n".join([opened, *(_line(state, n) for n in range(start + 1, last + 1))])
    content = content if environment else content[:-2]
    if "$$" in content or not content.strip():
        return False
    if not silent:
        token = state.push("math_block", "", 0)
        token.content, token.map = content.strip(), [start, last + 1]
        state.line = last + 1
    return True


def _line(state: StateBlock, number: int) -> str:
    return state.getLines(number, number + 1, state.blkIndent, False).strip()
