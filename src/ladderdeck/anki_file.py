"""The file format itself, through genanki: only :mod:`ladderdeck.package` imports this, and only when it writes.

genanki stamps everything in a package with one time and numbers the notes from it. The subclasses here give each note
and note type its own time and id, and write the same bytes for the same input.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import genanki  # type: ignore[import-untyped]
from genanki.apkg_col import APKG_COL  # type: ignore[import-untyped]
from genanki.apkg_schema import APKG_SCHEMA  # type: ignore[import-untyped]

from .anki_ids import deck_key
from .model import Kind
from .note import FIELDS, IdentifiedNote
from .note_types import NOTE_TYPES
from .templates import Templates

_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest date that a zip file can hold."""

_SQLITE_VERSION_BYTES = slice(96, 100)
"""Where a database says which SQLite wrote it ('The SQLite Database File Format', section 1.3)."""


class _Model(genanki.Model):  # type: ignore[misc]
    """A note type whose cards are known: one per note, since 'Question' is never empty and always on the front.

    genanki would find that out by rendering the front once per field.
    """

    _req = ([0, "all", [0]],)


class _Note(genanki.Note):  # type: ignore[misc]
    """A note with its own id and time."""

    def __init__(self, model: _Model, note: IdentifiedNote, note_id: int, deck_id: int) -> None:
        fields = [note.note.fields.get(name, "") for name in FIELDS]
        super().__init__(model=model, fields=fields, tags=note.note.tags, guid=note.guid, due=note.note.due)
        self.note_id, self.deck_id, self.modified = note_id, deck_id, note.modified

    def store(self, cursor: sqlite3.Cursor) -> None:
        """Write the note and its card, which has the same id as the note: Anki keeps them in different tables."""
        self.write_to_db(cursor, self.modified, self.deck_id, iter((self.note_id, self.note_id)))

    def _check_invalid_html_tags_in_fields(self) -> None:
        """Nothing: genanki's check only warns, and its time grows with the square of a field's length."""


class _Package(genanki.Package):  # type: ignore[misc]
    """A package whose note types carry their own time, and whose collection row is written once, not once a deck."""

    def __init__(self, decks: list[genanki.Deck], models: Mapping[_Model, int], notes: list[_Note]) -> None:
        super().__init__(decks)
        self.models, self.notes = models, notes
        self.media: dict[str, bytes] = {}

    def write_to_db(self, cursor: sqlite3.Cursor, timestamp: float, id_gen: Iterator[int]) -> None:
        """Fill an empty database. Both times are unused: decks and the collection row keep genanki's, of 2015."""
        cursor.executescript(APKG_SCHEMA)
        cursor.executescript(APKG_COL)
        decks = json.loads(cursor.execute("SELECT decks FROM col").fetchone()[0])
        decks.update((str(deck.deck_id), deck.to_json()) for deck in self.decks)
        types = {str(model.model_id): model.to_json(modified, None) for model, modified in self.models.items()}
        cursor.execute("UPDATE col SET decks = ?, models = ?", (json.dumps(decks), json.dumps(types)))
        for note in self.notes:
            note.store(cursor)

    def database(self) -> bytes:
        """The package's database as the bytes of a file."""
        with tempfile.TemporaryDirectory(prefix="ladderdeck-") as folder:
            file = Path(folder, "collection.anki2")
            connection = sqlite3.connect(file)
            try:
                # The file lives for a moment, nobody needs to recover it. A fixed page size and a vacuum at the end
                # make its layout depend on the content only.
                for pragma in ("page_size = 4096", "journal_mode = OFF", "synchronous = OFF", "temp_store = MEMORY"):
                    connection.execute(f"PRAGMA {pragma}")
                self.write_to_db(connection.cursor(), 0, iter(()))
                connection.commit()
                connection.execute("VACUUM")
            except sqlite3.OperationalError as error:
                # Such as a full disk, for which SQLite has no OSError.
                raise OSError(str(error)) from error
            finally:
                connection.close()
            content = bytearray(file.read_bytes())
        content[_SQLITE_VERSION_BYTES] = bytes(4)
        return bytes(content)

    def write_to_file(self, file: Path, timestamp: float | None = None) -> None:
        """Write the package to ``file``; ``timestamp`` is unused, all times are given already."""
        names = {str(number): name for number, name in enumerate(self.media)}
        entries = {"collection.anki2": self.database(), "media": json.dumps(names).encode()}
        entries.update((number, self.media[name]) for number, name in names.items())
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in entries.items():
                entry = zipfile.ZipInfo(name, _ZIP_DATE)
                entry.create_system = 3  # Unix, also where this runs on Windows
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, content, zipfile.ZIP_DEFLATED, compresslevel=6)


def write_anki_file(
    *,
    notes: Sequence[IdentifiedNote],
    note_ids: Mapping[str, int],
    decks: Mapping[str, tuple[int, str]],
    templates: Templates,
    type_modified: Mapping[Kind, int],
    file: Path,
    media: Mapping[str, bytes],
) -> None:
    """Write ``notes``, already checked, into ``file``.

    ``note_ids`` maps guids to ids, ``decks`` is what :func:`ladderdeck.anki_ids.plan_decks` returns, ``type_modified``
    holds exactly the kinds among the notes. Raises OSError if a file cannot be written.
    """
    models = {kind: _model(kind, templates) for kind in Kind if kind in type_modified}
    package = _Package(
        decks=[genanki.Deck(deck_id, name) for deck_id, name in decks.values()],
        models={model: type_modified[kind] for kind, model in models.items()},
        notes=[
            _Note(models[note.note.origin.kind], note, note_ids[note.guid], decks[deck_key(note.note.deck)][0])
            for note in sorted(notes, key=lambda note: note_ids[note.guid])
        ],
    )
    package.media = dict(sorted(media.items()))
    package.write_to_file(file)


def _model(kind: Kind, templates: Templates) -> _Model:
    """The note type of ``kind`` with its look."""
    note_type, card = NOTE_TYPES[kind], templates.cards[kind]
    fields: list[dict[str, Any]] = [{"name": field.name, "id": field.id} for field in note_type.fields]
    template = {
        "name": note_type.template_name,
        "id": note_type.template_id,
        "qfmt": card.front,
        "afmt": card.back,
    }
    return _Model(note_type.id, note_type.name, fields, [template], templates.css)
