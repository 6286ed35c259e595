"""The pack that comes with the project, as it was received: what the parser finds in it, down to each link."""

from __future__ import annotations

import hashlib

import pytest
from command import SEED

from ladderdeck.reading.parser import parse_pack
from ladderdeck.values.model import Language

PACK, PROBLEMS = parse_pack(SEED.read_bytes(), "SKILL.md")

FLAGS = {
    "投机解码": ('只会"小模型猜"', "说不出接受率决定加速比", "不知道 batch 大时收益消失"),
    "量化与算子优化": ('量化只知道"变小变快"', "不做精度回归", "写 kernel 不看 profiler"),
    "分布式推理与并行": ("张量并行说不出通信在哪", "不知道 PD 分离解决什么、代价是什么"),
    "长上下文与显存": ('只答"加显存"', "不知道 offload 与 KV 压缩的取舍"),
    "PD 分离与 KV 传输": ("不知道 KV 怎么在实例间传、带宽要多少", "不知道什么规模才值得分"),
    "MoE 模型的服务": ('只答"选专家"', "不谈 all-to-all 与负载不均", "不知道专家怎么放显存"),
    "前缀缓存与多轮对话": ('只答"缓存前缀"', "说不出命中条件", "不知道系统提示放前面的意义"),
    "约束解码与采样策略": ("不知道结构化输出在推理侧怎么实现", "不知道它对吞吐的影响"),
    "容量规划与弹性": ("不会从 SLO 反推卡数", "没有峰谷弹性方案"),
}
"""By topic, the red flags that its line in the pack holds."""


def test_the_file_is_byte_for_byte_what_was_received():
    digest = "2f20409d5772073f0b0f4d876bbfea46493945184850bd4693ff065a6beb5161"
    assert hashlib.sha256(SEED.read_bytes()).hexdigest() == digest


def test_it_has_no_problem():
    assert PROBLEMS == ()


def test_its_counts():
    assert PACK
    assert len(PACK.topics) == 9
    assert [len(topic.rungs) for topic in PACK.topics] == [4] * 9
    assert [len(topic.signs) for topic in PACK.topics] == [3, 4, 4, 3, 3, 3, 3, 3, 3]
    assert len(PACK.probes) == 6
    assert sum(len(topic.red_flags) for topic in PACK.topics) == 22
    assert PACK.red_flags == ()


def test_its_head_and_where_it_came_from():
    assert PACK
    assert (PACK.name, PACK.language, PACK.layer) == ("llm-inference-serving", Language.CHINESE, "detail")
    assert PACK.domains == ("ai-infra", "ai-agent")
    assert (PACK.version, PACK.blob) == ("git:20260920.a4843f5A", "4e99f4872715f3ce")
    assert (len(PACK.keywords), PACK.keywords[0], PACK.keywords[-1]) == (17, "推理服务", "长上下文推理")
    assert PACK.description.startswith("推理服务深挖：投机解码、")


@pytest.mark.parametrize("title", FLAGS)
def test_every_red_flag_is_under_its_topic(title):
    assert PACK
    (topic,) = (topic for topic in PACK.topics if topic.title.text == title)
    assert tuple(flag.text for flag in topic.red_flags) == FLAGS[title]


def test_some_keys_are_worded_otherwise_than_their_topic():
    section = SEED.read_text(encoding="utf-8").split("## 常见失守与危险信号\n")[1].split("\n## ")[0]
    keys = [line[2:].split("：")[0] for line in section.splitlines() if line.startswith("- ")]
    assert len(keys) == 9
    assert set(keys) - set(FLAGS) == {"MoE 服务", "前缀缓存与多轮", "约束解码与采样", "容量规划"}


def test_a_rung_of_several_questions_and_one_with_brackets():
    assert PACK
    third = PACK.topics[0].rungs[2]
    assert [q.text for q in third.questions] == [
        "加速比由接受率与草稿长度决定，什么分布下接受率低",
        "batch 大时为什么收益消失",
    ]
    assert PACK.topics[3].rungs[0].text.text == "长上下文的显存与延迟各随长度怎么增长（attention 的计算 vs KV 的存储）"


def test_every_text_stands_where_its_position_says():
    assert PACK
    lines = SEED.read_text(encoding="utf-8").split("\n")
    texts = [PACK.probes[0].trigger, PACK.probes[-1].follow_up]
    for topic in PACK.topics:
        texts += [topic.title, *topic.signs, *topic.red_flags]
        texts += [piece for rung in topic.rungs for piece in (rung.text, *rung.questions)]
    for text in texts:
        place = text.position
        assert lines[place.line - 1][place.column - 1 :].startswith(text.text)


def test_nothing_of_its_envelope_becomes_text():
    assert PACK
    told = repr((PACK.topics, PACK.probes, PACK.red_flags, PACK.focus, PACK.description))
    assert not any(words in told for words in ("Immutable", "git:2026", "/api/v1", PACK.blob))


def test_no_letter_of_its_ladders_and_signs_is_lost():
    assert PACK
    for line in SEED.read_text(encoding="utf-8").split("\n"):
        if line.startswith("- 阶梯："):
            (rungs,) = (t.rungs for t in PACK.topics if t.rungs[0].text.text in line)
            assert " → ".join(r.text.text for r in rungs).replace(" ", "") == line[5:].replace(" ", "")
