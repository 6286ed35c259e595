"""YAML read as nodes, so that every value keeps its place and `no`, `1.0` and a date stay the text that was written."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from ..values.model import Position, Problem, Severity, Text
from .decoding import character_problem, unfit_characters

_LINE_BREAKS = dict.fromkeys(map(ord, "\x85\u2028\u2029"), " ")
"""What only YAML takes for line breaks: it would count other lines than an editor does."""

_ODD = re.compile(r"[\ufeff\t\r]|(?:^|[\s\[{,])[!?]|[|>][-+\d]*#|^(?:---|\.\.\.)|:\s*[,}\]]", re.MULTILINE)
"""Where libyaml takes what PyYAML's own parser refuses, or sees another tag or place: a tab, a tag, a key behind `?`, a
comment right behind a block's mark, a second document, a value that is not there before a bracket or a comma."""

_WIDE_COLON = re.compile(r"[ \t]*(?:-[ \t]+)?([A-Za-z][\w-]*)[ \t]*：")


class YamlReader:
    """Reads one YAML text and collects the problems with it in ``problems``.

    ``first_line`` is the number in ``file`` of the text's first line; ``what`` names the text in messages.
    """

    def __init__(self, file: str, first_line: int, what: str) -> None:
        self.file = file
        self.first_line = first_line
        self.what = what
        self.problems: list[Problem] = []
        self._source = ""

    def report(
        self, code: str, position: Position, message: str, hint: str, severity: Severity = Severity.ERROR
    ) -> None:
        """Add a problem; an error unless said otherwise."""
        self.problems.append(Problem(code, severity, position, message, hint))

    def place(self, node: yaml.Node) -> Position:
        """Where in the file a node begins."""
        return Position(self.file, self.first_line + node.start_mark.line, node.start_mark.column + 1)

    def entries(self, text: str) -> dict[str, yaml.Node] | None:
        """The top-level keys and their nodes; None, and a problem, where the text is no mapping of keys."""
        root = self.root(text)
        return None if root is None else {key: value for key, (_, value) in self.keys(root, self.what).items()}

    def root(self, text: str) -> yaml.MappingNode | None:
        """The text as a mapping; None, and a problem, where it is none."""
        try:
            self._source = text.translate(_LINE_BREAKS)
            root = _compose(self._source)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            if (opening := _open_bracket(error, text)) is not None:
                position = Position(self.file, self.first_line + opening.line, opening.column + 1)
                bracket = text.split("\n")[opening.line][opening.column]
                closing = {"[": "]", "{": "}"}[bracket]
                message = f"the {bracket} that opens here is never closed"
                self.report("yaml", position, message, f"write {closing} behind its last item")
                return None
            position = Position(
                self.file, self.first_line + (mark.line if mark else 0), (mark.column if mark else 0) + 1
            )
            if not self._wide_colon(text, position.line):
                self.report("yaml", position, f"{self.what} is not YAML: {error.problem}", _yaml_hint(error, text))
            return None
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            position = Position(self.file, self.first_line)
            what = "it is nested too deep" if isinstance(error, RecursionError) else str(error).splitlines()[0]
            self.report("yaml", position, f"{self.what} is not YAML: {what}", "write plain `key: value` lines")
            return None
        if not isinstance(root, yaml.MappingNode):
            position = Position(self.file, self.first_line)
            if not self._wide_colon(text, self.first_line + text.count("\n")):
                self.report("yaml", position, f"{self.what} holds no keys", "write `key: value` lines")
            return None
        return root

    def _wide_colon(self, text: str, last_line: int) -> bool:
        """Report the last full-width colon behind a word that begins a line up to ``last_line``; whether there is one."""
        lines = text.split("\n")[: last_line - self.first_line + 1]
        for number in range(len(lines) - 1, -1, -1):
            if found := _WIDE_COLON.match(lines[number]):
                position = Position(self.file, self.first_line + number, found.end())
                message = f"the colon behind `{found[1]}` is a full-width one, which YAML does not know"
                self.report("wrong-colon", position, message, f"write `{found[1]}: ` and the value behind it")
                return True
        return False

    def keys(self, node: yaml.MappingNode, what: str) -> dict[str, tuple[Position, yaml.Node]]:
        """The keys of a mapping with their own places and their values; ``what`` names the mapping in messages."""
        entries: dict[str, tuple[Position, yaml.Node]] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self.report("yaml", self.place(key), "a key must be a word", "write `key: value`")
            elif key.tag == "tag:yaml.org,2002:merge":
                message, hint = "`<<` takes over keys from elsewhere, which is not read", "write the keys out"
                self.report("yaml", self.place(key), message, hint)
            elif key.value in entries:
                message = f"the key `{key.value}` stands twice in {what}"
                self.report("duplicate-key", self.place(key), message, "keep one of the two")
            else:
                entries[key.value] = self.place(key), value
        return entries

    def check_keys(self, entries: Mapping[str, tuple[Position, yaml.Node]], known: Sequence[str], what: str) -> None:
        """Report the keys that mean nothing in ``what``."""
        for key, (position, _) in entries.items():
            if key not in known:
                hint = "known are " + ", ".join(f"`{k}:`" for k in known)
                self.report("unknown-key", position, f"`{key}` means nothing in {what}", hint)

    def mapping(self, node: yaml.Node | None, key: str, hint: str) -> dict[str, tuple[Position, yaml.Node]]:
        """The keys of a nested mapping, as :meth:`keys`; empty, and a problem, where the node is something else."""
        if isinstance(node, yaml.MappingNode):
            return self.keys(node, f"`{key}`")
        if node is not None:
            self.report(f"wrong-{key}", self.place(node), f"`{key}` must map names to values", hint)
        return {}

    def markdown(self, node: yaml.Node | None, key: str) -> Text:
        """A text that may have several lines, and the place of its first one; '' where there is none."""
        if node is None:
            return Text("", Position(self.file, self.first_line))
        if not isinstance(node, yaml.ScalarNode):
            self.report(f"wrong-{key}", self.place(node), f"`{key}` must be one text", f"write `{key}: text`")
            return Text("", self.place(node))
        text = str(node.value) if any(True for _ in self._checked(node)) else ""
        return Text(text.rstrip(), self.content_place(node))

    def content_place(self, node: yaml.ScalarNode) -> Position:
        """Where the text itself begins: behind a quote, or on the line below `|`."""
        place = self.place(node)
        if node.style in ("|", ">"):
            return Position(place.file, place.line + 1, self._indent(node) + 1)
        return Position(place.file, place.line, place.column + (1 if node.style else 0))

    def lines(self, node: yaml.ScalarNode) -> list[Text]:
        """The lines of a text behind `|`, each with the place of its first character."""
        first = self.content_place(node)
        texts = enumerate(str(node.value).rstrip().split("\n"))
        return [Text(text, Position(self.file, first.line + number, first.column)) for number, text in texts]

    def _indent(self, node: yaml.ScalarNode) -> int:
        """How far a block of text is indented in the file, found where its first line with something on it stands."""
        below = self._source[node.start_mark.index :].split("\n")[1:]
        for written, read in zip(below, str(node.value).split("\n"), strict=False):
            if written.strip():
                return max(len(written.rstrip()) - len(read.rstrip()), 0)
        return 0

    def complained_about(self, node: yaml.Node) -> bool:
        """Whether a problem was reported at the node's place already."""
        return any(p.position == self.place(node) for p in self.problems)

    def text(self, node: yaml.Node | None, key: str) -> str:
        """The text of a node on one line; '' for none, and a problem for a list or a mapping."""
        if node is None:
            return ""
        if not isinstance(node, yaml.ScalarNode):
            self.report(f"wrong-{key}", self.place(node), f"`{key}` must be one text", f"write `{key}: text`")
            return ""
        return next((value for value, _ in self._checked(node)), "")

    def texts(self, node: yaml.Node | None, key: str, *, strict: bool = False) -> list[tuple[str, Position]]:
        """The texts of a list; a single text counts as a list of one, with a complaint where the key must be a list."""
        if node is None:
            return []
        if isinstance(node, yaml.ScalarNode):
            if strict and node.value:
                hint = f"write `{key}: [{node.value}]`"
                self.report(f"wrong-{key}", self.place(node), f"`{key}` must be a list", hint)
                return []
            return [item for item in self._checked(node) if item[0]]
        if not isinstance(node, yaml.SequenceNode):
            self.report(f"wrong-{key}", self.place(node), f"`{key}` must be a list", f"write `{key}: [one, two]`")
            return []
        found: list[tuple[str, Position]] = []
        for item in node.value:
            if isinstance(item, yaml.ScalarNode):
                found.extend(value for value in self._checked(item) if value[0])
            else:
                hint = "put quotes around a text that holds a colon, a bracket or a brace"
                self.report(f"wrong-{key}", self.place(item), f"an item of `{key}` is not a text", hint)
        return found

    def _checked(self, node: yaml.ScalarNode) -> Iterator[tuple[str, Position]]:
        """The scalar's text on one line, unless an escape in it made a character that must not reach Anki."""
        value, position = str(node.value), self.place(node)
        unfit = [o for o in unfit_characters(value) if value[o] != "\n"]
        for offset in unfit[:1]:
            problem = character_problem(value[offset], position)
            if problem:
                self.problems.append(problem)
        if not unfit:
            yield " ".join(value.split()), position


def _compose(text: str) -> yaml.Node | None:
    """The root node of a YAML text. Raises what PyYAML's own parser raises, in its words.

    libyaml reads several times faster where PyYAML was built with it. What it refuses is read again by PyYAML, whose
    messages are the ones that :func:`_yaml_hint` knows, and what the two may understand differently by PyYAML alone.
    """
    fast = _fast_loader()
    if fast is not None and not _ODD.search(text):
        try:
            return fast(text).get_single_node()  # type: ignore[no-any-return]
        except (yaml.YAMLError, ValueError):
            pass
    return yaml.compose(text, Loader=yaml.SafeLoader)


@functools.cache
def _fast_loader() -> Any:
    """libyaml's parser below PyYAML's composer; None where PyYAML was built without libyaml.

    Its own composer has no limit to how deep it goes, and would end the process where Python's raises RecursionError.
    """
    if not yaml.__with_libyaml__:
        return None
    from yaml.composer import Composer

    class FastLoader(Composer, yaml.CSafeLoader):
        def __init__(self, text: str) -> None:
            yaml.CSafeLoader.__init__(self, text)
            Composer.__init__(self)

    return FastLoader


def _open_bracket(error: yaml.MarkedYAMLError, text: str) -> yaml.Mark | None:
    """Where a list or a mapping in brackets begins that has no end on its line, if that is what is wrong."""
    mark = error.context_mark
    if mark is None or not (error.context or "").startswith("while parsing a flow"):
        return None
    line = text.split("\n")[mark.line]
    return mark if line[mark.column : mark.column + 1] in ("[", "{") and not re.search(r"[\]}]", line) else None


def _yaml_hint(error: yaml.MarkedYAMLError, text: str) -> str:
    problem = error.problem or ""
    if "mapping values are not allowed" in problem:
        return "put quotes around a text that holds a colon and a blank"
    if "\\t" in problem or "\t" in text:
        return "indent with blanks, not with tabs"
    if "alias" in problem or "anchor" in problem:
        return "put quotes around a text that begins with * or &"
    if "expected ',' or ']'" in problem:
        return "close the list with ], and put quotes around a text that holds a bracket"
    return "put quotes around the text, or mend the line"
