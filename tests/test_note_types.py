"""The frozen part of the note types, and that a real Anki takes the ids as they are."""

import json
from pathlib import Path

import pytest
from anki_collection import counts, edit_note_types, import_package, new_collection, notes_by_guid
from package_samples import MODIFIED, every_kind, make, write

from ladderdeck.packaging.note_types import FIELD_NUMBERS, NOTE_TYPES
from ladderdeck.values.model import Kind
from ladderdeck.values.note import FIELDS

GOLDEN = Path(__file__).parent / "golden" / "note_types.json"


def as_json() -> dict:
    return {
        kind.value: {
            "id": note_type.id,
            "name": note_type.name,
            "fields": [{"name": field.name, "id": field.id} for field in note_type.fields],
            "templates": [{"name": note_type.template_name, "id": note_type.template_id}],
        }
        for kind, note_type in NOTE_TYPES.items()
    }


def test_what_was_shipped_stays() -> None:
    """Do not adapt the golden file: with any change to an entry in it, Anki stops updating the notes of every user."""
    assert as_json() == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_every_kind_has_a_note_type_with_all_fields() -> None:
    assert set(NOTE_TYPES) == set(Kind)
    assert set(FIELD_NUMBERS) == set(FIELDS)
    for kind, note_type in NOTE_TYPES.items():
        assert note_type.kind is kind
        assert tuple(field.name for field in note_type.fields) == FIELDS


def test_ids_are_all_different_and_fit() -> None:
    inner = [field.id for note_type in NOTE_TYPES.values() for field in note_type.fields]
    inner += [note_type.template_id for note_type in NOTE_TYPES.values()]
    assert len(set(inner)) == len(inner) == len(Kind) * (len(FIELDS) + 1)
    assert all(0 < id < 2**53 for id in inner)
    ids = [note_type.id for note_type in NOTE_TYPES.values()]
    assert len(set(ids)) == len({note_type.name for note_type in NOTE_TYPES.values()}) == len(Kind)
    assert all(2**39 <= id < 2**40 for id in ids)


def test_anki_keeps_the_ids(tmp_path: Path) -> None:
    collection = new_collection(tmp_path / "user")
    import_package(collection, write(every_kind(), tmp_path / "a.apkg"))
    arrived = {}
    for note_type in NOTE_TYPES.values():
        found = collection.models.get(note_type.id)
        arrived[note_type.kind.value] = {
            "id": found["id"],
            "name": found["name"],
            "fields": [{"name": field["name"], "id": field["id"]} for field in found["flds"]],
            "templates": [{"name": template["name"], "id": template["id"]} for template in found["tmpls"]],
        }
    collection.close()
    assert arrived == as_json()


@pytest.mark.parametrize("part", ["flds", "tmpls"])
def test_a_rename_happens_in_place(tmp_path: Path, part: str) -> None:
    """A later release may rename a field or a template, as long as its id stays."""

    def rename(note_type: dict) -> None:
        note_type[part][-1]["name"] = "Renamed"
        note_type["mod"] += 1

    collection = new_collection(tmp_path / "user")
    import_package(collection, write([make()], tmp_path / "a.apkg"))
    newer = write([make(modified=MODIFIED + 1)], tmp_path / "b.apkg")
    log = import_package(collection, edit_note_types(newer, tmp_path / "edit", rename))
    names = [note_type.name for note_type in collection.models.all_names_and_ids()]
    found = collection.models.get(NOTE_TYPES[Kind.RUNG].id)
    (note,) = notes_by_guid(collection).values()
    collection.close()
    assert counts(log) == {"updated": 1}
    assert found[part][-1]["name"] == "Renamed"
    assert [name for name in names if name.startswith("Ladderdeck")] == ["Ladderdeck Rung"]
    assert note.fields[-1] == '{"secret": 1}'


def test_without_the_ids_the_same_rename_would_strand_the_notes(tmp_path: Path) -> None:
    """Why every field carries an id: the same change without one is a conflict, and nothing is updated."""

    def rename(note_type: dict) -> None:
        for field in note_type["flds"]:
            del field["id"]
        note_type["flds"][-1]["name"] = "Renamed"
        note_type["mod"] += 1

    collection = new_collection(tmp_path / "user")
    import_package(collection, write([make()], tmp_path / "a.apkg"))
    newer = write([make(modified=MODIFIED + 1)], tmp_path / "b.apkg")
    log = import_package(collection, edit_note_types(newer, tmp_path / "edit", rename))
    collection.close()
    assert "updated" not in counts(log)
    assert counts(log)["conflicting"] == 1
