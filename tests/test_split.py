"""Splitting never loses a letter: laws for any text, and small tables."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.parser import parse_pack
from ladderdeck.split import first_arrow, shelter, split_at_arrows, split_at_list_marks, split_at_semicolons

HOSTILE = st.text(alphabet="→；;-> ()（）[]【】{}\"'“”‘’「」《》`$*&amp甲b\t，、", max_size=80)
SEED_LIKE = st.lists(
    st.sampled_from(
        ["甲", "KV cache", " → ", "→", " -> ", "；", "; ", "（", "）", "(", ")", "“", "”", '"', "`", "$", "&amp;", "'"]
    ),
    max_size=40,
).map("".join)


def parts(text: str, spans: tuple[tuple[int, int], ...]) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize("split", [split_at_arrows, split_at_semicolons, split_at_list_marks])
@given(text=st.one_of(HOSTILE, SEED_LIKE, st.text(max_size=60)))
def test_spans_and_marks_together_are_the_text(split, text):
    spans = split(text, shelter(text))
    assert spans[0][0] == 0
    assert spans[-1][1] == len(text)
    marks = [text[end:start] for (_, end), (start, _) in pairwise(spans)]
    assert set(marks) <= {"→", "->", "；", ";", "、", ","}
    assert all(start <= end for start, end in spans)


@given(text=st.one_of(HOSTILE, SEED_LIKE))
def test_nothing_splits_inside_a_pair(text):
    sheltered = shelter(text)
    for start, end in zip(sheltered.starts, sheltered.ends, strict=True):
        assert 0 <= start < end <= len(text)
        assert all(not (start < edge < end) for span in split_at_arrows(text, sheltered) for edge in span)
    assert list(sheltered.starts) == sorted(sheltered.starts)


@given(text=st.one_of(HOSTILE, SEED_LIKE))
def test_no_text_of_a_ladder_line_is_lost_or_doubled(text):
    """Through the whole parser: the letters of the rungs, in order, are those of the line, arrows aside."""
    line = " ".join(text.split())
    document = f"---\nname: p\nlayer: base\n---\n\n## 常考主题清单\n\n### 题\n- 阶梯：头{line}尾\n- 答实的标志：知道\n"
    pack, _ = parse_pack(document.encode("utf-8"), "p.md")
    assert pack
    rungs = pack.topics[0].rungs

    def letters(value: str) -> str:
        return "".join(c for c in value if c not in "→->；; \t")

    assert "".join(letters(rung.text.text) for rung in rungs) == letters(f"头{line}尾")
    for rung in rungs:
        assert "".join(letters(question.text) for question in rung.questions) == letters(rung.text.text)


@pytest.mark.parametrize(
    ("text", "unbalanced"),
    [
        ("(a）【b]", ""),
        ("don't", ""),
        ("it’s ‘x’", ""),
        ("((a)", "("),
        ("a) b", ")"),
        ("(a]b)", "]"),
        ("(a[b)", "["),
        ('"a', '"'),
        ("“a", "“"),
        ("`(` a", ""),
        ("「a』", ""),
    ],
)
def test_marks_without_a_partner(text, unbalanced):
    assert "".join(mark.character for mark in shelter(text).unbalanced) == unbalanced


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a → b → c", ["a ", " b ", " c"]),
        ("a->b", ["a->b"]),
        ("a -> b", ["a ", " b"]),
        ("a ->", ["a ->"]),
        ("(a → b) → c", ["(a → b) ", " c"]),
    ],
)
def test_arrows(text, expected):
    assert parts(text, split_at_arrows(text, shelter(text))) == expected


def test_the_first_arrow_outside_brackets_parts_a_probe():
    text = "出现（甲 → 乙）-> x → 追丙 → 丁"
    assert text[slice(*first_arrow(text, shelter(text)) or (0, 0))] == "→"
    assert first_arrow("（甲 → 乙）", shelter("（甲 → 乙）")) is None
