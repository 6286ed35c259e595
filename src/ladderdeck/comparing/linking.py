"""Which topic a line of red flags belongs to, though its key is often not letter for letter the topic's title.

Key and title are compared by what they are made of: whole Latin words, the three-letter pieces of those words (so that
'mapper' is near 'mappers'), single Chinese characters and pairs of them. A piece counts the more, the fewer titles of
the pack have it, so that a word that every title shares tells nothing. A key that is like no title may still be named in
the text of a single topic ('thermometer' in the ladder of 'Roasting').
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..values.wording import wording_key

THRESHOLD = 0.45
"""The least likeness that links. Chosen on the table in `tests/test_linking.py`, which prints what other values give."""

MARGIN = 0.1
"""How much more a title must be like the key than the next one, since what is as near to two topics belongs to neither.
In the same table keys that mean a topic lead by 0.3 and more, those that could mean two by 0.04 at most."""

_WORD = re.compile(r"[a-z0-9]+(?:[+#]+|(?:[.-][a-z0-9]+)*)")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_COMMON = frozenset(["and", "or", "the", "of", "a", "an", "in", "for", "to", "with", "on", "vs", "its", "how"])
_COMMON_CHARACTERS = frozenset("与和的及或在是")
_LONGEST_KEY = 300
_MANY = 200
"""More topics or lines than a person writes: from there on not everything is compared with everything."""

Link = tuple[int | None, int | None]


@dataclass(frozen=True)
class RedFlagLine:
    """A line of the red flags section, and the offsets of the colons at which its key may end."""

    text: str
    colons: tuple[int, ...]


def link(lines: Sequence[RedFlagLine], titles: Sequence[str], bodies: Sequence[str] = ()) -> list[Link]:
    """For each line the index of its topic, and the offset of the colon that ends its key; None where there is none.

    A key that is a title letter for letter wins; else the colon and the title that fit best, if they fit well enough.
    ``bodies`` are the topics' own texts: a line that fits no title goes to the one topic that speaks of its key, if
    that has no other line.
    """
    index = _Index.of(titles)
    exact = [index.exact_link(line) for line in lines]
    taken = {topic for topic, _ in exact if topic is not None}
    links = [
        found if found[0] is not None else index.nearest(line, taken) for line, found in zip(lines, exact, strict=True)
    ]
    loose = [i for i, (topic, _) in enumerate(links) if topic is None and lines[i].colons]
    if loose and bodies and max(len(loose), len(titles)) <= _MANY:
        taken = {topic for topic, _ in links if topic is not None}
        folded = [_fold(body) for body in bodies]
        for i in loose:
            key = lines[i].text[: lines[i].colons[0]]
            topic = _only_mention(key, folded)
            if topic is not None and topic not in taken:
                taken.add(topic)
                links[i] = topic, lines[i].colons[0]
    return links


@dataclass(frozen=True)
class _Index:
    """The titles of a pack, prepared for comparing many keys with them."""

    exact: Mapping[str, int]
    pieces: Sequence[frozenset[str]]
    colons: Sequence[int]
    weights: Mapping[str, float]
    by_piece: Mapping[str, Sequence[int]]
    longest_key: int

    @classmethod
    def of(cls, titles: Sequence[str]) -> _Index:
        exact = {wording_key(title): index for index, title in reversed(list(enumerate(titles)))}
        pieces = [_pieces(title) for title in titles]
        by_piece: dict[str, list[int]] = {}
        for index, title_pieces in enumerate(pieces):
            for piece in title_pieces:
                by_piece.setdefault(piece, []).append(index)
        colons = [len(re.findall("[：:]", title)) for title in titles]
        longest = max([_LONGEST_KEY, *(2 * len(title) for title in titles)])
        return cls(exact, pieces, colons, _weights(pieces), by_piece, longest)

    def keys(self, line: RedFlagLine) -> list[tuple[int, str]]:
        return [(colon, line.text[:colon]) for colon in line.colons if colon <= self.longest_key]

    def exact_link(self, line: RedFlagLine) -> Link:
        for colon, key in reversed(self.keys(line)):
            if (topic := self.exact.get(wording_key(key))) is not None:
                return topic, colon
        return None, None

    def nearest(self, line: RedFlagLine, taken: set[int]) -> Link:
        """The title that is most like a key of the line; of equals the one that no other line names letter for letter."""
        best: dict[int, tuple[float, int]] = {}
        for inner, (colon, key) in enumerate(self.keys(line)):
            key_pieces = _pieces(key)
            for topic in self._candidates(key_pieces):
                # A key holds a colon only where the title does: what follows the first one is text otherwise.
                if inner <= self.colons[topic]:
                    score = _likeness(key_pieces, self.pieces[topic], self.weights)
                    best[topic] = max(best.get(topic, (0.0, -colon)), (score, -colon))
        ranked = sorted((-score, topic in taken, topic, -colon) for topic, (score, colon) in best.items())
        if not ranked or -ranked[0][0] < THRESHOLD:
            return None, (line.colons[0] if line.colons else None)
        near = [entry for entry in ranked if entry[0] - ranked[0][0] < MARGIN]
        free = [entry for entry in near if not entry[1]]
        chosen = free or near
        return (chosen[0][2], chosen[0][3]) if len(chosen) == 1 else (None, line.colons[0])

    def _candidates(self, key_pieces: frozenset[str]) -> set[int]:
        """The topics that share a piece with the key; in a huge pack those that share one of its rarer pieces."""
        shared = sorted((p for p in key_pieces if p in self.by_piece), key=lambda p: (len(self.by_piece[p]), p))
        found: set[int] = set()
        for piece in shared:
            if len(found) + len(self.by_piece[piece]) > _MANY and found:
                break
            found.update(self.by_piece[piece][:_MANY])
        return found


def likeness(key: str, title: str, titles: Sequence[str]) -> float:
    """How much a key is like one of the pack's titles, from 0 to 1: a mean of how much of each is in the other."""
    return _likeness(_pieces(key), _pieces(title), _weights([_pieces(t) for t in titles]))


def _likeness(key: frozenset[str], title: frozenset[str], weights: Mapping[str, float]) -> float:
    def weight(pieces: frozenset[str]) -> float:
        # Sorted, since the sum of floats depends on the order, and that of a set on the run.
        return sum(weights.get(piece, _UNKNOWN) * (0.35 if piece.startswith("~") else 1) for piece in sorted(pieces))

    if not key or not title:
        return 0.0
    common = weight(key & title)
    # A key is mostly a shortened title, so what of the key is found in the title counts more.
    return 0.7 * common / weight(key) + 0.3 * common / weight(title)


_UNKNOWN = 1.0
"""The weight of a piece that no title has: less than a telling one, for a reworded key says other words."""


def _weights(titles: Sequence[frozenset[str]]) -> dict[str, float]:
    counts = Counter(piece for pieces in titles for piece in pieces)
    return {piece: math.log(1 + len(titles) / count) for piece, count in counts.items()}


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _pieces(text: str) -> frozenset[str]:
    folded = _fold(text)
    pieces: set[str] = set()
    for word in _WORD.findall(folded):
        if word in _COMMON:
            continue
        pieces.add(word)
        padded = f" {word}"
        pieces.update(f"~{padded[i : i + 3]}" for i in range(len(padded) - 2))
    for run in _CJK.findall(folded):
        telling = "".join(c for c in run if c not in _COMMON_CHARACTERS)
        pieces.update(f"~{c}" for c in telling)
        pieces.update(run[i : i + 2] for i in range(len(run) - 1) if not set(run[i : i + 2]) & _COMMON_CHARACTERS)
    return frozenset(pieces)


def _only_mention(key: str, bodies: Sequence[str]) -> int | None:
    """The one among ``bodies`` in which the key stands as a word; None for a key too short to tell."""
    word = _fold(key).strip().strip("*").strip()
    if len(word) < (4 if word.isascii() else 3):
        return None
    start = r"(?<![a-z0-9])" if word[0].isascii() else ""
    end = r"(?![a-z0-9])" if word[-1].isascii() else ""
    pattern = re.compile(start + re.escape(word) + end)
    found = [i for i, body in enumerate(bodies) if pattern.search(body)]
    return found[0] if len(found) == 1 else None
