"""Anki's own text format: a line of comma-separated values a note, below lines that tell Anki which column is what.

A note is found again by its guid. Note types and pictures are not in it: Anki takes only notes whose note types it has.
"""

from __future__ import annotations

import csv
from pathlib import Path

from ...values.note import FIELDS
from ..note_types import NOTE_TYPES
from ..package import check_notes
from .contract import Content, Format

_COLUMNS = ("guid", "notetype", "deck", "tags")
"""Anki's own columns, each named in a header line with its number. Those behind them fill the fields in order."""

_MARK = "#made by:ladderdeck"
"""Anki reads over a header line that it does not know; this one lets a later build know its own file."""

_HEADER = (
    _MARK,
    "#separator:Comma",
    "#html:true",
    *(f"#{name} column:{number}" for number, name in enumerate(_COLUMNS, 1)),
    f"#columns:{','.join((*_COLUMNS, *FIELDS))}",
)


def _write(content: Content, file: Path) -> None:
    check_notes(content.notes)
    with file.open("w", encoding="utf-8", newline="") as stream:
        stream.write("\n".join([*_HEADER, ""]))
        lines = csv.writer(stream, lineterminator="\n")
        for identified in content.notes:
            note = identified.note
            first = (identified.guid, NOTE_TYPES[note.origin.kind].name, note.deck, " ".join(note.tags))
            lines.writerow((*first, *(note.fields.get(name, "") for name in FIELDS)))


FORMAT = Format(
    suffixes=(".csv", ".txt"),
    next_step="import this file in an Anki that has had a package of this deck; docs/formats.md says why.",
    is_ours=lambda beginning: beginning.startswith(f"{_MARK}\n".encode()),
    write=_write,
)
