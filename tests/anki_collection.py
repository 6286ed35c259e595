"""What tests do with a real Anki: open a collection, import a package, look at cards, review one."""

import json
import shutil
import sqlite3
import zipfile
from pathlib import Path

from anki.collection import Collection, ImportAnkiPackageOptions, ImportAnkiPackageRequest
from anki.import_export_pb2 import ImportAnkiPackageUpdateCondition as Update
from anki.scheduler.v3 import CardAnswer

AGAIN, HARD, GOOD, EASY = CardAnswer.AGAIN, CardAnswer.HARD, CardAnswer.GOOD, CardAnswer.EASY

USER_DEFAULTS = {
    "merge_notetypes": False,
    "update_notes": Update.IMPORT_ANKI_PACKAGE_UPDATE_CONDITION_IF_NEWER,
    "update_notetypes": Update.IMPORT_ANKI_PACKAGE_UPDATE_CONDITION_IF_NEWER,
    "with_scheduling": False,
    "with_deck_configs": False,
}
"""The options of the import dialog that a user gets who never touched them."""


def new_collection(folder: Path) -> Collection:
    """An empty collection in ``folder``, which is made if need be; close it with ``close()``."""
    folder.mkdir(parents=True, exist_ok=True)
    return Collection(str(folder / "collection.anki2"))


def import_package(collection: Collection, file: Path, **options):
    """Import a package as a user does, with ``options`` in place of the defaults.

    The result is Anki's log: ``new``, ``updated``, ``duplicate``, ``conflicting``, … are the notes that it happened to.
    """
    request = ImportAnkiPackageRequest(
        package_path=str(file), options=ImportAnkiPackageOptions(**(USER_DEFAULTS | options))
    )
    log = collection.import_anki_package(request).log
    collection.models._clear_cache()  # Python's copy of the note types does not notice an import
    return log


def counts(log) -> dict[str, int]:
    """How many notes each list of an import log holds, without the empty lists."""
    names = ("new", "updated", "duplicate", "conflicting", "first_field_match", "missing_notetype", "missing_deck")
    found = {name: len(getattr(log, name)) for name in (*names, "empty_first_field")}
    return {name: count for name, count in found.items() if count}


def notes_by_guid(collection: Collection) -> dict:
    """All notes by guid; a guid that is there twice fails."""
    notes = [collection.get_note(id) for id in collection.find_notes("")]
    by_guid = {note.guid: note for note in notes}
    assert len(by_guid) == len(notes), "a guid is in the collection twice"
    return by_guid


def only_card(collection: Collection, guid: str):
    """The card of the note with this guid; fails unless there is exactly one."""
    (card,) = notes_by_guid(collection)[guid].cards()
    return card


def sides(collection: Collection, guid: str) -> tuple[str, str]:
    """The HTML of front and back of a note's card, as a phone gets it."""
    output = only_card(collection, guid).render_output()
    return output.question_text, output.answer_text


def review(collection: Collection, guid: str, rating=GOOD) -> None:
    """Answer a note's card as if it had just been shown."""
    card = only_card(collection, guid)
    states = collection._backend.get_scheduling_states(card.id)
    card.start_timer()
    collection.sched.answer_card(collection.sched.build_answer(card=card, states=states, rating=rating))


def check_database(collection: Collection) -> tuple[str, bool]:
    """Anki's 'Check Database': its report, and whether it found nothing to repair."""
    return collection.fix_integrity()


def snapshot(collection: Collection) -> dict[str, list]:
    """All rows that a user cares for: notes, cards, review log, deck names."""
    rows = {table: collection.db.all(f"select * from {table} order by id") for table in ("notes", "cards", "revlog")}
    rows["decks"] = sorted((deck.id, deck.name) for deck in collection.decks.all_names_and_ids())
    return rows


def package_database(file: Path, folder: Path) -> sqlite3.Connection:
    """The database inside of a package, unpacked into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(file) as archive:
        return sqlite3.connect(archive.extract("collection.anki2", folder))


def edit_note_types(file: Path, folder: Path, edit) -> Path:
    """A copy of a package in ``folder`` whose note types, as Anki's JSON objects, ``edit`` has changed in place."""
    database = package_database(file, folder)
    types = json.loads(database.execute("select models from col").fetchone()[0])
    for note_type in types.values():
        edit(note_type)
    database.execute("update col set models = ?", (json.dumps(types),))
    database.commit()
    database.close()
    copy = folder / "edited.apkg"
    shutil.copy(file, copy)
    with zipfile.ZipFile(copy, "w") as archive:
        archive.write(folder / "collection.anki2", "collection.anki2")
        archive.writestr("media", "{}")
    return copy
