"""The words by which a ladder document names its parts, in either language."""

from __future__ import annotations

import difflib
import re
import unicodedata
from dataclasses import dataclass
from enum import Enum

from ..values.model import Language


class Section(Enum):
    """The parts of a document that a `##` heading opens."""

    FOCUS = "focus"
    PROBES = "probes"
    RED_FLAGS = "red flags"
    TOPICS = "topics"


class Item(Enum):
    """What a labelled line under a topic is."""

    LADDER = "ladder"
    SIGNS = "signs"


SECTION_HEADINGS = {
    Language.CHINESE: {
        Section.FOCUS: "面试官在意什么",
        Section.PROBES: "项目 / 实习怎么深挖",
        Section.RED_FLAGS: "常见失守与危险信号",
        Section.TOPICS: "常考主题清单",
    },
    Language.ENGLISH: {
        Section.FOCUS: "What interviewers care about",
        Section.PROBES: "Probing projects and internships",
        Section.RED_FLAGS: "Common failures and red flags",
        Section.TOPICS: "Frequently tested topics",
    },
}
ITEM_LABELS = {
    Language.CHINESE: {Item.LADDER: "阶梯", Item.SIGNS: "答实的标志"},
    Language.ENGLISH: {Item.LADDER: "Ladder", Item.SIGNS: "Signs of a solid answer"},
}


def heading_key(heading: str) -> str:
    """A heading without what hands write differently: letter case, width, blanks, punctuation and emphasis."""
    folded = unicodedata.normalize("NFKC", heading).casefold()
    return "".join(c for c in folded if c.isalnum())


_SECTIONS = {
    heading_key(words): (section, language)
    for language, headings in SECTION_HEADINGS.items()
    for section, words in headings.items()
}
_EMPHASIS = r"(?:\*\*|__|\*|_)?"
_OTHER_BULLET = r"(?:[-+•·‣◦–—]\s*)?"
"""A bullet that Markdown does not know, or one without a blank behind it."""
_ITEMS = {
    re.sub(r"\s+", " ", words).casefold(): (item, language)
    for language, labels in ITEM_LABELS.items()
    for item, words in labels.items()
}
_WORDS = "|".join(
    re.escape(words).replace(r"\ ", r"\s+") for labels in ITEM_LABELS.values() for words in labels.values()
)
_LABEL = re.compile(
    rf"\s*{_OTHER_BULLET}(?P<opened>{_EMPHASIS})\s*(?P<words>{_WORDS})\s*(?P<closed>{_EMPHASIS})\s*"
    rf"(?:[：:]\s*(?P<behind>{_EMPHASIS})\s*|\Z)",
    re.IGNORECASE,
)


def section_of(heading: str) -> tuple[Section, Language] | None:
    """The section that a heading opens and the language it is written in, or None for any other heading."""
    return _SECTIONS.get(heading_key(heading))


@dataclass(frozen=True)
class Label:
    """A label found: what its line is, the language it is written in, and where in the line its own text is."""

    item: Item
    language: Language
    start: int
    end: int


def label_of(line: str) -> Label | None:
    """The label at the beginning of a line under a topic, or None for a line without one.

    A label may be emphasised, alone or with all of its line, and its colon full-width or not; without a colon it must be
    all of the line, as where a list follows.
    """
    match = _LABEL.match(line)
    if match is None:
        return None
    item, language = _ITEMS[re.sub(r"\s+", " ", match["words"]).casefold()]
    opened, start, end = match["opened"], match.end(), len(line.rstrip())
    if opened and not match["closed"] and not match["behind"] and line.endswith(opened, start, end):
        end -= len(opened)
    return Label(item, language, start, max(start, end))


_COLONS = {Language.CHINESE: "：", Language.ENGLISH: ":"}
LABEL_HINT = "a topic has a line " + " and a line ".join(
    " or ".join(f"`- {labels[item]}{_COLONS[language]}`" for language, labels in ITEM_LABELS.items()) for item in Item
)
"""What to tell someone whose topic lacks a label."""


def section_hint(heading: str) -> str:
    """What to tell someone whose `##` heading opens no section: the one that was meant, if one is near."""
    known = [words for headings in SECTION_HEADINGS.values() for words in headings.values()]
    near = difflib.get_close_matches(heading.casefold(), [words.casefold() for words in known], n=1, cutoff=0.6)
    if near:
        meant = next(words for words in known if words.casefold() == near[0])
        return f"write `## {meant}` if that is meant"
    return "move it out of the pack if it should not be there"
