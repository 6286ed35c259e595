"""A Markdown body as a small tree of blocks whose text knows its place; what a ladder document means comes later.

markdown-it-py says which lines are a list item, a paragraph or a fence; the inline markup stays source text. Reference
definitions, HTML and indented code do not exist here: in a pack they are text that somebody wrote.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from .located import Located, join_lines

NESTING_LIMIT = 100
"""How deep blocks may nest; what is deeper, markdown-it-py leaves out, so `outline` tells where that would begin."""


@dataclass(frozen=True)
class Heading:
    """A heading: its level (1 to 6) and its text."""

    level: int
    text: Located


@dataclass(frozen=True)
class Paragraph:
    """A run of soft-wrapped lines."""

    text: Located


@dataclass(frozen=True)
class Fence:
    """A fenced code block: its source with the fences, and where it begins."""

    text: Located


@dataclass(frozen=True)
class Item:
    """An item of a bullet or numbered list, and the place of its mark."""

    blocks: tuple[Block, ...]
    mark: Located


@dataclass(frozen=True)
class List:
    """A bullet list or a numbered list."""

    items: tuple[Item, ...]


Block = Heading | Paragraph | Fence | List


@dataclass(frozen=True)
class Outline:
    """The blocks of a document's body, and where Markdown reads it otherwise than its author may have meant.

    ``too_deep`` is the line from which on it is nested too deep to be read, ``open_fence`` the line of a code block that
    nothing ends; None where there is none.
    """

    blocks: tuple[Block, ...]
    too_deep: int | None
    open_fence: int | None


def outline(body: Sequence[str], file: str, first_line: int) -> Outline:
    """What Markdown makes of a document's body.

    ``body`` are its lines without line ends, ``first_line`` the number of the first of them in the file, from 1.
    """
    tokens = _markdown().parse("\n".join(body))
    deep = next((t.map[0] + first_line for t in tokens if t.level >= NESTING_LIMIT - 1 and t.map), None)
    unclosed = next((t.map[0] + first_line for t in tokens if t.type == "fence" and t.map and _is_open(t, body)), None)
    source = _Source(body, file, first_line)
    blocks = tuple(block for node in SyntaxTreeNode(tokens).children for block in source.blocks(node))
    return Outline(blocks, deep, unclosed)


@functools.cache
def _markdown() -> MarkdownIt:
    """The one parser; it finds blocks only."""
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING_LIMIT})
    return markdown.disable(["code", "html_block", "reference", "inline"])


def _is_open(fence: Token, body: Sequence[str]) -> bool:
    first, end = fence.map or (0, 0)
    last = body[end - 1].strip(" \t>") if end - 1 > first and end <= len(body) else ""
    return not last.startswith(fence.markup) or bool(last.strip(fence.markup[0]))


@dataclass(frozen=True)
class _Source:
    lines: Sequence[str]
    file: str
    first_line: int

    def blocks(self, node: SyntaxTreeNode) -> list[Block]:
        if node.type == "heading":
            return [Heading(int(node.tag[1:]), self.inline(node))]
        if node.type == "paragraph":
            return [Paragraph(self.inline(node))]
        if node.type == "fence":
            return [Fence(self.fence(node))]
        if node.type in ("bullet_list", "ordered_list"):
            return [List(tuple(Item(self.inside(item), self.mark(item)) for item in node.children))]
        if node.type == "blockquote":
            return list(self.inside(node))
        return []

    def mark(self, node: SyntaxTreeNode) -> Located:
        line = node.map[0] if node.map else 0
        text = self.lines[line] if line < len(self.lines) else ""
        return Located("", self.file, (0,), ((line + self.first_line, len(text) - len(text.lstrip()) + 1),))

    def inside(self, node: SyntaxTreeNode) -> tuple[Block, ...]:
        return tuple(block for child in node.children for block in self.blocks(child))

    def inline(self, node: SyntaxTreeNode) -> Located:
        """The text of a heading or paragraph; each of its lines is found again at the end of its source line."""
        start = node.map[0] if node.map else 0
        content = node.children[0].content if node.children else ""
        pieces = []
        for index, text in enumerate(content.split("\n")):
            line = self.lines[start + index] if start + index < len(self.lines) else ""
            column = line.rfind(text.strip()) if text.strip() else 0
            if node.markup.startswith("#") and text.strip():
                # The marks behind a heading's text may look like the text.
                column = line.find(text.strip(), line.find(node.markup) + len(node.markup))
            pieces.append((text.strip(), start + index + self.first_line, max(column, 0) + 1))
        return join_lines(self.file, pieces)

    def fence(self, node: SyntaxTreeNode) -> Located:
        start = node.map[0] if node.map else 0
        text = f"{node.markup}{node.info}\n{node.content.rstrip(chr(10))}\n{node.markup}"
        column = self.lines[start].find(node.markup) + 1
        return Located(text, self.file, (0,), ((start + self.first_line, max(column, 1)),))
