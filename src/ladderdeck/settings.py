"""`deck.yaml`: what the deck is called, which kinds of note it holds and in which order. All of it is optional."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import yaml

from .model import Kind, Language, Problem, Severity
from .reading import decode
from .yaml_nodes import YamlReader

_KEYS = ("name", "kinds", "decks")


@dataclass(frozen=True)
class Settings:
    """How packs become a deck.

    ``root`` is the name of the deck that holds all others, ``kinds`` which kinds are made, in the order in which a
    topic's new cards come, ``decks`` the names of single packs' decks under the root, by pack name.
    """

    root: str = "Ladders"
    kinds: tuple[Kind, ...] = (Kind.RUNG, Kind.SIGN, Kind.RED_FLAG, Kind.LADDER, Kind.DRILL, Kind.PROBE)
    decks: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def deck_name(self, pack: str, language: Language) -> str:
        """The full name of a pack's deck. It depends on nothing but the pack and the settings, so it never changes.

        A pack in English says so, since the same pack in Chinese may join it at any time.
        """
        name = self.decks.get(pack, pack)
        return f"{self.root}::{name}" + (" (en)" if language is Language.ENGLISH else "")


def read_settings(data: bytes, file: str) -> tuple[Settings, tuple[Problem, ...]]:
    """The settings in the content of a `deck.yaml`; what is wrong with it keeps its default, and is a problem."""
    text, reading_problems = decode(data, file)
    if text is None:
        return Settings(), tuple(p for p in reading_problems if p.code != "empty-file")
    if not any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n")):
        return Settings(), reading_problems
    reader = YamlReader(file, 1, "the file")
    entries = reader.entries(text) or {}
    default = Settings()
    for key, node in entries.items():
        if key not in _KEYS:
            hint = "known are " + ", ".join(f"`{k}:`" for k in _KEYS)
            reader.report("unknown-setting", reader.place(node), f"`{key}` is not a setting", hint, Severity.WARNING)
    settings = Settings(
        _deck_part(reader, entries.get("name"), "name") or default.root,
        _kinds(reader, entries.get("kinds")) or default.kinds,
        MappingProxyType(_decks(reader, entries.get("decks"))),
    )
    return settings, (*reading_problems, *reader.problems)


def _deck_part(reader: YamlReader, node: yaml.Node | None, key: str) -> str:
    """The name of a deck. `::` nests decks, so a name may hold it, but no level may be empty."""
    name = reader.text(node, key)
    if node is not None and name and not all(part.strip() for part in name.split("::")):
        hint = "write the levels with :: between them, as in `Interviews::Ladders`"
        reader.report("wrong-deck-name", reader.place(node), f"`{name}` has an empty level", hint)
        return ""
    return "::".join(part.strip() for part in name.split("::"))


def _kinds(reader: YamlReader, node: yaml.Node | None) -> tuple[Kind, ...]:
    kinds: list[Kind] = []
    known = {kind.value: kind for kind in Kind}
    for value, position in reader.texts(node, "kinds", strict=True):
        if value not in known:
            hint = "known are " + ", ".join(f"`{k}`" for k in known)
            reader.report("wrong-kinds", position, f"`{value}` is not a kind of note", hint)
        elif known[value] not in kinds:
            kinds.append(known[value])
    return tuple(kinds)


def _decks(reader: YamlReader, node: yaml.Node | None) -> dict[str, str]:
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        hint = "write `decks:` and under it lines such as `  my-pack: My deck`"
        reader.report("wrong-decks", reader.place(node), "`decks` must map packs to names", hint)
        return {}
    names: dict[str, str] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or not key.value:
            reader.report(
                "wrong-decks", reader.place(key), "a pack's name must be a word", "write `  my-pack: My deck`"
            )
        elif key.value in names:
            message = f"the pack `{key.value}` has two decks"
            reader.report("duplicate-key", reader.place(key), message, "keep one of the two")
        else:
            names[key.value] = _deck_part(reader, value, "decks")
    return {pack: name for pack, name in names.items() if name}
