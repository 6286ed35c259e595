"""Answers to HTML: full Markdown, with math, tables, highlighted code, worked calculations and pictures.

Unlike a pack, an answer is written for this program, so CommonMark holds with all its rules; HTML is text here too.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import unquote

from markdown_it.token import Token

from ..reading.located import is_wide
from ..reading.markup import protected_spans
from ..values.model import Position, Problem, Severity, Text
from .commonmark import answer_markdown
from .leftovers import leftovers, text_between
from .quoting import check_quote
from .render import harmless, keep_stops, show_math, show_text
from .tables import table_complaints
from .worked import Worked, work

_FOLLOWABLE = re.compile(r"(?:https?://|mailto:)\S")
_TEX_DELIMITERS = re.compile(r"(?<!\\)\\(?:\(.+?\\\)|\[.+?\\\])", re.DOTALL)
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
    env = {"references": dict(references)}
    tokens = answer_markdown().parse(unicodedata.normalize("NFC", source.text), env)
    for line, message, hint in table_complaints(env):
        page.problems.append(Problem("table-cells", Severity.ERROR, page.position(line), message, hint))
    html = "".join(page.block(token) for token in tokens)
    return Rich(html, (*page.problems, *_tex_delimiters(source)))


def render_point(source: Text, worked: Worked, references: Mapping[str, Any], picture: Picture) -> Rich:
    """Render one line, such as a key point, without a paragraph around it."""
    if not _INLINE_MARK.search(source.text):
        return Rich(show_text(unicodedata.normalize("NFC", source.text)), ())
    page = _Page(source, worked, picture)
    tokens = answer_markdown().parseInline(unicodedata.normalize("NFC", source.text), {"references": dict(references)})
    html = page.inline(tokens[0].children or (), 0)
    return Rich(html, (*page.problems, *_tex_delimiters(source)))


def _tex_delimiters(source: Text) -> Iterator[Problem]:
    """The formulas in TeX's own delimiters: their backslashes are Markdown's escapes, and vanish."""
    for found in _TEX_DELIMITERS.finditer(source.text) if "\\" in source.text else ():
        if not any(start <= found.start() < end for start, end in protected_spans(source.text)):
            before = source.text[: found.start()]
            line, column = before.count("\n"), found.start() - before.rfind("\n")
            first = source.position.column - 1 if line == 0 else 0
            position = Position(source.position.file, source.position.line + line, column + first)
            message = f"`{found.group()[:2]}` is a bracket in Markdown, not the beginning of a formula"
            yield Problem(
                "tex-delimiters", Severity.WARNING, position, message, "write the formula as `$…$` or `$$…$$`"
            )


def work_of(source: Text) -> tuple[Worked, tuple[Problem, ...]]:
    """The calculations in the `calc` blocks of a piece of Markdown, computed, and what is wrong with them."""
    blocks = []
    for token in answer_markdown().parse(source.text) if _may_calculate(source.text) else ():
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
        self.check_marks(tokens, line)
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

    def check_marks(self, tokens: Sequence[Token], line: int) -> None:
        shown = {"text": None, "softbreak": "\n", "hardbreak": "\n"}
        text = text_between(token.content if token.type == "text" else shown.get(token.type) for token in tokens)
        for needle, code, message, hint in leftovers(text):
            position = self.position(line, needle.partition("\n")[0])
            self.problems.append(Problem(code, Severity.WARNING, position, message, hint))

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
