"""A calculation for many sets of numbers at once: the language of :mod:`.calc`, computed column by column.

Each quantity holds an array with one number a set. So thousands of combinations cost little more than one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .calc import SLIP, Parser, in_unit
from .calc_line import CalculationError, line_parts
from .units import Quantity, shown, unit_name


@dataclass(frozen=True)
class Column:
    """A line computed for every set of numbers.

    ``quantity`` is what later lines compute with, ``values`` are the numbers as they are to be shown, counting ``unit``.
    ``uses`` are the names in the expression, ``given`` tells a constant that was put in.
    """

    name: str
    expression: str
    note: str
    given: bool
    unit: str
    values: Any
    quantity: Any
    uses: frozenset[str]
    parser: Parser

    def shown(self, index: int) -> Quantity:
        """The result for the set with this index."""
        return Quantity(float(self.values[index]), self.unit)

    def substituted(self, texts: Mapping[str, str]) -> str:
        """The expression with the texts of a set in the place of its names."""
        return self.parser.written({name: texts[name] for name in self.uses})

    def count(self, quantity: Any) -> Any:
        """The numbers of another quantity, counted as this one is shown. Raises CalculationError where units do not fit."""
        import pint

        try:
            return quantity.to(self.quantity.units if self.unit else "").magnitude
        except pint.DimensionalityError:
            one, other = unit_name(quantity.units) or "plain numbers", self.unit or "plain numbers"
            raise CalculationError(0, f"a quantity in {one} cannot be shown in {other}", "check the units") from None


def compute_column(line: str, known: Mapping[str, Any], count: int) -> Column:
    """One line for ``count`` sets of numbers. Raises CalculationError.

    A set for which it cannot be computed (it divides by zero, say) has a number that is not finite.
    """
    import numpy

    parts = line_parts(line, known)
    parser = _ColumnParser(parts.expression, parts.column, known)
    with numpy.errstate(all="ignore"):
        quantity = parser.whole()
        if parts.unit is not None:
            quantity = in_unit(quantity, parts.unit, parts.unit_column)
    values, unit = shown_numbers(quantity, parts.unit)
    values = numpy.broadcast_to(values, (count,))
    return Column(
        parts.name,
        parser.written(),
        parts.note,
        not parser.computes,
        unit,
        values,
        quantity,
        frozenset(parser.names()),
        parser,
    )


def shown_numbers(quantity: Any, unit: str | None) -> tuple[Any, str]:
    """The numbers of a column and their unit, as :func:`.units.shown` shows a single one."""
    if unit is not None:
        return quantity.magnitude, shown(1 * quantity.units, unit).unit
    if quantity.dimensionless:
        return quantity.to("").magnitude, ""
    return quantity.magnitude, unit_name(quantity.units)


class _ColumnParser(Parser):
    """The parser of calculations, with functions and exponents that take arrays."""

    def __init__(self, text: str, column: int, known: Mapping[str, Any]) -> None:
        import numpy

        super().__init__(text, column, known)
        self.functions = {
            "min": numpy.minimum,
            "max": numpy.maximum,
            "exp": numpy.exp,
            "ln": numpy.log,
            "log2": numpy.log2,
            "ceil": lambda values: _snapped(values, numpy.ceil),
            "floor": lambda values: _snapped(values, numpy.floor),
            "round": numpy.round,
        }

    def plain_number(self, quantity: Any) -> Any:
        """A quantity without a unit as its bare numbers."""
        return quantity.to("").magnitude


def _snapped(values: Any, rounding: Any) -> Any:
    """Numbers rounded up or down, but for those that arithmetic has missed a whole number by: as single numbers are."""
    import numpy

    whole = numpy.rint(values)
    is_whole = numpy.abs(values - whole) <= SLIP * numpy.maximum(1.0, numpy.abs(values))
    return numpy.where(is_whole, whole, rounding(values))
