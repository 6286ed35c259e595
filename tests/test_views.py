"""The plain data that `inspect` and `check` print, key by key and in this order."""

from __future__ import annotations

import json

from ladderdeck.building.views import github_command, library_view, problem_view
from ladderdeck.reading.parser import parse_pack
from ladderdeck.values.model import Position, Problem, Severity

DOCUMENT = """garden git:20270101.abc

/api/v1/blob/0123abcd

---
name: garden
description: 园子怎么问
keywords: [土, no]
layer: detail
domains: [home, food]
---

## 常考主题清单

### 土壤
- 阶梯：为什么要排水；怎么看 → 酸碱度怎么测
- 答实的标志：测过。

## 常见失守与危险信号

- 土壤：天天浇
- 抢话：打断

## 项目 / 实习怎么深挖

- 简历出现温室 → 追温度 → 追湿度
"""

VIEW = {
    "packs": [
        {
            "name": "garden",
            "language": "zh",
            "layer": "detail",
            "domains": ["home", "food"],
            "keywords": ["土", "no"],
            "description": "园子怎么问",
            "version": "git:20270101.abc",
            "blob": "0123abcd",
            "path": "cards/garden.md",
            "topics": [
                {
                    "title": "土壤",
                    "line": 15,
                    "rungs": [
                        {"text": "为什么要排水；怎么看", "line": 16, "questions": ["为什么要排水", "怎么看"]},
                        {"text": "酸碱度怎么测", "line": 16, "questions": ["酸碱度怎么测"]},
                    ],
                    "signs": [{"text": "测过", "line": 17}],
                    "red_flags": [{"text": "天天浇", "line": 21}],
                }
            ],
            "red_flags": [{"text": "打断", "line": 22, "key": "抢话"}],
            "probes": [{"trigger": "简历出现温室", "follow_up": "追温度 → 追湿度", "line": 26}],
        }
    ],
    "problems": [
        {
            "code": "red-flag-without-topic",
            "severity": "warning",
            "file": "cards/garden.md",
            "line": 22,
            "column": 3,
            "message": "no topic is near enough to the red flags of `抢话`; they are kept on the pack",
            "hint": "begin the line with a topic's title and a colon",
        }
    ],
}


def test_a_pack_as_plain_data():
    pack, problems = parse_pack(DOCUMENT.encode(), "cards/garden.md")
    assert pack
    view = library_view([pack], problems)
    assert view == VIEW
    assert json.loads(json.dumps(view, ensure_ascii=True)) == VIEW


def test_the_keys_stand_in_the_order_that_is_documented():
    pack, problems = parse_pack(DOCUMENT.encode(), "cards/garden.md")
    assert pack
    view = library_view([pack], problems)
    assert list(view) == ["packs", "problems"]
    assert list(view["packs"][0]) == list(VIEW["packs"][0])
    assert list(view["problems"][0]) == list(VIEW["problems"][0])


def test_nothing_is_an_empty_view():
    assert library_view([], []) == {"packs": [], "problems": []}


def test_a_problem_as_a_workflow_command():
    place = Position("a,b:c/甲 乙.md", 3, 14)
    problem = Problem("empty-rung", Severity.ERROR, place, "50% of `a, b: c`\nis empty", "write one")
    assert github_command(problem) == (
        "::error file=a%2Cb%3Ac/甲 乙.md,line=3,col=14,title=empty-rung::50%25 of `a, b: c`%0Ais empty; write one"
    )
    assert problem_view(problem)["severity"] == "error"
