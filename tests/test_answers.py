"""Answer files: parsed, matched to items, rendered onto cards, counted, and judged."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from anki_collection import import_package, new_collection, notes_by_guid
from command import ladderdeck, tree

PACK = """---
name: caching
layer: detail
domains: [backend]
---

## 常考主题清单

### 淘汰策略
- 阶梯：为什么要淘汰 → LRU 与 LFU 差在哪；各适合什么
- 答实的标志：能说出命中率怎么测；知道扫描会冲掉热点

## 常见失守与危险信号

- 淘汰策略：只会背 LRU

## 项目 / 实习怎么深挖

- 简历出现缓存 → 追命中率
"""
ANSWERS = """---
pack: caching
topic: 淘汰策略
---

# 阶梯

## 为什么要淘汰

- ★ 内存有上限，热集之外的数据占着位置
- 命中率 [80%](#命中率) 时每秒仍有 [2,000 次](#回源) 回源

正文 **重点**，$x_1 < y$，见 [文档][doc]。

```calc
命中率 = 0.8 -> percent
请求 = 10000 request/s
回源 = 请求 * (1 - 命中率) * 1 s / (1 request)
```

| 策略 | 看什么 |
| --- | --- |
| LRU | 最近 |

```python
cache[key] = "<T>"
```

![图](<图 1.png>)

来源：[某文档][doc]、[另一篇](https://example.org/b)

## LRU 与 LFU 差在哪；各适合什么

- ★ 一个看最近，一个看次数

来源：[某文档][doc]

# 答实的标志

## 能说出命中率怎么测

- 命中除以请求

来源：[某文档][doc]

# 常见失守与危险信号

## 只会背 LRU

- 说不出扫描

来源：[某文档][doc]

[doc]: https://example.org/a_b "A title"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    answers = tmp_path / "cards" / "caching" / "answers"
    answers.mkdir(parents=True)
    (answers.parent / "SKILL.md").write_text(PACK, encoding="utf-8")
    (answers / "eviction.md").write_text(ANSWERS, encoding="utf-8")
    (answers / "图 1.png").write_bytes(b"\x89PNG picture")
    return tmp_path


def problems(folder: Path) -> list[tuple[str, str, int, int]]:
    run = ladderdeck("check", "--format", "json", cwd=folder)
    return [(p["code"], p["severity"], p["line"], p["column"]) for p in json.loads(run.out)["problems"]]


def change(folder: Path, old: str, new: str) -> None:
    file = folder / "cards" / "caching" / "answers" / "eviction.md"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_answers_reach_the_cards_with_their_pictures(folder, tmp_path_factory):
    run = ladderdeck(cwd=folder)
    assert run.code == 0, run.err
    collection = new_collection(tmp_path_factory.mktemp("anki"))
    try:
        import_package(collection, folder / "dist" / "ladders.apkg")
        notes = {re.sub(r"<[^>]*>", "", n["Question"]): n for n in notes_by_guid(collection).values()}
        note = notes["为什么要淘汰"]
        assert note["Key Points"].startswith('<ul><li class="must" dir="auto">内存有上限')
        assert '<span class="quantity">80%</span>' in note["Key Points"]
        assert "<strong>重点</strong>" in note["Answer"]
        assert r"\(x_1 &lt; y\)" in note["Answer"]
        assert "<b>2,000</b></dt><dd>= " in note["Answer"]
        assert '<div class="scroll"><table>' in note["Answer"]
        assert '<span class="s2">"&lt;T&gt;"</span>' in note["Answer"]
        assert '<a href="https://example.org/a_b">某文档</a>' in note["Sources"]
        picture = re.search(r'<img src="(ladder-[0-9a-f]{16}\.png)" alt="图">', note["Answer"])[1]
        assert (Path(collection.media.dir()) / picture).read_bytes() == b"\x89PNG picture"
        assert notes["只会背 LRU"]["Key Points"]
        assert notes["知道扫描会冲掉热点"]["Key Points"] == ""
        assert not collection.media.check().missing
    finally:
        collection.close()


NAMES = ["a/fig.png", "b/fig.png", "a/FIG.png", "图 1#2.png", "100%20.png", "[x],(y).png", "R&D.png", "it's.png"]


def test_pictures_of_any_name_arrive_each_once_under_a_name_that_breaks_nowhere(folder, tmp_path_factory):
    answers = folder / "cards" / "caching" / "answers"
    for number, name in enumerate(NAMES):
        (answers / name).parent.mkdir(exist_ok=True)
        (answers / name).write_bytes(b"\x89PNG %d" % number)
    (answers / "twin.png").write_bytes(b"\x89PNG 0")
    links = [f"![{n}](<{name.replace('%', '%25')}>)" for n, name in enumerate([*NAMES, "twin.png", "a/fig.png"])]
    change(folder, "![图](<图 1.png>)", "\n".join(links))
    run = ladderdeck(cwd=folder)
    assert run.code == 0, run.err
    collection = new_collection(tmp_path_factory.mktemp("anki"))
    try:
        import_package(collection, folder / "dist" / "ladders.apkg")
        note = next(n for n in notes_by_guid(collection).values() if "为什么要淘汰" in n["Question"])
        shown = dict(re.findall(r'<img src="([^"]*)" alt="(\d)">', note["Answer"])[::-1])
        assert len(shown) == len(NAMES) and all(re.fullmatch(r"ladder-[0-9a-f]{16}\.png", name) for name in shown)
        for picture, number in shown.items():
            assert (Path(collection.media.dir()) / picture).read_bytes() == b"\x89PNG %d" % (int(number) % 8)
        assert not collection.media.check().missing and not collection.media.check().unused
    finally:
        collection.close()


def test_coverage_and_skeletons(folder):
    run = ladderdeck("answers", cwd=folder)
    assert run.code == 0
    assert "4 of 6 answered (66 %), 2 missing, 0 stale" in run.out
    assert "missing sign: 知道扫描会冲掉热点" in run.out
    before = tree(folder)
    assert ladderdeck("answers", "--new", cwd=folder).code == 0
    after = tree(folder)
    assert {name: after[name] for name in before} == before
    new = {name: after[name].decode() for name in after.keys() - before.keys()}
    assert sorted(new) == ["cards/caching/answers/pack.md", "cards/caching/answers/淘汰策略.md"]
    assert "## 知道扫描会冲掉热点" in new["cards/caching/answers/淘汰策略.md"]
    run = ladderdeck("answers", cwd=folder)
    assert "4 of 6 answered (66 %), 2 missing" in run.out
    assert problems(folder) == []


def test_a_reworded_item_keeps_its_answer_and_is_called_stale(folder):
    pack = folder / "cards" / "caching" / "SKILL.md"
    pack.write_text(PACK.replace("为什么要淘汰", "缓存为什么要淘汰"), encoding="utf-8")
    assert ("stale-answer", "warning", 8, 4) in problems(folder)
    run = ladderdeck("answers", cwd=folder)
    assert "1 stale" in run.out
    assert "stale rung: 缓存为什么要淘汰" in run.out


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("## 只会背 LRU", "## 完全无关的一件事", ("answer-without-item", "error", 49, 4)),
        ("topic: 淘汰策略", "topic: 别的东西", ("answer-without-topic", "error", 3, 8)),
        ("topic: 淘汰策略", "topic: 淘汰的策略", ("answer-topic", "warning", 3, 8)),
        ("topic: 淘汰策略", "topic: 淘汰策略\nauthor: x", ("unknown-key", "warning", 4, 9)),
        ("# 阶梯", "# 楼梯", ("unknown-section", "warning", 6, 3)),
        ("[80%](#命中率)", "[81%](#命中率)", ("wrong-quote", "error", 11, 11)),
        ("[80%](#命中率)", "[80%](#没有)", ("unknown-quantity", "error", 11, 11)),
        ("请求 * (1", "请求 + (1", ("calculation", "error", 18, 6)),
        ("图 1.png", "图 2.png", ("no-picture", "error", 29, 1)),
        ("图 1.png", "../../../../etc/passwd.png", ("picture-outside", "error", 29, 1)),
        ("图 1.png", "https://example.org/x.png", ("picture-url", "error", 29, 1)),
        ("图 1.png", "eviction.md", ("picture-type", "error", 29, 1)),
        ("- 命中除以请求\n", "命中除以请求\n", ("no-key-points", "warning", 41, 4)),
        ("- 命中除以请求\n", "- " + "长" * 121 + "\n", ("long-key-point", "warning", 43, 3)),
        ("- 命中除以请求\n", "".join(f"- 第 {n} 点说的是{'甲乙丙丁戊己庚辛'[n] * 9}\n" for n in range(8)), ("many-key-points", "warning", 41, 4)),
        ("- 命中除以请求\n", "- 说不出扫描。\n", ("alike-key-points", "warning", 51, 3)),
        ('cache[key] = "<T>"', 'cache[key] = "' + "x" * 40 + '"', ("wide-code", "warning", 26, 1)),
        ("- 说不出扫描\n\n来源：[某文档][doc]", "- 说不出扫描", ("no-source", "warning", 49, 4)),
        ("# 阶梯", "前言\n\n# 阶梯", ("stray-text", "warning", 6, 1)),
        ("## 只会背 LRU", "##只会背 LRU", ("no-heading", "error", 49, 1)),
        ("## 只会背 LRU", "＃＃ 只会背 LRU", ("no-heading", "error", 49, 1)),
        ("- ★ 内存有上限", "* ★ 内存有上限", ("two-lists", "warning", 11, 1)),
        ("- 命中除以请求\n", "- 命中除以请求\n\n  ```\n  x\n  ```\n", ("key-point-block", "error", 45, 1)),
        ("见 [文档][doc]", "见 [文档][dok]", ("open-reference", "warning", 13, 23)),
        ("见 [文档][doc]", "见 [文档]（doc）", ("wide-mark", "warning", 13, 23)),
        ("![图](<图 1.png>)", "![图](图 1.png)", ("open-link", "warning", 29, 1)),
        ("**重点**", "**重点 **", ("open-bold", "warning", 13, 4)),
        ("$x_1 < y$", "$x_{1} < y", ("open-math", "warning", 13, 11)),
        ("| LRU | 最近 |", "| LRU ｜ 最近 |", ("table-cells", "error", 23, 1)),
    ],
    ids=lambda value: value[:24].strip() if isinstance(value, str) else value[0],
)  # fmt: skip
def test_what_is_wrong_with_an_answer_has_its_place(folder, old, new, expected):
    change(folder, old, new)
    assert expected in problems(folder)


def test_wrapped_lines_and_what_follows_the_sources_are_kept(folder, tmp_path_factory):
    change(folder, "- ★ 内存有上限，热集", "- ★ 内存有上限，\n  热集")
    change(
        folder,
        "来源：[某文档][doc]、[另一篇](https://example.org/b)",
        "来源：\n\n- [某文档][doc]\n- [另一篇](https://example.org/b)",
    )
    assert problems(folder) == []
    assert ladderdeck(cwd=folder).code == 0
    collection = new_collection(tmp_path_factory.mktemp("anki"))
    try:
        import_package(collection, folder / "dist" / "ladders.apkg")
        note = next(n for n in notes_by_guid(collection).values() if "为什么要淘汰" in n["Question"])
        assert "内存有上限，热集" in note["Key Points"]
        assert note["Sources"].count("<li") == 2
    finally:
        collection.close()


def test_a_clean_answer_file_has_no_problems(folder):
    assert problems(folder) == []


@pytest.mark.parametrize(
    ("name", "hint"), [("cashing", "did you mean `caching`?"), ("something-else", "behind `name:`")]
)
def test_an_answer_to_an_unknown_pack_is_left_aside_and_said(folder, name, hint):
    other = folder / "cards" / "caching" / "OTHER.md"
    other.write_text(PACK.replace("name: caching", "name: queues"), encoding="utf-8")
    change(folder, "pack: caching", f"pack: {name}")
    assert problems(folder) == [("unknown-pack", "warning", 2, 7)]
    run = ladderdeck("check", "-v", cwd=folder)
    assert hint in run.out
    assert "passed over" not in run.out
    assert "0 of 12 answered" in ladderdeck("answers", cwd=folder).out


def test_a_renamed_pack_takes_its_answers_along(folder):
    pack = folder / "cards" / "caching" / "SKILL.md"
    pack.write_text(PACK.replace("name: caching", "name: 缓存"), encoding="utf-8")
    assert problems(folder) == [("renamed-pack", "warning", 2, 7)]
    assert "write `pack: 缓存`" in ladderdeck("check", "-v", cwd=folder).out
    assert "4 of 6 answered" in ladderdeck("answers", cwd=folder).out


def test_html_in_an_answer_is_text(folder):
    change(folder, "正文 ", "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) ")
    run = ladderdeck(cwd=folder)
    assert run.code == 0


@pytest.mark.parametrize("head", ["", "---\npack: caching\n", "---\ntopic: x\n---\n", "---\npack: [a]\n---\n"])
def test_a_broken_head_is_a_problem_or_no_answer_file(folder, head):
    (folder / "cards" / "caching" / "answers" / "x.md").write_text(f"{head}\n## 甲\n", encoding="utf-8")
    run = ladderdeck("check", cwd=folder)
    assert "Traceback" not in run.err


def test_yes_no_rungs_are_warned_of(folder):
    pack = folder / "cards" / "caching" / "SKILL.md"
    pack.write_text(PACK.replace("为什么要淘汰", "是否需要淘汰"), encoding="utf-8")
    assert ("yes-no-rung", "warning", 10, 6) in problems(folder)


def test_skeletons_are_written_once(folder):
    ladderdeck("answers", "--new", cwd=folder)
    before = tree(folder)
    assert ladderdeck("answers", "--new", cwd=folder).code == 0
    assert tree(folder) == before


def test_one_item_answered_in_two_files_is_said(folder):
    answers = folder / "cards" / "caching" / "answers"
    (answers / "z.md").write_text(
        "---\npack: caching\ntopic: 淘汰策略\n---\n\n## 为什么要淘汰\n\n- 又一次\n", encoding="utf-8"
    )
    assert ("duplicate-answer", "error", 6, 4) in problems(folder)
