"""What users of other exporters lost their history by, each tried from the command line to the real Anki.

More of each kind is in the tests of matching, identity, ledger and builds, of note types (a field that is renamed), and in
the random histories.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from anki_collection import (
    AGAIN,
    check_database,
    counts,
    import_package,
    new_collection,
    notes_by_guid,
    only_card,
    review,
    sides,
)
from command import ladderdeck
from deck_builder import NOW, Deck, one

from ladderdeck.packaging.note_types import NOTE_TYPES

RUNGS = ["What is a hash join?", "When does it spill to disk?", "Who reads the plan?"]


class Learner:
    """A deck, and the Anki that it is imported into. Builds are those of the command line."""

    def __init__(self, folder: Path) -> None:
        self.deck = Deck(folder / "deck")
        self.anki = new_collection(folder / "anki")

    def build(self, *, now: int = 0, **environment: str) -> str:
        """Build and import; what the build said."""
        own = {"SOURCE_DATE_EPOCH": str(now)} if now else {}
        run = ladderdeck(cwd=self.deck.folder, **own, **environment)
        assert run.code == 0, run.err
        self.log = counts(import_package(self.anki, self.deck.package))
        return run.out

    def write(self, *rungs: str, topic: str = "Joins", **parts) -> None:
        self.deck.write("web", {topic: rungs}, **parts)

    def guid(self, text: str) -> str:
        return self.deck.entry(text).guid

    def learnt(self, guid: str) -> tuple:
        card = only_card(self.anki, guid)
        reviews = self.anki.db.all("select id, ease, ivl from revlog where cid = ?", card.id)
        return card.id, card.ivl, card.reps, card.due, card.queue, tuple(map(tuple, reviews))


@pytest.fixture
def learner(tmp_path: Path):
    learner = Learner(tmp_path)
    learner.write(*RUNGS)
    learner.build()
    yield learner
    assert check_database(learner.anki)[1]
    learner.anki.close()


@pytest.mark.parametrize(
    ("edited", "shown"),
    [
        ("What is a hash joni?", "joni"),
        ("What is a **hash** join", "<b>hash</b> join<"),
        ("what's a hash join, and when is it chosen?", "chosen?"),
    ],
    ids=["typo", "bold and punctuation", "reworded"],
)
def test_an_edited_question_is_still_one_card_with_its_interval(learner: Learner, edited: str, shown: str) -> None:
    guid = learner.guid(RUNGS[0])
    review(learner.anki, guid)
    before, number = learner.learnt(guid), len(notes_by_guid(learner.anki))
    learner.write(edited, *RUNGS[1:])
    learner.build()
    assert learner.guid(edited) == guid
    assert len(notes_by_guid(learner.anki)) == number
    assert learner.learnt(guid) == before
    assert learner.log.keys() <= {"updated", "duplicate"}
    assert learner.log["updated"] >= 1
    assert shown in sides(learner.anki, guid)[0]


def test_a_renamed_topic_file_and_folder_and_reordered_sections_keep_every_card(learner: Learner) -> None:
    learner.deck.write("web", {"Joins": RUNGS, "Locks": ["What does a row lock block?", "Who waits?"]})
    learner.build()
    before = {entry.text: guid for guid, entry in learner.deck.ledger().notes.items() if entry.kind.value == "rung"}
    for guid in before.values():
        review(learner.anki, guid)
    learnt = {guid: learner.learnt(guid) for guid in before.values()}
    (learner.deck.cards / "web.md").unlink()
    learner.deck.write(
        "web", {"Locking": ["What does a row lock block?", "Who waits?"], "Joins": RUNGS}, file="数据库/p.md"
    )
    learner.build()
    after = {entry.text: guid for guid, entry in learner.deck.ledger().notes.items() if entry.kind.value == "rung"}
    assert after == before
    assert {guid: learner.learnt(guid) for guid in before.values()} == learnt
    assert "new" not in learner.log


def test_the_same_question_under_two_topics_stays_with_its_topic(learner: Learner) -> None:
    same = "Tell of a real incident."
    learner.deck.write("web", {"Joins": [*RUNGS, same], "Locks": ["Who waits?", same]})
    learner.build()
    of = {entry.topic: guid for guid, entry in learner.deck.ledger().notes.items() if entry.text == same}
    learner.deck.write("web", {"Locks": [same, "Who waits?"], "Joins": [*RUNGS, same]})
    learner.build()
    assert {e.topic: guid for guid, e in learner.deck.ledger().notes.items() if e.text == same} == of
    learner.deck.write("web", {"Locks": [same, "Who waits?"], "Joins": RUNGS})
    learner.build()
    live = {e.topic: guid for guid, e in learner.deck.ledger().notes.items() if e.text == same and not e.retired}
    assert live == {"Locks": of["Locks"]}


@pytest.mark.parametrize("epoch", [0, NOW], ids=["by the clock", "with one SOURCE_DATE_EPOCH"])
def test_the_third_edit_in_a_row_arrives_too(learner: Learner, epoch: int) -> None:
    guid = learner.guid(RUNGS[0])
    for sign in ("first", "second", "third"):
        learner.write(*RUNGS, signs={"Joins": [f"has the {sign} number"]})
        learner.build(now=epoch)
        assert f"the {sign} number" in sides(learner.anki, guid)[1]


def test_what_the_user_did_in_anki_survives_an_edit_of_another_card(learner: Learner) -> None:
    """An edit of card B, and the tags `marked` and `leech`, while topic A is edited in the pack."""
    learner.deck.write("web", {"Joins": RUNGS, "Locks": ["What does a row lock block?", "Who waits?"]})
    learner.build()
    note = notes_by_guid(learner.anki)[learner.guid("Who waits?")]
    note["Extra"] = "my own words"
    note.tags += ["marked", "leech", "mine::exam"]
    learner.anki.update_note(note)
    review(learner.anki, note.guid, AGAIN)
    learner.deck.write(
        "web",
        {
            "Joins": ["What is a hash join good for?", *RUNGS[1:]],
            "Locks": ["What does a row lock block?", "Who waits?"],
        },
    )
    learner.build()
    after = notes_by_guid(learner.anki)[note.guid]
    assert after["Extra"] == "my own words"
    assert {"marked", "leech", "mine::exam"} <= set(after.tags)
    assert "good for" in sides(learner.anki, learner.guid("What is a hash join good for?"))[0]


@pytest.mark.parametrize("damage", ["half is lost", "a conflict marker"])
def test_a_ledger_after_a_bad_merge_is_refused_with_its_line(learner: Learner, damage: str) -> None:
    lines = learner.deck.ledger_file.read_text(encoding="utf-8").split("\n")
    half = len(lines) // 2
    broken = [*lines[:half], "}", ""] if damage == "half is lost" else [*lines[:half], "=======", *lines[half:]]
    learner.deck.ledger_file.write_text("\n".join(broken), encoding="utf-8", newline="\n")
    learner.write("What is a hash join good for?", *RUNGS[1:])
    before = learner.deck.on_disk()
    run = ladderdeck(cwd=learner.deck.folder)
    assert run.code == 1
    assert "cards/ledger.json:" in run.err
    assert "nothing was written" in run.err
    assert learner.deck.on_disk() == before


def test_a_lost_ledger_gives_every_card_back_that_was_never_reworded(learner: Learner) -> None:
    before = notes_by_guid(learner.anki).keys()
    learner.deck.ledger_file.unlink()
    run = ladderdeck(cwd=learner.deck.folder)
    assert "there is no ledger" in run.err
    learner.build()
    assert notes_by_guid(learner.anki).keys() == before


def test_a_deleted_question_is_listed_with_the_search_that_finds_it(learner: Learner) -> None:
    guid = learner.guid(RUNGS[2])
    learner.write(*RUNGS[:2])
    said = learner.build()
    assert f"retired rung: {RUNGS[2]}" in said
    search = one(word.strip(",.") for word in said.split() if word.startswith("tag:"))
    assert [learner.anki.get_note(id).guid for id in learner.anki.find_notes(search)] == [guid]
    assert "no longer in its pack" in sides(learner.anki, guid)[0]


def test_note_type_ids_are_the_projects_own(learner: Learner) -> None:
    """Not those of a README, which rename other people's note types (genanki's, Anki's own)."""
    known = {
        1607392319,
        1091735104,
        1548810604,
        1559383000,
        1550428389,
        1485830179,
        1342706442,
        1342697561,
        1342706224,
        1342706223,
    }
    ours = {note_type.id for note_type in NOTE_TYPES.values()}
    assert not ours & known
    assert all(2**30 < id < 2**53 for id in ours)
    names = {entry.id: entry.name for entry in learner.anki.models.all_names_and_ids()}
    assert "Basic" in names.values()


def test_the_same_bytes_whatever_the_hash_seed_folder_locale_and_time_zone(learner: Learner, tmp_path: Path) -> None:
    results = set()
    for seed, zone, locale in (
        ("1", "UTC", "C"),
        ("2", "Asia/Shanghai", "C.UTF-8"),
        ("3", "America/New_York", "POSIX"),
    ):
        deck = Deck(tmp_path / f"folder {seed}")
        deck.write("web", {"Joins": RUNGS, "缓存": ["怎么淘汰", "怎么预热"]})
        environment = {"PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": locale, "SOURCE_DATE_EPOCH": str(NOW)}
        assert ladderdeck(cwd=deck.folder, **environment).code == 0
        results.add((deck.ledger_file.read_bytes(), deck.package.read_bytes()))
    assert len(results) == 1


@pytest.mark.parametrize("name", ["Mine", "Exams::2027::Databases"], ids=["renamed", "nested"])
def test_a_deck_that_the_user_renamed_keeps_its_cards(learner: Learner, name: str) -> None:
    """New notes come into a deck of the package's own name, as `docs/identity.md` says."""
    decks = learner.anki.decks
    deck = decks.get(decks.id_for_name("Ladders::web (en)"))
    decks.rename(deck, name)
    guid = learner.guid(RUNGS[0])
    review(learner.anki, guid)
    before = learner.learnt(guid)
    learner.write("What is a hash join good for?", *RUNGS[1:], "And then?")
    learner.build()
    assert learner.learnt(guid) == before
    assert decks.name(only_card(learner.anki, guid).did) == name
    assert decks.name(only_card(learner.anki, learner.guid("And then?")).did) == "Ladders::web (en)"


def test_new_rungs_come_in_rising_order_and_one_inserted_later_at_its_own_place(learner: Learner) -> None:
    def order(texts: list[str]) -> list[int]:
        return [only_card(learner.anki, learner.guid(text)).due for text in texts]

    assert order(RUNGS) == sorted(order(RUNGS))
    before = order(RUNGS)
    inserted = [RUNGS[0], "What does the build side cost?", *RUNGS[1:]]
    learner.write(*inserted)
    learner.build()
    assert order(RUNGS) == before, "Anki takes the order of a card at its first import only"
    assert order(inserted) == [0, 1, 1, 2]
