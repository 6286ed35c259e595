"""What makes two wordings the same item: the text without blanks, emphasis and punctuation."""

from __future__ import annotations

import re
import unicodedata

_BOLD = re.compile(r"\*\*(?=\S)(.{1,400}?)(?<=\S)\*\*")
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=[^\s*_])(.{1,400}?)(?<=[^\s*_])\1(?![\w*])")
_KEPT = frozenset("#+-_@/&%*~^|<>=$\\")
"""Punctuation that tells names apart: C and C#, a-b and a/b."""


def wording_key(text: str) -> str:
    """The text as identity sees it: two texts with one key differ in blanks, emphasis or punctuation only.

    Full-width and half-width forms, NFC and NFD are one; letter case counts. A text of punctuation alone is its own
    key, so that a key is empty only where the text is.
    """
    text = unicodedata.normalize("NFKC", text)
    bare = _EMPHASIS.sub(r"\2", _BOLD.sub(r"\1", text)).replace("`", "")
    key = "".join(c for i, c in enumerate(bare) if _counts(bare, i, c))
    return key or "".join(text.split())


def _counts(text: str, index: int, character: str) -> bool:
    if character == ".":
        # The dot of 3.11 or node.js, not the one that ends a sentence.
        return index + 1 < len(text) and text[index + 1].isalnum() and index > 0 and text[index - 1].isalnum()
    return character in _KEPT or not unicodedata.category(character).startswith(("P", "Z", "C"))
