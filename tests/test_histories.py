"""Random histories of a deck against the real Anki: edits of the pack, builds, imports, reviews, and a user's own edits.

After every build: the ids follow the texts, and a note's time moves exactly with its content. After every import: no review
is lost, no note is there twice, every note shows the newest text, and what the user changed in a note whose content did not
change is still there. `LADDERDECK_SEQUENCES` says how many histories are tried; `make soak` tries thousands.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import pytest
from anki_collection import AGAIN, EASY, GOOD, check_database, import_package, new_collection, notes_by_guid, review
from deck_builder import Deck
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from ladderdeck.building.build import Outcome
from ladderdeck.packaging.templates import default_folder
from ladderdeck.values.model import Kind
from ladderdeck.values.note import FIELDS
from ladderdeck.values.tags import RETIRED_TAG
from ladderdeck.values.wording import wording_key

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
WORDS = ["really", "再", "in production", "线上"]
ENDINGS = ["", "?", "？", "。", "!", "**"]
FILES = ["pack.md", "folder/SKILL.md", "另一个 folder/页.md"]
LONG = 6_000_000
"""Seconds after which a retired note has left the package."""


class Rung:
    """A rung of the pack that is being edited: its text, the sentence that it began as, and its id since it was built.

    ``built`` is the key of its wording at the last build, ``reworded`` how often it was reworded since.
    """

    def __init__(self, sentence: str) -> None:
        self.text = self.sentence = sentence
        self.guid = self.built = ""
        self.reworded = 0

    @property
    def key(self) -> str:
        return wording_key(self.text)


class History(RuleBasedStateMachine):
    """One deck, one user, one collection. Time is counted by ``clock``, in the past of this machine's."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="history-"))
        self.templates = self.folder / "templates"
        shutil.copytree(default_folder(), self.templates)
        self.deck = Deck(self.folder, self.templates)
        self.collection = new_collection(self.folder / "anki")
        self.clock = int(time.time()) - 10**9
        self.unused = list(SENTENCES)
        self.name, self.file, self.renamed = "pack", FILES[0], 0
        self.topics: dict[str, list[Rung]] = {title: [self.next_rung(), self.next_rung()] for title in TITLES[:2]}
        self.deleted: list[Rung] = []
        self.twins: set[str] = set()
        self.owners: dict[str, str] = {}
        self.modified: dict[str, int] = {}
        self.content: dict[str, tuple] = {}
        self.touched: dict[str, set[str]] = {}
        self.built: Outcome | None = None
        self.import_deck()

    def teardown(self) -> None:
        try:
            self.import_deck()
            report, is_in_order = check_database(self.collection)
            assert is_in_order, report
        finally:
            self.collection.close()
            shutil.rmtree(self.folder)

    def next_rung(self) -> Rung:
        return Rung(self.unused.pop())

    def rungs(self) -> list[Rung]:
        return [rung for rungs in self.topics.values() for rung in rungs]

    # What a hand does to the pack.

    @rule(data=st.data(), word=st.sampled_from(WORDS))
    def reword(self, data, word: str) -> None:
        rung = data.draw(st.sampled_from(self.rungs()))
        if rung.reworded < 2 and len(rung.text) < 90:
            words = rung.text.split(" ")
            third = len(rung.text) // 3
            at = len(" ".join(words[: len(words) // 2])) if len(words) > 3 else third
            rung.text = f"{rung.text[:at].rstrip()} {word} {rung.text[at:].lstrip()}"
            rung.reworded += 1

    @rule(data=st.data(), ending=st.sampled_from(ENDINGS))
    def punctuate(self, data, ending: str) -> None:
        rung = data.draw(st.sampled_from(self.rungs()))
        bare = rung.text.replace("*", "").rstrip("?？。!")
        middle = len(bare) // 2
        rung.text = f"{bare[:middle].rstrip()} **{bare[middle:].lstrip()}**" if ending == "**" else bare + ending

    @precondition(lambda self: self.unused)
    @rule(data=st.data())
    def insert(self, data) -> None:
        rungs = self.topics[data.draw(st.sampled_from(sorted(self.topics)))]
        rungs.insert(data.draw(st.integers(0, len(rungs))), self.next_rung())

    @rule(data=st.data())
    def copy_to_another_topic(self, data) -> None:
        """The same question under a second topic."""
        rung = data.draw(st.sampled_from(self.rungs()))
        title = data.draw(st.sampled_from(sorted(self.topics)))
        if sum(other.sentence == rung.sentence for other in self.rungs()) == 1 and rung not in self.topics[title]:
            twin = Rung(rung.sentence)
            twin.text = rung.text
            self.twins.add(rung.sentence)
            self.topics[title].append(twin)

    @rule(data=st.data())
    def delete(self, data) -> None:
        title = data.draw(st.sampled_from(sorted(self.topics)))
        if len(self.topics[title]) > 1:
            rung = self.topics[title].pop(data.draw(st.integers(0, len(self.topics[title]) - 1)))
            if rung.guid and rung.key == rung.built:
                self.deleted.append(rung)

    @precondition(lambda self: self.deleted)
    @rule(data=st.data())
    def restore(self, data) -> None:
        rung = self.deleted.pop()
        # A text that comes back is found by its exact wording; reworded before the next build, it is a new one.
        rung.reworded = 2
        self.topics[data.draw(st.sampled_from(sorted(self.topics)))].append(rung)

    @rule(data=st.data())
    def move(self, data) -> None:
        """To another topic, which may be a new one."""
        source = data.draw(st.sampled_from(sorted(self.topics)))
        target = data.draw(st.sampled_from(TITLES))
        if source != target and len(self.topics[source]) > 1:
            self.topics.setdefault(target, []).append(self.topics[source].pop())

    @rule(data=st.data(), title=st.sampled_from(TITLES))
    def rename_topic(self, data, title: str) -> None:
        """Or, where there is a topic of that title, put it into that."""
        old = data.draw(st.sampled_from(sorted(self.topics)))
        if title in self.topics and title != old:
            self.topics[title] += self.topics.pop(old)
        else:
            self.topics = {title if key == old else key: rungs for key, rungs in self.topics.items()}

    @rule(data=st.data())
    def reorder(self, data) -> None:
        self.topics = {title: self.topics[title] for title in data.draw(st.permutations(sorted(self.topics)))}
        title = data.draw(st.sampled_from(sorted(self.topics)))
        self.topics[title] = data.draw(st.permutations(self.topics[title]))

    @precondition(
        lambda self: self.built and all(r.guid and r.key == r.built for r in self.rungs()) and not self.renamed
    )
    @rule()
    def rename_pack(self) -> None:
        """What else is edited until the next build is up to chance."""
        self.renamed += 1
        self.name = f"pack-{self.clock}"

    @rule(file=st.sampled_from(FILES))
    def rename_file(self, file: str) -> None:
        self.file = file

    @rule()
    def change_style(self) -> None:
        file = self.templates / "style.css"
        file.write_text(f"{file.read_text(encoding='utf-8')}\n/* {self.clock} */\n", encoding="utf-8")

    @rule(kinds=st.sampled_from(["[rung]", "[rung, sign, ladder]", "[ladder, rung]"]))
    def change_kinds(self, kinds: str) -> None:
        (self.deck.cards / "deck.yaml").write_text(f"kinds: {kinds}\n", encoding="utf-8")

    # What happens in Anki.

    @rule(data=st.data(), rating=st.sampled_from([AGAIN, GOOD, EASY]))
    def answer_a_card(self, data, rating) -> None:
        review(self.collection, data.draw(st.sampled_from(sorted(notes_by_guid(self.collection)))), rating)

    @rule(data=st.data(), tag=st.sampled_from(["marked", "leech", "my::own"]))
    def tag_a_note(self, data, tag: str) -> None:
        self.touch(data, lambda note: note.add_tag(tag), tag)

    @rule(data=st.data())
    def edit_a_note(self, data) -> None:
        def edit(note) -> None:
            note["Extra"] = "my own words"

        self.touch(data, edit, "Extra")

    def touch(self, data, change, what: str) -> None:
        notes = notes_by_guid(self.collection)
        touched = notes[data.draw(st.sampled_from(sorted(notes)))]
        change(touched)
        self.collection.update_note(touched)
        # Anki stamps with this machine's clock; the history has one of its own.
        self.clock += 5
        self.collection.db.execute("update notes set mod = ? where id = ?", self.clock, touched.id)
        self.touched.setdefault(touched.guid, set()).add(what)

    @rule(data=st.data())
    def suspend_and_move_a_card(self, data) -> None:
        cards = self.collection.find_cards("")
        card = data.draw(st.sampled_from(sorted(cards)))
        self.collection.sched.suspend_cards([card])
        self.collection.set_deck([card], self.collection.decks.id("My own deck"))

    @rule()
    def rename_the_deck(self) -> None:
        for deck in self.collection.decks.all_names_and_ids():
            if deck.name.startswith("Ladders::"):
                self.collection.decks.rename(self.collection.decks.get(deck.id), f"Mine::{deck.id}")

    # And between the two.

    passing = st.sampled_from([0, 0, 1, 60, 86_400, LONG])
    being_behind = st.sampled_from([0, 0, 0, 500, 10**7, 10**10])

    @rule(passed=passing, behind=being_behind)
    def build(self, passed: int, behind: int) -> None:
        """Build, and import it later or never; a second build has nothing to write."""
        self.build_deck(passed, behind)
        assert self.deck.build(self.clock + 1).written == ()

    @rule(passed=passing, behind=being_behind)
    def build_and_import(self, passed: int, behind: int) -> None:
        self.import_deck(passed, behind)

    def build_deck(self, passed: int = 0, behind: int = 0) -> Outcome:
        self.clock += passed
        self.write()
        doubled = [
            rung
            for rungs in self.topics.values()
            for i, rung in enumerate(rungs)
            if rung.key in {r.key for r in rungs[:i]}
        ]
        if doubled:
            before = self.deck.on_disk()
            assert self.deck.try_build(self.clock).failed
            assert self.deck.on_disk() == before
            for title in self.topics:
                self.topics[title] = [rung for rung in self.topics[title] if rung not in doubled]
            self.write()
        outcome = self.deck.build(max(0, self.clock - behind))
        self.check_ids(outcome)
        self.check_times(outcome)
        self.built, self.renamed = outcome, 0
        return outcome

    def write(self) -> None:
        self.deck.cards.mkdir(exist_ok=True)
        for file in self.deck.cards.rglob("*.md"):
            file.unlink()
        topics = {title: [rung.text for rung in rungs] for title, rungs in self.topics.items()}
        self.deck.write(self.name, topics, file=self.file)

    def check_ids(self, outcome: Outcome) -> None:
        assert len({n.guid for n in outcome.notes}) == len(outcome.notes)
        places = defaultdict(list)
        for n in outcome.notes:
            if n.note.origin.kind is Kind.RUNG and RETIRED_TAG not in n.note.tags:
                places[n.note.origin.topic, wording_key(n.note.origin.wording)].append(n.guid)
        edits = sum(rung.key != rung.built for rung in self.rungs())
        held, holding = defaultdict(set), defaultdict(set)
        for title, rungs in self.topics.items():
            for rung in rungs:
                guid = places[title, rung.key].pop(0)
                note(f"{rung.text} [{rung.guid or 'new'}] is {guid}")
                assert self.owners.setdefault(guid, rung.sentence) == rung.sentence, "an id went to another question"
                held[rung.sentence] |= {rung.guid} - {""}
                holding[rung.sentence].add(guid)
                rung.guid, rung.built, rung.reworded = guid, rung.key, 0
        if self.renamed and edits * 3 > len(self.rungs()):
            return  # a pack that was renamed and largely rewritten may be a new one
        for sentence, guids in held.items():
            if sentence in self.twins:
                # Which of two that are alike was moved, and which was deleted, the text does not tell.
                assert len(guids & holding[sentence]) >= min(len(guids), len(holding[sentence])) - 1
            else:
                assert guids <= holding[sentence], f"{sentence!r} has another id"

    def check_times(self, outcome: Outcome) -> None:
        for n in outcome.notes:
            content = tuple(n.note.fields.get(name, "") for name in FIELDS), n.note.tags
            before = self.modified.get(n.guid, -1)
            if self.content.get(n.guid) == content:
                assert n.modified == before, "the time moved without a change"
            else:
                assert n.modified > before, "a change did not move the time forward"
            self.content[n.guid], self.modified[n.guid] = content, n.modified

    def import_deck(self, passed: int = 0, behind: int = 0) -> None:
        outcome = self.build_deck(passed, behind)
        before = {guid: (n.mod, self.learnt(n)) for guid, n in notes_by_guid(self.collection).items()}
        reviews = self.collection.db.all("select * from revlog order by id")
        import_package(self.collection, self.deck.package)
        after = notes_by_guid(self.collection)
        built = {n.guid: n for n in outcome.notes}
        assert after.keys() == before.keys() | built.keys(), "a note was lost, or came twice"
        assert self.collection.db.all("select * from revlog order by id") == reviews
        for guid, (mod, learnt) in before.items():
            assert self.learnt(after[guid]) == learnt, "intervals changed"
            if guid in built and built[guid].modified > mod:
                # New content replaces what the user did to this note; Anki knows no other way.
                self.touched.pop(guid, None)
        for guid in built.keys() - self.touched.keys():
            fields, tags = self.content[guid]
            assert tuple(after[guid].values()) == fields, "the newest text did not arrive"
            assert sorted(after[guid].tags) == sorted(tags)
        for guid, touches in self.touched.items():
            for what in touches:
                assert after[guid]["Extra"] == "my own words" if what == "Extra" else after[guid].has_tag(what)

    def learnt(self, note) -> list[tuple]:
        return [(c.id, c.did, c.reps, c.lapses, c.ivl, c.due, c.type, c.queue, c.flags) for c in note.cards()]


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_histories_lose_nothing(shard: int) -> None:
    class Shard(History):
        pass

    Shard.__qualname__ = f"History{shard}"
    run_state_machine_as_test(
        Shard,
        settings=settings(
            max_examples=max(1, SEQUENCES // SHARDS),
            stateful_step_count=16,
            deadline=None,
            # A history that fails is short enough to read, and shrinking it would take minutes.
            phases=(Phase.explicit, Phase.reuse, Phase.generate),
            suppress_health_check=list(HealthCheck),
        ),
    )
