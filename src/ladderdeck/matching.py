"""Which note of the packs is which entry of the ledger: exact wording first, then the best one-to-one match.

The parts of a match are likeness of wording, the topic, and the place in the pack. Everything is sorted before it is
compared, so that a choice falls alike on every machine.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .ledger import Entry
from .model import Kind
from .note import Origin
from .wording import wording_key

THRESHOLD = 0.62
"""The least score at which a changed text is still the old note. Chosen on the table of real edits in
`tests/fixtures/edits.yaml`; `tests/test_matching.py` prints precision and recall around it."""

MARGIN = 0.04
"""A match that is better than the next one by less than this is too close to call, and reported."""

_WORDING, _TOPIC, _PLACE = 0.80, 0.14, 0.06
_OTHER_NAMES = 0.12
"""What it costs when both texts name things in Latin letters or numbers, and not one of the names is in both."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+#.-]*|\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Doubt:
    """A match that could as well have been another: the note, the entry it got, and the other entry."""

    note: int
    chosen: Entry
    other: Entry


@dataclass(frozen=True)
class Matches:
    """For the index of a note the entry that it is; the notes that are not in it are new."""

    entries: dict[int, Entry]
    doubts: tuple[Doubt, ...]


def match(origins: Sequence[Origin], entries: Iterable[Entry], gone: frozenset[tuple[str, str]]) -> Matches:
    """Find each note's entry.

    ``origins`` are the notes' origins, ``entries`` all that the ledger holds, ``gone`` the packs (name, language) of the
    ledger that no longer exist: only those can have been renamed, and only their notes can have moved to another pack.
    A retired entry is found by its exact wording only.
    """
    known = sorted(entries, key=lambda e: e.guid)
    renamed = _renamed_packs(origins, known, gone)
    matcher = _Matcher(origins, known, renamed)
    matcher.exact()
    matcher.similar()
    matcher.across_packs(gone)
    return Matches(matcher.found, tuple(matcher.doubts))


def _renamed_packs(
    origins: Sequence[Origin], entries: Sequence[Entry], gone: frozenset[tuple[str, str]]
) -> dict[tuple[str, str], tuple[str, str]]:
    """The new name of each pack that was renamed: the unknown pack that shares most texts with it, at least a third."""
    known = {(e.pack, e.language) for e in entries}
    texts: dict[tuple[str, str], set[tuple[Kind, str]]] = defaultdict(set)
    for origin in origins:
        if (origin.pack, origin.language) not in known:
            texts[origin.pack, origin.language].add((origin.kind, wording_key(origin.wording)))
    shared: Counter[tuple[tuple[str, str], tuple[str, str]]] = Counter()
    sizes: Counter[tuple[str, str]] = Counter()
    for entry in entries:
        old = (entry.pack, entry.language)
        if old not in gone or entry.retired:
            continue
        sizes[old] += 1
        for new, keys in texts.items():
            if new[1] == entry.language and (entry.kind, wording_key(entry.text)) in keys:
                shared[old, new] += 1
    renamed: dict[tuple[str, str], tuple[str, str]] = {}
    for (old, new), count in sorted(shared.items(), key=lambda item: (-item[1], item[0])):
        if old not in renamed and new not in renamed.values() and count * 3 >= min(sizes[old], len(texts[new])):
            renamed[old] = new
    return renamed


class _Matcher:
    """One run of matching; ``found`` grows from the surest matches to the least sure."""

    def __init__(
        self, origins: Sequence[Origin], entries: Sequence[Entry], renamed: dict[tuple[str, str], tuple[str, str]]
    ) -> None:
        self.origins = origins
        self.entries = entries
        self.keys = [wording_key(origin.wording) for origin in origins]
        self.entry_keys = {entry.guid: wording_key(entry.text) for entry in entries}
        self.packs = {
            entry.guid: renamed.get((entry.pack, entry.language), (entry.pack, entry.language)) for entry in entries
        }
        self.found: dict[int, Entry] = {}
        self.used: set[str] = set()
        self.doubts: list[Doubt] = []
        self.topics: dict[tuple[tuple[str, str], str], str] = {}

    def take(self, note: int, entry: Entry) -> None:
        self.found[note] = entry
        self.used.add(entry.guid)

    def exact(self) -> None:
        """Match what has the same wording. Where a wording stands several times, the topic decides, then the order."""
        groups: dict[tuple[tuple[str, str], Kind, str], list[int]] = defaultdict(list)
        for index, origin in enumerate(self.origins):
            groups[(origin.pack, origin.language), origin.kind, self.keys[index]].append(index)
        candidates: dict[tuple[tuple[str, str], Kind, str], list[Entry]] = defaultdict(list)
        for entry in self.entries:
            group = (self.packs[entry.guid], entry.kind, self.entry_keys[entry.guid])
            if group in groups:
                candidates[group].append(entry)
        several = []
        for group, notes in groups.items():
            entries = candidates.get(group, [])
            if len(notes) == 1 and len(entries) == 1:
                self.take(notes[0], entries[0])
            elif entries:
                several.append((notes, entries))
        self._learn_topics()
        for notes, entries in several:
            self._exact_several(notes, entries)

    def _exact_several(self, notes: list[int], entries: list[Entry]) -> None:
        live_first = sorted(entries, key=lambda e: (e.retired > 0, e.place, e.guid))
        left = []
        for note in notes:
            topic = wording_key(self.origins[note].topic)
            same = (e for e in live_first if e.guid not in self.used and self._topic_of(e) == topic)
            entry = next(same, None)
            if entry:
                self.take(note, entry)
            else:
                left.append(note)
        for note in left:
            free = [e for e in live_first if e.guid not in self.used]
            if free:
                self.take(note, free[0])
                others = [e for e in free[1:] if not e.retired]
                if others and not free[0].retired:
                    self.doubts.append(Doubt(note, free[0], others[0]))

    def _topic_of(self, entry: Entry) -> str:
        """The key of an entry's topic as it is called today, as far as the notes found so far tell."""
        key = wording_key(entry.topic)
        return self.topics.get((self.packs[entry.guid], key), key)

    def _learn_topics(self) -> None:
        """A topic was renamed to the one in which most of its notes are found now, unless its title is still there."""
        present = {((o.pack, o.language), wording_key(o.topic)) for o in self.origins}
        votes: Counter[tuple[tuple[str, str], str, str]] = Counter()
        for index, entry in self.found.items():
            pack, old = self.packs[entry.guid], wording_key(entry.topic)
            if (pack, old) not in present:
                votes[pack, old, wording_key(self.origins[index].topic)] += 1
        for (pack, old, new), _ in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
            self.topics.setdefault((pack, old), new)

    def similar(self) -> None:
        """Match what is left within a pack and kind: the one-to-one choice with the greatest sum of scores."""
        notes: dict[tuple[tuple[str, str], Kind], list[int]] = defaultdict(list)
        for index, origin in enumerate(self.origins):
            if index not in self.found:
                notes[(origin.pack, origin.language), origin.kind].append(index)
        entries: dict[tuple[tuple[str, str], Kind], list[Entry]] = defaultdict(list)
        for entry in self.entries:
            if entry.guid not in self.used and not entry.retired:
                entries[self.packs[entry.guid], entry.kind].append(entry)
        for group in sorted(notes.keys() & entries.keys(), key=lambda g: (g[0], g[1].value)):
            self._assign(notes[group], sorted(entries[group], key=lambda e: (e.place, e.guid)))

    def _assign(self, notes: list[int], entries: list[Entry]) -> None:
        scores = self._scores(notes, entries)
        pairs = best_pairs(scores)
        chosen = {row: column for row, column in pairs if scores[row][column] >= THRESHOLD}
        taken_by = {column: row for row, column in chosen.items()}
        for row, column in sorted(chosen.items()):
            self.take(notes[row], entries[column])
            other = _too_close(scores, row, column, taken_by)
            if other is not None:
                self.doubts.append(Doubt(notes[row], entries[column], entries[other]))

    def _scores(self, notes: list[int], entries: list[Entry]) -> list[list[float]]:
        # Both are needed only after an edit, and cost more to import than an unchanged build takes.
        from rapidfuzz import fuzz, process

        texts = [self.keys[note] for note in notes]
        old_texts = [self.entry_keys[entry.guid] for entry in entries]
        wording = process.cdist(texts, old_texts, scorer=fuzz.ratio, workers=-1)
        names = [_names(self.origins[note].wording) for note in notes]
        old_names = [_names(entry.text) for entry in entries]
        topics = [wording_key(self.origins[note].topic) for note in notes]
        old_topics = [self._topic_of(entry) for entry in entries]
        return [
            [
                _WORDING * float(wording[row][column]) / 100
                + (_TOPIC if topics[row] == old_topics[column] else 0)
                + _PLACE / (1 + abs(self.origins[note].place - entry.place))
                - (_OTHER_NAMES if _name_others(names[row], old_names[column]) else 0)
                for column, entry in enumerate(entries)
            ]
            for row, note in enumerate(notes)
        ]

    def across_packs(self, gone: frozenset[tuple[str, str]]) -> None:
        """Match what moved from one pack into another: the same kind and wording, once on either side."""
        packs = {(origin.pack, origin.language) for origin in self.origins} | gone
        free: dict[tuple[str, Kind, str], list[Entry]] = defaultdict(list)
        for entry in self.entries:
            if entry.guid not in self.used and not entry.retired and self.packs[entry.guid] in packs:
                free[entry.language, entry.kind, self.entry_keys[entry.guid]].append(entry)
        wanted: dict[tuple[str, Kind, str], list[int]] = defaultdict(list)
        for index, origin in enumerate(self.origins):
            if index not in self.found:
                wanted[origin.language, origin.kind, self.keys[index]].append(index)
        for key, notes in wanted.items():
            if len(notes) == 1 and len(free.get(key, ())) == 1:
                self.take(notes[0], free[key][0])


def _names(text: str) -> frozenset[str]:
    return frozenset(name.casefold().rstrip(".-") for name in _NAME.findall(text))


def _name_others(names: frozenset[str], old_names: frozenset[str]) -> bool:
    return bool(names) and bool(old_names) and not names & old_names


def best_pairs(scores: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """The (row, column) pairs of the one-to-one choice with the greatest sum of scores, each row and column once.

    Of equal choices the one that keeps the order wins, so that the result does not depend on the library's version.
    """
    if not scores or not scores[0]:
        return []
    if len(scores) == 1:
        row = scores[0]
        return [(0, max(range(len(row)), key=lambda column: (round(row[column], 6), -column)))]
    import numpy
    from scipy.optimize import linear_sum_assignment

    matrix = numpy.round(numpy.asarray(scores, dtype=numpy.float64), 6)
    # What is below the threshold counts nothing, lest a hopeless pair spoil a good one.
    matrix[matrix < THRESHOLD] = 0
    rows, columns = numpy.indices(matrix.shape)
    matrix -= 1e-9 * numpy.abs(rows - columns)
    chosen_rows, chosen_columns = linear_sum_assignment(matrix, maximize=True)
    return [(int(row), int(column)) for row, column in zip(chosen_rows, chosen_columns, strict=True)]


def _too_close(scores: list[list[float]], row: int, column: int, taken_by: dict[int, int]) -> int | None:
    """Another column that the row could as well have got: by a swap with its owner, or for free."""
    mine = scores[row][column]
    for other, score in enumerate(scores[row]):
        if other == column or score < THRESHOLD:
            continue
        owner = taken_by.get(other)
        loss = mine - score
        if owner is not None:
            loss += scores[owner][other] - scores[owner][column]
        if loss < MARGIN:
            return other
    return None
