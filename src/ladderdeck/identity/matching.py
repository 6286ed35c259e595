"""Which note of the packs is which entry of the ledger: exact wording first, then the best one-to-one match.

The parts of a match are likeness of wording, the topic, and the place in it. Everything is sorted before it is compared,
so that a choice falls alike on every machine and does not depend on the order of files or sections.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..values.model import Kind
from ..values.note import Origin
from ..values.wording import wording_key
from .ledger import Entry
from .moves import PackName, packs_today, renamed_packs

WORDING, TOPIC, PLACE = 0.84, 0.12, 0.04
"""How much likeness of wording, the same topic, and the same place in it count. Moved texts are rarely reworded as well,
so that a text in another topic must be alike by six parts in seven, where one in its place needs but a little more than
half."""

THRESHOLD = 0.65
"""The least score at which a changed text is still the old note.

Chosen on the table of edits in `tests/fixtures/edits.yaml`. On its 130 real edits and 94 near-misses in two languages it
finds every edit, and takes 2 near-misses for one: precision 0.985, recall 1.0. On the 63 pairs of other subjects that were
written afterwards the precision is 0.935, the recall 0.906. Of all 287 pairs 280 come out right, where the best threshold
for likeness of characters alone gets 205. Higher, it would lose histories, which is the worse mistake: a wrong match is
named in the report of the build. `tests/test_matching.py` prints the figures around it.
"""

MARGIN = 0.04
"""A match that is better than the next one by less than this is too close to call, and reported. It is the difference
that the place makes: what only the place decides is decided, and said."""


@dataclass(frozen=True)
class Doubt:
    """A choice that could as well have fallen otherwise: the index of the note, and the entry that it got.

    ``other`` is another entry that it could be, or ``rival`` the index of another note that could be the entry.
    """

    note: int
    chosen: Entry
    other: Entry | None = None
    rival: int | None = None


@dataclass(frozen=True)
class Matches:
    """For the index of a note the entry that it is (the notes that are not in it are new), and the new names of packs."""

    entries: dict[int, Entry]
    doubts: tuple[Doubt, ...]
    renamed: dict[PackName, PackName]


def match(origins: Sequence[Origin], entries: Iterable[Entry], gone: frozenset[PackName]) -> Matches:
    """Find each note's entry.

    ``origins`` are the notes' origins, ``entries`` all that the ledger holds, ``gone`` the packs of the ledger that no
    longer exist: only those can have been renamed. A retired entry is found by its exact wording only.
    """
    known = sorted(entries, key=lambda e: e.guid)
    renamed = renamed_packs(origins, known, gone)
    matcher = _Matcher(origins, known, packs_today(origins, known, renamed, gone))
    matcher.exact()
    # A drill is its id: another id is another drill, however alike they are.
    matcher.similar([kind for kind in Kind if kind not in (Kind.LADDER, Kind.DRILL)])
    matcher.ladders()
    matcher.similar([Kind.LADDER])
    matcher.across_packs(gone)
    doubts = sorted(matcher.doubts, key=lambda doubt: doubt.note)
    return Matches(matcher.found, tuple(doubts), renamed)


def _place(origin: Origin) -> tuple[str, int, str]:
    return origin.topic, origin.place, origin.wording


class _Matcher:
    """One run of matching; ``found`` grows from the surest matches to the least sure."""

    def __init__(self, origins: Sequence[Origin], entries: Sequence[Entry], packs: dict[str, PackName]) -> None:
        self.origins, self.entries = origins, entries
        self.keys = [wording_key(origin.wording) for origin in origins]
        self.topic_keys = [wording_key(origin.topic) for origin in origins]
        # The order in which notes are looked at: that of the texts within a topic, whatever the order of the topics.
        self.order = sorted(range(len(origins)), key=lambda i: (self.topic_keys[i], *_place(origins[i])))
        self.packs = packs
        self.found: dict[int, Entry] = {}
        self.used: set[str] = set()
        self.doubts: list[Doubt] = []
        self.topics: dict[tuple[PackName, str], str] = {}

    def take(self, note: int, entry: Entry) -> None:
        self.found[note] = entry
        self.used.add(entry.guid)

    def exact(self) -> None:
        """Match what has the same wording. Where a wording stands several times, the topic decides, then the order."""
        groups: dict[tuple[PackName, Kind, str], list[int]] = defaultdict(list)
        for index in self.order:
            origin = self.origins[index]
            groups[(origin.pack, origin.language), origin.kind, self.keys[index]].append(index)
        candidates: dict[tuple[PackName, Kind, str], list[Entry]] = defaultdict(list)
        for entry in self.entries:
            keys = {wording_key(text) for text in (entry.text, *entry.also)}
            for key in sorted(keys) if entry.also else keys:
                group = (self.packs[entry.guid], entry.kind, key)
                if group in groups:
                    candidates[group].append(entry)
        for group, entries in candidates.items():
            if len(groups[group]) == 1 and len(entries) == 1 and entries[0].guid not in self.used:
                self.take(groups[group][0], entries[0])
        self.learn_topics()
        several = [group for group in candidates if any(note not in self.found for note in groups[group])]
        for group in sorted(several, key=lambda g: (g[0], g[1].value, g[2])):
            self._exact_several([n for n in groups[group] if n not in self.found], candidates[group])

    def _exact_several(self, notes: list[int], entries: list[Entry]) -> None:
        """Give each of the notes of one wording an entry: what is still there before what was retired, and of those the
        ones of the same topic first."""
        for retired in (False, True):
            free = [e for e in self._in_order(entries) if e.guid not in self.used and bool(e.retired) is retired]
            for note in notes:
                same = next((e for e in free if self._topic_of(e) == self.topic_keys[note]), None)
                if same is not None and note not in self.found:
                    self.take(note, same)
                    free.remove(same)
            left = [note for note in notes if note not in self.found]
            for position, (note, entry) in enumerate(zip(left, free, strict=False)):
                self.take(note, entry)
                if not retired and len(free) > 1:
                    self.doubts.append(Doubt(note, entry, other=free[position - 1 if position else 1]))
                elif not retired and len(left) > 1:
                    self.doubts.append(Doubt(note, entry, rival=left[1]))

    def _in_order(self, entries: Iterable[Entry]) -> list[Entry]:
        return sorted(entries, key=lambda e: (self._topic_of(e), e.topic, e.place, e.text, e.guid))

    def _topic_of(self, entry: Entry) -> str:
        """The key of an entry's topic as it is called today, as far as the notes found so far tell."""
        key = wording_key(entry.topic)
        return self.topics.get((self.packs[entry.guid], key), key)

    def learn_topics(self) -> None:
        """A topic was renamed to the one in which most of its notes are found now, unless its title is still there."""
        present = {((o.pack, o.language), key) for o, key in zip(self.origins, self.topic_keys, strict=True)}
        votes: Counter[tuple[PackName, str, str]] = Counter()
        for index, entry in self.found.items():
            pack, old = self.packs[entry.guid], wording_key(entry.topic)
            if (pack, old) not in present:
                votes[pack, old, self.topic_keys[index]] += 1
        self.topics = {}
        for (pack, old, new), _ in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
            self.topics.setdefault((pack, old), new)

    def similar(self, kinds: Iterable[Kind]) -> None:
        """Match what is left within a pack and kind: the one-to-one choice with the greatest sum of scores."""
        notes, entries = self._left()
        for kind in kinds:
            for pack, of_kind in sorted(notes.keys() & entries.keys(), key=lambda group: group[0]):
                if of_kind is kind:
                    self._assign(notes[pack, kind], self._in_order(entries[pack, kind]))

    def _left(self) -> tuple[dict[tuple[PackName, Kind], list[int]], dict[tuple[PackName, Kind], list[Entry]]]:
        """The notes and the entries that have not found each other, by pack and kind; no retired ones."""
        notes: dict[tuple[PackName, Kind], list[int]] = defaultdict(list)
        for index in self.order:
            if index not in self.found:
                notes[(self.origins[index].pack, self.origins[index].language), self.origins[index].kind].append(index)
        entries: dict[tuple[PackName, Kind], list[Entry]] = defaultdict(list)
        for entry in self.entries:
            if entry.guid not in self.used and not entry.retired:
                entries[self.packs[entry.guid], entry.kind].append(entry)
        return notes, entries

    def _assign(self, notes: list[int], entries: list[Entry]) -> None:
        from ..comparing.assignment import best_pairs

        for pair in best_pairs(self._scores(notes, entries), THRESHOLD, MARGIN):
            note, entry = notes[pair.row], entries[pair.column]
            self.take(note, entry)
            if pair.other_column is not None:
                self.doubts.append(Doubt(note, entry, other=entries[pair.other_column]))
            elif pair.other_row is not None:
                self.doubts.append(Doubt(note, entry, rival=notes[pair.other_row]))

    def _scores(self, notes: list[int], entries: list[Entry]) -> Any:
        import numpy

        from ..comparing.likeness import likeness

        scores = likeness([self.origins[note].wording for note in notes], [entry.text for entry in entries])
        numbers: dict[str, int] = {}
        topics = numpy.array([numbers.setdefault(self.topic_keys[note], len(numbers)) for note in notes])
        other_topics = numpy.array([numbers.get(self._topic_of(entry), -1) for entry in entries])
        places = numpy.array([self.origins[note].place for note in notes])
        other_places = numpy.array([entry.place for entry in entries])
        # Row by row and in place: whole matrices of a large pack would be fetched from memory again and again.
        for row, (topic, place) in enumerate(zip(topics, places, strict=True)):
            scores[row] *= WORDING
            scores[row] += TOPIC * (other_topics == topic)
            scores[row] += PLACE / (1 + abs(other_places - place))
        return scores

    def ladders(self) -> None:
        """A topic that was renamed takes its ladder along, however its title changed."""
        self.learn_topics()
        notes, entries = self._left()
        for (pack, kind), left in sorted(entries.items(), key=lambda item: (item[0][0], item[0][1].value)):
            wanted = {self.topic_keys[note]: note for note in notes.get((pack, kind), ())}
            for entry in self._in_order(left) if kind is Kind.LADDER else ():
                note = wanted.get(self.topics.get((pack, wording_key(entry.topic)), ""))
                if note is not None and note not in self.found:
                    self.take(note, entry)

    def across_packs(self, gone: frozenset[PackName]) -> None:
        """Match what moved from one pack into another, at once or with a build in between: the same kind and wording, once
        on either side."""
        packs = {(origin.pack, origin.language) for origin in self.origins} | gone
        for retired in (False, True):
            free: dict[tuple[str, Kind, str], list[Entry]] = defaultdict(list)
            for entry in self.entries:
                if entry.guid not in self.used and bool(entry.retired) is retired and self.packs[entry.guid] in packs:
                    free[entry.language, entry.kind, wording_key(entry.text)].append(entry)
            wanted: dict[tuple[str, Kind, str], list[int]] = defaultdict(list)
            for index in self.order:
                if index not in self.found:
                    wanted[self.origins[index].language, self.origins[index].kind, self.keys[index]].append(index)
            for key, notes in wanted.items():
                if len(notes) == 1 and len(free.get(key, ())) == 1:
                    self.take(notes[0], free[key][0])
