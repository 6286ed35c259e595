"""Parsed packs, rendered answers and computed drills, taken from the store where the very same was made before.

Wrappers around :func:`.parser.parse_pack`, :func:`.answer_html.render_answers` and :func:`.drill_html.render_drills`. Of
answers and drills only what had no problem and shows no picture is kept, each by itself: then the HTML depends on the
item's texts alone, wherever they stand.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from ..answering.answer_match import Answered, Answers, ItemKey
from ..answering.drill_match import PlacedDrill
from ..composing.answer_html import AnswerHtml, PictureFinder, render_answers
from ..composing.drill_html import DrillHtml, render_drills
from ..reading.library import Parse
from ..reading.parser import parse_pack
from ..values.model import Pack, Position, Problem
from ..values.note import FIELDS
from .pack_data import packed, unpacked
from .program import program
from .store import NO_STORE, Store, key_of

_ANSWER_PARTS = tuple(field.name for field in dataclasses.fields(AnswerHtml))


def kept_parse(store: Store) -> Parse:
    """As :func:`.parser.parse_pack`, with what ``store`` has of it."""
    if store is NO_STORE:
        return parse_pack

    def parse(data: bytes, file: str) -> tuple[Pack | None, tuple[Problem, ...]]:
        key = key_of(program(), "pack", file, data)
        found = store.read(key)
        if isinstance(found, list):
            with contextlib.suppress(ValueError, TypeError, IndexError):
                return unpacked(found, file)
        pack, problems = parse_pack(data, file)
        store.write(key, packed(pack, problems))
        return pack, problems

    return parse


def kept_answers(
    answers: Answers, picture: PictureFinder, store: Store
) -> tuple[Mapping[ItemKey, AnswerHtml], tuple[Problem, ...]]:
    """As :func:`.answer_html.render_answers`, with what ``store`` has of it."""
    if store is NO_STORE:
        return render_answers(answers, picture)
    rendered: dict[ItemKey, AnswerHtml] = {}
    problems: list[Problem] = []
    for item, answered in answers.by_item.items():
        key = _answer_key(answered)
        if (texts := _texts(store.read(key), _ANSWER_PARTS)) is not None:
            rendered[item] = AnswerHtml(**texts)
            continue
        watch = _Pictures(picture)
        one, found = render_answers(Answers({item: answered}, ()), watch.find)
        rendered.update(one)
        problems.extend(found)
        if not found and not watch.asked:
            store.write(key, dataclasses.asdict(one[item]))
    return rendered, tuple(problems)


def kept_drills(
    placed: Sequence[PlacedDrill], picture: PictureFinder, store: Store
) -> tuple[tuple[DrillHtml, ...], tuple[Problem, ...]]:
    """As :func:`.drill_html.render_drills`, with what ``store`` has of it."""
    if store is NO_STORE:
        return render_drills(placed, picture)
    rendered: list[DrillHtml] = []
    problems: list[Problem] = []
    for each in placed:
        key = key_of(program(), "drill", each.pack.name, each.pack.language.value, _content(each.drill))
        if (texts := _texts(store.read(key), FIELDS)) is not None:
            rendered.append(DrillHtml(each, texts))
            continue
        watch = _Pictures(picture)
        one, found = render_drills([each], watch.find)
        rendered.extend(one)
        problems.extend(found)
        if one and not found and not watch.asked:
            store.write(key, dict(one[0].fields))
    return tuple(rendered), tuple(problems)


class _Pictures:
    """Finds pictures for an item, and knows afterwards whether it asked for any: they may change without it."""

    def __init__(self, find: PictureFinder) -> None:
        self._find = find
        self.asked = False

    def find(self, file: str, destination: str, position: Position) -> str | None:
        self.asked = True
        return self._find(file, destination, position)


def _answer_key(answered: Answered) -> str:
    links = [(name, link.get("href"), link.get("title")) for name, link in answered.file.references.items()]
    return key_of(program(), "answer", _content(answered.answer), json.dumps(links))


def _content(value: Any) -> str:
    """A value of frozen dataclasses as text, without the places where its parts stand."""
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Position):
        return None
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return [[name, _plain(part)] for name, part in value.items()]
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if dataclasses.is_dataclass(value):
        return [_plain(getattr(value, field.name)) for field in dataclasses.fields(value)]
    return value


def _texts(found: Any, names: Sequence[str]) -> dict[str, str] | None:
    """What was found, if it is texts under such names."""
    if not isinstance(found, dict) or not found.keys() <= set(names):
        return None
    return found if all(isinstance(text, str) for text in found.values()) else None
