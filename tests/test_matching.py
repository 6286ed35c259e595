"""Which edits keep a learner's history, and which texts are another card: measured on a table, then pack by pack."""

import random
from dataclasses import dataclass, replace
from pathlib import Path

import numpy
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from ladderdeck.comparing import assignment
from ladderdeck.comparing import likeness as likeness_module
from ladderdeck.comparing.assignment import best_pairs
from ladderdeck.comparing.likeness import likeness
from ladderdeck.identity import matching
from ladderdeck.identity.ledger import Entry
from ladderdeck.identity.matching import PLACE, THRESHOLD, TOPIC, WORDING, match
from ladderdeck.values.model import Kind
from ladderdeck.values.note import Origin

TABLE = Path(__file__).parent / "fixtures" / "edits.yaml"


# The table of edits


@dataclass(frozen=True)
class Edit:
    """A text before and after an edit, and whether it is to stay the same card."""

    group: str
    same: bool
    moved: bool
    held_out: bool
    old: str
    new: str

    @property
    def score(self) -> float:
        wording = float(likeness([self.new], [self.old])[0][0])
        # A moved text stands in another topic and five places further.
        return WORDING * wording + (PLACE / 6 if self.moved else TOPIC + PLACE)


def table() -> list[Edit]:
    edits = []
    for group, rows in yaml.safe_load(TABLE.read_text(encoding="utf-8")).items():
        for row in rows["pairs"].splitlines():
            old, new = row.split(" ⇒ ")
            edits.append(Edit(group, rows["same"], rows.get("moved", False), rows.get("held_out", False), old, new))
    return edits


EDITS = table()


def precision_and_recall(edits: list[Edit], threshold: float) -> tuple[float, float]:
    taken = [edit for edit in edits if edit.score >= threshold]
    right = sum(edit.same for edit in taken)
    return right / len(taken), right / sum(edit.same for edit in edits)


def test_the_table_is_large_and_in_both_languages() -> None:
    chinese = [edit for edit in EDITS if not edit.old.isascii()]
    for edits in (chinese, [edit for edit in EDITS if edit.old.isascii()]):
        assert sum(edit.same for edit in edits) >= 60
        assert sum(not edit.same for edit in edits) >= 40
    assert len({(edit.old, edit.new) for edit in EDITS}) == len(EDITS)


@pytest.mark.parametrize(
    ("held_out", "least_precision", "least_recall"),
    [(False, 0.98, 0.99), (True, 0.93, 0.9)],
    ids=["chosen on", "held out"],
)
def test_precision_and_recall(held_out: bool, least_precision: float, least_recall: float) -> None:
    """Run with -s to see the figures around the threshold."""
    edits = [edit for edit in EDITS if edit.held_out is held_out]
    print(f"\n{'held out' if held_out else 'chosen on'}: {len(edits)} pairs\nthreshold  precision  recall")
    for step in range(-5, 6):
        threshold = THRESHOLD + step / 50
        precision, recall = precision_and_recall(edits, threshold)
        print(f"{threshold:9.2f}  {precision:9.3f}  {recall:6.3f}")
    precision, recall = precision_and_recall(edits, THRESHOLD)
    assert precision >= least_precision
    assert recall >= least_recall


def test_likeness_of_characters_alone_would_not_do() -> None:
    """What the weighing of words is for: siblings differ in one name, and reordered clauses in nearly all places."""
    from rapidfuzz import fuzz

    def right(edit: Edit, threshold: float) -> bool:
        return (fuzz.ratio(edit.old.casefold(), edit.new.casefold()) >= threshold) is edit.same

    best = max(sum(right(edit, threshold) for edit in EDITS) for threshold in range(30, 100))
    ours = sum((edit.score >= THRESHOLD) is edit.same for edit in EDITS)
    assert ours / len(EDITS) > 0.95 > 0.85 > best / len(EDITS)


def test_likeness_is_a_matrix_of_values_between_0_and_1() -> None:
    texts = ["", "👍", "👍👍", "a", "What is a hash join?", "什么是哈希连接", "C#", "...", "été", "カタカナ", "…"]
    result = likeness(texts, texts)
    assert result.shape == (len(texts), len(texts))
    assert ((result >= 0) & (result <= 1 + 1e-9)).all()
    assert (abs(result - result.T) < 1e-9).all()
    assert all(abs(result[i][i] - 1) < 1e-9 for i, text in enumerate(texts) if text)
    assert result[1][4] == 0


# Whole packs


def origin(wording: str, topic: str = "Topic", place: int = 0, kind: Kind = Kind.RUNG, pack: str = "pack") -> Origin:
    return Origin(pack, "en", kind, topic, wording, place)


def pack(topics: dict[str, list[str]], name: str = "pack") -> list[Origin]:
    """The rungs of a pack and the ladder of each topic."""
    notes = []
    for topic, texts in topics.items():
        notes += [origin(text, topic, place, pack=name) for place, text in enumerate(texts)]
        notes.append(origin(topic, topic, 0, Kind.LADDER, name))
    return notes


def ledger(origins: list[Origin], **changes) -> list[Entry]:
    """The entries of a pack that was built; a guid names where the note was first."""
    return [
        Entry(
            f"{o.pack}/{o.kind.value}/{o.topic}/{o.place}",
            o.kind,
            o.pack,
            o.language,
            o.topic,
            o.wording,
            o.place,
            "f",
            1,
        )
        for o in (replace(o, **changes) for o in origins)
    ]


def found(new: list[Origin], old: list[Entry], gone: tuple[str, ...] = ()) -> dict[str, str]:
    """For the wording of each note (with its topic, where a wording stands twice) the guid that it got, '' for a new one."""
    result = match(new, old, frozenset((name, "en") for name in gone))
    several = {o.wording for o in new if sum(o.wording == other.wording for other in new) > 1}
    return {
        f"{o.topic}: {o.wording}" if o.wording in several else o.wording: getattr(result.entries.get(i), "guid", "")
        for i, o in enumerate(new)
    }


JOINS = {
    "Joins": [
        "How does a hash join work, and when does it spill?",
        "When does the planner prefer a nested loop?",
        "What breaks when the statistics are stale?",
    ],
    "Locks": [
        "What does a row lock block?",
        "How does the database find a deadlock?",
        "Which isolation level prevents a phantom read?",
    ],
}


def edited(**topics: list[str]) -> list[Origin]:
    return pack({**JOINS, **topics})


def test_several_edits_at_once() -> None:
    new = pack(
        {
            "Joins": [
                "How does a hash join work; when does it spill to disk?",
                "Why would anybody shard by tenant?",
                "When will the planner prefer a nested loop?",
                "What breaks if statistics are stale?",
            ],
            "Locks": ["How does a database find deadlocks?", "What does a row-level lock block?"],
        }
    )
    assert found(new, ledger(pack(JOINS))) == {
        "How does a hash join work; when does it spill to disk?": "pack/rung/Joins/0",
        "Why would anybody shard by tenant?": "",
        "When will the planner prefer a nested loop?": "pack/rung/Joins/1",
        "What breaks if statistics are stale?": "pack/rung/Joins/2",
        "How does a database find deadlocks?": "pack/rung/Locks/1",
        "What does a row-level lock block?": "pack/rung/Locks/0",
        "Joins": "pack/ladder/Joins/0",
        "Locks": "pack/ladder/Locks/0",
    }


@pytest.mark.parametrize(
    "new",
    [
        pytest.param(pack(dict(reversed(JOINS.items()))), id="reordered topics"),
        pytest.param(pack({k: v[::-1] for k, v in JOINS.items()}), id="reordered rungs"),
        pytest.param(pack({"Locks": JOINS["Joins"], "Joins": JOINS["Locks"]}), id="swapped titles"),
        pytest.param(
            pack({"Joins": JOINS["Joins"][:2], "Locks": [*JOINS["Locks"], JOINS["Joins"][2]]}), id="moved to a topic"
        ),
    ],
)
def test_a_text_is_found_wherever_it_went(new: list[Origin]) -> None:
    result = found(new, ledger(pack(JOINS)))
    where = {text: f"pack/rung/{topic}/{place}" for topic, texts in JOINS.items() for place, text in enumerate(texts)}
    assert result == where | {"Joins": "pack/ladder/Joins/0", "Locks": "pack/ladder/Locks/0"}


def test_a_renamed_topic_takes_its_notes_along_reworded_ones_too() -> None:
    new = pack(
        {
            "How rows meet": [JOINS["Joins"][0], JOINS["Joins"][1], "What will break with stale statistics?"],
            "Locks": JOINS["Locks"],
        }
    )
    result = found(new, ledger(pack(JOINS)))
    assert result["What will break with stale statistics?"] == "pack/rung/Joins/2"
    assert result["How rows meet"] == "pack/ladder/Joins/0"


@pytest.mark.parametrize("name", ["renamed", "paket"])
def test_a_renamed_pack_takes_its_notes_along_reworded_ones_too(name: str) -> None:
    new = pack({**JOINS, "Joins": ["How does a hash join work, when does it spill?", *JOINS["Joins"][1:]]}, name)
    result = found(new, ledger(pack(JOINS)), gone=("pack",))
    assert result["How does a hash join work, when does it spill?"] == "pack/rung/Joins/0"
    assert "" not in result.values()


def test_a_pack_that_is_still_there_was_not_renamed() -> None:
    old = ledger(pack(JOINS))
    new = pack(JOINS, "copy")
    assert set(found(new, old).values()) == {""}
    assert found([*pack(JOINS), *new], old)["Joins: " + JOINS["Joins"][0]] in ("", "pack/rung/Joins/0")
    entries = match([*pack(JOINS), *new], old, frozenset()).entries
    assert sorted(entries) == list(range(len(pack(JOINS))))


def test_of_two_new_packs_the_likelier_is_the_renamed_one() -> None:
    one = pack({"Joins": JOINS["Joins"]}, "one")
    both = pack(JOINS, "two")
    result = match([*one, *both], ledger(pack(JOINS)), frozenset([("pack", "en")]))
    assert sorted(result.entries) == list(range(len(one), len(one) + len(both)))


def test_a_text_that_moved_to_another_pack_is_found_there() -> None:
    old = ledger([*pack(JOINS), *pack({"Web": ["What is CORS?"]}, "web")])
    moved = [*edited(Joins=JOINS["Joins"][:2]), *pack({"Web": ["What is CORS?", JOINS["Joins"][2]]}, "web")]
    assert found(moved, old)[JOINS["Joins"][2]] == "pack/rung/Joins/2"


TWO = {"Web": ["What is CORS?", "Name a number of your own"], "Joins": [*JOINS["Joins"], "Name a number of your own"]}
REWORDED = {**TWO, "Joins": ["What is a hash join, and why?", *TWO["Joins"][1:]]}


@pytest.mark.parametrize(
    ("new", "gone"),
    [
        ([*pack({"Joins": REWORDED["Joins"]}, "split"), *pack({"Web": TWO["Web"]})], ()),
        ([*pack({"Web": TWO["Web"]}, "split"), *pack({"Joins": REWORDED["Joins"]})], ()),
        (pack({"Home": ["What is a page?"], **REWORDED}, "home"), ("pack",)),
    ],
    ids=["split off", "left behind", "merged into another"],
)
def test_a_topic_that_goes_into_another_pack_takes_all_its_notes_along(new, gone) -> None:
    """Those too that stand in several topics in the same words, and one that is reworded in the same edit."""
    old = ledger([*pack(TWO), *pack({"Home": ["What is a page?"]}, "home")])
    here = new if gone else [*new, *pack({"Home": ["What is a page?"]}, "home")]
    guids = found(here, old, gone)
    assert "" not in guids.values()
    assert {guid.split("/")[0] for guid in guids.values()} == {"pack", "home"}
    matches = match(here, old, frozenset((name, "en") for name in gone))
    for index, entry in matches.entries.items():
        assert entry.topic == here[index].topic
    assert matches.doubts == ()


def test_a_topic_of_a_pack_that_is_not_looked_at_moves_nowhere() -> None:
    moved = pack({"Joins": JOINS["Joins"]}, "web")
    assert set(found(moved, ledger(pack(JOINS))).values()) == {""}


def test_a_copy_in_another_pack_is_a_new_note() -> None:
    old = ledger(pack(JOINS))
    copied = [*pack(JOINS), *pack({"Web": [JOINS["Joins"][2]]}, "web")]
    assert found(copied, old)["Web: " + JOINS["Joins"][2]] == ""


def test_a_pack_in_another_language_is_another_pack() -> None:
    chinese = [replace(o, language="zh") for o in pack(JOINS)]
    assert match(chinese, ledger(pack(JOINS)), frozenset([("pack", "en")])).entries == {}


def test_kinds_are_never_mixed() -> None:
    sign = origin("How does a hash join work?", kind=Kind.SIGN)
    assert match([sign], ledger([origin("How does a hash join work?")]), frozenset()).entries == {}


# The same wording twice

SAME = "Give a real incident and its timeline."
TWICE = {"Cache": [SAME, "What evicts a key?"], "Queue": ["What is a dead letter?", SAME]}


def test_the_same_wording_under_two_topics_stays_with_its_topic() -> None:
    swapped = pack(dict(reversed(TWICE.items())))
    assert found(swapped, ledger(pack(TWICE)))[f"Cache: {SAME}"] == "pack/rung/Cache/0"
    assert found(swapped, ledger(pack(TWICE)))[f"Queue: {SAME}"] == "pack/rung/Queue/1"


@pytest.mark.parametrize(("deleted", "kept"), [("Cache", "pack/rung/Queue/1"), ("Queue", "pack/rung/Cache/0")])
def test_one_of_two_deleted(deleted: str, kept: str) -> None:
    topics = {topic: [t for t in texts if topic != deleted or t != SAME] for topic, texts in TWICE.items()}
    assert found(pack(topics), ledger(pack(TWICE)))[SAME] == kept


def test_the_same_wording_follows_the_others_where_both_topics_are_renamed() -> None:
    renamed = pack({"Message broker": TWICE["Queue"], "Redis": TWICE["Cache"]})
    result = match(renamed, ledger(pack(TWICE)), frozenset())
    assert not result.doubts
    assert found(renamed, ledger(pack(TWICE)))[f"Redis: {SAME}"] == "pack/rung/Cache/0"
    assert found(renamed, ledger(pack(TWICE)))[f"Message broker: {SAME}"] == "pack/rung/Queue/1"


def test_what_nothing_tells_apart_is_reported() -> None:
    old = ledger([origin(SAME, "Cache"), origin(SAME, "Queue")])
    result = match([origin(SAME, "Redis"), origin(SAME, "Kafka")], old, frozenset())
    assert len(result.entries) == 2
    assert {doubt.note for doubt in result.doubts} == {0, 1}
    assert all(doubt.other is not None and doubt.other != doubt.chosen for doubt in result.doubts)
    one_left = match([origin(SAME, "Redis")], old, frozenset())
    assert len(one_left.entries) == len(one_left.doubts) == 1
    one_old = match([origin(SAME, "Redis"), origin(SAME, "Kafka")], old[:1], frozenset())
    assert [doubt.rival is None for doubt in one_old.doubts] == [False]


# Split, merged, returned

BOTH = "How do hooks keep state between renders; why must they not be called in a loop or a condition?"


def test_of_a_split_rung_the_larger_part_keeps_the_id() -> None:
    large, small = "Why must hooks not be called in a loop or a condition?", "How do hooks keep state?"
    result = found([origin(small), origin(large, place=1)], ledger([origin(BOTH)]))
    assert result == {small: "", large: "pack/rung/Topic/0"}


def test_of_two_merged_rungs_the_larger_one_is_kept() -> None:
    old = ledger(
        [origin("How do hooks keep state?"), origin("Why must hooks not be called in a loop or a condition?", place=1)]
    )
    assert found([origin(BOTH)], old) == {BOTH: "pack/rung/Topic/1"}


def test_a_split_into_equal_parts_is_reported() -> None:
    one, other = "What does the planner cache?", "What does the executor cache?"
    result = match(
        [origin(one), origin(other, place=1)],
        ledger([origin("What does the planner cache; what does the executor cache?")]),
        frozenset(),
    )
    assert [(doubt.note, doubt.rival) for doubt in result.doubts] == [(0, 1)]


def test_a_text_that_comes_back_is_the_old_note() -> None:
    old = [replace(e, retired=5) for e in ledger([origin(SAME, "Cache")])]
    assert found([origin(f"**{SAME}**", "Elsewhere")], old) == {f"**{SAME}**": "pack/rung/Cache/0"}


def test_of_several_that_were_retired_the_one_of_the_topic_comes_back() -> None:
    old = [replace(e, retired=5) for e in ledger([origin(SAME, "Cache"), origin(SAME, "Queue")])]
    assert found([origin(SAME, "Queue")], old) == {SAME: "pack/rung/Queue/0"}
    assert found([origin(SAME, "Elsewhere")], old) == {SAME: "pack/rung/Cache/0"}
    assert len(match([origin(SAME, "A"), origin(SAME, "B"), origin(SAME, "C")], old, frozenset()).entries) == 2


def test_a_text_that_was_cut_from_one_pack_is_found_when_it_is_put_into_another() -> None:
    """With a build in between."""
    old = [replace(e, retired=5) for e in ledger([origin(SAME, "Cache")])]
    there = [origin("What is CORS?", pack="pack"), origin(SAME, pack="web")]
    assert found(there, old)[SAME] == "pack/rung/Cache/0"
    assert found([origin(SAME, pack="web")], old)[SAME] == "", "its pack is not in the run"


def test_a_retired_note_is_found_by_its_exact_wording_only() -> None:
    old = [replace(e, retired=5) for e in ledger([origin("What is a covering index?")])]
    assert found([origin("What is a covering index good for?")], old) == {"What is a covering index good for?": ""}


def test_what_is_still_there_comes_before_what_was_retired() -> None:
    there = ledger([origin(SAME, "Queue")])
    retired = [replace(e, retired=5) for e in ledger([origin(SAME, "Cache")])]
    assert found([origin(SAME, "Cache")], [*retired, *there]) == {SAME: "pack/rung/Queue/0"}


def test_either_wording_of_two_merged_branches_is_the_note() -> None:
    entry = replace(ledger([origin("What evicts a key?")])[0], also=("Which key is evicted first and why?",))
    for wording in ("What evicts a key?", "Which key is evicted first, and why?"):
        assert found([origin(wording)], [entry]) == {wording: "pack/rung/Topic/0"}


# Settled alike, and in good time


def shuffled(items, seed: int):
    result = list(items)
    random.Random(seed).shuffle(result)
    return result


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_notes_and_entries_does_not_matter(seed: int) -> None:
    words = ["cache", "lock", "index", "queue", "shard", "plan"]
    dice = random.Random(seed)
    texts = [f"How does the {dice.choice(words)} change the {dice.choice(words)} at {place}?" for place in range(12)]
    old = pack({"A": texts[:6], "B": texts[6:], "C": [SAME], "D": [SAME, SAME]})
    new = pack({"B": [f"{text[:-1]} again" for text in texts[4:]], "E": [SAME, SAME], "F": [SAME]})
    expected = by_origin(new, ledger(old))
    for other in range(3):
        assert by_origin(shuffled(new, other), shuffled(ledger(old), other)) == expected


def by_origin(new: list[Origin], old: list[Entry]) -> dict[Origin, str]:
    result = match(new, old, frozenset())
    return {new[index]: entry.guid for index, entry in result.entries.items()}


def test_ties_are_settled_in_the_order_of_the_texts() -> None:
    import numpy

    pairs = best_pairs(numpy.full((5, 5), 0.9), 0.5, 0.04)
    assert [(pair.row, pair.column) for pair in pairs] == [(i, i) for i in range(5)]
    assert all(pair.other_column is not None for pair in pairs)


def test_a_choice_is_for_the_greatest_sum_and_hopeless_pairs_do_not_count() -> None:
    import numpy

    pairs = best_pairs(numpy.array([[0.90, 0.85, 0.0], [0.89, 0.40, 0.0], [0.0, 0.0, 0.49]]), 0.5, 0.04)
    assert [(pair.row, pair.column, pair.other_column, pair.other_row) for pair in pairs] == [
        (0, 1, None, None),
        (1, 0, None, None),
    ]


def test_comparisons_grow_with_the_packs_and_not_with_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 notes, every one of them reworded: each is compared within its pack only, and every one is found."""
    compared: list[int] = []

    def counting(texts, others):
        compared.append(len(texts) * len(others))
        return likeness(texts, others)

    monkeypatch.setattr(likeness_module, "likeness", counting)
    topics, rungs, packs = 10, 4, 50
    old = [
        origin(
            f"Why did incident{p:03d} in module{t * rungs + r:03d} of service{p:03d} happen",
            f"Topic {t}",
            r,
            pack=f"pack{p}",
        )
        for p in range(packs)
        for t in range(topics)
        for r in range(rungs)
    ]
    new = [replace(o, wording=o.wording.replace("Why did", "What made").replace("happen", "possible")) for o in old]
    result = match(new, ledger(old), frozenset())
    assert [new[i].place == entry.place and new[i].topic == entry.topic for i, entry in result.entries.items()] == [
        True
    ] * 2000
    assert sum(compared) == packs * (topics * rungs) ** 2


def test_one_large_pack_reworded_throughout() -> None:
    old = [origin(f"Why did incident{i} in module{i} happen", f"Topic {i // 4}", i % 4) for i in range(2000)]
    new = [replace(o, wording=o.wording.replace("Why did", "What made")) for o in old]
    result = match(new, ledger(old), frozenset())
    assert {i: entry.text for i, entry in result.entries.items()} == {i: o.wording for i, o in enumerate(old)}


def test_nothing_is_compared_without_an_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching._Matcher, "_assign", None)
    assert "" not in found(pack(JOINS), ledger(pack(JOINS))).values()


@given(st.lists(st.integers(0, 50), min_size=1, max_size=9), st.booleans())
def test_a_single_text_gets_what_the_solver_gives(scores, transposed):
    row = numpy.array([[score / 50 for score in scores]])
    ranked = row - 1e-13 * numpy.arange(len(scores)) ** 2
    ranked = ranked.T if transposed else ranked
    assert assignment._assigned(ranked) == list(zip(*linear_sum_assignment(ranked, maximize=True), strict=True))


SOME_TEXTS = [
    *(
        "How does GPTQ choose a scale?",
        "How does AWQ choose a scale?",
        "连接池的大小怎么定",
        "怎么发现连接池被占满",
        "🙂",
        "index, indexes and indexing",
    ),
    *("What is 3.11 in 索引?", "the of and", ""),
]


@given(st.lists(st.sampled_from(SOME_TEXTS), min_size=1), st.lists(st.sampled_from(SOME_TEXTS), min_size=1))
def test_few_texts_are_as_alike_as_many(texts, others):
    few = likeness(texts, others)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(likeness_module, "_FEW", 0)
        assert numpy.allclose(few, likeness(texts, others), rtol=0, atol=1e-12)
