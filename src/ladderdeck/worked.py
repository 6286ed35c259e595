"""The `calc` blocks of one answer, computed line by line, and as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .calc import Step, calculate
from .calc_line import CalculationError
from .model import Position, Problem, Severity, Text
from .render import show_text


@dataclass(frozen=True)
class Worked:
    """The steps of each block, and all quantities by name (as :mod:`.calc` computes with them)."""

    blocks: tuple[tuple[Step, ...], ...] = ()
    quantities: Mapping[str, Any] | None = None

    def html(self, block: int) -> str:
        """A block as a list of definitions: what is given, and what comes out of it by which arithmetic."""
        lines = "".join(_line(step) for step in self.blocks[block])
        return f'<dl class="calc">{lines}</dl>'


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
    result = f"<b>{show_text(str(step.result))}</b>"
    if step.given:
        arithmetic = f"= {result}"
    elif step.substituted == step.expression:
        arithmetic = f"= {show_text(step.expression)} = {result}"
    else:
        arithmetic = f"= {show_text(step.expression)}<br>= {show_text(step.substituted)}<br>= {result}"
    note = f' <span class="note">{show_text(step.note)}</span>' if step.note else ""
    return f'<dt dir="auto">{show_text(step.name)}{note}</dt><dd>{arithmetic}</dd>'
