"""YAML as nodes: libyaml below, and what it makes is what PyYAML's own parser makes, places and all."""

from __future__ import annotations

import pytest
import yaml
from command import CHECKOUT
from hypothesis import example, given
from hypothesis import strategies as st

from ladderdeck.reading.yaml_nodes import YamlReader, _compose

WORDS = [
    *("a", "é", "钥匙", "𠮷", "1.0", "no", "~", "x y", "2026-09-20", "c#", "c++", "#", " # note", "\\", "%", "@", "`", "!", "!!str"),
    *(": ", ":", "- ", "-", "? ", "[", "]", "{", "}", ",", ", ", "&x ", "*x", "'", '"', "|", ">", "|-", "|2", "---", "...", "<<: "),
    *("\n", "\n  ", "\n    ", "\n- ", "\n\n", " ", "\t", "\ufeff", "\x85", "\u2028", "\u3000", "\\n", "\\u2028", "\r"),
]  # fmt: skip


def values(node: yaml.Node | None, depth: int = 0) -> object:
    """A node as plain data: what it holds, and where it begins."""
    if node is None or depth > 50:  # an alias may stand within what it names
        return None
    mark = node.start_mark
    place = (mark.line, mark.column, mark.index, node.tag)
    if isinstance(node, yaml.ScalarNode):
        return place, node.style or "", node.value
    if isinstance(node, yaml.MappingNode):
        return place, [(values(key, depth + 1), values(value, depth + 1)) for key, value in node.value]
    return place, [values(item, depth + 1) for item in node.value]


def outcome(compose, text: str) -> object:
    try:
        return values(compose(text))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return type(error).__name__, str(error)


def by_pyyaml(text: str) -> yaml.Node | None:
    return yaml.compose(text, Loader=yaml.SafeLoader)


WITHOUT_OTHER_LINE_BREAKS = dict.fromkeys(map(ord, "\x85\u2028\u2029"), " ")


@given(
    st.lists(st.sampled_from(WORDS), max_size=25)
    .map("".join)
    .map(lambda text: text.translate(WITHOUT_OTHER_LINE_BREAKS))
)
@example("a: &x {b: [1, 2]}\nc: *x")
@example("a: |\n\n   b\n  c: d\n")
def test_libyaml_reads_as_pyyaml_does(text):
    assert outcome(_compose, text) == outcome(by_pyyaml, text)


@pytest.mark.parametrize("file", sorted(CHECKOUT.glob("**/drills*.yaml")), ids=lambda file: file.name)
def test_drill_files_are_read_as_pyyaml_reads_them(file):
    text = file.read_text(encoding="utf-8")
    assert outcome(_compose, text) == outcome(by_pyyaml, text)


def test_deep_nesting_is_a_problem_and_ends_no_process():
    reader = YamlReader("deck.yaml", 1, "the file")
    assert reader.root("[" * 100_000) is None
    assert [problem.code for problem in reader.problems] == ["yaml"]
