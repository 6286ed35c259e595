"""What a drill gives: the values of its quantities, read and checked, and all combinations of them. Pure."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..answering.drills import Drill, Given
from ..values.model import Position, Problem, Severity, Text
from .calc import Step, calculate
from .calc_line import CalculationError
from .units import Quantity, is_unit, read_number, registry, show_number

MOST_COMBINATIONS = 20_000
"""How many combinations a drill may have: all of them are computed."""

_VALUE = re.compile(r"(-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(.*)\Z")


@dataclass(frozen=True)
class Combinations:
    """All combinations of what a drill gives, counted from 0.

    ``quantities`` has a column for each quantity: its value in every combination. ``shown`` are the different values of
    each name (a quantity's or a group's) as they are shown, ``choice`` which of them each combination has. ``axes`` are
    the names that vary by themselves: the groups, and the quantities that are in none.
    """

    count: int
    quantities: Mapping[str, Any]
    shown: Mapping[str, list[str]]
    choice: Mapping[str, Any]
    axes: tuple[str, ...]

    def text(self, name: str, index: int) -> str:
        """What a name stands for in a combination, as it is shown."""
        return self.shown[name][int(self.choice[name][index])]

    def described(self, index: int) -> str:
        """A combination in words, for messages: `model = Llama-3.1-8B, length = 4,000`."""
        return ", ".join(f"{name} = {self.text(name, index)}" for name in self.axes)


def combinations(drill: Drill) -> tuple[Combinations | None, tuple[Problem, ...]]:
    """The combinations of a drill's values; None where something is wrong with them."""
    values = _Values(drill)
    values.read_names()
    if not values.problems:
        values.read_values()
    found = None if values.problems else values.combine()
    return found, tuple(values.problems)


@functools.lru_cache(maxsize=4096)
def _computed(line: str) -> tuple[Step, Any]:
    """A line without names, computed once: the drills of a pack give the same values again and again."""
    return calculate(line, {})


class _Values:
    """Reads what one drill gives."""

    def __init__(self, drill: Drill) -> None:
        self.drill = drill
        self.problems: list[Problem] = []
        self.quantities: dict[str, list[Any]] = {}
        self.shown: dict[str, list[str]] = {}

    def report(self, code: str, position: Position, message: str, hint: str) -> None:
        self.problems.append(Problem(code, Severity.ERROR, position, message, hint))

    def read_names(self) -> None:
        """Every name is new, every member of a group is declared, and all combinations set the same."""
        drill = self.drill
        given = {each.name.text: each for each in drill.given}
        owners: dict[str, str] = {}
        for each in drill.given:
            if is_unit(each.name.text):
                message = f"`{each.name.text}` is a unit, and cannot be a name"
                self.report("wrong-name", each.name.position, message, "call it otherwise")
        for group in drill.together:
            if group.name.text in given:
                message = f"`{group.name.text}` is a quantity, and cannot be a group too"
                self.report("wrong-name", group.name.position, message, "call one of them otherwise")
            for name in group.members:
                place = group.combinations[0].values[name].position
                if name not in given:
                    hint = f"add `{name}: {{}}` under `given:`, or correct the name"
                    self.report("unknown-name", place, f"`{name}` is not under `given`", hint)
                elif owners.setdefault(name, group.name.text) != group.name.text or given[name].values:
                    hint = "let one group, or `values`, give it"
                    self.report("two-values", place, f"`{name}` gets its values from two places", hint)
            for combination in group.combinations[1:]:
                if set(combination.values) != set(group.members):
                    odd = sorted(set(combination.values) ^ set(group.members))
                    message = (
                        f"`{combination.name.text}` does not set what the first combination does: {', '.join(odd)}"
                    )
                    hint = "every combination of a group sets the same quantities"
                    self.report("uneven-group", combination.name.position, message, hint)
        for name, each in given.items():
            if not each.values and name not in owners:
                hint = f"write `{name}: {{values: [1, 2, 4]}}`, or set it in a group under `together`"
                self.report("no-values", each.name.position, f"`{name}` has no values", hint)

    def read_values(self) -> None:
        """The values of each quantity, in one unit, and how each is shown."""
        grouped = {name: group for group in self.drill.together for name in group.members}
        for given in self.drill.given:
            name = given.name.text
            texts = given.values
            if name in grouped:
                texts = tuple(combination.values[name] for combination in grouped[name].combinations)
            read = [self.value(given, text) for text in texts]
            quantities = [found[1] for found in read if found is not None]
            if len(quantities) < len(texts):
                continue
            first = quantities[0]
            for quantity, text in zip(quantities, texts, strict=True):
                if quantity.dimensionality != first.dimensionality:
                    hint = "give them all a unit of one kind"
                    self.report("unit-clash", text.position, f"the values of `{name}` have units of two kinds", hint)
                    break
            else:
                self.quantities[name] = [quantity.to(first.units) for quantity in quantities]
                self.shown[name] = [str(found[0]) for found in read if found is not None]
        for group in self.drill.together:
            self.shown[group.name.text] = [combination.name.text for combination in group.combinations]

    def value(self, given: Given, text: Text) -> tuple[Quantity, Any] | None:
        """A value as it is shown, and as it is computed with; None, and a problem, where it is no quantity."""
        match = _VALUE.match(text.text)
        if match is None:
            place = text.position if text.text else given.name.position
            message = f"`{text.text}` is no number"
            self.report("wrong-value", place, message, "write a number, perhaps with a unit")
            return None
        own, unit = (part.replace("%", "percent") for part in (match[2], given.unit.text))
        line = f"value = {match[1]} {own or unit}" + (f" -> {unit or own}" if unit or own else "")
        try:
            step, quantity = _computed(line)
        except CalculationError as error:
            self.report("wrong-value", text.position, f"a value of `{given.name.text}`: {error.message}", error.hint)
            return None
        if not step.given:
            message = f"`{text.text}` is no number"
            hint = "write a number, perhaps with a unit; what is computed belongs under `steps`"
            self.report("wrong-value", text.position, message, hint)
            return None
        if not math.isclose(read_number(show_number(step.result.value)), step.result.value, rel_tol=1e-12):
            message = f"`{text.text}` would be shown rounded, as `{step.result}`"
            self.report(
                "wrong-value", text.position, message, "write at most three digits that count, or a whole number"
            )
            return None
        return step.result, quantity

    def combine(self) -> Combinations | None:
        """All combinations: for each name an array with its value in each."""
        import numpy

        groups = {group.name.text: group.members for group in self.drill.together}
        grouped = {name for members in groups.values() for name in members}
        single = {given.name.text: (given.name.text,) for given in self.drill.given if given.name.text not in grouped}
        axes = {**groups, **single}
        sizes = [len(self.shown[axis]) for axis in axes]
        count = math.prod(sizes)
        if count > MOST_COMBINATIONS:
            message = f"the values make {count:,} combinations, more than {MOST_COMBINATIONS:,}"
            self.report("too-many-combinations", self.drill.id.position, message, "give fewer values, or larger steps")
            return None
        columns: dict[str, Any] = {}
        choice: dict[str, Any] = {}
        indices = numpy.unravel_index(numpy.arange(count), sizes)
        for (axis, names), index in zip(axes.items(), indices, strict=True):
            choice[axis] = index
            for name in names:
                values = self.quantities[name]
                numbers = numpy.array([quantity.magnitude for quantity in values], dtype=float)
                columns[name] = registry().Quantity(numbers[index], values[0].units)
                choice[name] = index
        return Combinations(count, columns, self.shown, choice, tuple(axes))
