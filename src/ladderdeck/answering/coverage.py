"""How far packs are answered: topic by kind, and skeletons of the answers that are missing. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..reading.labels import ITEM_LABELS, SECTION_HEADINGS, Item, Section
from ..values.model import Kind, Language, Pack
from .answer_match import Answers, ItemKey, items_of
from .quality import is_empty

KINDS = (Kind.RUNG, Kind.SIGN, Kind.RED_FLAG, Kind.PROBE)


@dataclass(frozen=True)
class Row:
    """The items of one kind under one topic ('' for those of the pack itself), by how they are answered."""

    pack: str
    language: str
    topic: str
    kind: Kind
    answered: tuple[ItemKey, ...]
    missing: tuple[ItemKey, ...]
    stale: tuple[ItemKey, ...]


def coverage(packs: Sequence[Pack], answers: Answers) -> tuple[Row, ...]:
    """A row for each topic and kind that has items, in the order of the packs."""
    rows: dict[tuple[str, str, str, Kind], tuple[list[ItemKey], list[ItemKey], list[ItemKey]]] = {}
    for pack in packs:
        for item, _ in items_of(pack):
            columns = rows.setdefault((item.pack, item.language, item.topic, item.kind), ([], [], []))
            found = answers.by_item.get(item)
            columns[1 if found is None or is_empty(found) else 2 if found.stale else 0].append(item)
    return tuple(
        Row(*key, tuple(answered), tuple(missing), tuple(stale)) for key, (answered, missing, stale) in rows.items()
    )


def skeletons(rows: Sequence[Row]) -> dict[tuple[str, str, str], str]:
    """For each pack, language and topic with something missing the Markdown of an answer file to fill in."""
    missing: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if row.missing:
            missing.setdefault((row.pack, row.language, row.topic), []).append(row)
    return {key: _skeleton(*key, rows_of_topic) for key, rows_of_topic in missing.items()}


def _skeleton(pack: str, language: str, topic: str, rows: Sequence[Row]) -> str:
    quoted = '"' + topic.replace("\\", "\\\\").replace('"', '\\"') + '"'
    lines = ["---", f"pack: {pack}", *([f"topic: {quoted}"] if topic else []), f"language: {language}", "---", ""]
    for row in rows:
        lines += [f"# {kind_heading(row.kind, Language(language))}", ""]
        for item in row.missing:
            lines += [f"## {' '.join(item.text.split())}", ""]
    return "\n".join(lines)


def kind_heading(kind: Kind, language: Language) -> str:
    """What the pack calls a kind of item, as the `#` heading of an answer file."""
    labels, headings = ITEM_LABELS[language], SECTION_HEADINGS[language]
    return {
        Kind.RUNG: labels[Item.LADDER],
        Kind.SIGN: labels[Item.SIGNS],
        Kind.RED_FLAG: headings[Section.RED_FLAGS],
        Kind.PROBE: headings[Section.PROBES],
    }[kind]
