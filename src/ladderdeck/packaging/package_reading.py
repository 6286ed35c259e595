"""What a package holds, read back from its bytes: the notes as Anki will get them, with the ids that they will have."""

from __future__ import annotations

import contextlib
import io
import json
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

LARGEST_DATABASE = 2 * 1024**3
"""Bytes of a package's database, unpacked: what packs of a million notes need, and no more than a disk has room for."""

_ACTING = "SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index') OR sql LIKE '%VIRTUAL%'"
"""What makes reading a database run a program that came with it: a view in a table's place may never end."""


@dataclass(frozen=True)
class StoredNote:
    """A note in a package: its ids, the name of its note type, when it last changed (Unix seconds), its tags, all its
    fields by name in order, and the full name of its card's deck."""

    id: int
    guid: str
    note_type: str
    modified: int
    tags: tuple[str, ...]
    fields: Mapping[str, str]
    deck: str


def read_package(data: bytes) -> tuple[StoredNote, ...]:
    """The notes of a package that this program wrote, sorted by id, from the bytes of its file.

    Raises ValueError with a message for people if the bytes are no such package, OSError if there is no room for a
    temporary file.
    """
    with _readable(data) as (connection, types, decks):
        rows = connection.execute(
            "SELECT n.id, n.guid, n.mid, n.mod, n.tags, n.flds, c.did FROM notes n JOIN cards c ON c.nid = n.id "
            "WHERE c.ord = 0 ORDER BY n.id"
        )
        return tuple(_note(row, types, decks) for row in rows)


def read_places(data: bytes) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """Guid, tags and deck of each note of a package, as :func:`read_package` has them, without the content of its fields.

    Raises what :func:`read_package` raises.
    """
    with _readable(data) as (connection, _, decks):
        rows = connection.execute(
            "SELECT n.guid, n.tags, c.did FROM notes n JOIN cards c ON c.nid = n.id WHERE c.ord = 0 ORDER BY n.id"
        )
        return tuple((guid, tuple(tags.split()), decks[deck_id]["name"]) for guid, tags, deck_id in rows)


@contextlib.contextmanager
def _readable(data: bytes) -> Iterator[tuple[sqlite3.Connection, Mapping[int, Any], Mapping[int, Any]]]:
    """The package's database, its note types and its decks by id; what is wrong with them is a ValueError."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if archive.getinfo("collection.anki2").file_size > LARGEST_DATABASE:
                raise ValueError(f"its database is larger than {LARGEST_DATABASE // 1024**3} GB")
            database = archive.read("collection.anki2")
            if "collection.anki21" in archive.namelist() or "collection.anki21b" in archive.namelist():
                raise ValueError("this package comes from Anki itself, and not from a build")
        with _opened(database) as connection:
            if connection.execute(_ACTING).fetchone():
                raise ValueError("its database holds more than tables")
            types, decks = (
                {int(id): value for id, value in json.loads(text).items()}
                for text in connection.execute("SELECT models, decks FROM col").fetchone()
            )
            yield connection, types, decks
    except (
        zipfile.error,
        zipfile.LargeZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        KeyError,
    ) as error:
        raise ValueError("this is no Anki package, or it is damaged") from error
    except (sqlite3.Error, json.JSONDecodeError, TypeError, AttributeError) as error:
        raise ValueError("the package is damaged") from error


@contextlib.contextmanager
def _opened(database: bytes) -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory(prefix="ladderdeck-") as folder:
        file = Path(folder, "collection.anki2")
        file.write_bytes(database)
        connection = sqlite3.connect(file)
        try:
            yield connection
        finally:
            connection.close()


def _note(row: tuple[Any, ...], types: Mapping[int, Any], decks: Mapping[int, Any]) -> StoredNote:
    id, guid, type_id, modified, tags, fields, deck_id = row
    names = [field["name"] for field in types[type_id]["flds"]]
    values = dict(zip(names, fields.split("\x1f"), strict=False))
    name = types[type_id]["name"]
    return StoredNote(id, guid, name, modified, tuple(tags.split()), MappingProxyType(values), decks[deck_id]["name"])
