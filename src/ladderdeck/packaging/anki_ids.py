"""The ids of notes, cards and decks in a package: derived from names, so that every build agrees with every other."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from hashlib import sha256

FIRST_ID = 2**39
"""The lowest id that :func:`derive_ids` gives."""

ID_COUNT = 2**39
"""How many ids there are from there on."""


def derive_ids(purpose: str, names: Iterable[str]) -> dict[str, int]:
    """An id for each of ``names``, all different: the same name nearly always has the same id, in every package.

    The id is the SHA-256 of the purpose, a counter and the name, cut down to the range from 2**39 to 2**40. Read as
    milliseconds, as Anki does, that is 1987 to 2004: in the past, and before the first Anki, so no note that a user
    made by the clock has such an id. Ids must come from the name, since two devices that import different builds and
    then sync take notes with the same id for the same note. Where two names meet (with 10,000 names once in some
    10,000 packages), the later one in code point order counts on until it finds a free id.
    """
    ids: dict[str, int] = {}
    taken: set[int] = set()
    for name in sorted(set(names)):
        attempt = 0
        while (candidate := _derived(purpose, name, attempt)) in taken:
            attempt += 1
        taken.add(candidate)
        ids[name] = candidate
    return ids


def _derived(purpose: str, name: str, attempt: int) -> int:
    """The id that ``name`` gets if the first ``attempt`` ones are taken."""
    digest = sha256(f"ladderdeck {purpose} {attempt}\n{name}".encode()).digest()
    return FIRST_ID + int.from_bytes(digest[:8], "big") % ID_COUNT


def deck_key(name: str) -> str:
    """What Anki knows a deck by: its name, whatever the case of its letters and however its accents are encoded."""
    return unicodedata.normalize("NFC", name).casefold()


def plan_decks(names: Iterable[str]) -> dict[str, tuple[int, str]]:
    """All decks that ``names`` ('::' between parent and child) need, parents included: ``deck_key`` to id and name.

    Of names that Anki would not tell apart the first one in code point order is taken. The id is derived from the key
    with :func:`derive_ids`; Anki finds decks by name, so it matters only inside of the package. Only 'Default' has the
    id 1: every collection holds that deck, the package's own too, and a second one would arrive as 'Default_'.
    """
    spelling: dict[str, str] = {}
    for name in sorted(set(names)):
        parts = name.split("::")
        for end in range(1, len(parts) + 1):
            path = "::".join(parts[:end])
            spelling.setdefault(deck_key(path), path)
    ids = derive_ids("deck", spelling)
    if "default" in spelling:
        ids["default"], spelling["default"] = 1, "Default"
    return {key: (ids[key], spelling[key]) for key in sorted(spelling)}
