"""Computes drills by another way than the program does: Python's own parser, plain floats, SI factors, no library.

It knows nothing of dimensions; it only says what number comes out.
"""

from __future__ import annotations

import ast
import math
import operator
import re

BASE = {
    "B": 1.0, "byte": 1.0, "bytes": 1.0, "bit": 1 / 8, "bits": 1 / 8, "s": 1.0, "second": 1.0, "seconds": 1.0,
    "min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0, "hours": 3600.0, "day": 86400.0, "days": 86400.0,
    "token": 1.0, "tokens": 1.0, "FLOP": 1.0, "flop": 1.0, "request": 1.0, "requests": 1.0, "GPU": 1.0, "GPUs": 1.0,
    "USD": 1.0, "W": 1.0, "watt": 1.0, "Hz": 1.0, "hertz": 1.0, "percent": 0.01,
}  # fmt: skip
PREFIXES = {
    "": 1.0, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40,
}  # fmt: skip
FACTORS = {
    prefix + unit: a * b for prefix, a in PREFIXES.items() for unit, b in BASE.items() if not (prefix and b == 60)
}
FUNCTIONS = {
    "sqrt": math.sqrt, "exp": math.exp, "ln": math.log, "log2": math.log2, "min": min, "max": max,
    "ceil": lambda x: math.ceil(float(f"{x:.12g}")), "floor": lambda x: math.floor(float(f"{x:.12g}")), "round": round,
}  # fmt: skip
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
WORD = r"[^\W\d]\w*"
NUMBER = r"\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?"


def factor(unit: str) -> float:
    """How many SI units a unit such as `TB/s` is; 1 for none."""
    value, sign = 1.0, "*"
    for part in re.findall(rf"{WORD}|%|[/*·]", unit):
        if part in "/*·":
            sign = part
        else:
            one = 0.01 if part == "%" else FACTORS[part]
            value = value / one if sign == "/" else value * one
    return value


def compute(expression: str, known: dict[str, float]) -> float:
    """The SI value of an expression; ``known`` are the SI values of names."""

    def unit(match: re.Match[str]) -> str:
        words = re.split(r"\s*[/*·]\s*", match[2])
        if words[0] in known or words[0] not in FACTORS:
            return match[0]
        # A name among what follows a unit is a quantity, and no longer part of it.
        taken = words[0]
        rest = match[2][len(words[0]) :]
        for sign, word in re.findall(rf"(\s*[/*·]\s*)({WORD})", rest):
            if word in known or word not in FACTORS:
                break
            taken += sign + word
        return f"({match[1]}*{factor(taken)!r}){match[2][len(taken) :]}"

    text = expression.replace("%", " percent").replace("×", "*").replace("÷", "/").replace("·", "*")
    text = re.sub(rf"(?<![\w.])({NUMBER})\s*({WORD}(?:\s*[/*]\s*{WORD})*)", unit, text)
    return float(_value(ast.parse(text.replace("^", "**").strip(), mode="eval").body, known))


def _value(node: ast.AST, known: dict[str, float]) -> float:
    match node:
        case ast.Constant(value=value):
            return float(value)
        case ast.Name(id=name):
            return known[name] if name in known else FACTORS[name]
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](_value(left, known), _value(right, known))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, known)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return FUNCTIONS[name](*(_value(each, known) for each in arguments))
    raise ValueError(ast.dump(node))


def quantity(shown: str) -> float:
    """The SI value of a quantity as cards show it: `4,096 B`, `3.35 TB/s`, `80%`, `2.1×10⁹`."""
    match = re.fullmatch(r"(-?[\d,]+(?:\.\d+)?)(?:×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?\s*(\S*)", shown)
    power = int((match[2] or "0").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))
    return float(match[1].replace(",", "")) * 10.0**power * factor(match[3])


def steps_of(text: str) -> list[tuple[str, str, str]]:
    """The name, the expression and the unit ('' for none) of each line of a calculation."""
    found = []
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if line:
            name, _, rest = line.partition("=")
            expression, _, unit = rest.replace("→", "->").partition("->")
            found.append((name.strip(), expression.strip(), unit.strip()))
    return found
