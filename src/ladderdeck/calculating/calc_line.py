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

_WIDE = str.maketrans({code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: " ", 0x2212: "-"})
"""Full-width forms of ASCII's signs, which an input method for Chinese types, and the minus of typographers."""


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
    line = _narrow(line)
    match = _LINE.match(line)
    if match is None:
        raise _no_line(line)
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


def _narrow(line: str) -> str:
    """The line with ASCII's signs for their full-width forms, but for the note, which is text. Columns stay."""
    end = min((index for index in (line.find("#"), line.find("＃")) if index >= 0), default=len(line))
    return line[:end].translate(_WIDE) + line[end : end + 1].translate(_WIDE) + line[end + 1 :]


def _no_line(line: str) -> CalculationError:
    """What is wrong with a line that is none: its name, if it has what looks like one."""
    name, equals, _ = line.partition("#")[0].partition("=")
    if equals and name.strip() and not re.fullmatch(r"[^\W\d]\w*", name.strip()):
        hint = "write a word, Chinese or Latin, of letters, digits and _, which begins with a letter"
        column = len(name) - len(name.lstrip())
        return CalculationError(column, f"`{name.strip()}` cannot be the name of a quantity", hint)
    return CalculationError(0, "this is no line of a calculation", "write `name = expression -> unit  # note`")
