"""Drill files: calculations whose numbers differ every day. What one says, as values; not yet computed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..values.model import Text

PLACEHOLDER = re.compile(r"\{([^\W\d]\w*)\}")
"""What stands for a quantity in a drill's texts."""

NAME = re.compile(r"[^\W\d]\w*\Z")


@dataclass(frozen=True)
class Given:
    """A quantity that is given: its name, what it is called in the table, and the values that it can have.

    ``unit`` is what its numbers count and how they are shown, '' for none. Each value is a number, perhaps with a unit of
    its own; there is none where a group gives them.
    """

    name: Text
    label: str
    unit: Text
    values: tuple[Text, ...]


@dataclass(frozen=True)
class Combination:
    """Values that belong together, such as a model's layers and heads, by the names of their quantities."""

    name: Text
    values: Mapping[str, Text]


@dataclass(frozen=True)
class Group:
    """Combinations of which one is taken at a time; all of them set the same quantities."""

    name: Text
    combinations: tuple[Combination, ...]

    @property
    def members(self) -> tuple[str, ...]:
        """The names of the quantities that it sets."""
        return tuple(self.combinations[0].values) if self.combinations else ()


@dataclass(frozen=True)
class Mistake:
    """A usual mistake: Markdown that says what it is, and the expression that gives the wrong number."""

    text: Text
    gives: Text


@dataclass(frozen=True)
class Drill:
    """One drill, as its file has it.

    ``rung``, ``result``, ``hint`` and ``note`` are '' where they are not there. ``tolerance`` is a share: 0.1 is ten per
    cent. ``steps`` are lines of a calculation; ``question``, ``hint``, ``note`` and ``sources`` are Markdown.
    """

    id: Text
    topic: Text
    rung: Text
    question: Text
    given: tuple[Given, ...]
    together: tuple[Group, ...]
    steps: tuple[Text, ...]
    result: Text
    tolerance: float
    bounds: tuple[Text, Text]
    formula: Text
    mistakes: tuple[Mistake, ...]
    sources: tuple[Text, ...]
    hint: Text
    note: Text


@dataclass(frozen=True)
class DrillFile:
    """A drill file: the pack that it belongs to, its language ('' where only one is there), and its drills."""

    path: str
    pack: Text
    language: Text
    drills: tuple[Drill, ...]
