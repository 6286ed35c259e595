"""Answers to HTML: full Markdown, with math, tables, highlighted code, worked calculations and pictures.

Unlike a pack, an answer is written for this program, so CommonMark holds with all its rules; HTML is text here too.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from ..reading.located import is_wide
from ..values.model import Position, Problem, Severity, Text
from .quoting import check_quote
from .render import harmless, install_math, keep_stops, show_math, show_text
from .worked import Worked, work

_FOLLOWABLE = re.compile(r"(?:https?://|mailto:)\S")
_INLINE_MARK = re.compile(r"[`*_\[<&\\$\n\r\0]")
"""What a piece of inline Markdown must hold to be more than its text; without, the parser is not needed."""

Picture = Callable[[str, Position], "str | None"]
"""What gives the packaged name of an image by its destination in Markdown, or None (and reports why) without one."""


@dataclass(frozen=True)
class Rich:
    """The HTML of a piece of an answer, and the problems found in it."""

    html: str
    problems: tuple[Problem, ...]


def render_rich(source: Text, worked: Worked, references: Mapping[str, Any], picture: Picture) -> Rich:
    """Render Markdown whose position is known. ``worked`` holds the quantities that the text may quote."""
    page = _Page(source, worked, picture)
    tokens = _markdown().parse(unicodedata.normalize("NFC", source.text), {"references": dict(references)})
    return Rich("".join(page.block(token) for token in tokens), tuple(page.problems))


def render_point(source: Text, worked: Worked, references: Mapping[str, Any], picture: Picture) -> Rich:
    """Render one line, such as a key point, without a paragraph around it."""
    if not _INLINE_MARK.search(source.text):
        return Rich(show_text(unicodedata.normalize("NFC", source.text)), ())
    page = _Page(source, worked, picture)
    tokens = _markdown().parseInline(unicodedata.normalize("NFC", source.text), {"references": dict(references)})
    return Rich(page.inline(tokens[0].children or (), 0), tuple(page.problems))


def work_of(source: Text) -> tuple[Worked, tuple[Problem, ...]]:
    """The calculations in the `calc` blocks of a piece of Markdown, computed, and what is wrong with them."""
    blocks = []
    for token in _markdown().parse(source.text) if _may_calculate(source.text) else ():
        if token.type == "fence" and _word(token) == "calc" and token.map:
            blocks.append(Text(token.content, Position(source.position.file, source.position.line + token.map[0] + 1)))
    return work(blocks)


def _may_calculate(text: str) -> bool:
    """Whether a text may hold a `calc` block: a fence, and the word, perhaps with an entity or a backslash."""
    fenced = "```" in text or "~~~" in text
    return fenced and ("calc" in text.lower() or "&" in text or "\\" in text)


@dataclass
class _Page:
    """Renders the tokens of one piece; collects the problems."""

    source: Text
    worked: Worked
    picture: Picture
    problems: list[Problem] = field(default_factory=list)
    calculations: int = 0
    links: list[str] = field(default_factory=list)

    def position(self, line: int, needle: str = "") -> Position:
        lines = self.source.text.split("\n")
        first = self.source.position.column - 1 if line == 0 else 0
        for offset, text in enumerate(lines[line:], line):
            if needle and needle in text:
                column = text.index(needle) + 1 + (self.source.position.column - 1 if offset == 0 else 0)
                return Position(self.source.position.file, self.source.position.line + offset, column)
        return Position(self.source.position.file, self.source.position.line + line, first + 1)

    def block(self, token: Token) -> str:
        match token.type:
            case "inline":
                return self.inline(token.children or (), token.map[0] if token.map else 0)
            case "fence" | "code_block":
                return self.fence(token)
            case "math_block":
                return f'<div class="scroll">{show_math(token.content, display=True)}</div>'
            case "table_open":
                return '<div class="scroll"><table>'
            case "table_close":
                return "</table></div>"
            case "paragraph_open" | "paragraph_close" if token.hidden:
                return ""
            case "heading_open" | "heading_close":
                return f"<{'/' * (token.nesting < 0)}h4>"
            case _:
                return self.element(token)

    def element(self, token: Token) -> str:
        if not token.tag:
            return ""
        if token.nesting < 0:
            return f"</{token.tag}>"
        kept = {name: str(token.attrs[name]) for name in ("start", "style") if name in token.attrs}
        direction = ' dir="auto"' if token.tag in ("p", "li", "td", "th") else ""
        attributes = "".join(f' {name}="{escape(value)}"' for name, value in kept.items())
        return f"<{token.tag}{attributes}{direction}>"

    def fence(self, token: Token) -> str:
        word = _word(token)
        if word == "calc":
            self.calculations += 1
            return self.worked.html(self.calculations - 1)
        code = token.content.rstrip("\n")
        return f'<pre dir="ltr"><code>{_highlighted(code, word) if word else show_text(code)}</code></pre>'

    def inline(self, tokens: Sequence[Token], line: int) -> str:
        parts: list[str] = []
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.type == "link_open" and str(token.attrs.get("href", "")).startswith("#"):
                close = next(i for i in range(index, len(tokens)) if tokens[i].type == "link_close")
                label = "".join(t.content for t in tokens[index + 1 : close])
                parts.append(self.quote(label, unquote(str(token.attrs["href"]))[1:], line))
                index = close
            elif token.type == "softbreak":
                before, after = _edge(tokens, index - 1, -1), _edge(tokens, index + 1, 0)
                parts.append("" if before and after and is_wide(before) and is_wide(after) else " ")
            else:
                parts.append(self.span(token, line))
            index += 1
        return keep_stops("".join(parts))

    def quote(self, label: str, name: str, line: int) -> str:
        shown, complaint = check_quote(label, name, self.worked)
        if complaint:
            code, message, hint = complaint
            self.problems.append(Problem(code, Severity.ERROR, self.position(line, f"](#{name})"), message, hint))
        return f'<span class="quantity">{show_text(shown)}</span>'

    def span(self, token: Token, line: int) -> str:
        match token.type:
            case "text":
                return show_text(token.content)
            case "code_inline":
                return f'<code dir="ltr">{show_text(token.content)}</code>'
            case "math":
                display = token.markup == "$$"
                return show_math(token.content.strip("$"), display=display)
            case "hardbreak":
                return "<br>"
            case "image":
                return self.image(token, line)
            case "link_open":
                followable = _FOLLOWABLE.match(str(token.attrs["href"]))
                self.links.append("</a>" if followable else "")
                return f'<a href="{harmless(escape(str(token.attrs["href"])))}">' if followable else ""
            case "link_close":
                return self.links.pop()
            case _:
                return f"<{'/' * (token.nesting < 0)}{token.tag}>" if token.tag else ""

    def image(self, token: Token, line: int) -> str:
        destination = unquote(str(token.attrs["src"]))
        name = self.picture(destination, self.position(line, "!["))
        alternative = harmless(escape(token.content))
        return f'<img src="{name}" alt="{alternative}">' if name else f"<i>{alternative}</i>"


def _edge(tokens: Sequence[Token], index: int, character: int) -> str:
    content = tokens[index].content if 0 <= index < len(tokens) else ""
    return content[character] if content else ""


def _word(token: Token) -> str:
    return token.info.strip().split(" ")[0].lower()


def _highlighted(code: str, language: str) -> str:
    from pygments import highlight
    from pygments.util import ClassNotFound

    try:
        lexer = _lexer(language)
    except ClassNotFound:
        return show_text(code)
    return harmless(highlight(code, lexer, _formatter()).rstrip("\n"))


# Pygments costs more to import than a deck without code should pay.


@functools.lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(language, stripnl=False, ensurenl=False)


@functools.cache
def _formatter() -> Any:
    from pygments.formatters import HtmlFormatter

    return HtmlFormatter(nowrap=True)


@functools.cache
def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    install_math(markdown, before="escape")
    markdown.block.ruler.before(
        "fence", "math_block", _math_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    return markdown


def _math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Lines from one that begins with `$$` to one that ends with it: a displayed formula, whatever is in between."""
    first = state.getLines(start, start + 1, state.blkIndent, False).strip()
    if not first.startswith("$$") or state.is_code_block(start):
        return False
    if len(first) > 4 and first.endswith("$$"):
        last, content = start, first[2:-2]
    else:
        last = next((n for n in range(start + 1, end) if _line(state, n).endswith("$$")), -1)
        if last < 0 or "$$" in first[2:]:
            return False
        content = "\n".join([first[2:], *(_line(state, n) for n in range(start + 1, last)), _line(state, last)[:-2]])
    if "$$" in content or not content.strip():
        return False
    if not silent:
        token = state.push("math_block", "", 0)
        token.content, token.map = content.strip(), [start, last + 1]
        state.line = last + 1
    return True


def _line(state: StateBlock, number: int) -> str:
    return state.getLines(number, number + 1, state.blkIndent, False).strip()
