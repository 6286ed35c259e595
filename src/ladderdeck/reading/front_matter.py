"""The head of a pack: the envelope in which a content store serves it, and the YAML front matter."""

from __future__ import annotations

import difflib
import hashlib
import re
import unicodedata
from dataclasses import dataclass, field, replace

import yaml

from ..values.model import Position, Problem, Severity
from .labels import section_of
from .yaml_nodes import YamlReader

_FENCE = "---"
_VERSION_LINE = re.compile(r"(\S+)\s+(git:\S+)\s*\Z")
_BLOB = re.compile(r"/blob/([0-9A-Za-z]+)")
_HEADING = re.compile(r"##+\s+(.*?)\s*#*\s*\Z")
_NAME = re.compile(r"[^\W_](?:[\w.+-]*[\w+])?\Z")
_LAYERS = ("base", "domain", "detail", "stack")
_KEYS = ("name", "layer", "domains", "keywords", "description", "parent")
_NEEDED = ("name", "layer", "domains")
_KEY_LINE = re.compile(r"(?P<key>[^\W\d_][\w-]*)(?P<gap>[ \t\u3000]*)(?P<colon>[:：])(?P<rest>.*)\Z")
_NEARLY_FENCE = re.compile(r"(?:-{2}|-{4,}|[–—―−－_=*]{1,}-*)\s*\Z")
"""What somebody types who means `---`."""
_ENVELOPE_LINES = 40
"""How far down the front matter may begin. Seen are 4 lines; further down, `---` is a rule between paragraphs."""


@dataclass(frozen=True)
class Head:
    """What stands above a pack's body. Where the YAML says nothing usable, a value is empty and a problem tells why.

    ``body_line`` is the index (from 0) of the first line of the body.
    """

    name: str = ""
    layer: str = ""
    domains: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    description: str = ""
    version: str = ""
    blob: str = ""
    body_line: int = 0
    keys: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = field(default=(), compare=False)


def read_head(lines: list[str], file: str) -> Head:
    """The envelope and the front matter at the top of ``lines``, which hold no line ends."""
    opening = next((i for i, line in enumerate(lines[:_ENVELOPE_LINES]) if line.rstrip() == _FENCE), None)
    nearly = _nearly_opening(lines)
    if nearly is not None and (opening is None or nearly < opening):
        opening = nearly
    if opening is None or any(line.startswith("#") for line in lines[:opening]):
        hint = "begin the file with a line ---, then name:, layer: and domains:, then a line ---"
        missing = Problem("no-front-matter", Severity.ERROR, Position(file), "the file has no front matter", hint)
        return Head(problems=(missing,))
    start = Position(file, opening + 1)
    end, is_closed = _end_of_front_matter(lines, opening + 1)
    reader = _HeadReader(file, opening + 2, "the front matter")
    if lines[opening].rstrip() != _FENCE:
        reader.refuse_fence(lines[opening], start, "begins")
    if not is_closed:
        last = next((i for i in range(end - 1, opening, -1) if lines[i].strip()), opening)
        message = "the front matter that begins here has no end"
        hint = f"write a line --- behind line {last + 1}, which is `{lines[last].strip()[:60]}`"
        reader.report("open-front-matter", start, message, hint)
    elif lines[end].rstrip() not in (_FENCE, "..."):
        reader.refuse_fence(lines[end], Position(file, end + 1), "ends")
    entries = reader.entries("\n".join(reader.mended(lines[opening + 1 : end])))
    head = reader.head(entries, start)
    version, blob, served_name = _read_envelope(lines[:opening])
    if served_name and head.name and served_name != head.name:
        message = f"the envelope calls the pack {served_name}, its front matter {head.name}"
        hint = "check that the file holds the pack it should"
        reader.report("envelope-name", Position(file), message, hint, Severity.WARNING)
    return replace(
        head,
        version=version,
        blob=blob,
        body_line=end + is_closed,
        keys=tuple(entries or ()),
        problems=tuple(reader.problems),
    )


def is_pack_name(name: str) -> bool:
    """Whether a pack may be called so."""
    return bool(_NAME.match(unicodedata.normalize("NFC", name)))


def blob_fits(data: bytes) -> bool | None:
    """Whether a pack's content is the one that its envelope names; None without an envelope that names one.

    A store calls a content by the first digits of its SHA-256, from the front matter's first line on, with one line feed
    at its end. Line ends of another system and blank lines at the end make no difference.
    """
    lines = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    opening = next((i for i, line in enumerate(lines[:_ENVELOPE_LINES]) if line.rstrip() == _FENCE.encode()), 0)
    _, blob, _ = _read_envelope([line.decode("utf-8", "replace") for line in lines[:opening]])
    if not blob:
        return None
    content = b"\n".join(lines[opening:]).rstrip(b"\n") + b"\n"
    return hashlib.sha256(content).hexdigest().startswith(blob.lower())


def _nearly_opening(lines: list[str]) -> int | None:
    """The line that was meant to begin the front matter, and is no `---`: strokes right above a key of it."""
    for index in range(min(len(lines) - 1, _ENVELOPE_LINES)):
        if _NEARLY_FENCE.match(lines[index]):
            key = _KEY_LINE.match(lines[index + 1])
            return index if key and key["key"].lower() in _KEYS else None
    return None


def _end_of_front_matter(lines: list[str], first: int) -> tuple[int, bool]:
    """The index of the line that ends the front matter, and whether it is the line that should.

    Where that is missing, the first heading of the body ends it, so that all else in the file is read and checked. A rule
    further down does not: a heading of a section is never YAML.
    """
    nearly: int | None = None
    for index in range(first, len(lines)):
        # A line of other strokes ends it only where a `---` does not follow, before any section.
        if lines[index].rstrip() in (_FENCE, "..."):
            return index, True
        if nearly is None and _NEARLY_FENCE.match(lines[index]):
            nearly = index
        if (heading := _HEADING.match(lines[index])) and section_of(heading.group(1)):
            return (index, False) if nearly is None else (nearly, True)
    if nearly is not None:
        return nearly, True
    heading_line = next((i for i in range(first, len(lines)) if _HEADING.match(lines[i])), len(lines))
    return heading_line, False


def _read_envelope(lines: list[str]) -> tuple[str, str, str]:
    """Version, blob id and the name under which the store serves the pack; '' for what is not there."""
    version = blob = name = ""
    for line in lines:
        if not version and (match := _VERSION_LINE.match(line.strip())):
            name, version = match.groups()
        elif not blob and (found := _BLOB.search(line)):
            blob = found.group(1)
    return version, blob, name


class _HeadReader(YamlReader):
    def refuse_fence(self, line: str, position: Position, verb: str) -> None:
        """Say that a line is not the `---` that it was meant to be."""
        message = f"`{line.strip()}` is taken for the line that {verb} the front matter"
        self.report("wrong-fence", position, message, "write three hyphens, ---, and nothing else")

    def mended(self, lines: list[str]) -> list[str]:
        """The lines of the front matter as they were meant, with a problem for each key that is written otherwise."""
        return [self._mended(line, self.first_line + index, lines) for index, line in enumerate(lines)]

    def _mended(self, line: str, number: int, lines: list[str]) -> str:
        found = _KEY_LINE.match(line)
        if not found:
            return line
        written, key = found["key"], found["key"].lower()
        rest, position = found["rest"].strip(), Position(self.file, number)
        if ": " in rest and rest[0] not in "\"'[{" and '"' not in rest:
            rest = f'"{rest}"'
        if key not in _KEYS:
            self._near_miss(written, position, lines)
            return line
        if found["colon"] == "：":
            message = f"the colon behind `{written}` is a full-width one, which YAML does not know"
            place = Position(self.file, number, found.start("colon") + 1)
            self.report("wrong-colon", place, message, f"write `{f'{key}: {rest}'.strip()[:80]}`")
        elif rest and not found["rest"][0].isspace():
            message = f"the colon behind `{written}` has no blank behind it"
            place = Position(self.file, number, found.start("colon") + 1)
            self.report("wrong-colon", place, message, f"write `{f'{key}: {rest}'[:80]}`")
        elif written == key:
            return line
        if written != key:
            severity = Severity.ERROR if key in _NEEDED else Severity.WARNING
            message = f"the key `{written}` is written with capitals"
            self.report("wrong-key", position, message, f"write `{key}:`", severity)
        return f"{key}: {rest}"

    def _near_miss(self, written: str, position: Position, lines: list[str]) -> None:
        """A warning for a key that is none, where it is nearly one that is not there."""
        near = difflib.get_close_matches(written.lower(), _KEYS, n=1, cutoff=0.8)
        if near and not any(line.startswith(f"{near[0]}:") for line in lines):
            message = f"`{written}` is not a key of a pack's front matter, and is not read"
            self.report("unknown-key", position, message, f"did you mean `{near[0]}:`?", Severity.WARNING)

    def head(self, entries: dict[str, yaml.Node] | None, start: Position) -> Head:
        """The values of the known keys, with a problem for each that is missing or wrong (none where YAML is broken)."""
        if entries is None:
            return Head()
        name = self._name(entries.get("name"), start)
        layer = self._layer(entries.get("layer"), start)
        return Head(
            name,
            layer,
            self._domains(entries, name, layer, start),
            tuple(value for value, _ in self.texts(entries.get("keywords"), "keywords")),
            self.text(entries.get("description"), "description"),
        )

    def _name(self, node: yaml.Node | None, start: Position) -> str:
        name = unicodedata.normalize("NFC", self.text(node, "name"))
        if node is None or (not name and isinstance(node, yaml.ScalarNode)):
            position = self.place(node) if node else start
            self.report("no-name", position, "the front matter has no name", "add `name: my-pack`")
        elif name and not is_pack_name(name):
            hint = "use letters, digits and -, as in `name: my-pack`"
            self.report("wrong-name", self.place(node), f"`{name}` cannot be a pack's name", hint)
            return ""
        return name

    def _layer(self, node: yaml.Node | None, start: Position) -> str:
        layer = self.text(node, "layer")
        if node is None or (not layer and isinstance(node, yaml.ScalarNode)):
            position = self.place(node) if node else start
            self.report("no-layer", position, "the front matter has no layer", f"add `layer:` with {_or(_LAYERS[:3])}")
        elif layer and layer not in _LAYERS:
            self.report("wrong-layer", self.place(node), f"`{layer}` is not a layer", f"write {_or(_LAYERS[:3])}")
            return ""
        return layer

    def _domains(self, entries: dict[str, yaml.Node], name: str, layer: str, start: Position) -> tuple[str, ...]:
        key = "parent" if layer == "stack" and "domains" not in entries else "domains"
        node = entries.get(key)
        texts = self.texts(node, key, strict=key == "domains")
        listed = [(unicodedata.normalize("NFC", value), position) for value, position in texts]
        for value, position in listed:
            if not _NAME.match(value):
                hint = "use letters, digits and -, as in `domains: [my-domain]`"
                self.report("wrong-domains", position, f"`{value}` cannot be a domain's name", hint)
        domains = tuple(dict.fromkeys(value for value, _ in listed if _NAME.match(value)))
        if layer in ("detail", "stack") and not listed and (node is None or not self.complained_about(node)):
            example = "`parent: my-domain`" if layer == "stack" else "`domains: [my-domain]`"
            position = self.place(node) if node else start
            self.report("no-domains", position, f"a pack of layer {layer} must say its {key}", f"add {example}")
        elif layer in ("base", "domain") and node is not None:
            meaning = "belongs to every domain" if layer == "base" else "is a domain itself"
            message = f"`domains` is ignored: a pack of layer {layer} {meaning}"
            hint = "remove it, or write `layer: detail`"
            self.report("domains-ignored", self.place(node), message, hint, Severity.WARNING)
        if layer == "domain":
            return (name,) if name else ()
        return () if layer == "base" else domains


def _or(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{w}`" for w in words[:-1]) + f" or `{words[-1]}`"
