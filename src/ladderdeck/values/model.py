"""The values that everything else passes along: what a ladder document says, and what is wrong with it.

Every value is frozen. A value that came from text carries its :class:`Position`; a problem is a value too, collected
and shown together at the end of a run, never raised on the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    """How much a problem matters: an error stops the build, a warning is only shown."""

    ERROR = "error"
    WARNING = "warning"


class Language(Enum):
    """The language that a pack is written in; it decides labels, deck, tags and identity."""

    CHINESE = "zh"
    ENGLISH = "en"

    @property
    def attribute(self) -> str:
        """What HTML's `lang` calls it: for Chinese with the region, by which a browser chooses the shapes of characters."""
        return "zh-CN" if self is Language.CHINESE else self.value


class Kind(Enum):
    """The kinds of note; the value is what tags and the ledger call them."""

    RUNG = "rung"
    SIGN = "sign"
    LADDER = "ladder"
    RED_FLAG = "red-flag"
    PROBE = "probe"
    DRILL = "drill"

    # Every one is there once. An Enum would hash its name anew each time, in Python, and kinds are in most keys.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file: its path as the user gave it, the line and the column, both counted from 1, in characters."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with what the user wrote: what it is, where, and what to do about it.

    ``code`` is a stable name for scripts (``empty-rung``), ``message`` and ``hint`` are one sentence each for people.
    """

    code: str
    severity: Severity
    position: Position
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the document's source text, as written, and where it begins."""

    text: str
    position: Position


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of a ladder: its whole source text, and the questions in it, of which there is at least one."""

    text: Text
    questions: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class RedFlag:
    """A red flag that no topic is near enough to, and the key that its line began with ('' for a line without one)."""

    key: str
    flag: Text


LONGEST_TOPIC = 200
"""Rungs, signs and red flags that a topic may have, of each. All notes of a topic show them: a package grows with their
square. Four are usual."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One subject that is asked about: its ladder, the signs of a solid answer, and the red flags linked to it."""

    title: Text
    rungs: tuple[Rung, ...]
    signs: tuple[Text, ...]
    red_flags: tuple[Text, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """'Resume says X' and what an interviewer then presses on; ``follow_up`` is empty where the line has no arrow."""

    trigger: Text
    follow_up: Text


@dataclass(frozen=True, slots=True)
class Pack:
    """One ladder document.

    ``domains`` is what the front matter means: the listed ones for a detail pack, its own name for a domain pack, none
    for a base pack (which belongs to every domain). ``version`` and ``blob`` come from the envelope, '' without one.
    ``red_flags`` are those that no topic is near enough to, and ``focus`` the paragraphs and bullets of 'What
    interviewers care about'.
    """

    name: str
    language: Language
    layer: str
    domains: tuple[str, ...]
    keywords: tuple[str, ...]
    description: str
    version: str
    blob: str
    path: str
    topics: tuple[Topic, ...]
    red_flags: tuple[RedFlag, ...]
    probes: tuple[Probe, ...]
    focus: tuple[Text, ...]
