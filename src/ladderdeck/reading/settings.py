"""`deck.yaml`: what the deck is called, which kinds of note it holds and in which order. All of it is optional."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import yaml

from ..values.model import Kind, Language, Position, Problem, Severity
from .decoding import decode
from .yaml_nodes import YamlReader

_KEYS = ("name", "kinds", "decks")


@dataclass(frozen=True)
class Settings:
    """How packs become a deck.

    ``root`` is the name of the deck that holds all others, ``kinds`` which kinds are made, in the order in which a
    topic's new cards come, ``decks`` the names of single packs' decks under the root, by pack name. ``places`` says where
    `kinds` and the packs under `decks` stand in the file.
    """

    root: str = "Ladders"
    kinds: tuple[Kind, ...] = (Kind.RUNG, Kind.SIGN, Kind.RED_FLAG, Kind.LADDER, Kind.DRILL, Kind.PROBE)
    decks: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    places: Mapping[str, Position] = field(default_factory=lambda: MappingProxyType({}), compare=False)

    def deck_name(self, pack: str, language: Language) -> str:
        """The full name of a pack's deck. It depends on nothing but the pack and the settings, so it never changes.

        A pack that is not in Chinese says so, since the same pack in Chinese may join it at any time.
        """
        name = self.decks.get(pack, pack)
        return f"{self.root}::{name}" + ("" if language is Language.CHINESE else f" ({language.value})")


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
        elif isinstance(node, yaml.ScalarNode | yaml.SequenceNode) and not node.value:
            what = {"name": f"the deck is called {default.root}", "kinds": "all kinds are made"}.get(
                key, "it does nothing"
            )
            hint = "write something behind it, or remove it"
            reader.report("empty-setting", reader.place(node), f"`{key}:` is empty: {what}", hint, Severity.WARNING)
    decks, places = _decks(reader, entries.get("decks"))
    if "kinds" in entries:
        places["kinds"] = reader.place(entries["kinds"])
    settings = Settings(
        _deck_part(reader, entries.get("name"), "name") or default.root,
        _kinds(reader, entries.get("kinds")) or default.kinds,
        MappingProxyType(decks),
        MappingProxyType(places),
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


def unknown_packs(settings: Settings, packs: Collection[str]) -> tuple[Problem, ...]:
    """A warning for each pack under `decks` that is none of ``packs``, with the name that was perhaps meant."""
    problems = []
    for name in settings.decks:
        if name not in packs:
            near = difflib.get_close_matches(name, packs, n=1)
            hint = f"did you mean `{near[0]}`?" if near else "write the name that stands in the pack behind `name:`"
            message = f"there is no pack `{name}`, so that this names no deck"
            problems.append(Problem("unknown-pack", Severity.WARNING, settings.places[f"decks {name}"], message, hint))
    return tuple(problems)


def _decks(reader: YamlReader, node: yaml.Node | None) -> tuple[dict[str, str], dict[str, Position]]:
    """The names of decks by pack, and where each stands, under `decks NAME`."""
    if node is None or (isinstance(node, yaml.ScalarNode) and not node.value):
        return {}, {}
    if not isinstance(node, yaml.MappingNode):
        hint = "write `decks:` and under it lines such as `  my-pack: My deck`"
        reader.report("wrong-decks", reader.place(node), "`decks` must map packs to names", hint)
        return {}, {}
    names: dict[str, str] = {}
    places: dict[str, Position] = {}
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
            places[f"decks {key.value}"] = reader.place(key)
    return {pack: name for pack, name in names.items() if name}, places
