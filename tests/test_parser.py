"""The parser, by fixture files that a person can read and extend: `tests/fixtures/parser/*.md`.

A case is a `##` heading, a document between `~~~~` lines, and under it what it means, in lines such as

    topic 1: title            rung 2: question | question        sign: text        flag: text
    loose flag: key: text     probe: trigger => follow-up        error empty-rung 7:12

Where it matters, a first line `head: name | layer | domains | keywords | description | version | blob`, and under each
problem its words in two lines `says: …` and `hint: …`. A line break in a text is ⏎. A document that does not begin with `---`, and has no envelope, is put under the front matter and the topic's heading that
most cases share; its lines then count from 1 at its own first line.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.composing.compose import compose
from ladderdeck.identity.identify import guids
from ladderdeck.reading.parser import parse_pack
from ladderdeck.reading.settings import Settings
from ladderdeck.values.model import Pack, Problem

FIXTURES = Path(__file__).parent / "fixtures" / "parser"
HEAD = "---\nname: pack\nlayer: detail\ndomains: [one]\n---\n\n## 常考主题清单\n\n### 题\n"
CASE = re.compile(r"^## (?P<title>[^\n]+)\n+~~~~\n(?P<document>.*?)\n?~~~~\n(?P<expected>.*?)(?=^## |\Z)", re.M | re.S)


def cases() -> list:
    found = []
    for file in sorted(FIXTURES.glob("*.md")):
        for case in CASE.finditer(file.read_text(encoding="utf-8")):
            found.append(pytest.param(case["document"], case["expected"].strip(), id=f"{file.stem}: {case['title']}"))
    return found


def summary(
    pack: Pack | None, problems: tuple[Problem, ...], first_line: int = 0, *, head: bool = False, words: bool = False
) -> str:
    """What was understood, in the notation of the fixtures."""
    lines = []
    if pack and head:
        lists = (", ".join(pack.domains), ", ".join(pack.keywords))
        lines.append(" | ".join([f"head: {pack.name}", pack.layer, *lists, pack.description, pack.version, pack.blob]))
    for topic in pack.topics if pack else ():
        lines.append(f"topic {topic.title.position.line - first_line}: {topic.title.text}")
        for rung in topic.rungs:
            questions = " | ".join(q.text.replace("\n", "⏎") for q in rung.questions)
            lines.append(f"rung {rung.text.position.line - first_line}: {questions}")
        lines += ["sign: " + sign.text.replace("\n", "⏎") for sign in topic.signs]
        lines += ["flag: " + flag.text.replace("\n", "⏎") for flag in topic.red_flags]
    for flag in pack.red_flags if pack else ():
        lines.append(f"loose flag: {flag.key}: {flag.flag.text}")
    for probe in pack.probes if pack else ():
        lines.append(f"probe: {probe.trigger.text} => {probe.follow_up.text}".replace("\n", "⏎"))
    for p in problems:
        lines.append(f"{p.severity.value} {p.code} {p.position.line - first_line}:{p.position.column}")
        lines += [f"    says: {p.message}", f"    hint: {p.hint}"] if words else []
    return "\n".join(lines)


@pytest.mark.parametrize(("document", "expected"), cases())
def test_a_document_means(document, expected):
    whole = document.startswith("---") or "git:" in document.split("\n")[0] or document.startswith("#!")
    text = document.removeprefix("#!\n") if whole else HEAD + document
    first_line = 0 if whole else HEAD.count("\n")
    pack, problems = parse_pack(text.encode("utf-8"), "pack.md")
    head, words = expected.startswith("head: "), "\n    says: " in expected
    found = summary(pack, problems, first_line, head=head, words=words)
    if not whole:
        found = "\n".join(line for line in found.split("\n") if line != "topic 0: 题")
    assert found == expected
    assert all(p.message and p.hint and p.position.file == "pack.md" for p in problems)


WHOLE = """pack git:20260920.a4843f5A

Immutable. This exact content is served forever at /api/v1/blob/4e99f4872715f3ce.

---
name: pack
description: 缓存：怎么面
keywords: [c#, c++, no, on, 1.0, 2026-09-20, 2024, yes, null,]
layer: detail
domains: [one, two]
---

## 常考主题清单

### カ゛ 缓存
- 阶梯：甲 → 乙；丙 → 丁
- 答实的标志：能；知道。

## 常见失守与危险信号

- 缓存：只会背；不知道

## 项目 / 实习怎么深挖

- 简历出现缓存 → 追甲
"""


def values(data: bytes) -> tuple:
    pack, problems = parse_pack(data, "pack.md")
    assert pack
    text = unicodedata.normalize("NFC", summary(pack, problems))
    # What is the same in every hand is what was written, not in which line.
    text = re.sub(r"(?m)^(topic|rung) \d+", r"\1", text)
    return text, pack.name, pack.domains, pack.keywords, pack.description, pack.version, pack.blob, pack.language


def test_the_head_of_a_pack():
    text, name, domains, keywords, description, version, blob, language = values(WHOLE.encode())
    assert (name, domains, version, blob) == ("pack", ("one", "two"), "git:20260920.a4843f5A", "4e99f4872715f3ce")
    assert keywords == ("c#", "c++", "no", "on", "1.0", "2026-09-20", "2024", "yes", "null")
    assert description == "缓存：怎么面"
    assert language.value == "zh"
    assert "error" not in text
    assert "warning" not in text


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: "\ufeff" + text.replace("\n", "\r\n"),
        lambda text: text.replace("---\n", "---  \t\n"),
        lambda text: re.sub(r"$", "  ", text, flags=re.M),
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: text.replace("阶梯：", "阶梯: ").replace("标志：", "标志: "),
        lambda text: text.replace("- 阶", "* 阶").replace("- 答", "+ 答"),
        lambda text: text.replace("- 阶梯：", "- **阶梯**：").replace("- 答实的标志：", "- **答实的标志：**"),
        lambda text: text.replace("- ", "-\t"),
        lambda text: text.replace("甲 → 乙；丙", "甲 →\n  乙；丙"),
        lambda text: text.replace("- 阶梯：甲", "-   阶梯：\n    甲"),
        lambda text: text.replace("\n\n", "\n \t\n\n\n"),
        lambda text: text.replace(" → ", "→"),
        lambda text: text.replace(" → ", " -> "),
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("## 项目 / 实习怎么深挖", "## 项目/实习怎么深挖 ##"),
    ],
    ids=["as it is", "BOM", "CRLF", "CR", "BOM and CRLF", "blanks behind ---", "trailing blanks", "NFD", "ASCII colon",
         "other bullets", "bold labels", "tabs behind bullets", "soft-wrapped", "wrapped behind the label", "blank lines",
         "arrows without blanks", "typed arrows", "no line end", "heading in another hand"],
)  # fmt: skip
def test_hands_differ_and_values_do_not(change):
    assert values(change(WHOLE).encode()) == values(WHOLE.encode())


def test_sections_may_come_in_any_order():
    head, topics, flags, probes = re.split(r"(?=^## )", WHOLE, flags=re.M)
    for order in ((probes, flags, topics), (flags, topics, probes), (topics, probes, flags)):
        found = values("\n".join([head, *order]).encode())
        assert re.sub(r"\d+", "", found[0]) == re.sub(r"\d+", "", values(WHOLE.encode())[0])


@pytest.mark.parametrize(
    ("data", "code", "place", "words"),
    [
        (b"", "empty-file", (1, 1), "empty"),
        (b" \n\n", "empty-file", (1, 1), "empty"),
        (b"\xef\xbb\xbf", "empty-file", (1, 1), "empty"),
        (WHOLE.encode("gbk", "replace"), "not-utf8", (7, 14), "byte 139 is 0xBB"),
        (WHOLE.encode("utf-16"), "not-utf8", (1, 1), "UTF-16"),
        (b"abc\r\nde\xffg", "not-utf8", (2, 3), "byte 7 is 0xFF"),
        (b"\xef\xbb\xbfa\xff", "not-utf8", (1, 2), "byte 4 is 0xFF"),
        ("甲𠮷".encode() + b"\xed\xa0\x80", "lone-surrogate", (1, 3), "byte 7 (0xED)"),
    ],
)
def test_what_cannot_be_read_says_which_byte(data, code, place, words):
    pack, (problem, *rest) = parse_pack(data, "pack.md")
    assert pack is None
    assert not rest
    assert (problem.code, (problem.position.line, problem.position.column)) == (code, place)
    assert words in problem.message
    assert problem.hint


@pytest.mark.parametrize(
    "character", ["\x00", "\x01", "\x0b", "\x0c", "\x1b", "\x1f", "\x7f", "\x85", "\x9f", "\ufffe"]
)
def test_characters_that_break_an_import_are_errors_and_hide_nothing(character):
    data = (HEAD + f"- 阶梯：甲{character} → → 乙\n- 答实的标志：丙\n").encode()
    _, problems = parse_pack(data, "pack.md")
    line = HEAD.count("\n") + 1
    found = {(p.code, p.severity.value, p.position.line, p.position.column) for p in problems}
    assert ("control-character", "error", line, 7) in found
    assert ("empty-rung", "error", line, 10) in found


def test_a_control_character_in_a_yaml_escape_is_found():
    for escape in ("\\x1f", "\\ud800"):
        data = HEAD.replace("layer:", f'description: "a{escape}b"\nlayer:').encode()
        codes = {p.code for p in parse_pack(data, "pack.md")[1]}
        assert codes & {"control-character", "lone-surrogate"}


@pytest.mark.parametrize(
    "yaml", ["[" * 5000, "a: &a [x]\nb: *a", "a: &a {b: *a}", "? [a, b]\n: c", "!!python/object:os.system x: y"]
)
def test_strange_yaml_is_a_problem_or_nothing(yaml):
    data = f"---\nname: pack\nlayer: base\n{yaml}\n---\n".encode()
    _, problems = parse_pack(data, "pack.md")
    assert all(p.position.line >= 1 for p in problems)


@pytest.mark.parametrize(
    "line",
    ["（" * 200_000, '"' * 200_001, "'a " * 50_000, " 'a" * 30_000 + ' "' * 30_000, "甲 → " * 10_000 + "乙",
     "→" * 200_000, "甲；" * 20_000, "；" * 200_000, "`" * 200_000, "` `` " * 50_000, "[" * 200_000, "**a " * 20_000,
     "$x " * 50_000, "<" * 200_000, "&amp; " * 50_000, "(a, b" * 40_000, ("]" * 9 + ")") * 20_000],
    ids=lambda line: line[:6],
)  # fmt: skip
def test_pathological_lines_are_read(line):
    pack, problems = parse_pack((HEAD + f"- 阶梯：{line}\n- 答实的标志：{line}\n").encode(), "pack.md")
    assert pack
    # What is wrong a thousand times in one line is told a few times and counted.
    assert sum(p.code in ("empty-rung", "unbalanced-bracket") for p in problems) <= 33


@pytest.mark.parametrize("key", ["题目 {n}", "{n} 号题"], ids=["letter for letter", "reworded"])
def test_many_topics_are_read_and_their_red_flags_linked(key):
    topics = "".join(f"### 题目 {n}\n- 阶梯：第 {n} 问 → 再问 {n}\n- 答实的标志：知道 {n}\n\n" for n in range(3000))
    flags = "".join(f"- {key.format(n=n)}：不懂 {n}\n" for n in range(3000))
    text = HEAD.replace("### 题\n", "") + topics + "## 常见失守与危险信号\n\n" + flags
    pack, problems = parse_pack(text.encode(), "pack.md")
    assert pack
    assert (len(pack.topics), len(problems)) == (3000, 0)
    assert all(len(topic.red_flags) == 1 for topic in pack.topics)


def test_many_rungs_soft_wrapped_lines_and_deep_lists_are_read():
    ladder = " → ".join(f"第 {n} 问" for n in range(10_000))
    pack, _ = parse_pack((HEAD + f"- 阶梯：{ladder}\n- 答实的标志：x\n").encode(), "pack.md")
    assert pack
    assert len(pack.topics[0].rungs) == 10_000
    wrapped = "\n  → ".join(f"第 {n} 问" for n in range(10_000))
    pack, _ = parse_pack((HEAD + f"- 阶梯：{wrapped}\n- 答实的标志：x\n").encode(), "pack.md")
    assert pack
    assert len(pack.topics[0].rungs) == 10_000
    assert pack.topics[0].rungs[-1].text.position.line == HEAD.count("\n") + 10_000
    deep = "".join("  " * n + "- x\n" for n in range(300))
    _, problems = parse_pack((HEAD + f"- 阶梯：甲 → 乙\n- 答实的标志：\n{deep}").encode(), "pack.md")
    assert "nested-too-deep" in {p.code for p in problems}


PIECES = [
    "---\n", "name: pack\n", "layer: base\n", "domains: [a]\n", "\n", "# x\n", "## 常考主题清单\n", "## 常见失守与危险信号\n",
    "## Probing projects and internships\n", "## other\n", "### 题\n", "### \n", "- 阶梯：甲 → 乙\n", "- Ladder: a -> b; c\n", "- 阶梯：\n",
    "  - 丙\n", "    - 丁 → \n", "- 答实的标志：知道；甲\n", "**阶梯**：\n", "1. 一\n", "```\n", "> 引\n", "- 题：不懂；（\n", "- 简历 → 追\n", "text\n",
    "- \n", "\t- x\n", "***\n", "| a | b |\n", "[a]: b\n", "\r", "\ufeff", "\x1f", "\u2028", "\x85",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_document_is_read_and_every_problem_has_a_place_in_it(text):
    pack, problems = parse_pack(text.encode("utf-8"), "pack.md")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for problem in problems:
        assert 1 <= problem.position.line <= len(lines)
        assert 1 <= problem.position.column <= len(lines[problem.position.line - 1]) + 1
    if pack:
        notes = compose([pack], Settings())
        assert len(set(guids(notes))) == len(notes)


@given(st.binary(max_size=60))
def test_any_bytes_are_read(data):
    parse_pack(data, "pack.md")


PIECES = [
    "---\n", "name: a\n", "layer: base\n", "## 常考主题清单\n", "### 题\n", "#### 阶梯\n", "- 阶梯：", "- Ladder:", "  - ", "    1. ",
    "3. ", "> ", "```\n", "~~~\n", "甲", " → ", "->", "；", "; ", "（", ")", "“", '"', "'", "`", "$", "\n", "\n\n", "\t", "**",
    "- 答实的标志：", "## 常见失守与危险信号\n", "- 题：x\n", "## 项目 / 实习怎么深挖\n", "# x\n", "#\n", "|", "&amp;", "\\", "\u2028", "\ufeff",
    "𠮷", "<div>", "- \n", "[a]: b\n", "===\n", "*", "+ ", " ", "\u3000", "\x1f", "：", ":",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), st.booleans())
def test_any_document_is_read_and_every_place_is_in_it(body, with_head):
    document = HEAD + body if with_head else body
    lines = document.removeprefix("\ufeff").split("\n")
    pack, problems = parse_pack(document.encode(), "pack.md")
    for problem in problems:
        place = problem.position
        assert problem.message
        assert problem.hint
        assert 1 <= place.line <= len(lines)
        assert 1 <= place.column <= len(lines[place.line - 1]) + 1
    for rung in (rung for topic in pack.topics for rung in topic.rungs) if pack else ():
        assert rung.questions
        for text in (rung.text, *rung.questions):
            there = lines[text.position.line - 1][text.position.column - 1 :].replace("\x1f", "\ufffd")
            assert there.startswith(text.text[0])
