"""What makes two wordings the same item: the text without blanks, emphasis and punctuation."""

from __future__ import annotations

import functools
import re
import unicodedata

_BOLD = re.compile(r"\*\*(?=\S)(.{1,400}?)(?<=\S)\*\*")
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=[^\s*_])(.{1,400}?)(?<=[^\s*_])\1(?![\w*])")
_STOP = re.compile(r"(?<![^\W_])\.|\.(?![^\W_])")
"""The dot that ends a sentence, and not that of 3.11 or node.js."""
_SIGNS = re.compile(r"\W+")
_KEPT = frozenset("#+-_@/&%*~^|<>=$\\.")
"""Punctuation that tells names apart: C and C#, a-b and a/b."""
_REMEMBERED = 2**17
"""Keys that are kept, since a build asks for each some ten times: those of a library of 100,000 notes, in 30 MB."""


@functools.lru_cache(maxsize=_REMEMBERED)
def wording_key(text: str) -> str:
    """The text as identity sees it: two texts with one key differ in blanks, emphasis or punctuation only.

    Full-width and half-width forms, NFC and NFD are one; letter case counts. A text of punctuation alone is its own
    key, so that a key is empty only where the text is.
    """
    bare = text = unicodedata.normalize("NFKC", text)
    if "*" in bare or "_" in bare:
        bare = _EMPHASIS.sub(r"\2", _BOLD.sub(r"\1", bare))
    bare = bare.replace("`", "")
    if "." in bare:
        bare = _STOP.sub("", bare)
    return _SIGNS.sub(_counted, bare) or "".join(text.split())


def _counted(signs: re.Match[str]) -> str:
    """What counts of a run of signs; letters and digits always do."""
    return "".join(c for c in signs[0] if c in _KEPT or not unicodedata.category(c).startswith(("P", "Z", "C")))
