"""Laws of identity: guids never repeat, a time of change moves exactly with the content and only forward."""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from deck_builder import NOW
from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.composing.compose import retired_note
from ladderdeck.identity.identify import KEPT_RETIRED, Change, Identified, Scope, guids, identify
from ladderdeck.identity.ledger import Ledger, newest, read_ledger, write_ledger
from ladderdeck.reading.settings import Settings
from ladderdeck.values.model import Kind
from ladderdeck.values.note import FIELDS, Note, Origin
from ladderdeck.values.tags import RETIRED_TAG
from ladderdeck.values.wording import wording_key

TYPES = dict.fromkeys(Kind, "t")
PACK, OTHER = ("web", "en"), ("queues", "en")
RETIRE = functools.partial(retired_note, settings=Settings())


def scope(built=(PACK, OTHER), present=(), types=TYPES) -> Scope:
    return Scope(frozenset(built), frozenset(present), types, RETIRE)


def run(notes: Sequence[Note], ledger: Ledger | None = None, now: int = NOW, **options) -> Identified:
    return identify(notes, ledger or Ledger(), now, scope(**options))


def note(wording: str, topic: str = "Joins", place: int = 0, kind: Kind = Kind.RUNG, pack=PACK, **fields: str) -> Note:
    content = {"Question": wording, "Topic": topic, "Provenance": "v1", **fields}
    return Note(Origin(*pack, kind, topic, wording, place), content, ("kind::x",), "Deck", 0)


words = st.lists(
    st.sampled_from(
        ["cache", "lock", "GPTQ", "为什么", "慢查询", "how does", "B-tree", "spill", "?", "**plan**", "C#", "3.11"]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)
wordings = words | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(str.strip)
notes = st.builds(
    note,
    wordings,
    st.sampled_from(["Joins", "Joins?", "Locks", "索引", ""]),
    st.integers(0, 9),
    st.sampled_from(Kind),
    st.sampled_from([PACK, OTHER, ("web", "zh")]),
)
packs = st.lists(notes, min_size=1, max_size=12, unique_by=lambda n: replace(n.origin, wording=""))
"""No two notes have one place, as it is in a pack."""

clocks = st.sampled_from([0, 1, NOW - 10**6, NOW, NOW + 1, NOW + 10**6]) | st.integers(0, 2 * NOW)
EVERY = (PACK, OTHER, ("web", "zh"))


def content(item) -> tuple:
    """What Anki would store of an identified note."""
    fields = tuple(item.note.fields.get(name, "") for name in FIELDS)
    return item.guid, item.modified, fields, item.note.tags


def by_guid(identified: Identified) -> dict[str, tuple]:
    return {item.guid: content(item) for item in identified.notes}


@given(packs, packs, clocks)
def test_guids_never_repeat_and_the_ledger_loses_none(one: list[Note], other: list[Note], now: int) -> None:
    first = run(one, built=EVERY)
    second = run(other, first.ledger, now, built=EVERY)
    for identified in (first, second):
        assert len(by_guid(identified)) == len(identified.notes)
        assert {item.guid for item in identified.notes} <= identified.ledger.notes.keys()
    assert first.ledger.notes.keys() <= second.ledger.notes.keys()
    assert second.ledger.notes.keys() == {item.entry.guid for item in second.changes} | first.ledger.notes.keys()


@given(packs, clocks)
def test_the_same_input_gives_the_same_result_and_the_same_ledger(pack: list[Note], now: int) -> None:
    first = run(pack, built=EVERY)
    again = run(pack, first.ledger, now, built=EVERY)
    assert again.notes == first.notes
    assert write_ledger(again.ledger) == write_ledger(first.ledger)
    assert {item.change for item in again.changes} == {Change.UNCHANGED}


@given(packs, clocks)
def test_a_ledger_from_its_file_does_as_well(pack: list[Note], now: int) -> None:
    first = run(pack, built=EVERY)
    ledger, problems = read_ledger(write_ledger(first.ledger), "ledger.json")
    assert not problems
    assert run(pack, ledger, now, built=EVERY).notes == first.notes


@given(packs, st.randoms(), clocks)
def test_the_order_of_the_notes_changes_no_identity(pack: list[Note], dice: random.Random, now: int) -> None:
    first = run(pack, built=EVERY)
    shuffled = list(pack)
    dice.shuffle(shuffled)
    again = run(shuffled, first.ledger, now, built=EVERY)
    assert by_guid(again) == by_guid(first)
    assert dict(zip([n.origin for n in shuffled], guids(shuffled), strict=True)) == dict(
        zip([n.origin for n in pack], guids(pack), strict=True)
    )


@given(packs, st.data(), st.lists(clocks, min_size=1, max_size=4))
def test_a_change_of_content_always_moves_the_time_forward(
    pack: list[Note], data: st.DataObject, times: list[int]
) -> None:
    """Whatever the clock says, or SOURCE_DATE_EPOCH: 0, the past, the same second, the future."""
    before = run(pack, built=EVERY)
    for step, now in enumerate(times):
        which = data.draw(st.integers(0, len(pack) - 1))
        name = data.draw(st.sampled_from([*(name for name in FIELDS if name != "Provenance"), "tags"]))
        old = pack[which]
        pack = [*pack]
        pack[which] = (
            replace(old, tags=(f"step::{step}",))
            if name == "tags"
            else replace(old, fields={**old.fields, name: f"step {step}"})
        )
        after = run(pack, before.ledger, now, built=EVERY)
        for index, (earlier, later) in enumerate(zip(before.notes, after.notes, strict=True)):
            assert later.guid == earlier.guid
            if index == which:
                assert later.modified > earlier.modified
                assert later.modified >= now
            else:
                assert content(later) == content(earlier)
        before = after


@given(packs, st.lists(clocks, min_size=1, max_size=4))
def test_a_note_type_moves_with_its_look_only_and_always_forward(pack: list[Note], times: list[int]) -> None:
    before = run(pack, built=EVERY)
    for step, now in enumerate(times):
        after = run(pack, before.ledger, now, built=EVERY, types={**TYPES, Kind.RUNG: f"look {step}"})
        assert after.notes == before.notes
        assert after.ledger.types[Kind.RUNG].modified > before.ledger.types[Kind.RUNG].modified
        assert all(after.ledger.types[kind] == before.ledger.types[kind] for kind in Kind if kind is not Kind.RUNG)
        before = after


REWRITINGS = [
    lambda text: f"  {text} ",
    lambda text: text.replace(" ", "  "),
    lambda text: text.replace(" ", "\u3000"),
    lambda text: f"{text}。",
    lambda text: f"{text.rstrip('?？')}?",
    lambda text: f"“{text}”",
    lambda text: text if "*" in text else f"**{text}**",
    lambda text: text.replace(" ", ", "),
]


with_words = words.filter(lambda text: text.strip("? "))


@given(st.lists(with_words, min_size=1, max_size=8, unique_by=wording_key), st.data())
def test_blanks_emphasis_and_punctuation_are_no_identity(texts: list[str], data: st.DataObject) -> None:
    """Neither with the ledger nor, should it be lost, without."""
    pack = [note(text, place=place) for place, text in enumerate(texts)]
    rewritten = [data.draw(st.sampled_from(REWRITINGS))(text) for text in texts]
    changed = [note(text, place=place) for place, text in enumerate(rewritten)]
    assert [wording_key(text) for text in rewritten] == [wording_key(text) for text in texts]
    first = run(pack)
    assert [item.guid for item in run(changed, first.ledger).notes] == [item.guid for item in first.notes]
    assert guids(changed) == guids(pack)


@given(
    st.lists(wordings, min_size=1, max_size=8, unique_by=wording_key),
    st.lists(wordings, max_size=5, unique_by=wording_key),
)
def test_a_lost_ledger_gives_the_same_guids_for_what_was_never_reworded(texts: list[str], more: list[str]) -> None:
    """Through inserts and reorderings, as long as no wording stands twice."""
    first = run([note(text, place=place) for place, text in enumerate(texts)])
    known = {wording_key(text) for text in texts}
    later_texts = [*(text for text in more if wording_key(text) not in known), *reversed(texts)]
    later = [note(text, place=place) for place, text in enumerate(later_texts)]
    kept = run(later, first.ledger)
    lost = run(later)
    expected = {item.note.origin.wording: item.guid for item in first.notes}
    for item in lost.notes:
        assert expected.get(item.note.origin.wording, item.guid) == item.guid
    unchanged = {c.entry.text for c in kept.changes if c.change is not Change.REWORDED}
    assert {i.guid for i in lost.notes if i.note.origin.wording in unchanged} <= set(kept.ledger.notes)


@given(packs, st.text(max_size=20), clocks)
def test_a_new_envelope_alone_changes_nothing(pack: list[Note], provenance: str, now: int) -> None:
    """The provenance on a card is that of the pack version in which its content last changed."""
    first = run(pack, built=EVERY)
    new = [replace(n, fields={**n.fields, "Provenance": provenance}) for n in pack]
    again = run(new, first.ledger, now, built=EVERY)
    assert by_guid(again) == by_guid(first)
    assert write_ledger(again.ledger) == write_ledger(first.ledger)


def test_a_change_of_content_brings_the_new_provenance() -> None:
    first = run([note("What is a hash join?"), note("When does it spill?", place=1)])
    new = [
        note("What is a hash join?", Answer="a", Provenance="v2"),
        note("When does it spill?", place=1, Provenance="v2"),
    ]
    assert [item.note.fields["Provenance"] for item in run(new, first.ledger).notes] == ["v2", "v1"]


# Retired notes


def test_what_left_the_pack_stays_in_the_package_for_a_while_and_says_so() -> None:
    first = run([note("What is a hash join?"), note("When does it spill?", place=1)])
    kept, gone = first.notes
    second = run([kept.note], first.ledger, NOW + 1)
    retired = {item.guid: item for item in second.notes}[gone.guid]
    assert RETIRED_TAG in retired.note.tags
    assert "no longer" in retired.note.fields["Notice"]
    assert retired.modified > gone.modified
    assert [c.change for c in second.changes if c.entry.guid == gone.guid] == [Change.RETIRED]
    third = run([kept.note], second.ledger, NOW + 10**9)
    assert third.notes == second.notes, "the clock alone changes nothing"


@pytest.mark.parametrize(("later", "is_there"), [(KEPT_RETIRED, True), (KEPT_RETIRED + 1, False)])
def test_a_while_is_counted_to_the_newest_change(later: int, is_there: bool) -> None:
    first = run([note("What is a hash join?"), note("When does it spill?", place=1)])
    second = run([first.notes[0].note], first.ledger, NOW)
    since = newest(second.ledger)
    third = run([note("What is a hash join?", Answer="changed")], second.ledger, since + later)
    assert (first.notes[1].guid in {item.guid for item in third.notes}) is is_there
    assert first.notes[1].guid in third.ledger.notes


@pytest.mark.parametrize("later", [0, 1, KEPT_RETIRED * 3])
def test_a_text_that_comes_back_is_the_old_note_however_late(later: int) -> None:
    pack = [note("What is a hash join?"), note("When does it spill?", place=1)]
    first = run(pack)
    second = run(pack[:1], first.ledger, NOW + 1)
    third = run([note("What is a hash join?", Answer="changed")], second.ledger, NOW + later)
    fourth = run(pack, third.ledger, NOW + later)
    assert [item.guid for item in fourth.notes] == [item.guid for item in first.notes]
    assert {c.entry.text: c.change for c in fourth.changes}["When does it spill?"] is Change.RETURNED
    assert RETIRED_TAG not in fourth.notes[1].note.tags
    assert fourth.notes[1].modified > third.ledger.notes[first.notes[1].guid].modified
    assert fourth.ledger.notes[first.notes[1].guid].retired == 0


def test_packs_outside_of_the_run_are_left_alone() -> None:
    first = run([note("What is a hash join?"), note("What is a partition?", pack=OTHER)])
    second = run([note("Why is a join slow?")], first.ledger, NOW + 1, built=[PACK], present=[PACK, OTHER])
    other = next(e for e in first.ledger.notes.values() if e.pack == "queues")
    assert second.ledger.notes[other.guid] == other
    assert other.guid not in {c.entry.guid for c in second.changes} | {item.guid for item in second.notes}


def test_a_pack_that_exists_nowhere_any_more_is_retired() -> None:
    first = run([note("What is a hash join?"), note("What is a partition?", pack=OTHER)])
    second = run([note("What is a hash join?")], first.ledger, NOW + 1, built=[PACK], present=[PACK])
    assert [c.entry.pack for c in second.changes if c.change is Change.RETIRED] == ["queues"]


def test_a_pack_that_makes_no_note_any_more_retires_its_own() -> None:
    """As when its only kind of note was switched off."""
    first = run([note("What is a hash join?"), note("What is a partition?", pack=OTHER)])
    second = run([note("What is a hash join?")], first.ledger, NOW + 1, built=[PACK, OTHER])
    assert [c.entry.pack for c in second.changes if c.change is Change.RETIRED] == ["queues"]


def test_a_pack_that_is_renamed_takes_its_retired_notes_along() -> None:
    """What was deleted, in the same build or before, comes back as the old note under the pack's new name."""
    texts = ["What is a hash join?", "When does it spill?", "Who reads the plan?", "Why is it slow?"]
    old, new = ([note(text, place=place, pack=pack) for place, text in enumerate(texts)] for pack in (PACK, OTHER))
    first = run(old, built=[PACK], present=[PACK])
    second = run(old[:3], first.ledger, NOW + 1, built=[PACK], present=[PACK])
    third = run(new[:2], second.ledger, NOW + 2, built=[OTHER], present=[OTHER])
    fourth = run(new[:2], third.ledger, NOW + 3, built=[OTHER], present=[OTHER])
    assert fourth.notes == third.notes
    fifth = run(new, fourth.ledger, NOW + 4, built=[OTHER], present=[OTHER])
    assert [item.guid for item in fifth.notes] == [item.guid for item in first.notes]


def test_what_happened_is_told() -> None:
    first = run(
        [
            note("What is a hash join?", place=0),
            note("When does it spill to disk?", place=1),
            note("Who reads the plan?", place=2),
            note("Why is it slow?", place=3),
        ]
    )
    second = run(
        [
            note("What is a hash join?", place=0),
            note("When does it spill on to the disk?", place=1),
            note("Who reads the plan?", "Locks"),
            note("How is a GIN index built?", place=2),
        ],
        first.ledger,
        NOW + 1,
    )
    assert {(c.before.text if c.before else "", c.change) for c in second.changes} == {
        ("What is a hash join?", Change.UNCHANGED),
        ("When does it spill to disk?", Change.REWORDED),
        ("Who reads the plan?", Change.MOVED),
        ("", Change.NEW),
        ("Why is it slow?", Change.RETIRED),
    }
