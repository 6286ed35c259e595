"""The best one-to-one choice of pairs from a matrix of scores, and which of the choices were too close to call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Pair:
    """A row and the column chosen for it. ``other_column`` could as well have been the row's, ``other_row`` the column's
    (None where nothing came close)."""

    row: int
    column: int
    other_column: int | None = None
    other_row: int | None = None


def best_pairs(scores: Any, threshold: float, margin: float) -> list[Pair]:
    """The pairs of the one-to-one choice with the greatest sum of scores, by rows; what is below ``threshold`` is no pair.

    ``scores`` is a matrix (numpy), best with rows and columns in the order of the texts: of equal choices the one that
    keeps the order wins. A pair is too close to call where another choice would lose less than ``margin``.
    """
    import numpy

    # What is below the threshold counts nothing, lest a hopeless pair spoil a good one.
    gains = numpy.round(scores, 6)
    gains[gains < threshold] = 0
    columns, ordered = numpy.arange(gains.shape[1]), gains.copy()
    for row in range(len(ordered)):
        # Far below the rounding, and least in sum where the order is kept: ties fall alike on every machine.
        ordered[row] -= 1e-13 * (row - columns) ** 2
    chosen = _assigned(ordered)
    pairs = {int(row): int(column) for row, column in chosen if gains[row, column] > 0}
    owners = {column: row for row, column in pairs.items()}
    return [
        Pair(
            row,
            column,
            _other_column(gains, row, column, owners, margin),
            _other_row(gains, row, column, pairs, margin),
        )
        for row, column in sorted(pairs.items())
    ]


def _assigned(gains: Any) -> list[tuple[int, int]]:
    """The one-to-one choice with the greatest sum."""
    if gains.size and 1 in gains.shape:
        # After the edit of a single text there is nothing to solve: scipy would take longer to import than all the rest.
        row, column = divmod(int(gains.argmax()), gains.shape[1])
        return [(row, column)]
    from scipy.optimize import linear_sum_assignment

    return list(zip(*linear_sum_assignment(gains, maximize=True), strict=True))


def _other_column(gains: Any, row: int, column: int, owners: dict[int, int], margin: float) -> int | None:
    """A column that the row could as well have got: for free, or by a swap with its owner."""
    for other in (int(index) for index in gains[row].nonzero()[0] if index != column):
        loss = gains[row, column] - gains[row, other]
        owner = owners.get(other)
        if owner is not None:
            loss += gains[owner, other] - gains[owner, column]
        if loss < margin:
            return other
    return None


def _other_row(gains: Any, row: int, column: int, pairs: dict[int, int], margin: float) -> int | None:
    """A row that has no column and could as well have got this one; what swaps would do is seen from the row's side."""
    for other in (int(index) for index in gains[:, column].nonzero()[0] if int(index) not in pairs):
        if gains[row, column] - gains[other, column] < margin:
            return other
    return None
