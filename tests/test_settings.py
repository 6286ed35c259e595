"""`deck.yaml`: what it may say, and what is wrong with what it says."""

from __future__ import annotations

import pytest

from ladderdeck.reading.settings import Settings, read_settings
from ladderdeck.values.model import Kind, Language


def read(text: str) -> tuple[Settings, list[tuple[str, int, int]]]:
    settings, problems = read_settings(text.encode("utf-8"), "deck.yaml")
    return settings, [(p.code, p.position.line, p.position.column) for p in problems]


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "\ufeff"])
def test_nothing_is_the_default(text):
    assert read(text) == (Settings(), [])


def test_a_name_is_text_whatever_yaml_takes_it_for():
    for name in ("2024", "no", "1.0", "null", "2026-09-20"):
        assert read(f"name: {name}\n")[0].root == name


def test_a_wrong_setting_keeps_its_default_and_the_others_hold():
    settings, problems = read("name: [x]\nkinds: [sign]\n")
    assert (settings.root, settings.kinds) == (Settings().root, (Kind.SIGN,))
    assert [code for code, _, _ in problems] == ["wrong-name"]


def test_a_kind_that_stands_twice_is_made_once():
    assert read("kinds: [sign, rung, sign]\n")[0].kinds == (Kind.SIGN, Kind.RUNG)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"name: \xff\n"])
def test_what_is_not_utf8_is_a_problem(data):
    settings, problems = read_settings(data, "deck.yaml")
    assert settings == Settings()
    assert [p.code for p in problems] == ["not-utf8"]


def test_everything_can_be_set():
    settings, problems = read("name: Interviews::阶梯\nkinds: [ladder, rung]\ndecks:\n  caching: 缓存 <T>\n")
    assert problems == []
    assert settings.kinds == (Kind.LADDER, Kind.RUNG)
    assert settings.deck_name("caching", Language.CHINESE) == "Interviews::阶梯::缓存 <T>"
    assert settings.deck_name("other", Language.ENGLISH) == "Interviews::阶梯::other (en)"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nmae: x\n", ("unknown-setting", 1, 7)),
        ("name: [x]\n", ("wrong-name", 1, 7)),
        ("name: a::::b\n", ("wrong-deck-name", 1, 7)),
        ("kinds: rung\n", ("wrong-kinds", 1, 8)),
        ("kinds:\n  - rung\n  - rungs\n", ("wrong-kinds", 3, 5)),
        ("decks: x\n", ("wrong-decks", 1, 8)),
        ("name: a: b\n", ("yaml", 1, 8)),
        ("- x\n", ("yaml", 1, 1)),
        ("name: a\nname: b\n", ("duplicate-key", 2, 1)),
        ('name: "a\\x1fb"\n', ("control-character", 1, 7)),
        ("kinds: [rung, 2]\n", ("wrong-kinds", 1, 15)),
        ("kinds: [rung, [sign]]\n", ("wrong-kinds", 1, 15)),
        ("decks:\n  a: [x]\n", ("wrong-decks", 2, 6)),
        ("decks:\n  a: x\n  a: y\n", ("duplicate-key", 3, 3)),
        ("decks:\n  [a]: x\n", ("wrong-decks", 2, 3)),
        ("decks:\n  a: 'x::'\n", ("wrong-deck-name", 2, 6)),
        ("decks: [x]\n", ("wrong-decks", 1, 8)),
        ("# c\n\nname: [\n", ("yaml", 4, 1)),
        ("name: a\n---\nname: b\n", ("yaml", 2, 1)),
        ("name: *x\n", ("yaml", 1, 7)),
        ("\tname: x\n", ("yaml", 1, 1)),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text, problem):
    assert read(text)[1] == [problem]
