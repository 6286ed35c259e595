"""Worked numbers: named quantities with units, computed at build time. A small language of its own, no `eval`.

A line is ``name = expression -> unit  # note``. A number may carry a unit (``3.35 TB/s``); names stand for quantities of
earlier lines. Units are checked in every step by pint, on a registry that holds only what such calculations need, so
that bytes are no plain numbers and a slip of dimension is an error.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .calc_line import CalculationError, line_parts
from .units import UNIT_NAMES, Quantity, is_unit, registry, shown, unit_name

NO_BREAK_SPACE = "\u00a0"
"""Between a number and its unit, so that a narrow screen does not part them."""
DEEPEST = 60
"""How deep parentheses may nest; a calculation that a person follows has three or four."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:_\d+)*(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<name>[^\W\d]\w*)|(?P<operator>\*\*|[-+*/^(),×÷·]))"
)


@dataclass(frozen=True)
class Step:
    """A line of a calculation: its name, the expression as written and with values in it, and what comes out.

    ``given`` tells a quantity that was put in from one that was computed.
    """

    name: str
    expression: str
    substituted: str
    result: Quantity
    note: str
    given: bool


def calculate(line: str, known: Mapping[str, Any]) -> tuple[Step, Any]:
    """One line of a calculation, given the quantities ``known`` by name (as this function returns them).

    Returns the step for showing and the quantity for later lines. Raises CalculationError.
    """
    parts = line_parts(line, known)
    parser = Parser(parts.expression, parts.column, known)
    quantity = parser.whole()
    if parts.unit is not None:
        quantity = in_unit(quantity, parts.unit, parts.unit_column)
    result = shown(quantity, parts.unit)
    if not math.isfinite(result.value):
        raise CalculationError(parts.column, f"`{parts.name}` is too large to compute", "check the numbers")
    values = {name: str(shown(known[name], None)) for name in parser.names()}
    step = Step(parts.name, parser.written(), parser.written(values), result, parts.note, not parser.computes)
    return step, quantity


def convert(quantity: Any, unit: str) -> float:
    """How many ``unit`` a quantity of :func:`calculate` is. Raises CalculationError where that makes no sense."""
    return float(in_unit(quantity, unit, 0).magnitude)


def in_unit(quantity: Any, unit: str, column: int) -> Any:
    """A quantity counted in ``unit``, which stands at ``column`` of its line. Raises CalculationError."""
    import pint

    target = Parser(unit, column, {}).unit_only()
    try:
        return quantity.to(target.units) / target.magnitude
    except pint.DimensionalityError:
        message = f"a quantity in {unit_name(quantity.units) or 'plain numbers'} cannot be shown in {unit.strip()}"
        raise CalculationError(column, message, "check the units of the expression") from None


_FUNCTIONS: dict[str, tuple[int, int]] = {
    "sqrt": (1, 1),
    "exp": (1, 1),
    "ln": (1, 1),
    "log2": (1, 1),
    "min": (2, 8),
    "max": (2, 8),
    "ceil": (1, 1),
    "floor": (1, 1),
    "round": (1, 1),
}
"""The functions, and how many arguments each takes, at least and at most."""

SLIP = 1e-12
"""By which share of itself a whole number may be missed in binary arithmetic: 8.4 / 0.6 is 14, not the next above."""


def _snapped(rounding: Callable[[float], int]) -> Callable[[float], int]:
    """A way to round that takes a number for whole which arithmetic has missed by no more than its own slips."""

    def rounded(value: float) -> int:
        whole = round(value)
        return whole if abs(value - whole) <= SLIP * max(1.0, abs(value)) else rounding(value)

    return rounded


_PLAIN: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "exp": math.exp,
    "ln": math.log,
    "log2": math.log2,
    "ceil": _snapped(math.ceil),
    "floor": _snapped(math.floor),
    "round": round,
}


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    column: int


class Parser:
    """Reads and computes one expression: sums of products of powers of numbers, names, functions and parentheses."""

    functions: Mapping[str, Callable[..., Any]] = _PLAIN
    """How functions compute; a subclass may compute with more than single numbers."""

    def __init__(self, text: str, column: int, known: Mapping[str, Any]) -> None:
        self.tokens = _tokens(text, column)
        self.known = known
        self.index = 0
        self.depth = 0
        self.computes = False
        self.end = column + len(text)

    def plain_number(self, quantity: Any) -> Any:
        """A quantity without a unit as what functions and exponents compute with."""
        return float(quantity.to("").magnitude)

    def whole(self) -> Any:
        """The quantity that the expression comes to. Raises CalculationError."""
        quantity = self._guarded(self._sum)
        if self.index < len(self.tokens):
            token = self.tokens[self.index]
            raise CalculationError(token.column, f"`{token.text}` does not belong here", "put an operator before it")
        return quantity

    def unit_only(self) -> Any:
        """The unit that the text is, as a quantity of one of it; none is a plain number."""
        if not self.tokens:
            return registry().Quantity(1.0, "")
        quantity = self._more_units(1 * self._unit(self._next()))
        if self.index < len(self.tokens):
            token = self.tokens[self.index]
            hint = "write a unit such as ms or GB/s, and a remark behind a `#`"
            raise CalculationError(token.column, f"`{token.text}` does not belong to a unit", hint)
        return quantity

    def names(self) -> set[str]:
        """The names of known quantities in the expression."""
        return {token.text for token in self.tokens if token.kind == "name" and token.text in self.known}

    def written(self, values: Mapping[str, str] | None = None) -> str:
        """The expression in the signs of arithmetic; with ``values`` what they hold in the place of each name."""
        parts: list[str] = []
        for before, token in zip([None, *self.tokens], self.tokens, strict=False):
            text = {"*": " × ", "×": " × ", "/": " ÷ ", "÷": " ÷ ", "+": " + ", "-": " − ", "**": "^", ",": ", "}.get(
                token.text, token.text
            )
            if token.kind == "operator" and token.text == "/" and self._in_unit(token):
                text = "/"
            elif token.kind == "name" and values and token.text in values:
                text = values[token.text].replace(" ", NO_BREAK_SPACE)
            elif token.kind == "name" and before is not None and before.kind == "number":
                text = f"{NO_BREAK_SPACE}{text}"
            parts.append(text)
        return "".join(parts).strip()

    def _in_unit(self, slash: _Token) -> bool:
        at = self.tokens.index(slash)
        around = self.tokens[at - 1 : at] + self.tokens[at + 1 : at + 2]
        return len(around) == 2 and all(
            t.kind == "name" and t.text not in self.known and is_unit(t.text) for t in around
        )

    def _guarded(self, compute: Callable[[], Any]) -> Any:
        import pint

        at = self.tokens[0].column if self.tokens else self.end
        try:
            return compute()
        except pint.DimensionalityError as error:
            one, other = (unit_name(u) if not isinstance(u, str) else u for u in (error.units1, error.units2))
            message = f"the units do not fit: {one or 'a plain number'} and {other or 'a plain number'}"
            raise CalculationError(at, message, "convert one side, or check the formula") from None
        except ZeroDivisionError:
            raise CalculationError(at, "this divides by zero", "check the numbers") from None
        except (OverflowError, ValueError):
            raise CalculationError(
                at, "this cannot be computed: too large, or not a number", "check the numbers"
            ) from None

    def _peek(self) -> str:
        return self.tokens[self.index].text if self.index < len(self.tokens) else ""

    def _next(self) -> _Token:
        if self.index >= len(self.tokens):
            raise CalculationError(self.end, "the expression ends too early", "write what is missing")
        self.index += 1
        return self.tokens[self.index - 1]

    def _sum(self) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise CalculationError(self._next().column, "the expression is nested too deep", "compute in several lines")
        value = self._product()
        while self._peek() in ("+", "-"):
            self.computes = True
            add = self._next().text == "+"
            other = self._product()
            value = value + other if add else value - other
        self.depth -= 1
        return value

    def _product(self) -> Any:
        value = self._power()
        while self._peek() in ("*", "/", "×", "÷", "·"):
            self.computes = True
            multiply = self._next().text in ("*", "×", "·")
            other = self._power()
            value = value * other if multiply else value / other
        return value

    def _power(self) -> Any:
        if self._peek() == "-":
            self._next()
            return -self._power()
        value = self._atom()
        if self._peek() in ("^", "**"):
            self.computes = True
            self._next()
            exponent = self._power()
            value = value ** self.plain_number(exponent)
        if isinstance(value.magnitude, complex):
            # The root of a negative number.
            raise OverflowError
        return value

    def _atom(self) -> Any:
        token = self._next()
        if token.kind == "number":
            quantity = registry().Quantity(float(token.text.replace("_", "")), "")
            following = self.tokens[self.index] if self.index < len(self.tokens) else None
            if following and following.kind == "name" and following.text not in self.known:
                quantity = self._more_units(quantity * self._unit(self._next()))
            return quantity
        if token.text == "(":
            value = self._sum()
            self._expect(")")
            return value
        if token.kind == "name" and token.text in _FUNCTIONS and self._peek() == "(":
            return self._call(token)
        if token.kind == "name" and token.text in self.known:
            self.computes = True
            return self.known[token.text]
        if token.kind == "name":
            return registry().Quantity(1.0, self._unit(token))
        raise CalculationError(token.column, f"`{token.text}` does not belong here", "write a number or a name")

    def _more_units(self, quantity: Any) -> Any:
        """Units that follow a unit belong to it: `450 GB/s` is one number, also behind a division sign."""
        while self.index + 1 < len(self.tokens) and self._peek() in ("/", "*", "·"):
            following = self.tokens[self.index + 1]
            if following.kind != "name" or following.text in self.known or not is_unit(following.text):
                return quantity
            divide = self._next().text == "/"
            unit = self._unit(self._next())
            quantity = quantity / unit if divide else quantity * unit
        return quantity

    def _unit(self, token: _Token) -> Any:
        if token.kind == "name" and is_unit(token.text):
            return registry().parse_units(token.text)
        hint = f"define it in a line above, or write a unit: {', '.join(UNIT_NAMES)}"
        raise CalculationError(token.column, f"`{token.text}` is neither a quantity defined above nor a unit", hint)

    def _call(self, name: _Token) -> Any:
        self.computes = True
        self._expect("(")
        arguments = [self._sum()]
        while self._peek() == ",":
            self._next()
            arguments.append(self._sum())
        self._expect(")")
        least, most = _FUNCTIONS[name.text]
        if not least <= len(arguments) <= most:
            raise CalculationError(name.column, f"`{name.text}` does not take {len(arguments)} arguments", "check them")
        if name.text in ("min", "max"):
            return functools.reduce(self.functions[name.text], arguments)
        if name.text == "sqrt":
            return arguments[0] ** 0.5
        argument = arguments[0]
        if name.text in ("ceil", "floor", "round") and not argument.dimensionless:
            return type(argument)(self.functions[name.text](argument.magnitude) * 1.0, argument.units)
        return type(argument)(self.functions[name.text](self.plain_number(argument)) * 1.0, "")

    def _expect(self, text: str) -> None:
        token = self._next()
        if token.text != text:
            raise CalculationError(token.column, f"`{token.text}` stands where `{text}` should", f"write `{text}`")


def _tokens(text: str, column: int) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TOKEN.match(text, position)
        if match is None:
            at = position + len(text[position:]) - len(text[position:].lstrip())
            raise CalculationError(
                column + at, f"`{text[at]}` has no meaning here", "use numbers, names, + - * / ^ ( )"
            )
        kind = match.lastgroup or ""
        tokens.append(_Token(kind, match[kind], column + match.start(kind)))
        position = match.end()
    return tokens
