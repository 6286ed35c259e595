"""The file format itself, through genanki: only :mod:`.package` imports this, and only when it writes.

genanki stamps everything in a package with one time and numbers the notes from it. The subclasses here give each note
and note type its own time and id, and write the same bytes for the same input.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import genanki  # type: ignore[import-untyped]
from genanki.apkg_col import APKG_COL  # type: ignore[import-untyped]
from genanki.apkg_schema import APKG_SCHEMA  # type: ignore[import-untyped]

from ..values.model import Kind
from ..values.note import FIELDS, IdentifiedNote
from .anki_ids import deck_key
from .note_types import NOTE_TYPES
from .templates import Templates

_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest date that a zip file can hold."""

_SQLITE_VERSION = 96
"""Where the four bytes are in which a database says which SQLite wrote it ('The SQLite Database File Format', 1.3)."""

_PRAGMAS = (
    # What could differ from one machine's SQLite to the next; what was overwritten leaves no trace in the file.
    "encoding = 'UTF-8'",
    "auto_vacuum = NONE",
    "secure_delete = ON",
    # SQLite orders rows by id, and ids are as good as random. But most of a long row lies on pages of its own, in the
    # order of writing: with small pages that is nearly all. So notes of one topic, which share much of their text, lie
    # side by side for the compression, and the package is smaller by two fifths than with pages of 4096.
    "page_size = 1024",
    # The file lives for a moment, nobody needs to recover it. The cache (in kilobytes) holds what ids lead to at random.
    "journal_mode = OFF",
    "synchronous = OFF",
    "temp_store = MEMORY",
    "cache_size = -32000",
)

_NEW = -1
"""The update sequence number of what was never synced."""

_INSERT_NOTE = "INSERT INTO notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, '')"
_INSERT_CARD = "INSERT INTO cards VALUES (?, ?, ?, 0, ?, ?, 0, 0, ?, 0, 0, 0, 0, 0, 0, 0, 0, '')"


class _Model(genanki.Model):  # type: ignore[misc]
    """A note type whose cards are known: one per note, since 'Question' is never empty and always on the front.

    genanki would find that out by rendering the front once per field.
    """

    _req = ([0, "all", [0]],)


class _Note(NamedTuple):
    """A note with its own id and time, in the place of genanki's: it was checked already, and its guid and card are known.

    genanki's would copy the tags and fields, search every field for broken HTML (in a time that grows with the square of
    its length), and find out by rendering which cards there are.
    """

    content: IdentifiedNote
    note_id: int
    deck_id: int
    type_id: int

    def store(self, cursor: sqlite3.Cursor) -> None:
        """Write the note, but not its card."""
        note = self.content.note
        fields = [text or "" for text in map(note.fields.get, FIELDS)]
        row = (self.note_id, self.content.guid, self.type_id, self.content.modified, _NEW, f" {' '.join(note.tags)} ")
        cursor.execute(_INSERT_NOTE, (*row, "\x1f".join(fields), fields[0]))

    def card(self) -> tuple[int, ...]:
        """The row of the note's card. It has the same id as the note: Anki keeps them in different tables."""
        return self.note_id, self.note_id, self.deck_id, self.content.modified, _NEW, self.content.note.due


class _Package(genanki.Package):  # type: ignore[misc]
    """A package whose note types carry their own time, and whose collection row is written once, not once a deck."""

    def __init__(self, decks: list[genanki.Deck], models: Mapping[_Model, int], notes: Sequence[_Note]) -> None:
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
        # Cards share nothing with their neighbours, and in the order of their ids they are written fastest.
        by_id = sorted(self.notes, key=lambda note: note.note_id)
        cursor.executemany(_INSERT_CARD, (note.card() for note in by_id))

    def write_database(self, file: Path) -> None:
        """Write the package's database into a new file."""
        connection = sqlite3.connect(file)
        try:
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}")
            self.write_to_db(connection.cursor(), 0, iter(()))
            connection.commit()
        except sqlite3.OperationalError as error:
            # Such as a full disk, for which SQLite has no OSError.
            raise OSError(str(error)) from error
        finally:
            connection.close()
        with file.open("rb+") as stream:
            stream.seek(_SQLITE_VERSION)
            stream.write(bytes(4))

    def write_to_file(self, file: Path, timestamp: float | None = None) -> None:
        """Write the package to ``file``; ``timestamp`` is unused, all times are given already."""
        names = {str(number): name for number, name in enumerate(self.media)}
        with tempfile.TemporaryDirectory(prefix="ladderdeck-") as folder:
            database = Path(folder, "collection.anki2")
            self.write_database(database)
            with zipfile.ZipFile(file, "w") as archive:
                with database.open("rb") as source, archive.open(_entry(database), "w") as target:
                    shutil.copyfileobj(source, target, 2**20)
                archive.writestr(_entry("media"), json.dumps(names))
                for number, name in names.items():
                    archive.writestr(_entry(number), self.media[name])


def _entry(name: str | Path) -> zipfile.ZipInfo:
    """An entry that is the same on any day and machine, compressed with zlib's usual level; ``name`` may be a file."""
    entry = zipfile.ZipInfo(Path(name).name, _ZIP_DATE)
    if isinstance(name, Path):
        entry.file_size = name.stat().st_size  # for zipfile to choose a large archive's format
    entry.create_system = 3  # Unix, also where this runs on Windows
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


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

    ``note_ids`` maps guids to ids, ``decks`` is what :func:`.anki_ids.plan_decks` returns, ``type_modified``
    holds exactly the kinds among the notes. Raises OSError if a file cannot be written.
    """
    models = {kind: _model(kind, templates) for kind in Kind if kind in type_modified}
    type_ids = {kind: model.model_id for kind, model in models.items()}
    deck_ids = {name: decks[deck_key(name)][0] for name in {note.note.deck for note in notes}}
    package = _Package(
        decks=[genanki.Deck(deck_id, name) for deck_id, name in decks.values()],
        models={model: type_modified[kind] for kind, model in models.items()},
        notes=[
            _Note(note, note_ids[note.guid], deck_ids[note.note.deck], type_ids[note.note.origin.kind])
            for note in sorted(notes, key=lambda note: (note.note.deck, note.note.due, note.guid))
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
