"""The whole way for the real pack: from the command line to cards in the real Anki."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from anki_collection import check_database, counts, import_package, new_collection, notes_by_guid, sides
from command import SEED, ladderdeck


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A folder with the seed pack alone, in a path as people have them."""
    folder = tmp_path_factory.mktemp("我的 decks")
    pack = folder / "cards" / "llm-inference-serving" / "SKILL.md"
    pack.parent.mkdir(parents=True)
    shutil.copy(SEED, pack)
    return folder


@pytest.fixture(scope="module")
def built(project: Path) -> Path:
    run = ladderdeck(cwd=project)
    assert run.code == 0, run.err
    assert "36 rungs, 29 signs, 9 ladders, 22 red flags, 6 probes" in run.out
    assert "dist/ladders.apkg: 102 notes" in run.out
    assert "Next:" in run.out
    return project / "dist" / "ladders.apkg"


@pytest.fixture(scope="module")
def collection(built: Path, tmp_path_factory):
    collection = new_collection(tmp_path_factory.mktemp("anki"))
    log = import_package(collection, built)
    assert counts(log) == {"new": 102}
    yield collection
    collection.close()


def kind_of(note) -> str:
    return next(tag.removeprefix("kind::") for tag in note.tags if tag.startswith("kind::"))


def rung_of(note) -> str:
    return next(tag.removeprefix("rung::") for tag in note.tags if tag.startswith("rung::"))


def test_every_kind_arrives(collection):
    kinds = Counter(kind_of(note) for note in notes_by_guid(collection).values())
    assert kinds == {"rung": 36, "sign": 29, "ladder": 9, "red-flag": 22, "probe": 6}
    assert check_database(collection)[1]


def test_every_card_renders(collection):
    for guid, note in notes_by_guid(collection).items():
        front, back = sides(collection, guid)
        assert note["Question"] in front
        assert front.count("<") > 3
        assert len(back) > len(front)
        assert "{{" not in front + back


def test_every_note_is_tagged(collection):
    for note in notes_by_guid(collection).values():
        tags = set(note.tags)
        assert {"domain::ai-infra", "domain::ai-agent", "pack::llm-inference-serving", "lang::zh"} <= tags
        assert "layer::detail" in tags
        topics = [tag for tag in tags if tag.startswith("topic::")]
        assert len(topics) == (0 if kind_of(note) == "probe" else 1)
        assert any(tag.startswith("rung::") for tag in tags) == (kind_of(note) == "rung")


def test_there_is_one_topic_tag_for_each_topic(collection):
    topics = {tag for note in notes_by_guid(collection).values() for tag in note.tags if tag.startswith("topic::")}
    assert len(topics) == 9


def test_new_cards_come_topic_by_topic_and_rungs_in_order(collection):
    cards = [collection.get_card(id) for id in collection.find_cards("deck:Ladders::*")]
    notes = [card.note() for card in sorted(cards, key=lambda card: card.due)]
    order = [(note["Topic"], rung_of(note)) for note in notes if kind_of(note) == "rung"]
    assert [rung for _, rung in order] == ["1", "2", "3", "4"] * 9
    assert len({topic for topic, _ in order}) == 9
    assert order[:4] == sorted(order[:4])


def test_all_cards_lie_under_one_root_deck(collection):
    names = {deck.name for deck in collection.decks.all_names_and_ids()}
    assert names == {"Default", "Ladders", "Ladders::llm-inference-serving"}


def test_a_second_build_and_import_changes_nothing(project, built, collection):
    before = built.read_bytes()
    run = ladderdeck(cwd=project)
    assert run.code == 0
    assert "102 unchanged" in run.out
    assert built.read_bytes() == before
    log = import_package(collection, built)
    assert counts(log) == {"duplicate": 102}
    assert len(notes_by_guid(collection)) == 102
