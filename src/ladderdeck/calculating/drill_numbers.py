"""The numbers of a drill: all combinations of what is given, computed and checked, and the variants chosen from them.

Pure and the same everywhere: what is chosen follows from hashes of what each combination holds, never from a clock, an
order of files or a random generator.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..answering.drills import Drill, Mistake
from ..values.model import Position, Problem, Severity, Text
from .calc import calculate
from .calc_line import CalculationError
from .columns import Column, compute_column
from .drill_values import Combinations, combinations
from .units import Quantity

VARIANTS = 37
"""How many variants a note holds at most; a prime, so that every step from day to day leads through all of them."""

LEAST = 20
"""How many variants there must be."""

LEAST_RESULTS = 8
"""How many different results there must be among them, or the answer would be learnt by heart after all."""

_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class WorkedStep:
    """A step with the numbers of a variant in it; ``given`` tells a constant that was put in."""

    name: str
    expression: str
    substituted: str
    result: Quantity
    note: str
    given: bool


@dataclass(frozen=True)
class Variant:
    """One set of numbers: what each name of the drill stands for as it is shown, and the calculation with it.

    ``low`` and ``high`` enclose what counts as right, in the result's unit. ``wrong`` has what each mistake gives, None
    where that cannot be told from the right result.
    """

    texts: Mapping[str, str]
    steps: tuple[WorkedStep, ...]
    result: Quantity
    low: float
    high: float
    wrong: tuple[Quantity | None, ...]


def variants(drill: Drill, pack: str, language: str) -> tuple[tuple[Variant, ...], tuple[Problem, ...]]:
    """The variants of a drill in the order in which the days take them; none where something is wrong with it."""
    given, problems = combinations(drill)
    if given is None:
        return (), problems
    numbers = _Numbers(drill, given)
    found = numbers.variants(f"{pack}\x1f{language}\x1f{drill.id.text}")
    return (() if numbers.problems else found), tuple(numbers.problems)


def _rank(salt: str, texts: Sequence[str]) -> str:
    """The place of a combination among all others: it depends on nothing but the drill and what the combination holds."""
    content = "\x1f".join(("ladderdeck drill", salt, *texts))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


class _Numbers:
    """One run over a drill; stops at the first stage in which something is wrong, for what follows depends on it."""

    def __init__(self, drill: Drill, given: Combinations) -> None:
        self.drill = drill
        self.given = given
        self.quantities = dict(given.quantities)
        self.columns: list[Column] = []
        self.problems: list[Problem] = []

    def report(self, code: str, position: Position, message: str, hint: str) -> None:
        self.problems.append(Problem(code, Severity.ERROR, position, message, hint))

    def variants(self, salt: str) -> tuple[Variant, ...]:
        self.compute()
        result = None if self.problems else self.result()
        self.check_use()
        if result is None:
            return ()
        bounds = self.bounds(result)
        if bounds is not None:
            self.check_bounds(result, bounds)
        wrong = self.mistakes(result)
        if self.problems:
            return ()
        made = tuple(self.variant(index, result, wrong) for index in self.choose(salt))
        self.check_variants(made)
        return made

    # The calculation

    def compute(self) -> None:
        for line in self.drill.steps:
            column = self.column(line, line.text)
            if column is None:
                continue
            if column.name in self.given.shown:
                message = f"`{column.name}` is the name of a group already"
                self.report("calculation", line.position, message, "give the step a name of its own")
            self.quantities[column.name] = column.quantity
            self.columns.append(column)

    def column(self, place: Text, line: str, lead: int = 0) -> Column | None:
        """A line computed for all combinations; ``lead`` is how many of its characters stand before those of ``place``."""
        import numpy

        try:
            column = compute_column(line, self.quantities, self.given.count)
        except CalculationError as error:
            position = replace(place.position, column=place.position.column + max(error.column - lead, 0))
            self.report("calculation", position, error.message, error.hint)
            return None
        infinite = ~numpy.isfinite(column.values)
        if infinite.any():
            where = self.given.described(int(numpy.argmax(infinite)))
            message = f"this cannot be computed (a division by zero, perhaps) with {where}"
            self.report("calculation", place.position, message, "leave such values out, or mend the expression")
            return None
        return column

    def check_use(self) -> None:
        """Every given quantity is used, by a step or by a mistake."""
        drill = self.drill
        written = [*(line.text for line in drill.steps), *(mistake.gives.text for mistake in drill.mistakes)]
        used = {word for text in written for word in _WORD.findall(text.partition("#")[0])}
        for given in drill.given:
            if given.name.text not in used:
                message = f"`{given.name.text}` is given, but no step and no mistake uses it"
                self.report("unused-given", given.name.position, message, "use it, or leave it out")

    def result(self) -> Column | None:
        wanted = self.drill.result
        if not wanted.text and self.columns:
            return self.columns[-1]
        for column in self.columns:
            if column.name == wanted.text:
                return column
        message, hint = f"no step is called `{wanted.text}`", "name a step, or leave `result:` out to take the last"
        self.report("unknown-name", wanted.position, message, hint)
        return None

    def bounds(self, result: Column) -> tuple[float, float] | None:
        """Both bounds in the result's unit."""
        low, high = (self.bound(text, result) for text in self.drill.bounds)
        if low is None or high is None:
            return None
        place = self.drill.bounds[0].position
        if low <= 0:
            message = (
                "the least sensible result must be more than zero: near zero a tolerance in per cent means nothing"
            )
            self.report("wrong-bounds", place, message, "write a bound above zero, or ask for something else")
            return None
        if low >= high:
            self.report("wrong-bounds", place, "the bounds are not in order", "write the smaller one first")
            return None
        return low, high

    def bound(self, text: Text, result: Column) -> float | None:
        try:
            step, quantity = calculate(f"bound = {text.text.replace('%', ' percent')}", {})
            plain = step.given and not step.result.unit and text.text.strip()[-1:].isdigit()
            return float(quantity.magnitude if plain else result.count(quantity))
        except CalculationError as error:
            self.report("wrong-bounds", text.position, f"`{text.text}`: {error.message}", error.hint)
            return None

    def check_bounds(self, result: Column, bounds: tuple[float, float]) -> None:
        import numpy

        values = result.values
        for code, bad, what in (
            ("negative-result", values <= 0, "is not more than zero"),
            ("out-of-bounds", values < bounds[0] * (1 - 1e-9), "is below the least sensible one"),
            ("out-of-bounds", values > bounds[1] * (1 + 1e-9), "is above the greatest sensible one"),
        ):
            if bad.any():
                index = int(numpy.argmax(bad))
                message = f"the result {result.shown(index)} {what}, with {self.given.described(index)}"
                if bad.sum() > 1:
                    message += f", and so in {int(bad.sum()) - 1} more of {self.given.count} combinations"
                hint = "leave such values out, or widen the bounds if that is sensible"
                self.report(code, self.drill.bounds[0].position, message, hint)
                return

    def mistakes(self, result: Column) -> list[Any]:
        """For each mistake the wrong numbers in the result's unit."""
        found = []
        for mistake in self.drill.mistakes:
            values = self.wrong(mistake, result)
            if values is None:
                continue
            share = float((abs(values - result.values) <= self.drill.tolerance * abs(result.values)).mean())
            if share > 0.5:
                message = f"this gives the right number, within the tolerance, in {share:.0%} of the combinations"
                hint = "choose a mistake that shows, or a smaller tolerance"
                self.report("useless-mistake", mistake.gives.position, message, hint)
            found.append(values)
        return found

    def wrong(self, mistake: Mistake, result: Column) -> Any:
        import numpy

        name = "wrong"
        while name in self.quantities:
            name += "_"
        column = self.column(mistake.gives, f"{name} = {mistake.gives.text}", len(name) + 3)
        if column is None:
            return None
        try:
            return numpy.broadcast_to(result.count(column.quantity), (self.given.count,))
        except CalculationError as error:
            message = f"the mistake is no quantity like the result: {error.message}"
            self.report("unit-clash", mistake.gives.position, message, "mend its expression")
            return None

    # The variants

    def choose(self, salt: str) -> list[int]:
        """The indices of the combinations that become variants: the first by rank, none with the numbers of another."""
        given, names = self.given, sorted(self.given.shown)
        ranked = sorted(
            (_rank(salt, [f"{name}={given.text(name, index)}" for name in names]), index)
            for index in range(given.count)
        )
        numbers = sorted(given.quantities)
        chosen: dict[tuple[str, ...], int] = {}
        for _, index in ranked:
            if len(chosen) < VARIANTS:
                chosen.setdefault(tuple(given.text(name, index) for name in numbers), index)
        if len(chosen) < LEAST:
            message = f"the values make only {len(chosen)} different sets of numbers, fewer than {LEAST}"
            self.report("too-few-variants", self.drill.id.position, message, "give more values")
        return list(chosen.values())

    def variant(self, index: int, result: Column, wrong: Sequence[Any]) -> Variant:
        texts = {name: self.given.text(name, index) for name in self.given.shown}
        steps = []
        for column in self.columns:
            shown, substituted = column.shown(index), column.substituted(texts)
            steps.append(WorkedStep(column.name, column.expression, substituted, shown, column.note, column.given))
            texts[column.name] = str(shown)
        value, tolerance = float(result.values[index]), self.drill.tolerance
        gives = tuple(
            None if abs(values[index] - value) <= tolerance * value else Quantity(float(values[index]), result.unit)
            for values in wrong
        )
        band = (value * (1 - tolerance), value * (1 + tolerance))
        return Variant(texts, tuple(steps), result.shown(index), *band, gives)

    def check_variants(self, made: Sequence[Variant]) -> None:
        results = {str(variant.result) for variant in made}
        if not self.problems and len(results) < LEAST_RESULTS:
            message = f"the variants have only {len(results)} different results, fewer than {LEAST_RESULTS}"
            self.report("too-few-results", self.drill.id.position, message, "give values that differ more")
