"""The stages of a build one by one, and notes that are ready to be packaged."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ladderdeck.answering.answer_match import match_answers
from ladderdeck.answering.answers import parse_answers
from ladderdeck.answering.beside import answer_documents
from ladderdeck.composing import compose as composing
from ladderdeck.composing.answer_html import render_answers
from ladderdeck.composing.compose import compose, retired_note
from ladderdeck.identity.identify import Scope, identify
from ladderdeck.identity.ledger import Ledger, read_ledger, write_ledger
from ladderdeck.packaging.formats import DEFAULT_FORMAT, load_format
from ladderdeck.packaging.formats.contract import Content, Format
from ladderdeck.packaging.templates import Templates, default_folder, load_templates, type_fingerprints
from ladderdeck.reading.discover import discover
from ladderdeck.reading.library import read_library
from ladderdeck.reading.settings import Settings
from ladderdeck.values.note import Note

_NOW = 1_700_000_000
_T = TypeVar("_T")


@dataclass
class Watch:
    """Adds up the wall and processor seconds of each stage."""

    wall: dict[str, float] = field(default_factory=dict)
    cpu: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def of(self, stage: str) -> Iterator[None]:
        """What runs inside belongs to ``stage``."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall[stage] = self.wall.get(stage, 0) + time.perf_counter() - wall
        self.cpu[stage] = self.cpu.get(stage, 0) + time.process_time() - cpu

    def watching(self, stage: str, function: Callable[..., _T]) -> Callable[..., _T]:
        """The function, with its calls counted to ``stage``."""

        def watched(*arguments: Any) -> _T:
            with self.of(stage):
                return function(*arguments)

        return watched


@dataclass(frozen=True)
class Ready:
    """Notes that are ready to be packaged, and the format that does it."""

    content: Content
    form: Format


def measure_stages(cards: Path, output: Path, ledger: Path) -> dict[str, Any]:
    """Build the packs in ``cards`` step by step. ``ledger`` is read where it exists, and written."""
    watch = Watch()
    with watch.of("start"):
        templates, form = load_templates(default_folder()), load_format(DEFAULT_FORMAT)
    notes, settings = _composed(cards, watch)
    with watch.of("identify"):
        known = read_ledger(ledger.read_text(), str(ledger))[0] if ledger.is_file() else Ledger()
        identified = identify(notes, known, _NOW, _scope(notes, settings, templates))
        text = write_ledger(identified.ledger)
    with watch.of("package"):
        types = {kind: entry.modified for kind, entry in identified.ledger.types.items()}
        form.write(Content(identified.notes, templates, types), output)
    with watch.of("write"):
        ledger.write_text(text)
    # Compose calls render, and its time holds that of render: it must be taken off.
    for times in (watch.wall, watch.cpu):
        times["compose"] -= times.get("render inside", 0)
        times["render"] += times.pop("render inside", 0)
    return {"wall": watch.wall, "cpu": watch.cpu, "notes": len(notes), "out": output.stat().st_size}


def content_of(cards: Path) -> Ready:
    """The packs in ``cards`` as notes that are ready to be packaged, all new."""
    templates = load_templates(default_folder())
    notes, settings = _composed(cards, Watch())
    identified = identify(notes, Ledger(), _NOW, _scope(notes, settings, templates))
    types = {kind: entry.modified for kind, entry in identified.ledger.types.items()}
    return Ready(Content(identified.notes, templates, types), load_format(DEFAULT_FORMAT))


def _composed(cards: Path, watch: Watch) -> tuple[tuple[Note, ...], Settings]:
    settings = Settings()
    with watch.of("read"):
        found = discover([cards])
        answers = answer_documents(found.documents, [])
    with watch.of("parse"):
        library = read_library(found)
        files = [file for document in answers if (file := parse_answers(document.data, document.path)[0]) is not None]
        matched = match_answers(library.packs, files)
    with watch.of("render"):
        html = render_answers(matched, lambda file, destination, position: None)[0]
    plain = getattr(composing, "render_text", None)
    if plain is not None:
        vars(composing)["render_text"] = watch.watching("render inside", plain)
    with watch.of("compose"):
        notes = compose(library.packs, settings, html)
    if plain is not None:
        vars(composing)["render_text"] = plain
    return notes, settings


def _scope(notes: tuple[Note, ...], settings: Settings, templates: Templates) -> Scope:
    packs = frozenset((note.origin.pack, note.origin.language) for note in notes)
    return Scope(packs, packs, type_fingerprints(templates), lambda entry: retired_note(entry, settings))
