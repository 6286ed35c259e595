"""Which topic a line of red flags belongs to, though its key is often not letter for letter the topic's title.

Key and title are compared by what they are made of: whole Latin words, the three-letter pieces of those words (so that
'mapper' is near 'mappers'), single Chinese characters and pairs of them. A piece counts the more, the fewer titles of
the pack have it, so that a word that every title shares tells nothing.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from .wording import wording_key

THRESHOLD = 0.45
"""The least likeness that links. Chosen on the table in `tests/test_linking.py`, which prints what other values give."""

_WORD = re.compile(r"[a-z0-9]+(?:[+#]+|(?:[.-][a-z0-9]+)*)")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_COMMON = frozenset(["and", "or", "the", "of", "a", "an", "in", "for", "to", "with", "on", "vs", "its", "how"])
_COMMON_CHARACTERS = frozenset("与和的及或在是")


@dataclass(frozen=True)
class RedFlagLine:
    """A line of the red flags section, and the offsets of the colons at which its key may end."""

    text: str
    colons: tuple[int, ...]


def link(lines: Sequence[RedFlagLine], titles: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """For each line the index of its topic, and the offset of the colon that ends its key; None where there is none.

    A key that is a title letter for letter wins; else the colon and the title that fit best, if they fit well enough.
    """
    exact = {wording_key(title): index for index, title in reversed(list(enumerate(titles)))}
    pieces = [_pieces(title) for title in titles]
    weights = _weights(pieces)
    by_piece: dict[str, list[int]] = {}
    for index, title_pieces in enumerate(pieces):
        for piece in title_pieces:
            by_piece.setdefault(piece, []).append(index)
    return [_link_one(line, exact, pieces, weights, by_piece) for line in lines]


def _link_one(
    line: RedFlagLine,
    exact: dict[str, int],
    titles: Sequence[frozenset[str]],
    weights: dict[str, float],
    by_piece: dict[str, list[int]],
) -> tuple[int | None, int | None]:
    keys = [(colon, line.text[:colon]) for colon in line.colons]
    for colon, key in reversed(keys):
        if (topic := exact.get(wording_key(key))) is not None:
            return topic, colon
    best: tuple[float, int | None, int | None] = (THRESHOLD, None, None)
    for colon, key in keys:
        key_pieces = _pieces(key)
        for topic in {index for piece in key_pieces for index in by_piece.get(piece, ())}:
            score = _likeness(key_pieces, titles[topic], weights)
            # Of equals the topic that comes first, so that every machine decides alike.
            if score > best[0] or (score == best[0] and best[1] is not None and topic < best[1]):
                best = (score, topic, colon)
    if best[1] is None:
        return None, (line.colons[0] if line.colons else None)
    return best[1], best[2]


def likeness(key: str, title: str, titles: Sequence[str]) -> float:
    """How much a key is like one of the pack's titles, from 0 to 1: a mean of how much of each is in the other."""
    return _likeness(_pieces(key), _pieces(title), _weights([_pieces(t) for t in titles]))


def _likeness(key: frozenset[str], title: frozenset[str], weights: dict[str, float]) -> float:
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


def _pieces(text: str) -> frozenset[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
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
