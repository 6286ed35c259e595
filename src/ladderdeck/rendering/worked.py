"""The `calc` blocks of one answer, computed line by line, and as HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..calculating.calc import NO_BREAK_SPACE, Step, calculate
from ..calculating.calc_line import CalculationError
from ..calculating.units import SUPERSCRIPT, conversion
from ..values.model import Position, Problem, Severity, Text
from .render import show_text

OPEN_STEPS = 2
"""How many steps a calculation may have to stand in the text as it is."""


@dataclass(frozen=True)
class Worked:
    """The steps of each block, and all quantities by name (as :mod:`.calc` computes with them)."""

    blocks: tuple[tuple[Step, ...], ...] = ()
    quantities: Mapping[str, Any] | None = None

    def html(self, block: int) -> str:
        """A block as a list of definitions: what comes out, and by which arithmetic. A long one is folded.

        The text quotes what matters of a block; unfolded, the arithmetic would push the text off a phone's screen.
        """
        steps = self.blocks[block]
        lines = f'<dl class="calc">{"".join(_line(step) for step in steps)}</dl>'
        if len(steps) <= OPEN_STEPS:
            return lines
        chinese, english = f"演算：{len(steps)} 步", f"Worked out in {len(steps)} steps"
        label = f'<span class="zh">{chinese}</span><span class="en">{english}</span>'
        return f'<details class="worked"><summary class="tappable">{label}</summary>{lines}</details>'


def work(blocks: Sequence[Text]) -> tuple[Worked, tuple[Problem, ...]]:
    """Compute the lines of ``blocks`` in order. A line that cannot be computed is a problem, and left out."""
    problems: list[Problem] = []
    quantities: dict[str, Any] = {}
    computed = []
    for block in blocks:
        steps = []
        for number, line in enumerate(block.text.split("\n")):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            try:
                step, quantity = calculate(line, quantities)
            except CalculationError as error:
                position = Position(block.position.file, block.position.line + number, error.column + 1)
                problems.append(Problem("calculation", Severity.ERROR, position, error.message, error.hint))
                continue
            steps.append(step)
            quantities[step.name] = quantity
        computed.append(tuple(steps))
    return Worked(tuple(computed), quantities), tuple(problems)


def _line(step: Step) -> str:
    """A step: name, remark and result in one line, the arithmetic below it."""
    result = f"<b>{show_text(str(step.result).replace(' ', NO_BREAK_SPACE))}</b>"
    note = f' <span class="note">{show_text(step.note)}</span>' if step.note else ""
    ways = [] if step.given else dict.fromkeys((step.expression, step.substituted))
    arithmetic = "".join(f"<dd>= {powers(show_text(way))}</dd>" for way in ways)
    factor = conversion(step.substituted, step.result.unit)
    if factor:
        arithmetic += f'<dd><span class="note">{show_text(factor)}</span></dd>'
    return f'<dt dir="auto"><span>{show_text(step.name)}{note}</span> {result}</dt>{arithmetic}'


_POWER = re.compile(r"\^(-?[\w.]+|\([^()]*\))")


def powers(expression: str) -> str:
    """An expression as HTML, with its exponents raised."""
    return _POWER.sub(r"<sup>\1</sup>", raised(expression))


def raised(expression: str) -> str:
    """An expression as plain text, with whole exponents raised: there are letters for those, at the size of the text."""
    return re.sub(r"\^(-?\d+)(?![\d.])", lambda match: match[1].translate(SUPERSCRIPT), expression)
