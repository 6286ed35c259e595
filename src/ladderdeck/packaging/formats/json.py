"""Plain JSON for other programs: every note with its identity, deck, tags and fields. docs/formats.md is its schema."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ...values.note import FIELDS, IdentifiedNote
from ..note_types import NOTE_TYPES
from ..package import check_notes
from .contract import Content, Format

_NAME, _VERSION = "ladderdeck notes", 1


def _write(content: Content, file: Path) -> None:
    check_notes(content.notes)
    data = {
        "format": _NAME,
        "version": _VERSION,
        "notes": [_note(note) for note in content.notes],
        "pictures": [
            {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in sorted(content.media.items())
        ],
    }
    file.write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", encoding="utf-8", newline="\n")


def _note(identified: IdentifiedNote) -> dict[str, Any]:
    note, origin = identified.note, identified.note.origin
    return {
        "guid": identified.guid,
        "modified": identified.modified,
        "kind": origin.kind.value,
        "note_type": NOTE_TYPES[origin.kind].name,
        "pack": origin.pack,
        "language": origin.language,
        "topic": origin.topic,
        "text": origin.wording,
        "deck": note.deck,
        "due": note.due,
        "tags": list(note.tags),
        "fields": {name: note.fields.get(name, "") for name in FIELDS},
    }


FORMAT = Format(
    suffixes=(".json",),
    next_step="",
    is_ours=lambda beginning: beginning.startswith(f'{{\n  "format": "{_NAME}",\n'.encode()),
    write=_write,
)
