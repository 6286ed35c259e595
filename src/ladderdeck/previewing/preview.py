"""The preview: all cards of a deck in one page that needs no network, with the problems beside the cards they belong to.

Python only gathers what the page shows; the page itself renders the very templates that go into the package.
"""

from __future__ import annotations

import base64
import json
import mimetypes
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..packaging.note_types import NOTE_TYPES
from ..packaging.templates import CardTemplate, Templates
from ..values.model import Kind, Position, Problem
from ..values.note import FIELDS, Note
from .preview_math import with_mathml

_PAGE = Path(__file__).parent / "preview_page"


def is_preview(beginning: bytes) -> bool:
    """Whether a file that begins with certain bytes, 512 of them, is a page that :func:`preview_page` made."""
    return beginning.startswith(b"<!doctype html>") and b"<title>Deck preview</title>" in beginning


def preview_page(
    notes: Sequence[Note], problems: Sequence[Problem], templates: Templates, pictures: Mapping[str, bytes]
) -> str:
    """The page as one HTML text; ``pictures`` are those that the notes show, by their packaged names."""
    return _page(preview_data(notes, problems, templates, pictures), "", "")


def live_page() -> str:
    """The page that asks its server for the data, and again whenever there is news. It holds none itself."""
    nothing = preview_data([], [], Templates({kind: CardTemplate("", "") for kind in Kind}, ""), {})
    return _page(nothing, f"<script>\n{_part('live.js')}</script>", "; connect-src 'self'")


def live_data(data: Mapping[str, Any] | None, failed: Iterable[Problem]) -> str:
    """What a live page takes: new data for the page (None where it stays as it is), and problems to show above it."""
    return _json({"data": data, "failed": [_problem(problem) for problem in failed]})


def _page(data: Mapping[str, Any], live: str, connect: str) -> str:
    # In a script element nothing but '<' could end it, or begin a comment.
    parts = {"page.css": _part("page.css"), "anki.js": _part("anki.js"), "page.js": _part("page.js"), "live.js": live}
    parts = {"connect": connect, **parts, "data": _json(data).replace("<", "\\u003c")}
    page = _part("page.html")
    for name, content in parts.items():
        before, _, after = page.partition(f"<!-- {name} -->")
        page = before + content + after
    return page


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def preview_data(
    notes: Sequence[Note], problems: Sequence[Problem], templates: Templates, pictures: Mapping[str, bytes]
) -> dict[str, Any]:
    """What the page shows, as plain data. A text that several notes share is there once: they hold its number."""
    texts: dict[str, int] = {}
    by_note, loose = problems_by_note(notes, problems)

    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    cards = [
        {
            "kind": note.origin.kind.value,
            "fields": {name: number(text) for name, text in note.fields.items() if text},
            "tags": " ".join(note.tags),
            "deck": note.deck,
            "place": str(note.position) if note.position else "",
            "problems": by_note[index],
        }
        for index, note in enumerate(notes)
    ]
    return {
        "fields": FIELDS,
        "cards": cards,
        "texts": [with_mathml(text) for text in texts],
        "problems": [_problem(problem) for problem in problems],
        "loose": loose,
        "css": templates.css,
        "types": {kind.value: _type(kind, templates) for kind in Kind},
        "pictures": {name: _data_url(name, content) for name, content in pictures.items()},
    }


def problems_by_note(notes: Sequence[Note], problems: Sequence[Problem]) -> tuple[list[list[int]], list[int]]:
    """Per note the indices of the problems on its lines, and those that belong to no note.

    A problem belongs to the note that begins last before it on the same line, or first on that line.
    """
    places: dict[tuple[str, int], list[tuple[Position, int]]] = defaultdict(list)
    for index, note in enumerate(notes):
        if note.position is not None:
            places[note.position.file, note.position.line].append((note.position, index))
    found: list[list[int]] = [[] for _ in notes]
    loose = []
    for number, problem in enumerate(problems):
        line = sorted(places.get((problem.position.file, problem.position.line), ()))
        if line:
            at = bisect_right([position.column for position, _ in line], problem.position.column)
            found[line[max(at - 1, 0)][1]].append(number)
        else:
            loose.append(number)
    return found, loose


def pictures_shown(notes: Iterable[Note], pictures: Mapping[str, bytes]) -> dict[str, bytes]:
    """Those of ``pictures`` whose name stands in some field."""
    fields = "\n".join(text for note in notes for text in note.fields.values() if "<img" in text)
    return {name: content for name, content in pictures.items() if name in fields}


def _type(kind: Kind, templates: Templates) -> dict[str, str]:
    card, note_type = templates.cards[kind], NOTE_TYPES[kind]
    return {"front": card.front, "back": card.back, "type": note_type.name, "card": note_type.template_name}


def _problem(problem: Problem) -> dict[str, str]:
    return {
        "severity": problem.severity.value,
        "place": str(problem.position),
        "code": problem.code,
        "message": problem.message,
        "hint": problem.hint,
    }


def _data_url(name: str, content: bytes) -> str:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


@cache
def _part(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")
