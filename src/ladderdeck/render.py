"""Source text to HTML that shows it as it was written, in a browser, in Anki and through Anki's own syntax.

Markdown is light here: code, bold, links, math and fenced blocks. All else is text, for in a pack `__init__`, `2*3*4`,
`<T>` and `&amp;` mean themselves. markdown-it-py does the parsing, with only these rules left on.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from .markup import display_at, math_at, protected_spans, spans

_MARKUP = re.compile(r"[`*$\[\n]")
_LIVE_TEX = re.compile(r"\\(?=[(\[]|begin\{|ref\{|eqref\{)")
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,500})\]\(([^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"\n]*\")?\)")
_FOLLOWABLE = re.compile(r"(?:https?://|mailto:)\S")
_DOCUMENT = re.compile(r"(?:\.{0,2}/|#)\S+|[^\s:]+\.(?:md|markdown|html?|pdf|png|jpe?g|svg|txt)(?:#\S*)?\Z")
_BOLD = re.compile(r"\*+")
_INFO_WORD = re.compile(r"[\w+#.-]+")


def render_text(source: str) -> str:
    """The HTML of one item of a pack: its text as it was written, code, bold, links and math as markup.

    The result is inline, but for fenced blocks, which become ``<pre>``; line breaks are ``<br>``. It is NFC, and nothing
    in it is live in Anki: no ``[sound:…]``, no ``\\(…\\)`` but the math that was meant.
    """
    source = unicodedata.normalize("NFC", source)
    parts: list[str] = []
    position = 0
    for span in spans(source) if "\n" in source else ():
        if span.what == "fence":
            parts.append(_inline(source[position : span.start].strip("\n")))
            parts.append(_fence(source, span.start, source[span.inner_start : span.inner_end]))
            position = span.end
    parts.append(_inline(source[position:].strip("\n") if position else source))
    return "".join(part for part in parts if part)


def plain_text(source: str) -> str:
    """What :func:`render_text` shows, on one line and without markup, for titles and reports. Math is its source."""
    tokens = _parse(unicodedata.normalize("NFC", source))
    return " ".join("".join(token.content or (" " if token.type in _BREAKS else "") for token in tokens).split())


def harmless(html: str) -> str:
    """Finished HTML in which no square bracket is left, so that none of Anki's tags can be: they are text."""
    return html.replace("[", "&#91;")


def show_text(text: str) -> str:
    """Plain text as HTML: nothing in it is markup, neither for a browser, nor for Anki, nor for MathJax.

    MathJax reads the page and not its source, so that only an element keeps it from seeing its opening delimiter.
    """
    return harmless("<span>\\</span>".join(escape(piece, quote=False) for piece in _LIVE_TEX.split(text)))


def show_math(formula: str, *, display: bool) -> str:
    """A formula in the delimiters that Anki's MathJax looks for."""
    content = harmless(escape(formula.strip(), quote=False))
    # The blanks keep the delimiter's bracket from making one of Anki's tags with what follows.
    return f"\\[ {content} \\]" if display else f"\\({content}\\)"


_BREAKS = ("softbreak", "hardbreak")


def _fence(source: str, start: int, content: str) -> str:
    info = source[start : source.find("\n", start)].strip().lstrip("`~").strip()
    word = _INFO_WORD.match(info)
    language = f' class="language-{escape(word.group())}"' if word else ""
    return f'<pre dir="ltr"><code{language}>{show_text(content)}</code></pre>'


def _inline(source: str) -> str:
    if not _MARKUP.search(source):
        return show_text(source)
    return "".join(_html(token) for token in _parse(source))


def _parse(source: str) -> Sequence[Token]:
    environment = {"bold": _bold_pairs(source), "links": _links(source)}
    return _markdown().parseInline(source, environment)[0].children or ()


def _html(token: Token) -> str:
    content = token.content
    match token.type:
        case "text":
            return show_text(content)
        case "code_inline":
            return f'<code dir="ltr">{show_text(content)}</code>'
        case "math":
            return show_math(content.strip("$"), display=token.markup == "$$")
        case "softbreak" | "hardbreak":
            return "<br>"
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
    """The one parser: text, code and line breaks by markdown-it-py, and the rules below."""
    markdown = MarkdownIt("zero")
    markdown.enable(["backticks", "newline"])
    install_math(markdown)
    for name, rule in (("bold", _bold_rule), ("link_in_text", _link_rule)):
        markdown.inline.ruler.push(name, rule)
    return markdown


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


def _bold_pairs(source: str) -> dict[int, int]:
    """For each `**` that opens bold text the one that closes it.

    A mark between two Latin letters or digits is an operator (2**3), one beside a slash a path pattern (src/**/x). In
    Chinese a mark needs no blank around it, as CommonMark's rule would demand next to punctuation.
    """
    pairs: dict[int, int] = {}
    if "**" not in source:
        return pairs
    code = iter(protected_spans(source))
    span = next(code, None)
    opened: int | None = None
    for match in _BOLD.finditer(source):
        start, end = match.span()
        while span and span[1] <= start:
            span = next(code, None)
        if end - start != 2 or (span and span[0] <= start):
            continue
        before, after = source[start - 1 : start] or " ", source[end : end + 1] or " "
        if opened is not None and not before.isspace() and before not in "/\\" and not _is_word(after):
            pairs[opened] = start
            opened = None
        elif not after.isspace() and after not in "/\\" and not _is_word(before):
            opened = start
    return pairs


def _links(source: str) -> dict[int, tuple[int, int, str]]:
    """Where links begin: the end of their label, their own end, and their destination.

    Only what can be a destination makes a link: `handlers[i](event)` is code. A relative one shows its label alone,
    since a phone cannot open it.
    """
    if "](" not in source:
        return {}
    found = ((match, match[2]) for match in _LINK.finditer(source))
    return {m.start(): (m.end(1), m.end(), to) for m, to in found if _FOLLOWABLE.match(to) or _DOCUMENT.match(to)}


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()
