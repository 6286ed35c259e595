"""Units of worked numbers, and how a quantity is shown. Pint does the arithmetic, on a registry of our own."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass
from typing import Any

_WORD = re.compile(r"[A-Za-zµμ]+")
_UNITS = """
quetta- = 1e30
tera- = 1e12 = T-
giga- = 1e9 = G-
mega- = 1e6 = M-
kilo- = 1e3 = k-
milli- = 1e-3 = m-
micro- = 1e-6 = u- = µ- = μ-
nano- = 1e-9 = n-
peta- = 1e15 = P-
exa- = 1e18 = E-
kibi- = 1024 = Ki-
mebi- = 1048576 = Mi-
gibi- = 1073741824 = Gi-
tebi- = 1099511627776 = Ti-
second = [time] = s = seconds
minute = 60 * second = min
hour = 3600 * second = h = hours
day = 86400 * second = days
byte = [information] = B = bytes
bit = byte / 8 = _ = bits
token = [token] = _ = tokens
FLOP = [computation] = _ = flop
request = [request] = _ = requests
GPU = [device] = _ = GPUs
USD = [currency]
watt = [power] = W
percent = 0.01
hertz = 1 / second = Hz
"""

UNIT_NAMES = ("B", "bit", "s", "min", "hour", "day", "token", "FLOP", "request", "GPU", "USD", "W", "Hz", "percent")
"""The units by the names that people write, for messages; prefixes such as k, M, Ki go before them."""

_LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Quantity:
    """A number with its unit, as it is to be shown: ``value`` counts ``unit``, a text such as ``GB/s`` ('' for none)."""

    value: float
    unit: str

    def __str__(self) -> str:
        number = show_number(self.value)
        if self.unit == "%":
            return f"{number}%"
        return f"{number} {self.unit}" if self.unit else number


@functools.cache
def registry() -> Any:
    """The units that a calculation may use, and no others, as pint's registry; made at the first call."""
    # Pint costs a tenth of a second to import, which only a deck with calculations should pay.
    import pint

    units: Any = pint.UnitRegistry(None)
    for line in _UNITS.strip().splitlines():
        units.define(line)
    return units


def shown(quantity: Any, unit: str | None) -> Quantity:
    """A pint quantity as a number and a unit to show: ``unit`` where one was asked for, else its own."""
    if unit is not None:
        return Quantity(float(quantity.magnitude), unit.strip().replace("percent", "%"))
    plain = quantity.to_reduced_units() if quantity.dimensionless else quantity
    if plain.dimensionless:
        return Quantity(float(plain.to("").magnitude), "")
    return Quantity(float(plain.magnitude), unit_name(plain.units))


def unit_name(units: Any) -> str:
    """The short name of pint's units, such as ``GB/s``; '' for a plain number."""
    return f"{registry().Unit(units):~C}".replace("**", "^").replace("*", "·")


@functools.cache
def is_unit(name: str) -> bool:
    """Whether a word is a unit, with or without a prefix."""
    # What is no plain word never is one, and upsets pint: it reads `_x`, `½` and `nan` as something else.
    return _WORD.fullmatch(name) is not None and name.lower() != "nan" and name in registry()


_BINARY = re.compile(r"(?<![A-Za-z])([KMGT])iB(?![A-Za-z])")
_DECIMAL = re.compile(r"(?<![A-Za-z])[kMGTP]B(?![A-Za-z])")


def conversion(arithmetic: str, unit: str) -> str:
    """What a reader needs to check a step by hand that goes from bytes by 1,024 to bytes by 1,000, or back; else ''.

    ``arithmetic`` is the step with its values, ``unit`` that of its result.
    """
    both = f"{arithmetic} {unit}"
    binary = _BINARY.search(both)
    if binary is None or _DECIMAL.search(both) is None:
        return ""
    return f"1 {binary[0]} = {1024 ** ('KMGT'.index(binary[1]) + 1):,} B"


def show_number(value: float) -> str:
    """A number as a person writes it: whole below ten million, else three digits that count, and powers of ten."""
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    if 1e-3 <= abs(value) < 1e6:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        return f"{value:,.{digits}f}".rstrip("0").rstrip(".") if digits else f"{value:,.0f}"
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}×10{str(int(exponent)).translate(SUPERSCRIPT)}"


def read_number(shown: str) -> float:
    """The number that a text of :func:`show_number` says."""
    mantissa, _, power = shown.replace(",", "").partition("×10")
    return float(f"{mantissa}e{power.translate(_LOWERED) or 0}")
