"""How alike two wordings are, as a number from 0 to 1: the measure by which an edited text is recognised.

Characters alone do not do: 'How does GPTQ choose …' and 'How does AWQ choose …' share nine in ten, and a sentence with
its clauses reordered shares few. So it is above all the words that are compared, and each weighs what it tells: a name
most, 'how does' or 怎么 next to nothing.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from ..values.wording import wording_key

CHARACTERS, WORDS, PART = 0.2, 0.3, 0.5
"""What counts: the likeness letter by letter, the share of common words in both texts, and in the shorter one, for a text
that was extended, shortened, split or merged is still the old one. The values are those that divide the table of edits
best (`tests/test_matching.py`)."""

_NAME, _WORD, _CHARACTER, _PAIR = 2.0, 1.0, 0.3, 0.1
_COMMON = 0.05
"""What is left of the weight of a word that says nothing about the subject."""

_FEW = 1000
"""Pairs of texts up to which comparing them one by one takes less time than to import scipy."""

_STRIP = 64
"""Rows of a matrix that are computed at a time."""

_LATIN = re.compile(r"[a-z0-9][a-z0-9+#./_-]*", re.IGNORECASE)
_TOKEN = re.compile(rf"{_LATIN.pattern}|[^\W\d_a-z]+", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u9fff\U00020000-\U0003ffff]")

_SAY_NOTHING = """
a an and are as at be by can could do does don't for from has have how in into is it its of on one or that the their
them then there they this to up was we were what when where which who why will with you your not no only may must
should would explain explains describe know knows say says cannot name draw draws write measured numbers resume press
difference between mean means use uses used using choose need keep happens happen under
"""
_COMMON_WORDS = frozenset(_SAY_NOTHING.split())
_COMMON_CHARACTERS = frozenset(
    "的了吗呢么怎为什何如在与和或及把被是不没有能会可说知道清讲出来去到过得地着从里上下中之以后前时都只就也还各个种样哪些几一二三要用做让给对其它这那答"
)
_ENDINGS = ("ing", "ies", "ed", "es", "s", "e")


def likeness(texts: Sequence[str], others: Sequence[str]) -> Any:
    """A matrix (numpy) with a row for each of ``texts``, a column for each of ``others``, and their likeness in it."""
    # Needed only after an edit, and together they cost more to import than an unchanged build takes.
    import numpy
    from rapidfuzz import fuzz, process

    keys, other_keys = ([wording_key(text).casefold() for text in side] for side in (texts, others))
    words, other_words = ([weighted_words(text) for text in side] for side in (texts, others))
    shared_by = _sharing(words, other_words)
    sums, other_sums = (numpy.array([sum(bag.values()) for bag in side]) for side in (words, other_words))
    result = numpy.empty((len(texts), len(others)))
    # In strips that fit into a processor's cache.
    for start in range(0, len(texts), _STRIP):
        strip = slice(start, start + _STRIP)
        characters = process.cdist(keys[strip], other_keys, scorer=fuzz.ratio, workers=-1).astype(numpy.float64) / 100
        shared = shared_by(strip)
        both = numpy.add.outer(sums[strip], other_sums)
        shorter = numpy.minimum.outer(sums[strip], other_sums)
        # A text without a single word, such as an emoji, has nothing but its characters.
        wordless = shorter == 0
        alike = CHARACTERS * characters
        alike += WORDS * 2 * shared / numpy.where(wordless, 1, both)
        alike += PART * shared / numpy.where(wordless, 1, shorter)
        result[strip] = numpy.where(wordless, characters, alike)
    return result


def _sharing(words: Sequence[dict[str, float]], others: Sequence[dict[str, float]]) -> Callable[[slice], Any]:
    """A function from some of the rows to the weight of the words that two texts share, for each pair."""
    import numpy

    if len(words) * len(others) <= _FEW:
        return lambda strip: numpy.array(
            [[_shared_by(one, other) for other in others] for one in words[strip]], dtype=float
        )
    one, other = _matrices(words, others)
    return lambda strip: (one[strip] @ other).toarray()


def _matrices(words: Sequence[dict[str, float]], other_words: Sequence[dict[str, float]]) -> Any:
    """Two sparse matrices of which the product is the weight of the words that two texts share, for each pair."""
    from scipy.sparse import csr_matrix

    numbers: dict[str, int] = {}
    matrices = []
    for side in (words, other_words):
        rows = [row for row, bag in enumerate(side) for _ in bag]
        columns = [numbers.setdefault(word, len(numbers)) for bag in side for word in bag]
        # A word may weigh differently in the two texts: the product of the square roots is the mean.
        weights = [weight**0.5 for bag in side for weight in bag.values()]
        matrices.append((weights, (rows, columns), len(side)))
    one, other = (csr_matrix((w, at), shape=(length, len(numbers) or 1)) for w, at, length in matrices)
    return one, other.T.tocsr()


def _shared_by(one: dict[str, float], other: dict[str, float]) -> float:
    """The weight of the words in both: a word may weigh differently in the two, and counts with the geometric mean."""
    return sum((weight**0.5 * other[word] ** 0.5 for word, weight in one.items() if word in other), 0.0)


def weighted_words(text: str) -> dict[str, float]:
    """The words of a text and what each weighs. In scripts without blanks the words are characters and pairs of them."""
    text = unicodedata.normalize("NFKC", text)
    # In a Chinese text, a Latin word is nearly always the name of something.
    foreign = _HAN.search(text) is not None
    weights: dict[str, float] = {}
    for match in _TOKEN.finditer(text):
        run = match.group()
        if _LATIN.match(run):
            word = run.casefold().rstrip("./_-")
            weights[_stem(word)] = _latin_weight(run, word, foreign)
            continue
        for character in run:
            weights[character] = _CHARACTER * _telling(character)
        for first, second in itertools.pairwise(run):
            weights[first + second] = _PAIR * (_telling(first) + _telling(second)) / 2
    return weights


def _latin_weight(run: str, word: str, foreign: bool) -> float:
    if word in _COMMON_WORDS:
        return _COMMON
    if word[0].isdigit():
        return _WORD
    named = foreign or any(character.isupper() or character.isdigit() for character in run[1:])
    return _NAME if named else _WORD


def _telling(character: str) -> float:
    return _COMMON if character in _COMMON_CHARACTERS else 1.0


def _stem(word: str) -> str:
    """The word without its ending, so that 'index', 'indexes' and 'indexing' are one."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
