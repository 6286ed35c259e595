"""Worked numbers: the little language, its units, and its errors with their columns."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.calculating.calc import calculate
from ladderdeck.calculating.calc_line import CalculationError
from ladderdeck.calculating.units import conversion, show_number
from ladderdeck.rendering.quoting import check_quote
from ladderdeck.rendering.worked import work
from ladderdeck.values.model import Position, Text

GIVEN = "权重 = 8.03e9 * 2 B -> GB\n带宽 = 3.35 TB/s\n层 = 32"


def results(lines: str) -> dict[str, str]:
    worked, problems = work([Text(lines, Position("a.md", 10))])
    assert not problems, problems
    return {step.name: str(step.result) for block in worked.blocks for step in block}


@pytest.mark.parametrize(
    ("line", "result"),
    [
        ("x = 1 + 2 * 3 ^ 2", "19"),
        ("x = -2 ^ 2", "-4"),
        ("x = 2 ^ 3 ^ 2", "512"),
        ("x = (1 + 2) * 3", "9"),
        ("x = 7 / 2", "3.5"),
        ("x = 2 × 3 ÷ 4 · 5", "7.5"),
        ("x = 权重 / 带宽 -> ms", "4.79 ms"),
        ("x = 权重 / 2 GB/s", "8.03 s"),
        ("x = 128 KiB/token * 8192 token -> GiB", "1 GiB"),
        ("x = 400 Gbit/s -> GB/s", "50 GB/s"),
        ("x = 989 TFLOP/s / 带宽 -> FLOP/B", "295 FLOP/B"),
        ("x = 0.345 -> percent", "34.5%"),
        ("x = floor(80 GB / (3 GB))", "26"),
        ("x = ceil(2.1) + round(2.5) + log2(8)", "8"),
        ("x = ceil(8.4 / (60 percent))", "14"),
        ("x = floor(0.3 / 0.1)", "3"),
        ("x = ceil(14.000001) + floor(2.999999)", "17"),
        ("x = max(1 ms, 2 s) -> ms", "2,000 ms"),
        ("x = min(层, 40)", "32"),
        ("x = sqrt(4 s * 9 s)", "6 s"),
        ("x = exp(0) + ln(1)", "1"),
        ("x = 2.5 USD/hour / (1500 token/s) * 1e6 token -> USD", "0.463 USD"),
        ("x = 5 request/s * 2 s", "10 request"),
        ("x = 1_000 token", "1,000 token"),
        ("x = 6.02e23", "6.02×10²³"),
        ("x = 1e-7 s", "1×10⁻⁷ s"),
        ("x = 1 GB - 1 GiB -> MB", "-73.7 MB"),
        ("x = 3 → percent  # 注", "300%"),
        ("_a = 4 s\nx = _a / 2", "2 s"),
    ],
)
def test_a_line_comes_to(line, result):
    assert results(f"{GIVEN}\n{line}")["x"] == result


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("x = 权重 + 带宽", 4, "do not fit: GB and TB/s"),
        ("x = 权重 + 1", 4, "do not fit"),
        ("x = 1 / (2 - 2)", 4, "divides by zero"),
        ("x = 1 + 无", 8, "`无` is neither"),
        ("x = 2 ^ (3 B)", 4, "do not fit"),
        ("x = exp(3 B)", 4, "do not fit"),
        ("x = 权重 -> s", 10, "cannot be shown in s"),
        ("x = 权重 -> ", 9, "no unit"),
        ("x = 10 ^ 400", 4, "cannot be computed"),
        ("x = 4 s -> s banana", 13, "`banana` does not belong to a unit"),
        ("x = 3 B -> B^2", 12, "`^` does not belong to a unit"),
        ("x = 4 s -> s/tokn", 12, "`/` does not belong to a unit"),
        ("x = 4 s / _y", 10, "`_y` is neither"),
        ("x = ½ * 4 s", 4, "`½` is neither"),
        ("x = 4 s -> nan", 11, "`nan` is neither"),
        ("x = 1e308 * 10", 4, "too large"),
        ("x = sqrt(0 - 1)", 4, "cannot be computed"),
        ("x = ln(0)", 4, "cannot be computed"),
        ("x = (1 + 2", 10, "ends too early"),
        ("x = ", 3, "ends too early"),
        ("x = 1 2", 6, "does not belong"),
        ("x = 1 ; 2", 6, "has no meaning"),
        ("x = min(1)", 4, "does not take 1"),
        ("x = __import__('os')", 15, "has no meaning"),
        ("B = 1", 0, "is a unit"),
        ("层 = 1", 0, "has a value already"),
        ("just words", 0, "no line of a calculation"),
        ("x = " + "(" * 100 + "1", 64, "nested too deep"),
        ("x = " + "1" * 500, 0, "more than"),
    ],
)
def test_what_is_wrong_is_said_at_its_column(line, column, words):
    _, problems = work([Text(f"{GIVEN}\n{line}", Position("a.md", 10))])
    (problem,) = problems
    assert (problem.code, problem.position.line, problem.position.column) == ("calculation", 13, column + 1)
    assert words in problem.message
    assert problem.hint


@given(st.text(alphabet="0123456789.eE+-*/^()x =B s,µ权# >", max_size=40))
def test_any_line_is_computed_or_refused(text):
    try:
        step, _ = calculate(f"x = {text}", {})
    except CalculationError as error:
        assert error.message
        assert error.hint
    else:
        assert math.isfinite(step.result.value)


@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15))
def test_a_number_is_shown_to_three_digits(value):
    shown = (
        show_number(value).replace(",", "").replace("×10", "e").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    )
    assert math.isclose(float(shown), value, rel_tol=0.0051, abs_tol=1e-320)


@pytest.mark.parametrize(
    ("label", "name", "code"),
    [
        ("4.79 ms", "t", None),
        ("4.8 ms", "t", None),
        ("约 5 ms", "t", None),
        ("4790 us", "t", None),
        ("0.0048 s", "t", None),
        ("4.80 ms", "t", "wrong-quote"),
        ("4.7 ms", "t", "wrong-quote"),
        ("5 GB", "t", "wrong-quote"),
        ("many ms", "t", "wrong-quote"),
        ("", "t", None),
        ("34.5%", "p", None),
        ("0.345", "p", None),
        ("2.80 倍", "q", None),
        ("2.8×", "q", None),
        ("1.6×10¹⁰ B", "w", None),
        ("16,060 MB", "w", None),
        ("1 ms", "nowhere", "unknown-quantity"),
    ],
)
def test_a_quoted_quantity_must_be_what_is_computed(label, name, code):
    lines = "w = 8.03e9 * 2 B -> GB\nt = w / 3.35 TB/s -> ms\np = 0.345 -> percent\nq = 2.8"
    worked, problems = work([Text(lines, Position("a.md", 1))])
    assert not problems
    shown, complaint = check_quote(label, name, worked)
    assert (complaint[0] if complaint else None) == code
    if not label:
        assert shown == "4.79 ms"


@pytest.mark.parametrize(
    ("arithmetic", "unit", "factor"),
    [
        ("16,000 × 320 KiB", "GB", "1 KiB = 1,024 B"),
        ("5 GB / 320 MiB/s", "s", "1 MiB = 1,048,576 B"),
        ("5 GB / 2", "GiB", "1 GiB = 1,073,741,824 B"),
        ("16 × 320 KiB", "MiB", ""),
        ("16 × 320 KB", "MB", ""),
        ("3 + 4", "", ""),
    ],
)
def test_a_step_between_both_kinds_of_bytes_names_the_factor(arithmetic, unit, factor):
    assert conversion(arithmetic, unit) == factor
