"""Packaging, seen from a real Anki: what arrives, what an update does, and that the bytes never wander."""

import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import replace
from hashlib import sha1
from pathlib import Path

import pytest
from anki_collection import (
    check_database,
    counts,
    import_package,
    new_collection,
    notes_by_guid,
    only_card,
    package_database,
    review,
    sides,
    snapshot,
)
from hypothesis import given
from hypothesis import strategies as st
from package_samples import FULL, MODIFIED, TYPE_MODIFIED, every_kind, make, templates, write

from ladderdeck.packaging import anki_file, anki_ids
from ladderdeck.packaging.anki_ids import derive_ids, plan_decks
from ladderdeck.packaging.note_types import NOTE_TYPES
from ladderdeck.packaging.package import write_package
from ladderdeck.values.model import Kind, Position, Problem, Severity

TESTS = Path(__file__).parent


@pytest.fixture
def user(tmp_path: Path):
    collection = new_collection(tmp_path / "user")
    yield collection
    collection.close()


# What arrives


@pytest.mark.parametrize(
    ("kind", "front", "back"),
    [
        (Kind.RUNG, ["2 / 4", "Batching", "serving", "What is a batch?"], ["bandwidth", "curve", "bigger", "latency"]),
        (Kind.SIGN, ["Show that you", "请证明"], ["bandwidth", "Every step", "And then?"]),
        (Kind.LADDER, ["Climb it from memory", "2 / 4"], ["And then?"]),
        (Kind.RED_FLAG, ["the interviewer marks it down", "Batching"], ["bandwidth", "Every step", "And then?"]),
        (
            Kind.PROBE,
            ["Which points do you have to make clear", "简历"],
            ["And the tail?", "bandwidth", "Every step"],
        ),
    ],
)
def test_both_sides_show_what_belongs_there(user, tmp_path: Path, kind: Kind, front, back) -> None:
    import_package(user, write(every_kind(), tmp_path / "a.apkg"))
    question, answer = sides(user, f"{kind.value}-0")
    for text in ("Why does throughput stop growing?", "retired", 'lang="zh-CN"', *front):
        assert text in question
    for text in (*back, *front, 'id="answer"', "retired", "a paper", "3f9a1c2", "spare part"):
        assert text in answer
    for text in back:
        assert text not in question
    assert "secret" not in question + answer
    assert "{{" not in question + answer


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("missing", [*(name for name in FULL if name != "Question"), None])
def test_every_combination_with_an_empty_field_has_a_card(user, tmp_path: Path, kind: Kind, missing) -> None:
    """``None`` stands for a note that has nothing but its question."""
    fields = {name: text for name, text in FULL.items() if name != missing}
    if missing is None:
        fields = {"Question": FULL["Question"]}
    import_package(user, write([make(kind, fields=fields)], tmp_path / "a.apkg"))
    question, answer = sides(user, f"{kind.value}-0")
    assert "Why does throughput stop growing?" in question
    assert "Why does throughput stop growing?" in answer
    if missing is None:
        asked_for = kind in (Kind.RUNG, Kind.SIGN, Kind.RED_FLAG, Kind.PROBE)
        assert (question + answer).count("<details") == asked_for, "where an answer goes is all that can be unfolded"
        assert "<section" not in question + answer
        assert 'class="notice"' not in question


def test_without_key_points_the_signs_are_the_checklist(user, tmp_path: Path) -> None:
    without = {name: text for name, text in FULL.items() if name != "Key Points"}
    import_package(user, write([make(), make(number=1, fields=without)], tmp_path / "a.apkg"))
    assert "signs check" not in sides(user, "rung-0")[1]
    assert "signs check" in sides(user, "rung-1")[1]


def test_anki_reads_over_fields_in_a_comment(user, tmp_path: Path) -> None:
    """Why the check of the templates does, too."""
    look = templates()
    card = replace(look.cards[Kind.RUNG], front="{{Question}}<!-- {{Anwser}} {{#Topic}} -->")
    import_package(user, write([make()], tmp_path / "a.apkg", replace(look, cards={**look.cards, Kind.RUNG: card})))
    assert sides(user, "rung-0")[0] == FULL["Question"] + "<!-- {{Anwser}} {{#Topic}} -->"


def test_notes_arrive_as_they_are(user, tmp_path: Path) -> None:
    note = make(tags=("domain::x", "topic::批处理"), deck="A::B::C", due=7, modified=MODIFIED + 5)
    log = import_package(user, write([note], tmp_path / "a.apkg"))
    found, card = notes_by_guid(user)["rung-0"], only_card(user, "rung-0")
    assert counts(log) == {"new": 1}
    assert dict(found.items()) == FULL
    assert set(found.tags) == {"domain::x", "topic::批处理"}
    assert (found.mod, card.mod, card.due) == (MODIFIED + 5, MODIFIED + 5, 7)
    assert found.id == card.id == derive_ids("note", ["rung-0"])["rung-0"]
    assert user.decks.name(card.did) == "A::B::C"
    assert {deck.name for deck in user.decks.all_names_and_ids()} >= {"A", "A::B", "A::B::C"}
    assert user.decks.get(card.did)["desc"] == ""


def test_the_checksum_and_sort_field_are_made_by_anki(user, tmp_path: Path) -> None:
    """Why the package may leave the checksum 0: Anki computes it, and finds duplicates and sorts with it."""
    import_package(user, write([make()], tmp_path / "a.apkg"))
    checksum, sort_field = user.db.first("select csum, sfld from notes")
    text = "Why does throughput stop growing? 为什么"
    assert sort_field == text
    assert checksum == int(sha1(text.encode()).hexdigest()[:8], 16)


def test_new_cards_come_in_the_order_of_due(user, tmp_path: Path) -> None:
    notes = [make(number=number, deck="One", due=10 - number) for number in range(5)]
    import_package(user, write(notes, tmp_path / "a.apkg"))
    user.decks.select(user.decks.id_for_name("One"))
    shown = [user.get_card(card.card.id).note().guid for card in user.sched.get_queued_cards(fetch_limit=5).cards]
    assert shown == [f"rung-{number}" for number in (4, 3, 2, 1, 0)]


def test_anki_finds_nothing_to_repair(user, tmp_path: Path) -> None:
    import_package(user, write(every_kind(), tmp_path / "a.apkg"))
    before = snapshot(user)
    report, fine = check_database(user)
    assert fine and report.count("\n") == 0
    assert snapshot(user) == before
    assert list(user.media.check().missing) == list(user.media.check().unused) == []
    assert not any(Path(user.media.dir()).iterdir())


def test_only_what_is_used_is_in_the_package(tmp_path: Path) -> None:
    database = package_database(write([make(Kind.PROBE, deck="A::B")], tmp_path / "a.apkg"), tmp_path / "out")
    types, decks = database.execute("select models, decks from col").fetchone()
    assert NOTE_TYPES[Kind.PROBE].name in types and NOTE_TYPES[Kind.RUNG].name not in types
    assert '"A::B"' in decks and '"A"' in decks
    database.close()


@pytest.mark.parametrize("deck", ["Default", "default", "Default::Child"])
def test_a_deck_called_like_ankis_own(user, tmp_path: Path, deck: str) -> None:
    import_package(user, write([make(deck=deck)], tmp_path / "a.apkg"))
    assert user.decks.name(only_card(user, "rung-0").did).casefold() == deck.casefold()
    assert check_database(user)[1]


def test_decks_that_differ_in_case_only_are_one(user, tmp_path: Path) -> None:
    notes = [make(number=0, deck="GPU::Kernels"), make(number=1, deck="gpu::kernels")]
    import_package(user, write(notes, tmp_path / "a.apkg"))
    assert only_card(user, "rung-0").did == only_card(user, "rung-1").did
    assert sorted(deck.name for deck in user.decks.all_names_and_ids()) == ["Default", "GPU", "GPU::Kernels"]


def test_no_notes_make_an_empty_package(user, tmp_path: Path) -> None:
    assert counts(import_package(user, write([], tmp_path / "a.apkg"))) == {}


# What an update does


def test_the_same_package_again_changes_nothing(user, tmp_path: Path) -> None:
    file = write(every_kind(), tmp_path / "a.apkg")
    import_package(user, file)
    before = snapshot(user)
    log = import_package(user, file)
    assert counts(log) == {"duplicate": len(every_kind())}
    assert snapshot(user) == before


def test_a_later_note_is_updated_and_keeps_its_reviews(user, tmp_path: Path) -> None:
    import_package(user, write([make(), make(number=1)], tmp_path / "a.apkg"))
    review(user, "rung-0")
    card, reviews = only_card(user, "rung-0"), user.db.all("select * from revlog")
    assert card.reps == 1
    edited = make(fields=FULL | {"Answer": "better"}, tags=("new",), modified=MODIFIED + 1, deck="Elsewhere", due=99)
    log = import_package(user, write([edited, make(number=1)], tmp_path / "b.apkg"))
    note, after = notes_by_guid(user)["rung-0"], only_card(user, "rung-0")
    assert counts(log) == {"updated": 1, "duplicate": 1}
    assert (note["Answer"], note.tags) == ("better", ["new"])
    scheduling = ("id", "did", "due", "ivl", "reps", "type", "queue", "factor", "left")
    assert [getattr(after, name) for name in scheduling] == [getattr(card, name) for name in scheduling]
    assert user.db.all("select * from revlog") == reviews


@pytest.mark.parametrize("step", [0, -1])
def test_a_note_that_is_not_later_is_ignored(user, tmp_path: Path, step: int) -> None:
    import_package(user, write([make()], tmp_path / "a.apkg"))
    edited = make(fields=FULL | {"Answer": "better"}, modified=MODIFIED + step)
    log = import_package(user, write([edited], tmp_path / "b.apkg"))
    assert counts(log) == {"duplicate": 1}
    assert notes_by_guid(user)["rung-0"]["Answer"] == FULL["Answer"]


def test_three_builds_in_a_row_all_arrive(user, tmp_path: Path) -> None:
    for step in range(3):
        edited = make(fields=FULL | {"Answer": f"version {step}"}, modified=MODIFIED + step)
        import_package(user, write([edited], tmp_path / f"{step}.apkg"))
        assert notes_by_guid(user)["rung-0"]["Answer"] == f"version {step}"


@pytest.mark.parametrize(("step", "arrives"), [(0, False), (1, True)])
def test_the_look_arrives_with_a_later_note_type(user, tmp_path: Path, step: int, arrives: bool) -> None:
    import_package(user, write([make()], tmp_path / "a.apkg"))
    look = replace(templates(), css=".card { color: red }")
    import_package(user, write([make()], tmp_path / "b.apkg", look, {Kind.RUNG: MODIFIED + step}))
    assert ("color: red" in user.models.get(NOTE_TYPES[Kind.RUNG].id)["css"]) is arrives


def test_two_devices_that_import_different_builds_agree_on_ids(tmp_path: Path) -> None:
    """Otherwise syncing them would take one note for another."""
    builds = [[make(number=1), make(number=2)], [make(number=0), make(number=2, modified=MODIFIED + 9), make(number=1)]]
    ids = []
    for number, notes in enumerate(builds):
        collection = new_collection(tmp_path / f"device {number}")
        import_package(collection, write(notes, tmp_path / f"{number}.apkg"))
        cards = {guid: only_card(collection, guid).id for guid in notes_by_guid(collection)}
        ids.append({guid: (note.id, cards[guid]) for guid, note in notes_by_guid(collection).items()})
        collection.close()
    assert ids[0] == {guid: ids[1][guid] for guid in ids[0]}


def test_what_the_user_changed_stays_where_the_note_did_not_change(user, tmp_path: Path) -> None:
    file = write([make(), make(number=1)], tmp_path / "a.apkg")
    import_package(user, file)
    note = notes_by_guid(user)["rung-0"]
    note["Answer"] = "my own words"
    note.add_tag("marked")
    user.update_note(note)
    edited = make(number=1, fields=FULL | {"Answer": "better"}, modified=MODIFIED + 1)
    import_package(user, write([make(), edited], tmp_path / "b.apkg"))
    assert notes_by_guid(user)["rung-0"]["Answer"] == "my own words"
    assert "marked" in notes_by_guid(user)["rung-0"].tags
    assert notes_by_guid(user)["rung-1"]["Answer"] == "better"


# The same bytes

SHIFTED_CLOCK = """
import datetime, runpy, sys, time
ahead = 20 * 365 * 86400
for name in ("time", "localtime", "gmtime"):
    real = getattr(time, name)
    if name == "time":
        now = real() + ahead
        time.time = lambda: now
    else:
        setattr(time, name, lambda seconds=None, real=real: real(now if seconds is None else seconds))
time.time_ns = lambda: int(now * 1e9)
sys.path.insert(0, sys.argv[1])
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def built_elsewhere(tmp_path: Path, name: str, *, clock: bool = False, cwd: Path | None = None, **variables) -> bytes:
    """The package of all kinds as another process writes it."""
    target = tmp_path / f"{name}.apkg"
    script = TESTS / "package_samples.py"
    program = ["-c", SHIFTED_CLOCK, str(TESTS), str(script)] if clock else [str(script)]
    environment = os.environ | {"PYTHONPATH": str(TESTS.parent / "src")} | variables
    subprocess.run([sys.executable, *program, str(target)], env=environment, cwd=cwd or tmp_path, check=True)
    return target.read_bytes()


def test_the_same_notes_give_the_same_bytes_everywhere(tmp_path: Path) -> None:
    here = write(every_kind(), tmp_path / "here.apkg").read_bytes()
    assert write(list(reversed(every_kind())), tmp_path / "reversed.apkg").read_bytes() == here
    (tmp_path / "other place").mkdir()
    assert built_elsewhere(tmp_path, "seed1", PYTHONHASHSEED="1", TZ="Asia/Shanghai", LC_ALL="C") == here
    assert built_elsewhere(tmp_path, "seed2", PYTHONHASHSEED="2", TZ="America/Lima", LC_ALL="C.UTF-8") == here
    assert built_elsewhere(tmp_path, "place", cwd=tmp_path / "other place", PYTHONUTF8="0", LC_ALL="POSIX") == here
    assert built_elsewhere(tmp_path, "clock", clock=True) == here


def test_no_time_in_the_package_is_the_time_of_the_build(tmp_path: Path) -> None:
    file = write(every_kind(), tmp_path / "a.apkg")
    with zipfile.ZipFile(file) as archive:
        assert [entry.date_time for entry in archive.infolist()] == [(1980, 1, 1, 0, 0, 0)] * 2
        assert archive.namelist() == ["collection.anki2", "media"]
        assert archive.read("media") == b"{}"
        assert archive.read("collection.anki2")[96:100] == bytes(4)
    database = package_database(file, tmp_path / "out")
    assert database.execute("pragma integrity_check").fetchone() == ("ok",)
    assert set(database.execute("select mod from notes union select mod from cards")) == {(MODIFIED,)}
    assert database.execute("select max(crt, mod / 1000, scm / 1000) from col").fetchone() < (MODIFIED,)
    database.close()


def test_no_temporary_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    write(every_kind(), tmp_path / "a.apkg")
    assert list(folder.iterdir()) == []
    with pytest.raises(OSError, match="no such folder"):
        write(every_kind(), tmp_path / "no such folder" / "a.apkg")
    monkeypatch.setattr(anki_file, "APKG_SCHEMA", "nonsense")
    with pytest.raises(OSError, match="nonsense"):
        write(every_kind(), tmp_path / "b.apkg")
    assert list(folder.iterdir()) == []
    assert not (tmp_path / "b.apkg").exists()


# Ids


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))), st.sampled_from(["note", "deck"]))
def test_ids_are_in_range_and_belong_to_the_name(names: list[str], purpose: str) -> None:
    ids = derive_ids(purpose, names)
    assert set(ids) == set(names)
    assert len(set(ids.values())) == len(ids)
    assert all(2**39 <= id < 2**40 for id in ids.values())
    assert derive_ids(purpose, reversed(names)) == ids
    assert all(derive_ids(purpose, [name]) == {name: ids[name]} for name in names)


@given(st.sets(st.text(max_size=5), max_size=40))
def test_names_that_meet_get_ids_of_their_own(names: set[str]) -> None:
    """With a range of 64 ids most of them meet."""
    names = {name for name in names if name.isprintable()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(anki_ids, "ID_COUNT", 64)
        ids = derive_ids("note", sorted(names))
        again = derive_ids("note", sorted(names, reverse=True))
    assert len(set(ids.values())) == len(names)
    assert ids == again


def test_ids_that_were_shipped_stay() -> None:
    """Two devices with packages from different releases must agree, too."""
    assert derive_ids("note", ["rung-0", "批处理"]) == {"rung-0": 1043869433831, "批处理": 1025777518162}
    assert plan_decks(["Ladders::Serving"]) == {
        "ladders": (824676710859, "Ladders"),
        "ladders::serving": (1097428265029, "Ladders::Serving"),
    }


# What is refused


@pytest.mark.parametrize(
    ("note", "message"),
    [
        (make(guid=""), "no guid"),
        (make(guid=" "), "no guid"),
        (make(guid="a\x1fb"), r"guid holds the control character U\+001F"),
        (make(fields={}), "nothing in its field 'Question'"),
        (make(fields={"Question": " \n"}), "nothing in its field 'Question'"),
        (make(fields={"Question": '<div class="text" dir="auto"><br></div>'}), "nothing in its field 'Question'"),
        (make(fields={"Question": "&nbsp;\u200b\u3000"}), "nothing in its field 'Question'"),
        (make(fields=FULL | {"Anwser": "x", "Foo": ""}), r"unknown fields \(Anwser, Foo\)"),
        (make(fields=FULL | {"Extra": "a\x1fb"}), r"field 'Extra' holds the control character U\+001F"),
        (make(fields=FULL | {"Question": "a\x00b"}), r"U\+0000"),
        (make(fields=FULL | {"Answer": "a\rb"}), r"U\+000D"),
        (make(fields=FULL | {"Answer": "a\x7fb"}), r"U\+007F"),
        (make(fields=FULL | {"Answer": "a\x85b"}), r"U\+0085"),
        (make(fields=FULL | {"Answer": "a\ud83db"}), r"U\+D83D"),
        (make(tags=("a b",)), "tag is empty or holds a blank"),
        (make(tags=("a\u3000b",)), "tag is empty or holds a blank"),
        (make(tags=("a\tb",)), "tag is empty or holds a blank"),
        (make(tags=("",)), "tag is empty or holds a blank"),
        (make(tags=("a\x01b",)), r"tag .* holds the control character U\+0001"),
        (make(deck=""), "part without a name"),
        (make(deck="A:: ::B"), "part without a name"),
        (make(deck="A\x1fB"), r"deck holds the control character U\+001F"),
        (make(due=-1), "place among the new ones"),
        (make(due=2**31), "place among the new ones"),
        (make(modified=-1), "not in Unix seconds"),
        (make(modified=MODIFIED * 1000), "not in Unix seconds"),
    ],
)
def test_a_note_that_anki_would_spoil_is_refused(tmp_path: Path, note, message: str) -> None:
    file = tmp_path / "a.apkg"
    with pytest.raises(ValueError, match=message) as refusal:
        write([note], file)
    assert "wording 0" in str(refusal.value)
    assert not file.exists()


def test_two_notes_with_one_guid_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"Two notes have the guid 'same'.*wording 0.*wording 1"):
        write([make(guid="same"), make(number=1, guid="same")], tmp_path / "a.apkg")


def test_a_note_type_without_its_time_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no time of change for the note type of 'probe'"):
        write([make(Kind.PROBE)], tmp_path / "a.apkg", type_modified={Kind.RUNG: MODIFIED})
    with pytest.raises(ValueError, match="not in Unix seconds"):
        write([make()], tmp_path / "a.apkg", type_modified={Kind.RUNG: MODIFIED * 1000})


def test_templates_with_an_error_are_refused(tmp_path: Path) -> None:
    problem = Problem("template-missing", Severity.ERROR, Position("x"), "The template is away.", "Put it there.")
    with pytest.raises(ValueError, match=r"The template is away\."):
        write_package([make()], replace(templates(), problems=(problem,)), TYPE_MODIFIED, tmp_path / "a.apkg")


@pytest.mark.parametrize(
    "text", ["a\tb\nc", "a < b && c > d {{c1::x}}", "🇬🇧 👩‍🔧 𠮷", '<img src="x.png">', "<" * 60_000]
)
def test_text_that_is_unusual_but_right_arrives(user, tmp_path: Path, text: str) -> None:
    import_package(user, write([make(fields={"Question": text, "Answer": text})], tmp_path / "a.apkg"))
    assert notes_by_guid(user)["rung-0"]["Answer"] == text
    assert len(notes_by_guid(user)["rung-0"].cards()) == 1
