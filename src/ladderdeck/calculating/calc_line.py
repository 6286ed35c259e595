"""A line of a calculation taken apart, before anything in it is computed, and what can be wrong with one."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from .units import is_unit

LONGEST_LINE = 400

_LINE = re.compile(
    r"\s*(?P<name>[^\W\d]\w*)\s*=(?P<expression>[^#]*?)(?:(?:->|→)\s*(?P<unit>[^#]*?))?\s*(?:#\s*(?P<note>.*?))?\s*\Z"
)


class CalculationError(Exception):
    """What is wrong with a calculation: ``column`` (from 0) in the line, a sentence, and what to do."""

    def __init__(self, column: int, message: str, hint: str) -> None:
        super().__init__(message)
        self.column = column
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class LineParts:
    """A line taken apart: where its expression and its unit begin is counted from 0; ``unit`` is None without an arrow."""

    name: str
    expression: str
    column: int
    unit: str | None
    unit_column: int
    note: str


def line_parts(line: str, known: Container[str]) -> LineParts:
    """The parts of a line, whose name must be new. Raises CalculationError."""
    if len(line) > LONGEST_LINE:
        raise CalculationError(0, f"the line has more than {LONGEST_LINE} characters", "compute in several lines")
    match = _LINE.match(line)
    if match is None:
        raise CalculationError(0, "this is no line of a calculation", "write `name = expression -> unit  # note`")
    name = match["name"]
    if is_unit(name):
        raise CalculationError(match.start("name"), f"`{name}` is a unit, and cannot be a name", "call it otherwise")
    if name in known:
        raise CalculationError(match.start("name"), f"`{name}` has a value already", "give each line a name of its own")
    if match["unit"] == "":
        raise CalculationError(len(line.rstrip()), "no unit follows the arrow", "write a unit behind it, such as ms")
    expression = match["expression"].lstrip()
    start = match.start("expression") + len(match["expression"]) - len(expression)
    return LineParts(name, expression, start, match["unit"], match.start("unit"), match["note"] or "")
