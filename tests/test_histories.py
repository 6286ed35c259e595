"""Random histories of a deck against the real Anki: edits of the pack, builds, imports, reviews, and a user's own edits.

After every import: no review is lost, no note is there twice, every note that survives shows the newest text, and what the
user changed in a note whose content did not change is still there. `LADDERDECK_SEQUENCES` says how many histories are
tried; `make soak` tries thousands.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from anki_collection import GOOD, check_database, import_package, new_collection, notes_by_guid, review
from deck_builder import Deck
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from ladderdeck.note import FIELDS
from ladderdeck.templates import default_folder

SHARDS = 6
SEQUENCES = int(os.environ.get("LADDERDECK_SEQUENCES", "300"))

SENTENCES = [
    "why does the cache evict the entry that was read last", "怎么发现连接池被慢查询占满", "what a B-tree page split costs on disk",
    "leader election 超时之后谁来写", "how a bloom filter answers and when it lies", "消息重复投递时下游怎么去重",
    "what happens to in-flight requests during a rolling restart", "索引选错了从执行计划哪一行看出来",
    "how TCP slow start shows up in a p99 latency chart", "冷热数据分层之后一致性靠什么保证",
    "which lock does a range update take in InnoDB", "限流阈值按什么压测结果来定", "why a retry storm keeps a service down",
    "缓存穿透与缓存雪崩的区别和各自的处理", "how does copy on write save memory in fork", "日志采样之后还能不能算准错误率",
    "when is eventual consistency visible to a user", "跨机房复制延迟怎么影响读到的结果",
    "what the garbage collector does with a pinned object", "定时任务在两台机器上同时跑了怎么办",
]  # fmt: skip
TITLES = ["Caching", "Storage engines", "消息队列", "Deployments", "可观测性", "Networking"]
ENDINGS = ["", "?", "？", "。", "!"]


class Rung:
    """A rung of the pack that is being edited, and the guid that it has had since its first build."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.guid = ""
        self.reworded = False


class History(RuleBasedStateMachine):
    """One deck, one user, one collection. Time is counted by ``clock``, in the past of this machine's."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="history-"))
        self.templates = self.folder / "templates"
        shutil.copytree(default_folder(), self.templates)
        self.deck = Deck(self.folder, self.templates)
        self.collection = new_collection(self.folder / "anki")
        self.clock = int(time.time()) - 10_000_000
        self.unused = list(SENTENCES)
        self.name, self.name_changes = "pack", 0
        self.topics: dict[str, list[Rung]] = {
            "Caching": [Rung(self.unused.pop()), Rung(self.unused.pop())],
            "Storage engines": [Rung(self.unused.pop()), Rung(self.unused.pop())],
        }
        self.deleted: list[Rung] = []
        self.edits = 0
        self.touched: dict[str, set[str]] = {}
        self.seen: dict[str, tuple] = {}
        self.import_deck()

    def teardown(self) -> None:
        self.collection.close()
        shutil.rmtree(self.folder)

    # What a hand does to the pack.

    def any_rung(self, data) -> Rung:
        return data.draw(st.sampled_from([rung for rungs in self.topics.values() for rung in rungs]))

    @rule(data=st.data(), word=st.sampled_from(["really", "再", "in production", "线上"]))
    def reword(self, data, word: str) -> None:
        rung = self.any_rung(data)
        if not rung.reworded and self.name_changes == 0 and len(rung.text) < 90:
            middle = len(rung.text) // 2
            rung.text = f"{rung.text[:middle]} {word} {rung.text[middle:]}".strip()
            rung.reworded = True
            self.edits += 1

    @rule(data=st.data(), ending=st.sampled_from(ENDINGS))
    def punctuate(self, data, ending: str) -> None:
        rung = self.any_rung(data)
        rung.text = rung.text.rstrip("?？。!") + ending

    @precondition(lambda self: self.unused and self.name_changes == 0)
    @rule(data=st.data())
    def insert(self, data) -> None:
        rungs = self.topics[data.draw(st.sampled_from(sorted(self.topics)))]
        rungs.insert(data.draw(st.integers(0, len(rungs))), Rung(self.unused.pop()))
        self.edits += 1

    @precondition(lambda self: self.name_changes == 0)
    @rule(data=st.data())
    def delete(self, data) -> None:
        title = data.draw(st.sampled_from(sorted(self.topics)))
        if len(self.topics[title]) > 1:
            rung = self.topics[title].pop(data.draw(st.integers(0, len(self.topics[title]) - 1)))
            if rung.guid and not rung.reworded:
                self.deleted.append(rung)
            self.edits += 1

    @precondition(lambda self: self.deleted and self.edits == 0 and self.name_changes == 0)
    @rule(data=st.data())
    def restore(self, data) -> None:
        rung = self.deleted.pop()
        # A text that comes back is found by its exact wording; reworded at once, it would be a new one.
        rung.reworded = True
        self.topics[data.draw(st.sampled_from(sorted(self.topics)))].append(rung)
        self.edits += 1

    @precondition(lambda self: self.name_changes == 0)
    @rule(data=st.data())
    def move(self, data) -> None:
        source, target = (data.draw(st.sampled_from(sorted(self.topics))) for _ in range(2))
        if source != target and len(self.topics[source]) > 1:
            self.topics[target].append(self.topics[source].pop())
            self.edits += 1

    @precondition(lambda self: self.edits == 0 and self.name_changes == 0)
    @rule(data=st.data(), title=st.sampled_from(TITLES))
    def rename_topic(self, data, title: str) -> None:
        old = data.draw(st.sampled_from(sorted(self.topics)))
        if title not in self.topics:
            self.topics = {title if key == old else key: rungs for key, rungs in self.topics.items()}
            self.edits += 1

    @precondition(lambda self: self.edits == 0)
    @rule()
    def rename_pack(self) -> None:
        self.name_changes += 1
        self.name = f"pack-{self.name_changes}-{self.clock % 1000}"

    @rule(data=st.data())
    def reorder(self, data) -> None:
        order = data.draw(st.permutations(sorted(self.topics)))
        self.topics = {title: self.topics[title] for title in order}

    @rule()
    def change_style(self) -> None:
        file = self.templates / "style.css"
        file.write_text(f"{file.read_text(encoding='utf-8')}\n/* {self.clock} */\n", encoding="utf-8")

    # What happens in Anki.

    @rule(data=st.data())
    def answer_a_card(self, data) -> None:
        guid = data.draw(st.sampled_from(sorted(notes_by_guid(self.collection))))
        review(self.collection, guid, GOOD)

    @rule(data=st.data(), tag=st.sampled_from(["marked", "leech", "my::own"]))
    def tag_a_note(self, data, tag: str) -> None:
        self.touch(data, lambda note: note.add_tag(tag), tag)

    @rule(data=st.data())
    def edit_a_note(self, data) -> None:
        def edit(note) -> None:
            note["Extra"] = "my own words"

        self.touch(data, edit, "Extra")

    def touch(self, data, change, what: str) -> None:
        note = notes_by_guid(self.collection)[data.draw(st.sampled_from(sorted(notes_by_guid(self.collection))))]
        change(note)
        self.collection.update_note(note)
        # Anki stamps with this machine's clock; the history has one of its own.
        self.clock += 5
        self.collection.db.execute("update notes set mod = ? where id = ?", self.clock, note.id)
        self.touched.setdefault(note.guid, set()).add(what)

    # And between the two.

    @rule(passed=st.sampled_from([0, 1, 60, 86_400]), behind=st.sampled_from([0, 0, 0, 500, 10_000_000]))
    def build_and_import(self, passed: int, behind: int) -> None:
        self.clock += passed
        self.import_deck(behind)

    def import_deck(self, behind: int = 0) -> None:
        self.deck.cards.mkdir(exist_ok=True)
        for file in self.deck.cards.glob("*.md"):
            file.unlink()
        self.deck.write(self.name, {title: [rung.text for rung in rungs] for title, rungs in self.topics.items()})
        outcome = self.deck.build(self.clock - behind)
        built = {note.guid: note for note in outcome.notes}
        assert len(built) == len(outcome.notes)
        by_text = {n.note.origin.wording: n.guid for n in outcome.notes if n.note.origin.kind.value == "rung"}
        for rung in (rung for rungs in self.topics.values() for rung in rungs):
            assert rung.guid in ("", by_text[rung.text]), f"{rung.text!r} has another id"
            rung.guid, rung.reworded = by_text[rung.text], False
        before = {guid: (note.mod, self.learnt(note)) for guid, note in notes_by_guid(self.collection).items()}
        reviews = self.collection.db.scalar("select count() from revlog")
        import_package(self.collection, self.deck.package)
        self.check(built, before, reviews)
        self.edits = self.name_changes = 0

    def learnt(self, note) -> list[tuple]:
        return [(card.id, card.reps, card.ivl, card.due, card.type, card.queue) for card in note.cards()]

    def check(self, built: dict, before: dict, reviews: int) -> None:
        after = notes_by_guid(self.collection)
        assert after.keys() == before.keys() | built.keys(), "a note was lost, or came twice"
        assert self.collection.db.scalar("select count() from revlog") == reviews
        for guid, (mod, learnt) in before.items():
            assert self.learnt(after[guid]) == learnt, "intervals changed"
            if guid in built and guid in self.touched and built[guid].modified > mod:
                # New content replaces what the user did to this note; Anki knows no other way.
                assert self.content(built[guid]) != self.seen.get(guid), "a note without new content was overwritten"
                del self.touched[guid]
        for guid, identified in built.items():
            note = after[guid]
            if guid not in self.touched:
                fields = [identified.note.fields.get(name, "") for name in FIELDS]
                assert note.values() == fields, "the newest text did not arrive"
                assert sorted(note.tags) == sorted(identified.note.tags)
            self.seen[guid] = self.content(identified)
        for guid, touches in self.touched.items():
            for what in touches:
                assert after[guid]["Extra"] == "my own words" if what == "Extra" else after[guid].has_tag(what)

    def content(self, identified) -> tuple:
        return tuple(identified.note.fields.get(name, "") for name in FIELDS), identified.note.tags

    @invariant()
    def nothing_needs_repair(self) -> None:
        ids = self.collection.db.list("select id from cards where nid not in (select id from notes)")
        assert ids == []


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_histories_lose_nothing(shard: int) -> None:
    class Shard(History):
        pass

    Shard.__qualname__ = f"History{shard}"
    run_state_machine_as_test(
        Shard,
        settings=settings(
            max_examples=max(1, SEQUENCES // SHARDS),
            stateful_step_count=14,
            deadline=None,
            # A history that fails is short enough to read, and shrinking it would take minutes.
            phases=(Phase.explicit, Phase.reuse, Phase.generate),
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_the_collection_of_a_long_history_is_in_order() -> None:
    history = History()
    try:
        rung = history.topics["Caching"][0]
        wording = rung.text
        for number in range(6):
            rung.text = f"{wording} {number}"
            history.build_and_import(60, 0)
        assert check_database(history.collection)[1]
    finally:
        history.teardown()
