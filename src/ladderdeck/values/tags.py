"""Anki tags from names that people chose: no blanks, no operators of Anki's search, and never one tag for two topics."""

from __future__ import annotations

import functools
import hashlib
import unicodedata
from collections.abc import Iterable

RETIRED_TAG = "ladder::retired"
"""The tag of notes whose text has left the packs."""

RETIRED_SEARCH = f"tag:{RETIRED_TAG}"
"""What finds those notes in Anki's browser."""

_LONGEST = 60
"""Characters of a name that go into a tag as they are; a longer one is cut and told apart by a hash."""

_FULL_WIDTH = {c: chr(ord(c) + 0xFEE0) for c in "*_\"'():\\,&<>;?|[]{}!^~`@%$="}
"""What Anki's search or a template could take as an operator is written in its full-width form: still legible."""


@functools.lru_cache(maxsize=4096)
def tag(*parts: str) -> str:
    """A hierarchical tag, such as ``topic::pack::title``; each part is made fit for a tag."""
    return "::".join(_fit(part) for part in parts)


def topic_tags(pack: str, titles: Iterable[str]) -> tuple[str, ...]:
    """A tag for each title of a pack's topics, in order, no two alike though Anki ignores letter case in tags.

    Where two titles fall together, each but the first gets a hash of its own text, so that no tag depends on how many
    others there are.
    """
    tags: list[str] = []
    taken: set[str] = set()
    for title in titles:
        candidate = tag("topic", pack, title)
        plain, attempt = candidate, title
        while candidate.casefold() in taken:
            candidate = f"{plain}-{_digest(attempt)}"
            attempt += "\n"
        taken.add(candidate.casefold())
        tags.append(candidate)
    return tuple(tags)


@functools.lru_cache(maxsize=4096)
def _fit(name: str) -> str:
    name = unicodedata.normalize("NFC", name)
    visible = "".join(c for c in name if not unicodedata.category(c).startswith("C") or c == "\u200d" or c.isspace())
    joined = "-".join(visible.split())
    fitted = "".join(_FULL_WIDTH.get(c, c) for c in joined)
    if fitted.startswith("-"):
        # A leading minus negates a search.
        fitted = "－" + fitted[1:]
    if len(fitted) > _LONGEST:
        fitted = f"{fitted[:_LONGEST]}-{_digest(name)}"
    return fitted or _digest(name)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:6]
