"""The formats besides the package: what is in them, what Anki makes of the text format, and what a build may replace."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path

import pytest
from anki.collection import ImportCsvRequest
from anki_collection import counts, import_package, new_collection, notes_by_guid, only_card, review
from command import here, ladderdeck, tree
from deck_builder import NOW, Deck
from package_samples import FULL, TYPE_MODIFIED, every_kind, make, templates, write

from ladderdeck.packaging.formats import DEFAULT_FORMAT, format_names, format_of, load_format
from ladderdeck.packaging.formats.contract import Content
from ladderdeck.packaging.note_types import NOTE_TYPES
from ladderdeck.values.model import Kind
from ladderdeck.values.note import FIELDS

RUNGS = ["What is a hash join?", "When does it spill to disk?", "Who reads the plan?"]
HOSTILE = [
    'quotes " and "" and “these”, commas, and; semicolons',
    "two\nlines\n\nand\ta tab",
    "# not a comment",
    "#separator:Tab",
    "=1+1",
    "&lt;T&gt; &amp;amp; \\n \\( x \\) {{Field}} {{c1::x}} &#91;sound:a.mp3]",
    "骨 直 海 🇬🇧 👩‍👩‍👧 𠮷 עברית",
    " blanks at both ends ",
    '"',
]


def written(name: str, notes, file: Path, media=None) -> Path:
    """``notes`` in the format of that name."""
    load_format(name).write(Content(notes, templates(), TYPE_MODIFIED, media or {}), file)
    return file


def import_text(collection, file: Path):
    """Import Anki's text format with what the file itself says, as a user who presses Import."""
    metadata = collection.get_csv_metadata(str(file), None)
    log = collection.import_csv(ImportCsvRequest(path=str(file), metadata=metadata)).log
    collection.models._clear_cache()
    return log


# The registry


def test_the_formats() -> None:
    assert format_names() == ("apkg", "csv", "json")
    assert DEFAULT_FORMAT in format_names()
    suffixes = [suffix for name in format_names() for suffix in load_format(name).suffixes]
    assert len(suffixes) == len(set(suffixes))
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in suffixes)


@pytest.mark.parametrize(
    ("file", "name"),
    [("a.apkg", "apkg"), ("A.CSV", "csv"), ("dist/a.b.txt", "csv"), ("a.json", "json"), ("a.zip", None), ("csv", None)],
)
def test_the_suffix_says_the_format(file: str, name: str | None) -> None:
    assert format_of(Path(file)) == name


@pytest.mark.parametrize("name", format_names())
def test_each_format_knows_its_own_files_and_no_others(tmp_path: Path, name: str) -> None:
    others = {"[1]", "{}", '{"format": 1', "guid,notetype\n", "#separator:Comma\n#html:true\n", "PK\x03\x04", "text"}
    form = load_format(name)
    for other in format_names():
        beginning = written(other, every_kind(), tmp_path / "file").read_bytes()[:512]
        assert form.is_ours(beginning) is (other == name)
        assert load_format(other).is_ours(written(other, [], tmp_path / "empty").read_bytes()[:512])
    assert [text for text in others if form.is_ours(text.encode())] == []


@pytest.mark.parametrize("name", format_names())
def test_the_same_content_gives_the_same_bytes(tmp_path: Path, name: str) -> None:
    media = {"b.png": b"b", "a.png": b"a"}
    one = written(name, every_kind(), tmp_path / "one", media).read_bytes()
    other = written(name, every_kind(), tmp_path / "other", dict(sorted(media.items()))).read_bytes()
    assert one == other


@pytest.mark.parametrize("name", format_names())
@pytest.mark.parametrize(
    "notes",
    [
        [make(fields={**FULL, "Question": " "})],
        [make(fields={**FULL, "Answer": "a\x1fb"})],
        [make(tags=("two words",))],
        [make(), make()],
        [make(guid="")],
    ],
    ids=["no question", "control character", "blank in a tag", "one guid twice", "no guid"],
)
def test_what_anki_would_spoil_is_refused_in_every_format(tmp_path: Path, name: str, notes) -> None:
    with pytest.raises(ValueError, match="note"):
        written(name, notes, tmp_path / "file")
    assert not (tmp_path / "file").exists()


# Anki's text format


@pytest.fixture
def user(tmp_path: Path):
    collection = new_collection(tmp_path / "user")
    yield collection
    collection.close()


def test_the_text_format_goes_into_anki_and_comes_back_as_it_was(user, tmp_path: Path) -> None:
    notes = [make(Kind.RUNG, n, fields={**FULL, "Question": f"{n}", "Answer": text}) for n, text in enumerate(HOSTILE)]
    notes += [make(kind, 100, fields={"Question": "only this"}, deck=f"Ladders::{kind.value}, “x”") for kind in Kind]
    # The note types come with a package, of whatever note.
    write([make(kind, 999) for kind in Kind], tmp_path / "types.apkg")
    import_package(user, tmp_path / "types.apkg")
    assert counts(import_text(user, written("csv", notes, tmp_path / "notes.csv"))) == {"new": len(notes)}
    there = notes_by_guid(user)
    for identified in notes:
        found = there[identified.guid]
        assert found.note_type()["name"] == NOTE_TYPES[identified.note.origin.kind].name
        assert found.fields == [identified.note.fields.get(name, "") for name in FIELDS]
        assert tuple(found.tags) == identified.note.tags
        (card,) = found.cards()
        assert user.decks.name(card.did) == identified.note.deck
    new = [
        user.get_card(card).note().guid for card in user.find_cards("deck:Ladders::Serving -Question:", order="c.due")
    ]
    assert [guid for guid in new if not guid.endswith("999")] == [note.guid for note in notes[: len(HOSTILE)]]


def test_a_package_and_the_text_format_of_one_build_are_the_same_notes(user, tmp_path: Path) -> None:
    notes = every_kind()
    write(notes, tmp_path / "notes.apkg")
    import_package(user, tmp_path / "notes.apkg")
    before = user.db.all("select guid, mid, mod, tags, flds from notes order by id")
    assert counts(import_text(user, written("csv", notes, tmp_path / "notes.csv"))) == {"duplicate": len(notes)}
    assert user.db.all("select guid, mid, mod, tags, flds from notes order by id") == before


def test_an_edit_arrives_through_the_text_format_and_keeps_reviews(user, tmp_path: Path) -> None:
    write([make()], tmp_path / "notes.apkg")
    import_package(user, tmp_path / "notes.apkg")
    review(user, "rung-0")
    before = only_card(user, "rung-0")
    edited = make(fields={**FULL, "Question": "reworded"})
    assert counts(import_text(user, written("csv", [edited], tmp_path / "notes.csv"))) == {"updated": 1}
    after = only_card(user, "rung-0")
    assert after.note().fields[0] == "reworded"
    assert (after.id, after.reps, after.due, after.ivl) == (before.id, before.reps, before.due, before.ivl)
    assert user.db.scalar("select count() from revlog") == 1


def test_the_text_format_replaces_tags_and_moves_no_card(user, tmp_path: Path) -> None:
    write([make()], tmp_path / "notes.apkg")
    import_package(user, tmp_path / "notes.apkg")
    note = notes_by_guid(user)["rung-0"]
    note.tags.append("marked")
    user.update_note(note)
    import_text(user, written("csv", [make(tags=("kind::y",), deck="Elsewhere")], tmp_path / "notes.csv"))
    card = only_card(user, "rung-0")
    assert (card.note().tags, user.decks.name(card.did)) == (["kind::y"], "Ladders::Serving")


def test_after_the_text_format_only_a_later_change_arrives_by_package(user, tmp_path: Path) -> None:
    """The text format stamps a note with the time of the import, not of the edit: docs/formats.md says so."""
    write([make()], tmp_path / "one.apkg")
    import_package(user, tmp_path / "one.apkg")
    import_text(user, written("csv", [make(fields={**FULL, "Question": "by text"})], tmp_path / "notes.csv"))
    stamped = notes_by_guid(user)["rung-0"].mod
    for modified, arrives in [(stamped - 1, False), (stamped + 1, True)]:
        later = make(fields={**FULL, "Question": "by package"}, modified=modified)
        import_package(user, write([later], tmp_path / f"{modified}.apkg"))
        assert (notes_by_guid(user)["rung-0"].fields[0] == "by package") is arrives


def test_without_the_note_types_nothing_is_imported(user, tmp_path: Path) -> None:
    notes = every_kind()
    log = import_text(user, written("csv", notes, tmp_path / "notes.csv"))
    assert counts(log) == {"missing_notetype": len(notes)}
    assert user.note_count() == 0


def test_the_text_format_is_csv_for_everybody_else(tmp_path: Path) -> None:
    notes = [make(Kind.SIGN, n, fields={"Question": text}) for n, text in enumerate(HOSTILE)]
    lines = written("csv", notes, tmp_path / "a.csv").read_bytes().decode("utf-8").split("\n", 8)
    assert lines[7] == f"#columns:guid,notetype,deck,tags,{','.join(FIELDS)}"
    rows = list(csv.reader(io.StringIO(lines[8], newline="")))
    assert [row[4] for row in rows] == HOSTILE
    assert {len(row) for row in rows} == {4 + len(FIELDS)}


# JSON


def test_the_json_of_a_note(tmp_path: Path) -> None:
    picture = b"not really a picture"
    file = written("json", [make(Kind.RED_FLAG, 3, fields={"Question": "A"})], tmp_path / "a.json", {"p.png": picture})
    data = json.loads(file.read_text(encoding="utf-8"))
    assert data == {
        "format": "ladderdeck notes",
        "version": 1,
        "notes": [
            {
                "guid": "red-flag-3",
                "modified": 1_700_000_000,
                "kind": "red-flag",
                "note_type": "Ladderdeck Red Flag",
                "pack": "serving",
                "language": "zh",
                "topic": "Batching",
                "text": "wording 3",
                "deck": "Ladders::Serving",
                "due": 3,
                "tags": ["kind::x"],
                "fields": {name: "A" if name == "Question" else "" for name in FIELDS},
            }
        ],
        "pictures": [
            {
                "name": "p.png",
                "bytes": 20,
                "sha256": hashlib.sha256(picture).hexdigest(),
            }
        ],
    }
    assert list(data) == ["format", "version", "notes", "pictures"]
    assert list(data["notes"][0]["fields"]) == list(FIELDS)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_survives_json(tmp_path: Path, text: str) -> None:
    file = written("json", [make(fields={**FULL, "Answer": text})], tmp_path / "a.json")
    assert json.loads(file.read_bytes())["notes"][0]["fields"]["Answer"] == text


# As a user builds them


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    deck = Deck(tmp_path / "我的 deck")
    deck.write("web", {"Joins": RUNGS})
    return deck


def test_a_format_is_asked_for_by_name_or_by_suffix(deck: Deck) -> None:
    for arguments, file in [
        (["--format", "csv"], "dist/ladders.csv"),
        (["build", "--format", "json"], "dist/ladders.json"),
        (["--format", "apkg"], "dist/ladders.apkg"),
        (["-o", "elsewhere/my.csv"], "elsewhere/my.csv"),
        (["-o", "notes.JSON"], "notes.JSON"),
        (["-o", "notes.zip"], "notes.zip"),
        (["-o", "noted", "--format", "csv"], "noted"),
    ]:
        run = here(*arguments, cwd=deck.folder)
        assert run.code == 0, run.err
        assert run.out.startswith(f"{file}: ")
        name = next((arguments[n + 1] for n, word in enumerate(arguments) if word == "--format"), None)
        name = name or format_of(Path(file)) or "apkg"
        assert load_format(name).is_ours((deck.folder / file).read_bytes()[:512])
        assert f"{file} is up to date" in here(*arguments, cwd=deck.folder).out


def test_a_name_and_a_suffix_that_disagree_are_wrong_usage(deck: Deck) -> None:
    before = tree(deck.folder)
    run = here("-o", "a.csv", "--format", "json", cwd=deck.folder)
    assert (run.code, tree(deck.folder)) == (2, before)
    assert "a.csv ends like the format csv, and --format says json." in run.err


def test_the_ledger_is_kept_whatever_the_format(deck: Deck) -> None:
    deck.build(output=deck.folder / "a.csv", format_name="csv")
    first = deck.ledger_file.read_bytes()
    assert deck.build(NOW + 5).written == (deck.package,)
    assert deck.build(NOW + 5, output=deck.folder / "a.json", format_name="json").written == (deck.folder / "a.json",)
    assert deck.ledger_file.read_bytes() == first
    deck.write("web", {"Joins": ["Hash joins: what are they?", *RUNGS[1:]]})
    outcome = deck.build(NOW + 9, output=deck.folder / "a.csv", format_name="csv")
    assert outcome.written == (deck.ledger_file, deck.folder / "a.csv")
    assert "Hash joins: what are they?" in (deck.folder / "a.csv").read_text(encoding="utf-8")


FOREIGN = {
    "diary.txt": b"my own words",
    "theirs.csv": b"#separator:tab\n#html:true\n",
    "theirs.json": b'{"format": "ladderdeck notes"}',
    "thesis.apkg": b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + bytes(20) + b"[Content_Types].xml",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_of_somebody_else_is_never_replaced(deck: Deck, name: str) -> None:
    (deck.folder / name).write_bytes(FOREIGN[name])
    before = tree(deck.folder)
    run = here("-o", name, cwd=deck.folder)
    assert (run.code, tree(deck.folder)) == (1, before)
    assert f"{name}:1:1: error: what is there was not written by such a build" in run.err


def test_a_file_of_another_format_is_not_replaced_and_an_empty_one_is(deck: Deck) -> None:
    output = deck.folder / "notes"
    deck.build(output=output, format_name="csv")
    assert [p.code for p in deck.try_build(output=output, format_name="json").problems] == ["not-ours"]
    output.write_bytes(b"")
    deck.build(output=output, format_name="json")
    assert json.loads(output.read_bytes())["notes"]


# What a script reads, and silence


def test_the_outcome_of_a_build_as_json(deck: Deck) -> None:
    assert here("-q", cwd=deck.folder).code == 0
    deck.write("web", {"Joins": ["Hash joins: what are they?", RUNGS[1], "And then?"]})
    run = here("--json", "--dry-run", cwd=deck.folder)
    assert (run.code, run.err) == (0, "")
    data = json.loads(run.out)
    assert (data["failed"], data["dry_run"], data["output"], data["format"]) == (
        False,
        True,
        "dist/ladders.apkg",
        "apkg",
    )
    assert data["written"] == []
    assert data["kinds"] == {**{kind.value: 0 for kind in Kind}, "rung": 4, "sign": 1, "ladder": 1}
    assert {name: number for name, number in data["counts"].items() if number and name != "updated"} == {
        "new": 1,
        "reworded": 1,
        "retired": 1,
    }
    (reworded,) = [change for change in data["changes"] if change["change"] == "reworded"]
    assert reworded["text"] == "Hash joins: what are they?"
    assert reworded["before"]["text"] == RUNGS[0]
    assert reworded["before"]["guid"] == reworded["guid"]
    built = json.loads(here("--json", cwd=deck.folder).out)
    assert built["written"] == ["cards/ledger.json", "dist/ladders.apkg"]


def test_a_failed_build_as_json(deck: Deck) -> None:
    (deck.cards / "web.md").write_text("---\nname: web\nlayer: deep\n---\n", encoding="utf-8")
    run = ladderdeck("--json", cwd=deck.folder)
    assert (run.code, run.err) == (1, "")
    data = json.loads(run.out)
    assert data["failed"]
    assert "wrong-layer" in {problem["code"] for problem in data["problems"]}


def test_coverage_and_problems_as_json(deck: Deck) -> None:
    data = json.loads(here("answers", "--json", cwd=deck.folder).out)
    assert data["counts"] == {"answered": 0, "missing": 4, "stale": 0}
    assert data["rows"][0]["missing"] == RUNGS
    assert json.loads(here("check", "--json", cwd=deck.folder).out) == {"problems": []}


@pytest.mark.parametrize("command", [["build"], ["check"], ["preview"]])
def test_quiet_prints_problems_and_nothing_else(deck: Deck, command: list[str]) -> None:
    run = here(*command, "--quiet", cwd=deck.folder)
    assert (run.code, run.out, run.err) == (0, "", "")
    deck.write("web", {"Joins": RUNGS[:1]})
    run = here(*command, "-q", cwd=deck.folder)
    assert run.code == 0
    assert "warning" in run.out + run.err or command == ["preview"]
    assert (run.out + run.err).count("\n") == (0 if command == ["preview"] else 2)
