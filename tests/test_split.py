"""Splitting never loses a letter: laws for any text, and small tables."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.reading.parser import parse_pack
from ladderdeck.reading.split import first_arrow, shelter, split_at_arrows, split_at_list_marks, split_at_semicolons

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


HEAD = "---\nname: p\nlayer: base\n---\n\n## 常考主题清单\n\n### 题\n- 阶梯：头"
ANY_LINE = st.text(
    alphabet=st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufffe\uffff"), max_size=60
)


def without(marks: str, value: str) -> str:
    return "".join(c for c in value if c not in marks and not c.isspace())


@given(text=st.one_of(HOSTILE, SEED_LIKE, ANY_LINE), tail=st.lists(st.one_of(HOSTILE, SEED_LIKE), max_size=2))
def test_no_text_of_a_ladder_line_is_lost_or_doubled(text, tail):
    """Through the whole parser, soft-wrapped too: the rungs and the arrows between them are the line, and no more.

    A wrapped line begins with a letter, since Markdown begins a list or a heading at some other characters.
    """
    wrapped = [" ".join(part.split()) for part in (text, *tail)]
    document = HEAD + "\n  续".join(wrapped) + "尾\n- 答实的标志：知道\n"
    source = "头" + " 续".join(wrapped) + "尾"
    pack, _ = parse_pack(document.encode("utf-8"), "p.md")
    assert pack
    rungs = pack.topics[0].rungs
    inside = "".join(rung.text.text for rung in rungs)
    # What is between two rungs is arrows; one that is sheltered is in a rung.
    assert without("→->；;", inside) == without("→->；;", source)
    lost = [source.count(mark) - inside.count(mark) for mark in ("→", "->", "；", ";")]
    arrows, typed, wide, narrow = lost
    assert arrows + typed >= len(rungs) - 1
    # A semicolon is only taken from a rung that is nothing else.
    assert min(lost) >= 0
    assert (wide == 0 and narrow == 0) or arrows + typed >= len(rungs)
    for rung in rungs:
        assert without("；;", "".join(question.text for question in rung.questions)) == without("；;", rung.text.text)


@given(text=st.one_of(HOSTILE, SEED_LIKE, ANY_LINE))
def test_each_rung_stands_where_its_position_says(text):
    line = " ".join(text.split())
    pack, problems = parse_pack(f"{HEAD}{line}尾\n- 答实的标志：知道\n".encode(), "p.md")
    assert pack
    source = f"- 阶梯：头{line}尾"
    for rung in pack.topics[0].rungs:
        for piece in (rung.text, *rung.questions):
            column = piece.position.column - 1
            assert source[column : column + len(piece.text)] == piece.text
    for problem in problems:
        if problem.code == "unbalanced-bracket" and "more" not in problem.message:
            assert f"`{source[problem.position.column - 1]}`" in problem.message


@pytest.mark.parametrize(
    ("text", "unbalanced"),
    [
        ("(a）【b]", ""),
        ("don't", ""),
        ("it’s ‘x’", ""),
        ("((a)", "("),
        ("ab) c", ")"),
        ("(a]b)", "]"),
        ("(a[b)", "["),
        ('"a', '"'),
        ("“a", "“"),
        ("`(` a", ""),
        ("1）a；2）b", ""),
        ("[0, n) and (0, n]", ""),
        ('5" and 3”', ""),
        ("\\( and \\)", ""),
        ("'90s, 'cause, users'", ""),
        ('"a "b" c"', ""),
        ('"a → "b → c" d', '"'),
        ("”a”", ""),
        ("a” b”", "””"),
        ("“a“", ""),
        ("«a", "«"),
        ("「a』", ""),
    ],
)
def test_marks_without_a_partner(text, unbalanced):
    assert "".join(text[offset] for offset in shelter(text).unbalanced) == unbalanced


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a → b → c", ["a ", " b ", " c"]),
        ("a->b", ["a->b"]),
        ("a -> b", ["a ", " b"]),
        ("a ->", ["a ", ""]),
        ("-> a", ["", " a"]),
        ("a →b→ c", ["a ", "b", " c"]),
        ("(a → b) → c", ["(a → b) ", " c"]),
    ],
)
def test_arrows(text, expected):
    assert parts(text, split_at_arrows(text, shelter(text))) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a；b; c", ["a", "b", " c"]),
        ("a;b", ["a;b"]),
        ("a;", ["a", ""]),
        ("for(;;) {;}; x", ["for(;;) {;}", " x"]),
        ("&amp; &#39; &#x27; &nbsp; y", ["&amp; &#39; &#x27; &nbsp; y"]),
        ("AT&T; &nope; &; x", ["AT&T", " &nope", " &", " x"]),
        ("“a；b”；c", ["“a；b”", "c"]),
        ("`a; b`; c", ["`a; b`", " c"]),
        ("$a; b$; c", ["$a; b$", " c"]),
        ("'a; b'; don't; c", ["'a; b'", " don't", " c"]),
    ],
)
def test_semicolons(text, expected):
    assert parts(text, split_at_semicolons(text, shelter(text))) == expected


def test_the_first_arrow_outside_brackets_parts_a_probe():
    text = "出现（甲 → 乙）-> x → 追丙 → 丁"
    assert text[slice(*first_arrow(text, shelter(text)) or (0, 0))] == "→"
    assert first_arrow("（甲 → 乙）", shelter("（甲 → 乙）")) is None
