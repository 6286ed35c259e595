"""Quoted quantities: `[4.79 ms](#name)` in the text of an answer must say what the calculation gives."""

from __future__ import annotations

import re

from ..calculating.calc import convert
from ..calculating.calc_line import CalculationError
from ..calculating.units import Quantity, show_number
from .worked import Worked

_NUMBER = re.compile(
    r"\s*(?:约|大约|≈|~|about\s)?\s*(?P<number>[-−]?\d[\d,]*(?:\.\d+)?)"
    r"(?:\s*(?:×|x)\s*10(?P<power>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\^-?\d+)|e(?P<exponent>[+-]?\d+))?\s*(?P<unit>.*?)\s*\Z",
    re.IGNORECASE,
)
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_NO_UNIT = ("", "×", "x", "倍", "个", "张", "次", "步", "层", "路", "条")
"""What may stand behind a plain number without changing it: Chinese counts with classifiers."""

_CHINESE_UNITS = {
    "天": "day", "小时": "hour", "分钟": "min", "秒": "s", "毫秒": "ms", "微秒": "us", "美元": "USD", "字节": "B",
}  # fmt: skip
"""What a unit is called in Chinese prose."""

Complaint = tuple[str, str, str]
"""A problem's code, message and hint."""


def check_quote(label: str, name: str, worked: Worked) -> tuple[str, Complaint | None]:
    """The text to show for a quote of the quantity ``name``, and what is wrong with it.

    An empty ``label`` shows the computed value; any other must begin with a number, which must agree with the computed
    one in all the digits that it has.
    """
    quantities = worked.quantities or {}
    if name not in quantities:
        hint = "define it in a `calc` block of the same answer"
        return label or name, ("unknown-quantity", f"`{name}` is not computed in this answer", hint)
    shown = next(step.result for block in worked.blocks for step in block if step.name == name)
    if not label.strip():
        return str(shown), None
    match = _NUMBER.match(label)
    if not match:
        return label, ("wrong-quote", f"`{label}` does not begin with a number", f"the calculation gives {shown}")
    number = match["number"].replace(",", "").replace("−", "-")
    power = int(match["power"].lstrip("^").translate(_RAISED)) if match["power"] else int(match["exponent"] or 0)
    unit = _unit(match["unit"], shown)
    try:
        value = convert(quantities[name], unit)
    except CalculationError:
        return label, ("wrong-quote", f"`{label}` is not in a unit of `{name}`", f"the calculation gives {shown}")
    # Half of the last digit that counts, and a hair for rounding of halves.
    tolerance = 0.5000001 * 10.0 ** (power - _decimals(number))
    if abs(value - float(number) * 10.0**power) > tolerance:
        there = Quantity(value, match["unit"]) if match["unit"] else show_number(value)
        return label, ("wrong-quote", f"`{label}` is not what `{name}` comes to", f"the calculation gives {there}")
    return label, None


def _decimals(number: str) -> int:
    """How many digits behind the point count; below 0 for a whole number whose last zeros only fill up: 4790 is 4.79e3."""
    whole, _, fraction = number.lstrip("-").partition(".")
    if fraction:
        return len(fraction)
    return -max(0, len(whole) - max(3, len(whole.rstrip("0"))))


def _unit(typed: str, shown: Quantity) -> str:
    if typed == "%":
        return "percent"
    if typed in _NO_UNIT:
        return "" if shown.unit == "%" else shown.unit
    return _CHINESE_UNITS.get(typed, typed)
