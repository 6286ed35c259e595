"""Source text to HTML that shows it as it was written, in a browser, in Anki and through Anki's own syntax.

Markdown is light here: code, bold, links, math and fenced blocks. All else is text, for in a pack `__init__`, `2*3*4`,
`<T>` and `&amp;` mean themselves. markdown-it-py does the parsing, with only these rules left on.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from ..reading.markup import display_at, math_at, protected_spans, spans

_MARKUP = re.compile(r"[`*$\[]")
_LIVE_TEX = re.compile(r"\\(?=[(\[]|begin\{|ref\{|eqref\{)")
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,500})\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"\n]*\")?\)")
_FOLLOWABLE = re.compile(r"(?:https?://|mailto:)\S")
_DOCUMENT = re.compile(r"(?:\.{0,2}/|#)\S+|[^\s:]+\.(?:md|markdown|html?|pdf|png|jpe?g|svg|txt)(?:#\S*)?\Z")
_BOLD = re.compile(r"\*+")
_FORMULA_AND_STOP = re.compile(r"<[^>]*>|(\\\((?:(?!\\\)).)*\\\)[，。；：、！？）」』】》”’,.;:!?)]+)", re.DOTALL)
_INFO_WORD = re.compile(r"[\w+#.-]+")


@functools.lru_cache(maxsize=1024)
def render_text(source: str) -> str:
    """The HTML of one item of a pack: its text as it was written, code, bold, links and math as markup.

    The result is inline, but for fenced blocks, which become ``<pre>``; line breaks are ``<br>``. It is NFC, and nothing
    in it is live in Anki: no ``[sound:…]``, no ``\\(…\\)`` but the math that was meant. The last thousand are remembered,
    for a rung stands on its own card, on those before and behind it, and in the ladder on every card of its topic.
    """
    return "".join(_inline(text) if opening is None else _fence(opening, text) for opening, text in _pieces(source))


def plain_text(source: str) -> str:
    """What :func:`render_text` shows, on one line and without markup, for titles and reports. Math is its source."""
    shown = (
        text if opening is not None else "".join(token.content for token in _parse(text))
        for opening, text in _pieces(source)
    )
    return " ".join("\n".join(shown).split())


def _pieces(source: str) -> Iterator[tuple[str | None, str]]:
    """The item in NFC, cut at its fenced blocks: their opening line and content, and None with the text in between.

    Line ends and NUL are made here what CommonMark makes of them ('Preliminaries'), so that the parser moves no text.
    """
    source = unicodedata.normalize("NFC", source).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    position = 0
    for span in spans(source) if "\n" in source else ():
        if span.what == "fence":
            yield None, source[position : span.start].strip("\n")
            yield source[span.start : span.inner_start], source[span.inner_start : span.inner_end]
            position = span.end
    yield None, source[position:].strip("\n") if position else source


def harmless(html: str) -> str:
    """Finished HTML in which no square bracket is left, so that none of Anki's tags can be: they are text."""
    return html.replace("[", "&#91;")


def show_text(text: str) -> str:
    """Plain text as HTML: nothing in it is markup, neither for a browser, nor for Anki, nor for MathJax.

    MathJax reads the page and not its source, so that only an element keeps it from seeing its opening delimiter.
    """
    return harmless("<span>\\</span>".join(escape(piece, quote=False) for piece in _LIVE_TEX.split(text)))


def keep_stops(html: str) -> str:
    """HTML in which no line can begin with the punctuation behind a formula: browsers may break behind what MathJax makes."""

    def keep(match: re.Match[str]) -> str:
        # A tag is matched only to be left alone: its attributes may hold the same signs.
        return f'<span class="together">{match[1]}</span>' if match[1] else match[0]

    return _FORMULA_AND_STOP.sub(keep, html) if "\\(" in html else html


def show_math(formula: str, *, display: bool) -> str:
    """A formula in the delimiters that Anki's MathJax looks for."""
    content = harmless(escape(formula.strip(), quote=False))
    # The blanks keep the delimiter's bracket from making one of Anki's tags with what follows.
    return f"\\[ {content} \\]" if display else f"\\({content}\\)"


def _fence(opening: str, content: str) -> str:
    word = _INFO_WORD.match(opening.strip().lstrip("`~").strip())
    language = f' class="language-{escape(word.group())}"' if word else ""
    return f'<pre dir="ltr"><code{language}>{show_text(content)}</code></pre>'


def _inline(source: str) -> str:
    if not _MARKUP.search(source):
        return _show_lines(source)
    return keep_stops("".join(_html(token) for token in _parse(source)))


def _show_lines(text: str) -> str:
    return show_text(text).replace("\n", "<br>")


def _parse(source: str) -> Sequence[Token]:
    protected = protected_spans(source)
    links = _links(source, protected)
    bold = _bold_pairs(source, protected, links)
    stops = sorted({*(start for start, _ in protected), *links, *bold})
    return _markdown().parseInline(source, {"bold": bold, "links": links, "stops": stops})[0].children or ()


def _html(token: Token) -> str:
    content = token.content
    match token.type:
        case "text":
            return _show_lines(content)
        case "code_inline":
            return f'<code dir="ltr">{show_text(content)}</code>'
        case "math":
            return show_math(content.strip("$"), display=token.markup == "$$")
        case "link_open":
            return f'<a href="{harmless(escape(str(token.attrs["href"])))}">'
        case _:
            return _CLOSING[token.type]


_CLOSING = {"link_close": "</a>", "strong_open": "<b>", "strong_close": "</b>"}


def install_math(markdown: MarkdownIt, before: str = "") -> None:
    """Teach a parser the formulas between dollar signs, as tokens of type ``math``; ``before`` names an inline rule."""
    if before:
        markdown.inline.ruler.before(before, "math", _math_rule)
    else:
        markdown.inline.ruler.push("math", _math_rule)


@functools.cache
def _markdown() -> MarkdownIt:
    """The one parser: markdown-it-py's code spans, and the rules below."""
    markdown = MarkdownIt("zero").enable("backticks")
    markdown.inline.ruler.at("text", _text_rule)
    install_math(markdown)
    for name, rule in (("bold", _bold_rule), ("link_in_text", _link_rule)):
        markdown.inline.ruler.push(name, rule)
    return markdown


def _text_rule(state: StateInline, silent: bool) -> bool:
    """All up to the next mark that is one, in one step: a long line of marks that are none stays linear."""
    stops: list[int] = state.env["stops"]
    index = bisect_left(stops, state.pos)
    end = min(stops[index] if index < len(stops) else state.posMax, state.posMax)
    if end == state.pos:
        return False
    if not silent:
        state.pending += state.src[state.pos : end]
    state.pos = end
    return True


def _math_rule(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "$":
        return False
    run = 1
    while state.src.startswith("$", state.pos + run) and state.pos + run < state.posMax:
        run += 1
    find = {1: math_at, 2: display_at}.get(run)
    span = find(state.src, state.pos, state.posMax) if find else None
    if span is None:
        # All of the run is text; else its second dollar would be tried as an opener of its own.
        state.pending += "" if silent else "$" * run
        state.pos += run
        return True
    if not silent:
        token = state.push("math", "", 0)
        token.content = state.src[span.start : span.end]
        token.markup = "$" * run
    state.pos = span.end
    return True


def _bold_rule(state: StateInline, silent: bool) -> bool:
    close = state.env["bold"].get(state.pos)
    if close is None or close + 2 > state.posMax:
        return False
    return _nested(state, silent, "strong", "b", (state.pos + 2, close, close + 2), {})


def _link_rule(state: StateInline, silent: bool) -> bool:
    found = state.env["links"].get(state.pos)
    if found is None or found[1] > state.posMax:
        return False
    label_end, end, destination = found
    if not _FOLLOWABLE.match(destination):
        return _nested(state, silent, "", "", (state.pos + 1, label_end, end), {})
    return _nested(state, silent, "link", "a", (state.pos + 1, label_end, end), {"href": destination})


def _nested(
    state: StateInline, silent: bool, name: str, element: str, places: tuple[int, int, int], attributes: dict[str, str]
) -> bool:
    """Parse what is inside a pair of marks: ``places`` are where the inside begins and ends, and where the marks end."""
    inside, inside_end, end = places
    if not silent:
        before = state.posMax
        state.pos, state.posMax = inside, inside_end
        if name:
            state.push(f"{name}_open", element, 1).attrs = dict(attributes)
        state.md.inline.tokenize(state)
        if name:
            state.push(f"{name}_close", element, -1)
        state.posMax = before
    state.pos = end
    return True


def _bold_pairs(
    source: str, protected: Sequence[tuple[int, int]], links: dict[int, tuple[int, int, str]]
) -> dict[int, int]:
    """For each `**` that opens bold text the one that closes it; neither stands in code, math or a link's destination.

    A mark between two Latin letters or digits is an operator (2**3), one beside a slash a path pattern (src/**/x). In
    Chinese a mark needs no blank around it, as CommonMark's rule would demand next to punctuation.
    """
    pairs: dict[int, int] = {}
    if "**" not in source:
        return pairs
    destinations = [(label_end, end) for label_end, end, _ in links.values()]
    opened: int | None = None
    for match in _BOLD.finditer(source):
        start, end = match.span()
        if end - start != 2 or _covers(protected, start) or _covers(destinations, start):
            continue
        before, after = source[start - 1 : start] or " ", source[end : end + 1] or " "
        if opened is not None and not before.isspace() and before not in "/\\" and not _is_word(after):
            pairs[opened] = start
            opened = None
        elif not after.isspace() and after not in "/\\" and not _is_word(before):
            opened = start
    return pairs


def _links(source: str, protected: Sequence[tuple[int, int]]) -> dict[int, tuple[int, int, str]]:
    """Where links begin: the end of their label, their own end, and their destination.

    Only what can be a destination makes a link: `handlers[i](event)` is code. A relative one shows its label alone,
    since a phone cannot open it. Code and math bind tighter than a link's brackets (CommonMark, 'Links').
    """
    if "](" not in source:
        return {}
    found = {}
    for match in _LINK.finditer(source):
        start, label_end, end = match.start(), match.end(1), match.end()
        if match[1].strip() and not any(_covers(protected, mark) for mark in (start, label_end, end - 1)):
            called = _is_word(source[start - 1 : start])
            if _FOLLOWABLE.match(match[2]) or (not called and _DOCUMENT.match(match[2])):
                found[start] = (label_end, end, match[2])
    return found


def _covers(ranges: Sequence[tuple[int, int]], place: int) -> bool:
    """Whether one of the ascending ranges holds the place."""
    index = bisect_right(ranges, place, key=lambda each: each[0]) - 1
    return index >= 0 and place < ranges[index][1]


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()
