"""Answer files: Markdown beside a pack that answers its rungs, signs, red flags and probes. Read, not yet rendered.

A file belongs to one topic (or, without `topic:`, to the pack's probes). A `##` heading names an item by its own text,
the list that follows it holds the key points, the rest is the details. `#` headings may group the items by kind.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ..reading.decoding import decode
from ..reading.labels import Item as Label
from ..reading.labels import Section, label_of, section_of
from ..reading.located import join_lines
from ..reading.yaml_nodes import YamlReader
from ..values.model import Kind, Position, Problem, Severity, Text

MUST = "★"
"""What a key point begins with that an answer cannot do without."""

_KEYS = ("pack", "topic", "language")
_NO_HEADING = re.compile(r"(?:#{2,6}[^#\s]|＃{1,6})")
_SOURCES = re.compile(r"(?:来源|Sources?)\s*[：:]\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KeyPoint:
    """One testable clause of an answer; ``must`` marks one that the answer cannot do without."""

    text: Text
    must: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """What a file says under one `##` heading.

    ``kind`` is the kind of item that the `#` heading above names, None without one. ``details`` and ``sources`` are
    Markdown, each with the line where it begins.
    """

    heading: Text
    kind: Kind | None
    key_points: tuple[KeyPoint, ...]
    details: Text
    sources: Text


@dataclass(frozen=True)
class AnswerFile:
    """An answer file: the pack and topic that it belongs to ('' for none), its answers, and its link definitions."""

    path: str
    pack: Text
    topic: Text
    language: str
    answers: tuple[Answer, ...]
    references: Mapping[str, Any]


def is_answer_file(data: bytes) -> bool:
    """Whether a Markdown file beside a pack is meant to hold answers: its front matter names a pack."""
    lines = data.decode("utf-8-sig", "replace").splitlines()[:40]
    return bool(lines) and lines[0].rstrip() == "---" and any(line.startswith("pack:") for line in lines)


def parse_answers(data: bytes, file: str) -> tuple[AnswerFile | None, tuple[Problem, ...]]:
    """Read an answer file. None where nothing can be read or where it does not say which pack it belongs to."""
    text, reading_problems = decode(data, file)
    if text is None:
        return None, reading_problems
    lines = text.split("\n")
    closing = next((i for i, line in enumerate(lines) if i and line.rstrip() == "---"), None)
    if lines[0].rstrip() != "---" or closing is None:
        message, hint = "the answer file has no front matter", "begin it with lines ---, pack: NAME, topic: TITLE, ---"
        return None, (*reading_problems, Problem("no-front-matter", Severity.ERROR, Position(file), message, hint))
    reader = YamlReader(file, 2, "the front matter")
    entries = reader.entries("\n".join(lines[1:closing])) or {}
    for key, node in entries.items():
        if key not in _KEYS:
            hint = "known are " + ", ".join(f"`{k}:`" for k in _KEYS)
            reader.report("unknown-key", reader.place(node), f"`{key}` means nothing here", hint, Severity.WARNING)
    values = {key: _value(reader, entries, key) for key in _KEYS}
    if not values["pack"].text:
        if not reader.problems:
            reader.report("no-pack", Position(file, 1), "the answer file does not name its pack", "add `pack: NAME`")
        return None, (*reading_problems, *reader.problems)
    body = _Body(file, lines, closing + 1)
    answers = body.answers()
    found = AnswerFile(
        file, values["pack"], values["topic"], values["language"].text, answers, body.environment.get("references", {})
    )
    return found, (*reading_problems, *reader.problems, *body.problems)


def _value(reader: YamlReader, entries: Mapping[str, Any], key: str) -> Text:
    node = entries.get(key)
    position = reader.place(node) if node is not None else Position(reader.file, 1)
    return Text(reader.text(node, key), position)


@functools.cache
def _markdown() -> MarkdownIt:
    """The one parser; it finds blocks only."""
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("inline")


class _Body:
    """The body of one file, cut at its headings."""

    def __init__(self, file: str, lines: Sequence[str], start: int) -> None:
        self.file = file
        self.lines = lines
        self.start = start
        self.environment: dict[str, Any] = {}
        self.problems: list[Problem] = []
        self.tokens = _markdown().parse("\n".join(lines[start:]), self.environment)

    def answers(self) -> tuple[Answer, ...]:
        heads = [i for i, t in enumerate(self.tokens) if t.type == "heading_open" and t.tag in ("h1", "h2")]
        kind: Kind | None = None
        found = []
        self._check_headings(self.tokens, heads[0] if heads else len(self.tokens))
        for at, following in pairwise([*heads, len(self.tokens)]):
            heading = self._text(self.tokens[at + 1])
            if self.tokens[at].tag == "h1":
                kind = self._kind(heading)
                continue
            end = self._line(following) if following < len(self.tokens) else len(self.lines) - self.start
            found.append(self._answer(heading, kind, self.tokens[at + 3 : following], end))
        return tuple(found)

    def _kind(self, heading: Text) -> Kind | None:
        kind = kind_of_heading(heading.text)
        if kind is None:
            hint = "write the pack's own words, such as `# 阶梯` or `# Ladder`, or leave the heading out"
            message = f"`{heading.text}` names no kind of item"
            self.problems.append(Problem("unknown-section", Severity.WARNING, heading.position, message, hint))
        return kind

    def _line(self, token: int) -> int:
        place = self.tokens[token].map
        return place[0] if place else 0

    def _text(self, token: Token) -> Text:
        line = token.map[0] if token.map else 0
        source = self.lines[self.start + line]
        column = max(source.find(token.content.split("\n")[0]), 0) + 1
        return Text(token.content.strip(), Position(self.file, self.start + line + 1, column))

    def _answer(self, heading: Text, kind: Kind | None, tokens: Sequence[Token], end: int) -> Answer:
        points, rest = self._key_points(tokens)
        begin = rest[0].map[0] if rest and rest[0].map else end
        sources = [t for t in rest if t.level == 1 and t.type == "inline" and _SOURCES.match(t.content)]
        if not sources:
            return Answer(heading, kind, points, self._slice(begin, end), self._slice(end, end))
        first = sources[-1].map[0] if sources[-1].map else end
        cited = self._slice(first, end)
        cited = Text(_SOURCES.sub("", cited.text, count=1), cited.position)
        return Answer(heading, kind, points, self._slice(begin, first), cited)

    def _slice(self, begin: int, end: int) -> Text:
        lines = list(self.lines[self.start + begin : self.start + end])
        while lines and not lines[0].strip():
            lines.pop(0)
            begin += 1
        return Text("\n".join(lines).rstrip(), Position(self.file, self.start + begin + 1))

    def _key_points(self, tokens: Sequence[Token]) -> tuple[tuple[KeyPoint, ...], Sequence[Token]]:
        """The points of the list that stands first, and what follows it."""
        if not tokens or tokens[0].type not in ("bullet_list_open", "ordered_list_open"):
            return (), tokens
        close = next(i for i, t in enumerate(tokens) if t.level == 0 and t.type.endswith("_list_close"))
        self._check_list(tokens, close)
        points = []
        for token in tokens[:close]:
            if token.type == "inline":
                text = self._text(token)
                must = text.text.startswith(MUST)
                clause = text.text[len(MUST) :].strip() if must else text.text
                lines = [(line, 1, 1) for line in clause.split("\n")]
                points.append(KeyPoint(Text(join_lines(self.file, lines).text, text.position), must))
        return tuple(points), tokens[close + 1 :]

    def _check_list(self, tokens: Sequence[Token], close: int) -> None:
        """A key point is a line of text: what else stands in the list, or goes on behind another mark, would be lost."""
        for token in tokens[:close]:
            if token.type in ("fence", "code_block", "table_open", "heading_open", "hr"):
                message, hint = (
                    "a key point is a line of text, and this is none",
                    "move it below the list, to the details",
                )
                self._report("key-point-block", Severity.ERROR, token, message, hint)
        following = tokens[close + 1] if close + 1 < len(tokens) else None
        if following is not None and following.type == tokens[0].type == "bullet_list_open":
            message = (
                f"the list of key points ends above, for the mark changes from {tokens[0].markup} to {following.markup}"
            )
            self._report("two-lists", Severity.WARNING, following, message, "begin each key point with the same mark")

    def _report(self, code: str, severity: Severity, token: Token, message: str, hint: str) -> None:
        position = Position(self.file, self.start + (token.map[0] if token.map else 0) + 1)
        self.problems.append(Problem(code, severity, position, message, hint))

    def _check_headings(self, tokens: Sequence[Token], first_heading: int) -> None:
        """Nothing stands above the first heading, and no line looks like one and is none."""
        for token in tokens[:first_heading]:
            if token.level == 0 and token.nesting >= 0:
                message, hint = "this text belongs to no item, and is on no card", "write it below a `##` heading"
                self._report("stray-text", Severity.WARNING, token, message, hint)
                break
        for token in tokens:
            if token.type == "inline" and token.level == 1:
                for offset, line in enumerate(token.content.split("\n")):
                    if _NO_HEADING.match(line):
                        position = Position(self.file, self.start + (token.map[0] if token.map else 0) + offset + 1)
                        message, hint = (
                            "this is no heading without a blank behind the #",
                            "write `## ` and the item's text",
                        )
                        self.problems.append(Problem("no-heading", Severity.ERROR, position, message, hint))


def kind_of_heading(heading: str) -> Kind | None:
    """The kind of item that a `#` heading of an answer file names, in the words of the packs in either language."""
    label = label_of(heading)
    if label is not None:
        return Kind.RUNG if label.item is Label.LADDER else Kind.SIGN
    section = section_of(heading)
    if section is None:
        return None
    return {Section.RED_FLAGS: Kind.RED_FLAG, Section.PROBES: Kind.PROBE}.get(section[0])
