"""What can be wrong with a drill file: each mistake is found at its place."""

from __future__ import annotations

import pytest
from drill_samples import SMALL, documented, english_pack, made
from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.answering.drill_file import parse_drills
from ladderdeck.values.model import Severity

HERE = "‸"
"""Marks in a row where the problem must be found."""

SECOND = SMALL.partition("drills:\n")[2]

MISTAKES = [
    # The file
    ("drills:\n", "drills: [\n", "yaml"),
    ("pack: llm", "pack: a‸: b", "yaml"),
    ("pack: llm-inference-serving\n", "‸", "no-pack"),
    ("pack: llm-inference-serving", "pack: ‸llm-inference", "renamed-pack"),
    ("drills:", "language: ‸fr\ndrills:", "wrong-language"),
    ("drills:", "language: ‸zh\ndrills:", "drills-without-pack"),
    ("drills:", "‸topic: x\ndrills:", "unknown-key"),
    (SMALL.partition("drills:")[1] + SMALL.partition("drills:")[2], "drills: ‸[]\n", "no-drills"),
    (SMALL.partition("drills:")[1] + SMALL.partition("drills:")[2], "drills: ‸none\n", "no-drills"),
    ("drills:\n", "drills:\n  - ‸only text\n", "wrong-drill"),
    # Keys
    ("    topic:", "    ‸tpoic: x\n    topic:", "unknown-key"),
    ("    topic: Tensor", "    topic: Tensor parallelism\n    ‸topic: Tensor", "duplicate-key"),
    ("  - id: transfer\n    topic: Tensor parallelism", "  - ‸id: transfer", "missing-key"),
    ("    source: a derivation\n", "", "missing-key"),
    ("source: a derivation", "source: ‸[]", "no-source"),
    ("source: a derivation", "source:‸", "no-source"),
    ("topic: Tensor parallelism", "‸topic:", "empty-key"),
    ("formula: t = s / v", "formula: ‸[a, b]", "wrong-formula"),
    ("    mistakes:", "    ‸hint:\n    mistakes:", "empty-key"),
    # Identity and place
    ("id: transfer", "id: ‸KV bytes", "wrong-id"),
    ("id: transfer", "id: ‸a--b", "wrong-id"),
    ("id: transfer", "id: ‸" + "a" * 61, "wrong-id"),
    (SECOND, SECOND + SECOND.replace("id: ", "id: ‸"), "duplicate-drill"),
    ("topic: Tensor parallelism", "topic: ‸Banana bread", "drill-without-topic"),
    ("topic: Tensor parallelism", "topic: ‸Parallelism of tensors", "drill-topic"),
    ("rung: Why not across machines", "rung: ‸What is a banana", "drill-without-rung"),
    ("rung: Why not across machines", "rung: ‸Why not across the machines", "drill-rung"),
    # Texts
    ("{size} take", "‸{sise} take", "unknown-name"),
    ("{size} take", "{size} of ‸{time} take", "unknown-name"),
    ("took bits", "took ‸{took} bits", "unknown-name"),
    ("took bits", "took [x‸](#y) bits", "unknown-quantity"),
    ("source: a derivation", "source: a ‸{size}", "unknown-name"),
    ("source: a derivation", "note: see ‸{sise}\n    source: x", "unknown-name"),
    ('"How long do {size} take at {speed}?"', '"[{size}]: http://x.org/{speed}"', "empty-key"),
    # What is given
    ("given:\n", "given: ‸[a]\n    x:\n", "wrong-given"),
    ("      size: {values", "      ‸the size: {values", "wrong-name"),
    ("      size: {values", "      ‸GB: {values", "wrong-name"),
    ("size: {values: [10, 20, 30, 50, 80], unit: GB}", "size: ‸12 GB", "wrong-given"),
    ("unit: GB}", "‸units: GB}", "unknown-key"),
    ("[10, 20, 30, 50, 80]", "‸10", "wrong-values"),
    ("values: [10, 20, 30, 50, 80]", "‸values: []", "wrong-values"),
    ("[10, 20, 30, 50, 80]", "[10, ‸many]", "wrong-value"),
    ("[10, 20, 30, 50, 80]", "[10, ‸2 * 8]", "wrong-value"),
    ("[10, 20, 30, 50, 80]", "[10, ‸20 s]", "wrong-value"),
    ("[10, 20, 30, 50, 80], unit: GB", "[10 GB, ‸20 s]", "unit-clash"),
    ("[10, 20, 30, 50, 80], unit: GB", "[10, ‸20 GB]", "unit-clash"),
    ("[10, 20, 30, 50, 80]", "[10, ‸1234.5]", "wrong-value"),
    ("[10, 20, 30, 50, 80], unit: GB", "[‸10], unit: gigs", "wrong-value"),
    ("{values: [10, 20, 30, 50, 80], unit: GB}", "{‸from: 1, to: 5}", "wrong-range"),
    ("{values: [10, 20, 30, 50, 80], unit: GB}", "{‸from: 1, to: 5, step: 1, times: 2}", "wrong-range"),
    ("{values: [10, 20, 30, 50, 80], unit: GB}", "{from: ‸one, to: 5, step: 1}", "wrong-range"),
    ("{values: [10, 20, 30, 50, 80], unit: GB}", "{‸from: 9, to: 5, step: 1}", "wrong-range"),
    ("{values: [10, 20, 30, 50, 80], unit: GB}", "{‸from: 1, to: 5, step: 0}", "wrong-range"),
    ("{values: [10, 20, 30, 50, 80], unit: GB}", "{‸from: 1, to: 5, times: 1}", "wrong-range"),
    ("{values: [10, 20, 30, 50, 80], unit: GB}", "{‸from: 1, to: 5, step: 0.001}", "wrong-range"),
    ("{values: [10, 20, 30, 50, 80], unit: GB}", "{‸values: [1], from: 1, to: 5, step: 1}", "wrong-values"),
    ("      size: {values: [10, 20, 30, 50, 80], unit: GB}", "      ‸size: {}", "no-values"),
    ("      speed:", "      ‸more: {values: [1, 2]}\n      speed:", "unused-given"),
    ("at {speed}?\"\n    given:\n      size: {values: [10, 20, 30, 50, 80], unit: GB}\n", "at `{speed}` or $a_{speed}$?\"\n    given:\n      size: {values: [10, 20, 30, 50, 80], unit: GB}\n      ‸speed: {values: [1, 2, 4, 5, 8], unit: GB/s}\n#", "unasked-given"),
    # Combinations
    ("    given:", "    together: ‸x\n    given:", "wrong-together"),
    ("    given:", "    together:\n      g: ‸x\n    given:", "wrong-g"),
    ("    given:", "    together:\n      g:\n        A: ‸x\n    given:", "wrong-together"),
    ("    given:", "    together:\n      ‸g: {}\n    given:", "empty-key"),
    ("    given:", "    together:\n      ‸g g: {A: {size: 1}}\n    given:", "wrong-name"),
    ("    given:", "    together:\n      ‸size: {A: {speed: 1}}\n    given:", "wrong-name"),
    ("    given:", "    together:\n      g: {A: {height: ‸1}}\n    given:", "unknown-name"),
    ("    given:", "    together:\n      g: {A: {size: ‸1}}\n    given:", "two-values"),
    ("    given:", "    together:\n      g: {A: {size: 1}, ‸B: {speed: 1}}\n    given:", "uneven-group"),
    # The calculation
    ("steps: |\n      time = size / speed -> s", "steps: ‸time = size / speed -> s", "wrong-steps"),
    ("steps: |\n      time = size / speed -> s", "steps:\n      ‸- time = size / speed -> s", "wrong-steps"),
    ("      time = size / speed -> s", "      # nothing", "unknown-name"),
    ("time = size / speed -> s", "time = size / ‸sped -> s", "calculation"),
    ("time = size / speed -> s", "time = ‸size + speed -> s", "calculation"),
    ("time = size / speed -> s", "time = size / speed -> ‸GB", "calculation"),
    ("time = size / speed -> s", "‸time is size / speed", "calculation"),
    ("time = size / speed -> s", "‸size = size / speed", "calculation"),
    ("time = size / speed -> s", "‸time = size / (speed - 4 GB/s) -> s", "calculation"),
    ("time = size / speed -> s", "‸time = size / (0 * 1 B/s) -> s", "calculation"),
    ("time = size / speed -> s", "‸time = sqrt(speed - 4 GB/s) * size / (1 GB/s)^1.5 -> s", "calculation"),
    ("    tolerance:", "    result: ‸tim\n    tolerance:", "unknown-name"),
    ("      time = size", "      # a remark\n\n      time = ‸x * size", "calculation"),
    # The result
    ("tolerance: 10%", "tolerance: ‸0.1", "wrong-tolerance"),
    ("tolerance: 10%", "tolerance: ‸0%", "wrong-tolerance"),
    ("tolerance: 10%", "tolerance: ‸60%", "wrong-tolerance"),
    ("bounds: [0.5 s, 100 s]", "bounds: ‸[1 s]", "wrong-bounds"),
    ("bounds: [0.5 s, 100 s]", "bounds: ‸1 s", "wrong-bounds"),
    ("bounds: [0.5 s, 100 s]", "bounds: [‸0, 100]", "wrong-bounds"),
    ("bounds: [0.5 s, 100 s]", "bounds: [0.1, ‸100 GB]", "wrong-bounds"),
    ("bounds: [0.5 s, 100 s]", "bounds: [‸100 s, 1 s]", "wrong-bounds"),
    ("bounds: [0.5 s, 100 s]", "bounds: [0.1, ‸x]", "wrong-bounds"),
    ("bounds: [0.5 s, 100 s]", "bounds: [‸0.5 s, 60 s]", "out-of-bounds"),
    ("bounds: [0.5 s, 100 s]", "bounds: [‸2 s, 100 s]", "out-of-bounds"),
    ("time = size / speed -> s\n    tolerance: 10%\n    bounds: [0.5", "time = size / speed - 10 s -> s\n    tolerance: 10%\n    bounds: [‸0.5", "negative-result"),
    # Mistakes
    ("mistakes:\n", "mistakes: ‸[]\n    x:\n", "wrong-mistakes"),
    ("mistakes:\n      - text: took bits for bytes\n        gives: 8 * time", "mistakes:\n      - ‸bits", "wrong-mistakes"),
    ("      - text: took bits for bytes\n        gives: 8 * time", "      - ‸text: took bits for bytes", "wrong-mistakes"),
    ("gives: 8 * time", "gives: 8 * ‸tome", "calculation"),
    ("gives: 8 * time", "gives: ‸8 * size", "unit-clash"),
    ("gives: 8 * time", "gives: ‸1.05 * time", "useless-mistake"),
    ("gives: 8 * time", "gives: ‸time / (speed - 1 GB/s) * speed", "calculation"),
    ("gives: 8 * time", "give: 8 * time\n        gives: 8 * time", "unknown-key"),
    # How many
    ("[10, 20, 30, 50, 80]", "[10, 20]", "too-few-variants"),
    ("values: [10, 20, 30, 50, 80], unit: GB}\n      speed: {values: [1, 2, 4, 5, 8]", "from: 1, to: 900, step: 1, unit: GB}\n      speed: {from: 1, to: 30, step: 1", "too-many-combinations"),
    ("time = size / speed -> s", "time = 2 s + 0 * (size / speed) -> s", "too-few-results"),
]  # fmt: skip
"""What is replaced in a good file, by what, and the code of the problem; the mark says where it must be."""


def applied(row) -> tuple[str, str]:
    old, new, code = row
    assert old in SMALL, old
    return SMALL.replace(old, new, 1), code


@pytest.mark.parametrize("row", MISTAKES, ids=lambda row: f"{row[2]}: {row[1][:50]}")
def test_each_mistake_is_found_at_its_place(row) -> None:
    text, code = applied(row)
    line = next((n for n, each in enumerate(text.split("\n"), 1) if HERE in each), None)
    column = text.split("\n")[line - 1].index(HERE) + 1 if line else None
    _, problems = made(text.replace(HERE, ""))
    found = [p for p in problems if p.code == code]
    assert found, [f"{p.position}: {p.message} [{p.code}]" for p in problems]
    if line:
        assert (line, column) in [(p.position.line, p.position.column) for p in found]
    for problem in problems:
        assert problem.position.file == "cards/drills.yaml"
        assert "\n" not in problem.message and problem.hint
        assert problem.message[-1] not in ".!"
    assert all(p.severity is Severity.ERROR for p in problems) != (
        code in ("drill-topic", "drill-rung", "renamed-pack")
    )


def test_what_is_right_has_no_problem() -> None:
    for text in (SMALL, documented()):
        drills, problems = made(text)
        assert [p.message for p in problems] == []
        assert len(drills) == 1


def test_one_run_shows_all_mistakes() -> None:
    text = SMALL.replace("[0.5 s, 100 s]", "[2 s, 1 s]").replace("tolerance: 10%", "tolerance: much")
    text += (
        SECOND.replace("transfer", "other")
        .replace("topic: Tensor parallelism", "topic: Banana")
        .replace("/ speed", "/ sped")
    )
    _, problems = made(text)
    assert {p.code for p in problems} >= {"wrong-tolerance", "drill-without-topic", "calculation"}


def test_the_combination_that_breaks_the_bounds_is_named() -> None:
    _, problems = made(SMALL.replace("[0.5 s, 100 s]", "[0.5 s, 60 s]"))
    assert [p.message for p in problems] == [
        "the result 80 s is above the greatest sensible one, with size = 80 GB, speed = 1 GB/s"
    ]


def test_a_zero_divisor_is_named() -> None:
    _, problems = made(SMALL.replace("size / speed -> s", "size / (speed - 4 GB/s) -> s"))
    assert "with size = 10 GB, speed = 4 GB/s" in problems[0].message


def test_a_file_that_is_no_text() -> None:
    for data in (b"", b"\xff\xfe", b"pack: x\ndrills: \x1f"):
        _, problems = parse_drills(data, "drills.yaml")
        assert problems


@given(st.data())
def test_no_damage_to_a_file_ends_in_a_traceback(data) -> None:
    """Lines dropped, doubled or cut, and characters put in, of the documentation's example and the small one."""
    text = data.draw(st.sampled_from([SMALL, documented()]))
    lines = text.split("\n")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        what = data.draw(st.sampled_from(["drop", "double", "cut", "put", "swap"]))
        line = lines[at]
        place = data.draw(st.integers(0, len(line)))
        if what == "drop":
            lines[at : at + 1] = [] if len(lines) > 1 else [""]
        elif what == "double":
            lines.insert(at, line)
        elif what == "cut":
            lines[at] = line[:place]
        elif what == "swap":
            other = data.draw(st.integers(0, len(lines) - 1))
            lines[at], lines[other] = lines[other], line
        else:
            lines[at] = (
                line[:place]
                + data.draw(st.sampled_from([*"{}[]:,#|>&*!%@`\"'\\-0 ^/(=", "{}", "-> ", "1e400", "\t", "«", "٣"]))
                + line[place:]
            )
    drills, problems = made("\n".join(lines), english_pack())
    assert drills or problems
