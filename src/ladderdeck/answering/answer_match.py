"""Which answer belongs to which item of the packs, and how far the packs are answered. Pure.

A heading is matched by its wording, as the ledger matches notes: exactly, else to the nearest item that is left, with a
warning that shows both, so that a new version of a pack carries the answers along; else it is an error.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..comparing.assignment import best_pairs
from ..comparing.linking import THRESHOLD, likeness
from ..values.model import Kind, Pack, Position, Problem, Severity, Text, Topic
from ..values.wording import wording_key
from .answers import Answer, AnswerFile

LIKE_ENOUGH = 0.62
"""How alike a heading and an item must be (0 to 1) for the answer to go along with a reworded item."""


@dataclass(frozen=True, slots=True)
class ItemKey:
    """What names an item across packs: its pack and language, its kind, its topic's title ('' for a probe), its text."""

    pack: str
    language: str
    kind: Kind
    topic: str
    text: str


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer that has found its item; ``stale`` where the item is worded otherwise than the heading."""

    item: ItemKey
    answer: Answer
    file: AnswerFile
    stale: bool


@dataclass(frozen=True)
class Answers:
    """The answers of a library by item, and the problems of matching them."""

    by_item: Mapping[ItemKey, Answered]
    problems: tuple[Problem, ...]


def items_of(pack: Pack) -> Iterator[tuple[ItemKey, Text]]:
    """Every item of a pack that an answer can be written for, in order, with its text and place."""
    language = pack.language.value
    for topic in pack.topics:
        for kind, texts in _topic_items(topic):
            for text in texts:
                yield ItemKey(pack.name, language, kind, topic.title.text, text.text), text
    for flag in pack.red_flags:
        yield ItemKey(pack.name, language, Kind.RED_FLAG, "", flag.flag.text), flag.flag
    for probe in pack.probes:
        yield ItemKey(pack.name, language, Kind.PROBE, "", probe.trigger.text), probe.trigger


def _topic_items(topic: Topic) -> tuple[tuple[Kind, Sequence[Text]], ...]:
    return (
        (Kind.RUNG, [rung.text for rung in topic.rungs]),
        (Kind.SIGN, topic.signs),
        (Kind.RED_FLAG, topic.red_flags),
    )


def match_answers(packs: Sequence[Pack], files: Iterable[AnswerFile]) -> Answers:
    """Find the item of each answer. Answers to packs that are not among ``packs`` are left aside."""
    matcher = _Matcher(packs)
    for file in sorted(files, key=lambda f: f.path):
        matcher.add(file)
    return Answers(matcher.found, tuple(matcher.problems))


def pack_meant(name: Text, beside: Collection[str]) -> tuple[Text, tuple[Problem, ...]]:
    """The name of the pack that an answer or drill file belongs to, and what is to be said where it gives another one.

    ``beside`` are the names of the packs in its folder. Where that is one, it is meant: it was renamed, and what is written
    for it goes along, as its notes do.
    """
    if name.text in beside or len(beside) != 1:
        return name, ()
    (only,) = beside
    message = f"there is no pack `{name.text}` here, so this file is taken for one of `{only}`, the pack beside it"
    hint = f"write `pack: {only}`, or move the file to its pack"
    return Text(only, name.position), (Problem("renamed-pack", Severity.WARNING, name.position, message, hint),)


def without_pack(files: Iterable[AnswerFile], packs: Collection[str]) -> tuple[Problem, ...]:
    """A warning for each answer file whose pack is none of ``packs``, with the name that was perhaps meant."""
    problems = []
    for file in files:
        near = difflib.get_close_matches(file.pack.text, packs, n=1)
        hint = f"did you mean `{near[0]}`?" if near else "write what stands in the pack behind `name:`"
        message = f"there is no pack `{file.pack.text}`: these answers are on no card"
        problems.append(Problem("unknown-pack", Severity.WARNING, file.pack.position, message, hint))
    return tuple(problems)


class _Matcher:
    def __init__(self, packs: Sequence[Pack]) -> None:
        self.packs = packs
        self.items: dict[tuple[str, str, str], list[ItemKey]] = defaultdict(list)
        for pack in packs:
            for item, _ in items_of(pack):
                self.items[item.pack, item.language, item.topic].append(item)
        self.found: dict[ItemKey, Answered] = {}
        self.problems: list[Problem] = []

    def report(self, code: str, severity: Severity, position: Position, message: str, hint: str) -> None:
        self.problems.append(Problem(code, severity, position, message, hint))

    def add(self, file: AnswerFile) -> None:
        place = self._place(file)
        if place is None:
            return
        left = [answer for answer in file.answers if not self._exact(answer, file, self.items[place])]
        self._similar(left, file, [item for item in self.items[place] if item not in self.found])

    def _place(self, file: AnswerFile) -> tuple[str, str, str] | None:
        """Pack, language and topic title of a file; None, and a problem, where its topic is not in the pack."""
        packs = [p for p in self.packs if p.name == file.pack.text and file.language in ("", p.language.value)]
        if not packs:
            return None
        if not file.topic.text:
            # In which language the file is written, where it does not say, its headings show.
            headings = {wording_key(answer.heading.text) for answer in file.answers}
            pack = max(packs, key=lambda p: sum(wording_key(item.text) in headings for item, _ in items_of(p)))
            return pack.name, pack.language.value, ""
        titles = [(pack, topic.title.text) for pack in packs for topic in pack.topics]
        key = wording_key(file.topic.text)
        for pack, title in titles:
            if wording_key(title) == key:
                return pack.name, pack.language.value, title
        scored = [(likeness(file.topic.text, title, [t for _, t in titles]), pack, title) for pack, title in titles]
        score, pack, title = max(scored, key=lambda s: s[0], default=(0.0, packs[0], ""))
        if score < THRESHOLD:
            message = f"the pack `{file.pack.text}` has no topic `{file.topic.text}`"
            hint = "write the topic's title as it stands in the pack"
            self.report("answer-without-topic", Severity.ERROR, file.topic.position, message, hint)
            return None
        message = f"the topic `{file.topic.text}` is taken for `{title}`"
        self.report("answer-topic", Severity.WARNING, file.topic.position, message, "write the title as in the pack")
        return pack.name, pack.language.value, title

    def _exact(self, answer: Answer, file: AnswerFile, items: Sequence[ItemKey]) -> bool:
        key = wording_key(answer.heading.text)
        fitting = [i for i in items if wording_key(i.text) == key and answer.kind in (None, i.kind)]
        free = [item for item in fitting if item not in self.found]
        if free:
            self.found[free[0]] = Answered(free[0], answer, file, stale=False)
        elif fitting:
            first = self.found[fitting[0]]
            message = f"`{answer.heading.text}` is answered twice, first in {first.answer.heading.position}"
            hint = "put the two answers together"
            self.report("duplicate-answer", Severity.ERROR, answer.heading.position, message, hint)
        return bool(fitting)

    def _similar(self, answers: Sequence[Answer], file: AnswerFile, items: Sequence[ItemKey]) -> None:
        if not answers:
            return
        import numpy
        from rapidfuzz import fuzz

        keys = [wording_key(item.text) for item in items]
        scores = [
            [
                fuzz.ratio(wording_key(answer.heading.text), key) / 100 if answer.kind in (None, item.kind) else 0.0
                for key, item in zip(keys, items, strict=True)
            ]
            for answer in answers
        ]
        pairs = {pair.row: pair.column for pair in best_pairs(numpy.array(scores), LIKE_ENOUGH, 0)} if items else {}
        for row, answer in enumerate(answers):
            position, heading = answer.heading.position, answer.heading.text
            if row not in pairs:
                message = f"nothing in the pack is asked like `{heading}`"
                hint = "write the heading as the item stands in the pack, or remove the answer"
                self.report("answer-without-item", Severity.ERROR, position, message, hint)
                continue
            item = items[pairs[row]]
            self.found[item] = Answered(item, answer, file, stale=True)
            message = f"the answer to `{heading}` is taken for `{item.text}`"
            hint = "look whether it still fits, and write the heading as in the pack"
            self.report("stale-answer", Severity.WARNING, position, message, hint)
