"""Reads `drills.yaml`. Every mistake in it is a problem with its place; a drill that has one is left out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import yaml

from ..reading.decoding import decode
from ..reading.yaml_nodes import YamlReader
from ..values.model import Language, Position, Problem, Severity, Text
from .drills import NAME, Combination, Drill, DrillFile, Given, Group, Mistake

_FILE_KEYS = ("pack", "language", "drills")
_MUST = ("id", "topic", "question", "given", "steps", "tolerance", "bounds", "formula", "mistakes", "source")
_MAY = ("rung", "together", "result", "hint", "note")
_GIVEN_KEYS = ("label", "unit", "values", "from", "to", "step", "times")
_MISTAKE_KEYS = ("text", "gives")
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")
_LONGEST_ID = 60
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%\Z")
MOST_VALUES = 1000
"""How many values a range may stand for."""

_Entries = Mapping[str, tuple[Position, yaml.Node]]


def parse_drills(data: bytes, file: str) -> tuple[DrillFile | None, tuple[Problem, ...]]:
    """Read a drill file. None where nothing can be read, or where it does not say which pack it belongs to."""
    text, reading_problems = decode(data, file)
    if text is None:
        return None, reading_problems
    reader = YamlReader(file, 1, "the drill file")
    # Names are compared with rendered text, which is NFC.
    root = reader.root(unicodedata.normalize("NFC", text))
    entries = reader.keys(root, reader.what) if root is not None else {}
    reader.check_keys(entries, _FILE_KEYS, "a drill file")
    pack = _text(reader, entries, "pack")
    if not pack.text:
        if not reader.problems:
            reader.report("no-pack", Position(file), "the drill file does not name its pack", "add `pack: NAME`")
        return None, (*reading_problems, *reader.problems)
    language = _text(reader, entries, "language")
    if language.text and language.text not in {each.value for each in Language}:
        hint = "write `zh` or `en`, or leave it out"
        reader.report("wrong-language", language.position, f"`{language.text}` is no language of packs", hint)
    found = DrillFile(file, pack, language, tuple(_drills(reader, entries.get("drills"))))
    return found, (*reading_problems, *reader.problems)


def _drills(reader: YamlReader, entry: tuple[Position, yaml.Node] | None) -> list[Drill]:
    if entry is None or not isinstance(entry[1], yaml.SequenceNode) or not entry[1].value:
        position = Position(reader.file) if entry is None else reader.place(entry[1])
        hint = "write `drills:`, and under it a list whose items begin with `- id:`"
        reader.report("no-drills", position, "the file holds no list of drills", hint)
        return []
    drills: list[Drill] = []
    first: dict[str, Position] = {}
    for node in entry[1].value:
        if not isinstance(node, yaml.MappingNode):
            hint = "begin it with `- id:`, and put the other keys below `id`"
            reader.report("wrong-drill", reader.place(node), "a drill must be a mapping of keys", hint)
            continue
        before = len(reader.problems)
        drill = _Reader(reader, node).drill()
        if drill.id.text in first:
            message = f"the id `{drill.id.text}` is taken, first in {first[drill.id.text]}"
            reader.report("duplicate-drill", drill.id.position, message, "give each drill an id of its own")
        elif drill.id.text:
            first[drill.id.text] = drill.id.position
        if all(p.severity is not Severity.ERROR for p in reader.problems[before:]):
            drills.append(drill)
    return drills


def _text(reader: YamlReader, entries: _Entries, key: str) -> Text:
    """The one-line text under a key; '' and the top of the file where it is not there."""
    if key not in entries:
        return Text("", Position(reader.file))
    node = entries[key][1]
    position = reader.content_place(node) if isinstance(node, yaml.ScalarNode) else reader.place(node)
    return Text(reader.text(node, key), position)


class _Reader:
    """Reads one drill from its node."""

    def __init__(self, reader: YamlReader, node: yaml.MappingNode) -> None:
        self.reader = reader
        self.place = reader.place(node)
        self.entries = reader.keys(node, "the drill")

    def drill(self) -> Drill:
        self.reader.check_keys(self.entries, (*_MUST, *_MAY), "a drill")
        for key in _MUST:
            if key not in self.entries:
                message, hint = f"the drill has no `{key}`", f"add `{key}:`; docs/drills.md shows a whole drill"
                self.reader.report("missing-key", self.place, message, hint)
        return Drill(
            self.id(),
            self.line("topic"),
            self.line("rung"),
            self.lines("question"),
            self.given(),
            self.together(),
            self.steps(),
            self.line("result"),
            self.tolerance(),
            self.bounds(),
            self.lines("formula"),
            self.mistakes(),
            self.sources(),
            self.lines("hint"),
            self.lines("note"),
        )

    def node(self, key: str) -> Any:
        return self.entries[key][1] if key in self.entries else None

    def report(self, code: str, position: Position, message: str, hint: str) -> None:
        self.reader.report(code, position, message, hint)

    def line(self, key: str) -> Text:
        return self.filled(key, _text(self.reader, self.entries, key))

    def lines(self, key: str) -> Text:
        return self.filled(key, self.reader.markdown(self.node(key), key))

    def filled(self, key: str, text: Text) -> Text:
        """The text, and a problem where its key stands there with nothing behind it."""
        if key in self.entries and not text.text.strip() and not self.reader.complained_about(self.node(key)):
            self.report("empty-key", self.entries[key][0], f"`{key}` is empty", "write something, or remove the key")
        return text

    def id(self) -> Text:
        id = self.line("id")
        if id.text and (not _ID.match(id.text) or len(id.text) > _LONGEST_ID):
            hint = (
                f"write small letters, digits and single hyphens, at most {_LONGEST_ID}, such as `kv-bytes-per-token`"
            )
            self.report("wrong-id", id.position, f"`{id.text}` cannot be an id", hint)
        return id

    def given(self) -> tuple[Given, ...]:
        hint = "write `given:` and under it lines such as `  length: {values: [4000, 8000], unit: tokens}`"
        entries = self.reader.mapping(self.node("given"), "given", hint)
        if "given" in self.entries and not entries and not self.reader.complained_about(self.node("given")):
            self.report("empty-key", self.entries["given"][0], "`given` is empty", hint)
        return tuple(self.one_given(name, position, node) for name, (position, node) in entries.items())

    def one_given(self, name: str, position: Position, node: yaml.Node) -> Given:
        self.check_name(name, position)
        entries: _Entries = {}
        if not (isinstance(node, yaml.ScalarNode) and not node.value):
            hint = f"write `{name}: {{values: [1, 2, 4], unit: GB}}`"
            entries = self.reader.mapping(node, "given", hint)
        self.reader.check_keys(entries, _GIVEN_KEYS, "a quantity")
        label, unit = _text(self.reader, entries, "label"), _text(self.reader, entries, "unit")
        values = self.values(entries, name)
        return Given(Text(name, position), label.text or name.replace("_", " "), unit, values)

    def check_name(self, name: str, position: Position) -> None:
        if not NAME.match(name):
            hint = "write one word of letters, digits and _, such as `kv_heads`"
            self.report("wrong-name", position, f"`{name}` cannot be the name of a quantity", hint)

    def values(self, entries: _Entries, name: str) -> tuple[Text, ...]:
        is_range = any(key in entries for key in ("from", "to", "step", "times"))
        if "values" in entries:
            position, node = entries["values"]
            if is_range:
                self.report("wrong-values", position, f"`{name}` has both values and a range", "keep one of the two")
            found = tuple(Text(*item) for item in self.reader.texts(node, "values", strict=True))
            if len(found) > MOST_VALUES:
                message = f"`{name}` has {len(found):,} values, more than {MOST_VALUES:,}"
                self.report("wrong-values", position, message, "keep those that are worth a review")
                return ()
            if not found and not self.reader.complained_about(node):
                self.report("wrong-values", position, f"`{name}` has no values", "write `values: [1, 2, 4]`")
            return found
        return self.range(entries, name) if is_range else ()

    def range(self, entries: _Entries, name: str) -> tuple[Text, ...]:
        """The values of a range, as texts at the place of its beginning."""
        place = next(iter(entries.values()))[0]
        if "from" not in entries or "to" not in entries or ("step" in entries) == ("times" in entries):
            message = f"the range of `{name}` is not complete"
            self.report("wrong-range", place, message, "write `from`, `to`, and either `step` or `times`")
            return ()
        adds = "step" in entries
        read = [self.number(entries, key) for key in ("from", "to", "step" if adds else "times")]
        numbers = [number for number in read if number is not None]
        if len(numbers) < len(read):
            return ()
        value, last, by = numbers
        grows = by > 0 if adds else by > 1 and value > 0
        found: list[Text] = []
        while grows and value <= last and len(found) <= MOST_VALUES:
            found.append(Text(format(value.normalize(), "f"), entries["from"][0]))
            value = value + by if adds else value * by
        if not found or len(found) > MOST_VALUES:
            message = f"the range of `{name}` holds no value" if not found else f"the range of `{name}` is too long"
            hint = f"it must rise, from `from` up to `to`, in at most {MOST_VALUES} steps"
            self.report("wrong-range", place, message, hint)
            return ()
        return tuple(found)

    def number(self, entries: _Entries, key: str) -> Decimal | None:
        text = _text(self.reader, entries, key)
        try:
            number = Decimal(text.text)
        except InvalidOperation:
            number = Decimal("nan")
        if not number.is_finite() or abs(number.adjusted()) > 30:
            hint = "write a number; its unit goes behind `unit:`"
            self.report("wrong-range", text.position, f"`{key}` of a range is no number: `{text.text}`", hint)
            return None
        return number

    def together(self) -> tuple[Group, ...]:
        hint = "write a group's name, under it the combinations, each as `name: {layers: 32, heads: 8}`"
        groups = []
        for name, (position, node) in self.reader.mapping(self.node("together"), "together", hint).items():
            self.check_name(name, position)
            combinations = [
                Combination(Text(label, place), self.combination(value, hint))
                for label, (place, value) in self.reader.mapping(node, name, hint).items()
            ]
            if not combinations and not self.reader.complained_about(node):
                self.report("empty-key", position, f"the group `{name}` is empty", hint)
            groups.append(Group(Text(name, position), tuple(combinations)))
        return tuple(groups)

    def combination(self, node: yaml.Node, hint: str) -> dict[str, Text]:
        entries = self.reader.mapping(node, "together", hint)
        return {name: _text(self.reader, entries, name) for name in entries}

    def steps(self) -> tuple[Text, ...]:
        node = self.node("steps")
        if node is None:
            return ()
        if not isinstance(node, yaml.ScalarNode) or node.style != "|":
            hint = "write `steps: |`, and below it one step a line; without the `|` YAML would drop what follows a #"
            self.report("wrong-steps", self.reader.place(node), "`steps` must be lines of text", hint)
            return ()
        self.filled("steps", self.reader.markdown(node, "steps"))
        lines = self.reader.lines(node)
        return tuple(line for line in lines if line.text.strip() and not line.text.lstrip().startswith("#"))

    def tolerance(self) -> float:
        text = self.line("tolerance")
        match = _PERCENT.match(text.text)
        percent = float(match[1]) if match else 0.0
        if text.text and not 1 <= percent <= 50:
            hint = "write per cent from 1 to 50, such as `tolerance: 10%`"
            self.report("wrong-tolerance", text.position, f"`{text.text}` is no tolerance", hint)
        return percent / 100

    def bounds(self) -> tuple[Text, Text]:
        node = self.node("bounds")
        found = [Text(*item) for item in self.reader.texts(node, "bounds", strict=True)]
        if node is not None and len(found) != 2 and not self.reader.complained_about(node):
            message, hint = (
                "`bounds` must be two quantities",
                "write `bounds: [least, greatest]`, such as `[1 ms, 2 s]`",
            )
            self.report("wrong-bounds", self.reader.place(node), message, hint)
        place = self.place if node is None else self.reader.place(node)
        return (found[0], found[1]) if len(found) == 2 else (Text("", place), Text("", place))

    def mistakes(self) -> tuple[Mistake, ...]:
        node = self.node("mistakes")
        hint = "write a list whose items have `text:` and `gives:`"
        if node is None:
            return ()
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            self.report("wrong-mistakes", self.reader.place(node), "`mistakes` must be a list of mistakes", hint)
            return ()
        found = []
        for item in node.value:
            entries = self.reader.mapping(item, "mistakes", hint)
            self.reader.check_keys(entries, _MISTAKE_KEYS, "a mistake")
            text = self.reader.markdown(entries["text"][1], "text") if "text" in entries else Text("", self.place)
            gives = _text(self.reader, entries, "gives")
            if not (text.text and gives.text) and not self.reader.complained_about(item):
                message = "a mistake needs a text and the expression that gives the wrong number"
                self.report("wrong-mistakes", self.reader.place(item), message, hint)
            found.append(Mistake(text, gives))
        return tuple(found)

    def sources(self) -> tuple[Text, ...]:
        node = self.node("source")
        found = tuple(Text(*item) for item in self.reader.texts(node, "source"))
        if node is not None and not found and not self.reader.complained_about(node):
            hint = "name a document, best as a link `[title](https://…)`, or say how the formula is derived"
            self.report("no-source", self.reader.place(node), "the drill names no source", hint)
        return found
