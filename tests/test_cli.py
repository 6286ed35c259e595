"""The command line: what it prints where, its exit codes, and that it changes nothing on disk when the input is wrong."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from command import SEED, ladderdeck, tree

PACK = """---
name: caching
description: 缓存怎么面。
keywords: [缓存, no, 1.0, c#]
layer: detail
domains: [backend]
---

## 常考主题清单

### 淘汰策略
- 阶梯：为什么要淘汰 → LRU 与 LFU 差在哪；各适合什么 → 命中率突然掉一半怎么查
- 答实的标志：能说出命中率怎么测；知道扫描会冲掉热点。

## 常见失守与危险信号

- 淘汰策略：只会背 LRU；不知道扫描

## 项目 / 实习怎么深挖

- 简历出现缓存 → 追命中率与失效
"""
ENGLISH = """---
name: caching
layer: detail
domains: [backend]
---

## Frequently tested topics

### Eviction
- Ladder: why evict -> how LRU differs from LFU -> the hit rate halves: what now
- Signs of a solid answer: names a hit rate; knows what a scan does
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cards" / "缓存 pack").mkdir(parents=True)
    (tmp_path / "cards" / "缓存 pack" / "SKILL.md").write_text(PACK, encoding="utf-8")
    return tmp_path


def test_inspect_prints_the_packs_as_json(folder):
    run = ladderdeck("inspect", cwd=folder)
    assert run.code == 0
    data = json.loads(run.out)
    (pack,) = data["packs"]
    assert data["problems"] == []
    assert pack["name"] == "caching"
    assert pack["language"] == "zh"
    assert pack["keywords"] == ["缓存", "no", "1.0", "c#"]
    assert pack["path"] == "cards/缓存 pack/SKILL.md"
    (topic,) = pack["topics"]
    assert topic["rungs"][1] == {
        "text": "LRU 与 LFU 差在哪；各适合什么",
        "line": 12,
        "questions": ["LRU 与 LFU 差在哪", "各适合什么"],
    }
    assert [sign["text"] for sign in topic["signs"]] == ["能说出命中率怎么测", "知道扫描会冲掉热点"]
    assert [flag["text"] for flag in topic["red_flags"]] == ["只会背 LRU", "不知道扫描"]
    assert pack["probes"] == [{"trigger": "简历出现缓存", "follow_up": "追命中率与失效", "line": 21}]


def test_inspect_survives_a_console_that_knows_ascii_only(folder):
    run = ladderdeck("inspect", cwd=folder, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert run.code == 0
    assert json.loads(run.out)["packs"][0]["path"] == "cards/缓存 pack/SKILL.md"


@pytest.mark.parametrize("encoding", ["ascii", "cp936", "utf-8"])
def test_a_build_survives_any_console(folder, encoding):
    run = ladderdeck("build", "-v", cwd=folder, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING=encoding)
    assert run.code == 0
    assert (folder / "dist" / "ladders.apkg").is_file()


def test_the_first_word_may_be_a_path_an_option_or_a_command(folder):
    for arguments in (["cards"], ["-o", "dist/ladders.apkg"], ["build", "cards"], ["cards/缓存 pack/SKILL.md"]):
        assert ladderdeck(*arguments, cwd=folder).code == 0, arguments


def test_both_languages_of_a_pack_are_kept_apart(folder):
    (folder / "cards" / "缓存 pack" / "SKILL.en.md").write_text(ENGLISH, encoding="utf-8")
    run = ladderdeck("build", cwd=folder)
    assert run.code == 0, run.err
    assert "in 2 decks" in run.out
    data = json.loads(ladderdeck("inspect", "--language", "en", cwd=folder).out)
    assert [pack["language"] for pack in data["packs"]] == ["en"]


def test_check_names_the_files_that_are_no_packs(folder):
    (folder / "cards" / "README.md").write_text("# About\n", encoding="utf-8")
    run = ladderdeck("check", "-v", cwd=folder)
    assert run.code == 0
    assert "cards/README.md: passed over" in run.out


BROKEN = PACK.replace("→ LRU 与 LFU 差在哪；各适合什么 →", "→ → （未闭").replace("layer: detail", "layer: deep")


@pytest.mark.parametrize("command", [["build"], ["check"], ["inspect"]])
def test_errors_end_with_1_and_change_nothing(folder, command):
    (folder / "cards" / "缓存 pack" / "SKILL.md").write_text(BROKEN, encoding="utf-8")
    before = tree(folder)
    run = ladderdeck(*command, cwd=folder)
    assert run.code == 1
    assert tree(folder) == before
    assert not (folder / "dist").exists()
    assert "Traceback" not in run.out + run.err


def test_all_problems_come_in_one_run_with_place_and_hint(folder):
    (folder / "cards" / "缓存 pack" / "SKILL.md").write_text(BROKEN, encoding="utf-8")
    problems = json.loads(ladderdeck("check", "--format", "json", cwd=folder).out)["problems"]
    places = [(p["code"], p["severity"], p["line"], p["column"]) for p in problems]
    assert ("wrong-layer", "error", 5, 8) in places
    assert ("empty-rung", "error", 12, 14) in places
    assert ("unbalanced-bracket", "warning", 12, 17) in places
    assert all(p["file"] == "cards/缓存 pack/SKILL.md" and p["message"] and p["hint"] for p in problems)


def test_github_format(folder):
    (folder / "cards" / "缓存 pack" / "SKILL.md").write_text(BROKEN, encoding="utf-8")
    run = ladderdeck("check", "--format", "github", cwd=folder)
    assert "::error file=cards/缓存 pack/SKILL.md,line=5,col=8,title=wrong-layer::" in run.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere"], 1, "nowhere:1:1: error: there is no such file or folder"),
        (["check", "nowhere"], 1, "nowhere:1:1: error: there is no such file or folder"),
        (["empty"], 1, "empty:1:1: error: no pack is in this folder"),
        (["--nonsense"], 2, "No such option"),
        (["--language", "fr"], 2, "Invalid value"),
        (["check", "--format", "xml"], 2, "Invalid value"),
        (["-o", "folder"], 2, "is a directory"),
        (["-o", "file/deck.apkg"], 1, "error: the file cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(folder, arguments, code, message):
    (folder / "empty").mkdir()
    (folder / "folder").mkdir()
    (folder / "file").write_text("")
    before = tree(folder)
    run = ladderdeck(*arguments, cwd=folder)
    assert run.code == code
    assert message in run.out + run.err
    assert "Traceback" not in run.err
    assert tree(folder) == before


def test_no_colour_where_it_is_not_wanted(folder):
    shutil.copy(SEED, folder / "cards" / "broken.md")
    (folder / "cards" / "broken.md").write_text(BROKEN, encoding="utf-8")
    assert "\x1b[" not in ladderdeck("check", cwd=folder).out


@pytest.mark.parametrize("command", [[], ["build"], ["check"], ["inspect"]])
def test_help_has_an_example(folder, command):
    run = ladderdeck(*command, "--help", cwd=folder)
    assert run.code == 0
    assert "Example" in run.out


def test_a_wrong_source_date_epoch_is_wrong_usage(folder):
    for value in ("yesterday", "-1", "99999999999"):
        run = ladderdeck(cwd=folder, SOURCE_DATE_EPOCH=value)
        assert run.code == 2
        assert "SOURCE_DATE_EPOCH" in run.err


def test_a_build_overwrites_nothing_but_packages(folder):
    diary = folder / "diary.txt"
    diary.write_text("my own words", encoding="utf-8")
    for output in ("diary.txt", os.devnull):
        run = ladderdeck("-o", output, cwd=folder)
        assert run.code == 1
        assert "not-ours" in run.err
    assert diary.read_text(encoding="utf-8") == "my own words"
