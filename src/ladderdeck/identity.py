"""Which note is which: guids from what a note was first called, so that they need no memory to come out the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import count

from .note import Note, Origin
from .wording import wording_key


def guids(notes: Sequence[Note]) -> tuple[str, ...]:
    """A guid for each note, in order, none twice.

    It is made of pack, language, kind and wording; blanks, emphasis and punctuation do not count. Where a wording comes
    again in the pack, as a sign may under two topics, the later one's topic is added, and if that is not enough, a number.
    """
    taken: set[str] = set()
    result: list[str] = []
    for note in notes:
        guid = next(candidate for candidate in _candidates(note.origin) if candidate not in taken)
        taken.add(guid)
        result.append(guid)
    return tuple(result)


def _candidates(origin: Origin) -> Iterator[str]:
    parts = (origin.pack, origin.language, origin.kind.value, wording_key(origin.wording))
    yield _digest(*parts)
    for number in count():
        yield _digest(*parts, wording_key(origin.topic), *([str(number)] if number else []))


def _digest(*parts: str) -> str:
    # 80 bits: with a million notes the chance of two alike is below one in a trillion.
    return hashlib.sha256("\x1f".join(("ladderdeck", *parts)).encode()).hexdigest()[:20]
