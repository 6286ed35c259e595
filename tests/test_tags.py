"""Tags: no blanks, no search operators, and never one tag for two topics."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.values.tags import tag, topic_tags

OPERATORS = re.compile(r"[\s*_\"'():\\,&<>;]")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("投机解码", "topic::pack::投机解码"),
        ("MoE 模型的  服务", "topic::pack::MoE-模型的-服务"),
        ("a\tb\u3000c\nd", "topic::pack::a-b-c-d"),
        ("C#", "topic::pack::C#"),
        ("C++", "topic::pack::C++"),
        ("snake_case", "topic::pack::snake＿case"),
        ("vector<int>", "topic::pack::vector＜int＞"),
        ("a::b", "topic::pack::a：：b"),
        ("-x", "topic::pack::－x"),
        ("e\u0301", "topic::pack::é"),
        ("👩‍💻 𠮷", "topic::pack::👩‍💻-𠮷"),
        ("a, b; (c)", "topic::pack::a，-b；-（c）"),
    ],
)
def test_a_title_becomes_a_tag(name, expected):
    assert topic_tags("pack", [name]) == (expected,)


def test_titles_that_fall_together_are_told_apart():
    tags = topic_tags("p", ["a b", "a-b", "A B", "a  b"])
    assert len({t.casefold() for t in tags}) == 4
    assert tags[0] == "topic::p::a-b"


def test_packs_keep_topics_of_one_name_apart():
    assert topic_tags("one", ["缓存"]) != topic_tags("two", ["缓存"])


@given(st.lists(st.text(min_size=1, max_size=80), unique=True, max_size=8))
def test_tags_are_fit_for_anki(titles):
    tags = topic_tags("pack", titles)
    assert len({t.casefold() for t in tags}) == len(titles)
    for title_tag in tags:
        last = title_tag.removeprefix("topic::pack::")
        assert last
        assert not OPERATORS.search(last)
        assert not last.startswith("-")
        assert len(last) < 80


@given(
    st.lists(
        st.sampled_from(["a b", "a-b", "A B", "a\tb", "a  b", "a_b", "a＿b", "a:b", "a：b", "", " ", "-", "\u200b"]),
        max_size=12,
    )
)
def test_titles_that_look_alike_never_share_a_tag(titles):
    tags = topic_tags("pack", titles)
    assert len({t.casefold() for t in tags}) == len(tags)


def test_titles_that_take_each_others_hash_are_told_apart():
    first = topic_tags("p", ["a b", "a-b"])[1].removeprefix("topic::p::")
    tags = topic_tags("p", [first, "a b", "a-b", "a-b", "a-b"])
    assert len({t.casefold() for t in tags}) == 5


def test_a_tag_does_not_depend_on_later_topics():
    assert topic_tags("p", ["a b", "a-b"])[0] == topic_tags("p", ["a b"])[0]


def test_simple_tags():
    assert tag("domain", "ai-infra") == "domain::ai-infra"
    assert tag("rung", "1") == "rung::1"
