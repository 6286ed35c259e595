"""The numbers of drills: computed a second time by another way, chosen alike everywhere, and stable under edits."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
import yaml
from command import CHECKOUT
from drill_check import compute, factor, quantity, steps_of
from drill_samples import ENGLISH_PACK, SMALL, documented, drill_notes, english_pack, made
from hypothesis import given, settings
from hypothesis import strategies as st

from ladderdeck.building.build import read_inputs
from ladderdeck.calculating.drill_numbers import LEAST, LEAST_RESULTS, VARIANTS, variants
from ladderdeck.calculating.units import show_number

FILES = sorted((CHECKOUT / "cards").glob("*/drills*.yaml"))


def shipped():
    """Every drill that the project comes with: as the program has it, and as its file says it."""
    inputs = read_inputs([CHECKOUT / "cards"], None)
    raw = {}
    for file in FILES:
        loaded = yaml.safe_load(file.read_text(encoding="utf-8"))
        raw.update({(loaded["pack"], drill["id"]): drill for drill in loaded["drills"]})
    made_ready = {(each.placed.pack.name, each.placed.drill.id.text): each for each in inputs.drills}
    assert made_ready.keys() == raw.keys(), [str(p) for p in inputs.problems]
    return [(made_ready[key], raw[key]) for key in raw]


SHIPPED = shipped()


def texts_of(drill):
    pack = drill.placed.pack
    return variants(drill.placed.drill, pack.name, pack.language.value)[0]


@pytest.mark.parametrize(("drill", "raw"), SHIPPED, ids=lambda each: each["id"] if isinstance(each, dict) else "")
def test_every_variant_is_right_by_another_way(drill, raw) -> None:
    """From what the card shows as given, through the file's expressions, to what the script's data hold."""
    data = json.loads(drill.fields["Data"])
    tolerance = float(raw["tolerance"].rstrip("%")) / 100
    low, high = (
        compute(str(bound), {}) * (factor(data["unit"]) if re.fullmatch(r"[\d.e]+", str(bound)) else 1)
        for bound in raw["bounds"]
    )
    steps = steps_of(raw["steps"])
    result_name = raw.get("result", steps[-1][0])
    found = texts_of(drill)
    assert len(found) == len(data["texts"]) == len(data["numbers"])
    for variant, texts, numbers in zip(found, data["texts"], data["numbers"], strict=True):
        known = {name: quantity(variant.texts[name]) for name in raw["given"]}
        for name, expression, unit in steps:
            known[name] = compute(expression, known)
            shown = variant.texts[name]
            assert not unit or shown.endswith(unit.replace("percent", "%")), (name, shown)
            assert math.isclose(quantity(shown), known[name], rel_tol=6e-3), (name, shown)
        result = known[result_name] / factor(data["unit"])
        assert low * (1 - 1e-9) <= known[result_name] <= high * (1 + 1e-9)
        assert numbers[0] == pytest.approx(result, rel=1e-7)
        band = [result * (1 - tolerance), result * (1 + tolerance)]
        assert numbers[1:3] == pytest.approx(band, rel=6e-3)
        assert numbers[1] <= band[0] * (1 + 1e-7) and numbers[2] >= band[1] * (1 - 1e-7)
        shown_ends = [quantity(show_number(end)) for end in (variant.low, variant.high)]
        assert numbers[1] <= shown_ends[0] * (1 + 1e-7) and numbers[2] >= shown_ends[1] * (1 - 1e-7)
        assert str(variant.result).replace(" ", "\u00a0") in texts or len({str(each.result) for each in found}) == 1
        assert len(numbers) == 3 + len(raw["mistakes"])
        for mistake, wrong in zip(raw["mistakes"], numbers[3:], strict=True):
            expected = compute(mistake["gives"].partition("->")[0], known) / factor(data["unit"])
            if wrong is None:
                assert abs(expected - result) <= tolerance * result * (1 + 1e-9)
            else:
                assert wrong == pytest.approx(expected, rel=1e-7)
                assert abs(expected - result) > tolerance * result * (1 - 1e-9)


@pytest.mark.parametrize(("drill", "raw"), SHIPPED, ids=lambda each: each["id"] if isinstance(each, dict) else "")
def test_the_variants_differ(drill, raw) -> None:
    found = texts_of(drill)
    given = [tuple(variant.texts[name] for name in raw["given"]) for variant in found]
    assert LEAST <= len(set(given)) == len(given) <= VARIANTS
    assert len({str(variant.result) for variant in found}) >= LEAST_RESULTS
    assert all(variant.result.value > 0 for variant in found)


BY_HAND = {
    "decode-bandwidth-bound": lambda g: g["参数"] * 1e9 * g["位宽"] / (g["卡数"] * g["带宽"]),
    "kv-bytes-per-sequence": lambda g: 2 * g["层数"] * g["kv头"] * g["头维度"] * g["字节"] * g["长度"],
}
"""Formulas written out once more, from what each question says."""


@pytest.mark.parametrize("name", BY_HAND)
def test_a_formula_by_hand_agrees(name: str) -> None:
    drill, raw = next(pair for pair in SHIPPED if pair[1]["id"] == name)
    for variant in texts_of(drill):
        given = {each: quantity(variant.texts[each]) for each in raw["given"]}
        assert quantity(str(variant.result)) == pytest.approx(BY_HAND[name](given), rel=6e-3)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 * 3 GB / 450 GB/s", 2 * 3e9 / 450e9),
        ("10 / 4 KiB/token", 10 / 4096),
        ("a * 8 bit", 8.0 * 1),
        ("2^3^2 - -1", 513.0),
        ("ceil(7 / 2) * 1 ms", 0.004),
        ("90 percent", 0.9),
        ("1_000 µs × 2 ÷ 4", 0.0005),
        ("3 s/a", 3 / 8.0),
    ],
)  # fmt: skip
def test_the_other_way_itself(expression: str, value: float) -> None:
    assert compute(expression, {"a": 8.0}) == pytest.approx(value, rel=1e-12)


# What is chosen


def givens(text: str) -> list[tuple[str, ...]]:
    """The values that the variants of a small drill file take, in order."""
    (drill,), problems = made(text)
    assert problems == []
    names = [each.name.text for each in drill.placed.drill.given]
    return [tuple(variant.texts[name] for name in names) for variant in texts_of(drill)]


def test_the_choice_is_the_same_everywhere() -> None:
    """The numbers that shipped stay, whatever machine or version of Python builds."""
    assert givens(SMALL)[:4] == [("50 GB", "5 GB/s"), ("50 GB", "4 GB/s"), ("80 GB", "5 GB/s"), ("80 GB", "2 GB/s")]


MORE = SMALL.replace("[10, 20, 30, 50, 80]", "[10, 15, 20, 30, 50, 60, 80, 90]")


def test_a_value_more_puts_variants_in_and_keeps_the_others_in_order() -> None:
    before, after = givens(SMALL), givens(MORE)
    assert len(before) == 25
    assert len(after) == 37
    kept = [each for each in after if each in before]
    assert kept == [each for each in before if each in kept]
    # Those that are gone were pushed out behind the last one.
    rank = [each for each in before if each not in after]
    assert not rank or before.index(rank[0]) >= len(kept)


@settings(max_examples=15)
@given(st.lists(st.integers(1, 400), min_size=30, max_size=60, unique=True), st.integers(401, 500))
def test_one_value_more_takes_away_one_variant_at_most(values: list[int], more: int) -> None:
    text = SMALL.replace("{values: [1, 2, 4, 5, 8], unit: GB/s}", "{values: [4], unit: GB/s}").replace(
        "[0.5 s, 100 s]", "[0.1 s, 200 s]"
    )
    before = givens(text.replace("[10, 20, 30, 50, 80]", str(values)))
    after = givens(text.replace("[10, 20, 30, 50, 80]", str([*values, more])))
    assert len(set(before) - set(after)) <= 1
    assert len(set(after) - set(before)) <= 1


def test_another_order_of_the_values_changes_nothing() -> None:
    turned = SMALL.replace("[10, 20, 30, 50, 80]", "[80, 30, 10, 50, 20]")
    assert givens(turned) == givens(SMALL)


def test_another_id_takes_other_numbers_first() -> None:
    assert givens(SMALL.replace("id: transfer", "id: other")) != givens(SMALL)


def test_a_text_changes_no_numbers() -> None:
    other = SMALL.replace("How long do", "In what time do").replace("took bits", "counted bits").replace("10%", "20%")
    assert givens(other) == givens(SMALL)


def test_combinations_stay_together_and_numbers_come_once() -> None:
    """Two models with the same numbers are one set of numbers."""
    text = documented().replace(
        "Qwen2.5-14B:", "Mistral-7B: {layers: 32, kv_heads: 8, head_size: 128}\n        Qwen2.5-14B:"
    )
    (drill,), problems = made(text)
    assert problems == []
    shapes = {
        "Llama-3.1-8B": "32 8",
        "Mistral-7B": "32 8",
        "Llama-3.1-70B": "80 8",
        "Qwen2.5-7B": "28 4",
        "Qwen2.5-14B": "48 8",
    }
    seen = []
    for variant in texts_of(drill):
        assert shapes[variant.texts["model"]] == f"{variant.texts['layers']} {variant.texts['kv_heads']}"
        seen.append(tuple(variant.texts[name] for name in ("layers", "kv_heads", "width", "length")))
    assert len(set(seen)) == len(seen)


def test_a_mistake_that_gives_the_right_number_is_left_out_that_day() -> None:
    text = SMALL.replace("gives: 8 * time", "gives: size / (2 GB/s)")
    (drill,), problems = made(text)
    assert problems == []
    wrong = {variant.texts["speed"]: variant.wrong[0] for variant in texts_of(drill)}
    assert wrong["2 GB/s"] is None
    assert wrong["4 GB/s"] is not None


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("[10, 20, 30, 50, 80], unit: GB", "[10 GB, 20000 MB, 30 GB, 50 GB, 80 GB]", "20,000 MB"),
        ("values: [10, 20, 30, 50, 80], unit: GB", "from: 10, to: 50, step: 10, unit: GB", "40 GB"),
        ("values: [10, 20, 30, 50, 80], unit: GB", "from: 5, to: 80, times: 2, unit: GB", "80 GB"),
        ("values: [10, 20, 30, 50, 80], unit: GB", "from: 10, to: 11, step: 0.2, unit: GB", "10.4 GB"),
        ("[1, 2, 4, 5, 8], unit: GB/s", "[8, 16, 32, 40, 64], unit: Gbit/s", "16 Gbit/s"),
        ("size / speed -> s\n    tolerance: 10%\n    bounds: [0.5 s, 100 s]", "size / speed -> ms\n    tolerance: 10%\n    bounds: [500, 100 s]", "10,000 ms"),
    ],
)  # fmt: skip
def test_values_may_be_written_in_many_ways(old: str, new: str, seen: str) -> None:
    assert old in SMALL
    (drill,), problems = made(SMALL.replace(old, new))
    assert problems == []
    assert seen in {text for variant in texts_of(drill) for text in variant.texts.values()}


def test_names_may_be_in_any_script_and_form() -> None:
    """Chinese, and letters with accents that were typed in two pieces in one place and as one in another."""
    for one, other in (("vité", "vité"), ("带宽", "带宽"), ("ᄒ", "ᄒ")):
        text = (
            SMALL.replace("      speed:", f"      {one}:")
            .replace("{speed}", f"{{{other}}}")
            .replace("/ speed", f"/ {one}")
        )
        (drill,), problems = made(text)
        assert problems == []
        assert re.search(r'data-slot="1">\d\u00a0GB/s</b>\?', drill.fields["Question"])


def test_shares_are_shown_in_per_cent() -> None:
    text = SMALL.replace("{values: [1, 2, 4, 5, 8], unit: GB/s}", "{values: [10, 20, 40, 50, 80], unit: '%'}")
    text = text.replace("time = size / speed -> s", "time = speed^2 * size / (100 GB) -> percent")
    (drill,), problems = made(text.replace("[0.5 s, 100 s]", "[0.05%, 90%]"))
    assert problems == []
    variant = texts_of(drill)[0]
    assert variant.texts["speed"].endswith("%")
    assert variant.result.unit == "%"
    assert json.loads(drill.fields["Data"])["unit"] == "%"


# What the script gets


@pytest.mark.parametrize("count", [20, 21, 24, 25, 30, 36, 37, 45])
def test_the_days_lead_through_all_variants_and_never_stay(count: int) -> None:
    text = SMALL.replace("{values: [1, 2, 4, 5, 8], unit: GB/s}", "{values: [4], unit: GB/s}")
    text = text.replace("[10, 20, 30, 50, 80]", str([10 + n for n in range(count)]))
    data = json.loads(made(text)[0][0].fields["Data"])
    size = len(data["texts"])
    assert size == min(count, VARIANTS)
    assert math.gcd(data["step"], size) == 1
    assert 1 < data["step"] < size - 1
    assert 0 <= data["offset"] < size
    taken = [(day * data["step"] + data["offset"]) % size for day in range(20_000, 20_000 + size)]
    assert sorted(taken) == list(range(size))


def test_the_data_mean_nothing_to_anybody_but_the_script() -> None:
    """Neither Anki nor HTML nor MathJax finds anything in it, whatever names a file holds."""
    nasty = [
        "{{c1::x}}",
        "[sound:a.mp3]",
        "[latex]x[/latex]",
        "\\\\(x\\\\)",
        "</script>",
        "'\\\"&amp;",
        "[anki:tts]",
        "\\u2028",
    ]
    models = "".join(f'        "{name} {n}": {{size: {n + 1}}}\n' for n, name in enumerate(nasty))
    text = SMALL.replace(
        "    given:\n      size: {values: [10, 20, 30, 50, 80], unit: GB}",
        f"    together:\n      disk:\n{models}    given:\n      size: {{unit: GB}}",
    )
    text = text.replace("{size} take", "{size} of {disk} take").replace("[0.5 s", "[0.1 s")
    (drill,), problems = made(text)
    assert problems == []
    stored = drill.fields["Data"]
    assert not re.search(r"[<>&'\\$](?!u[0-9a-f]{4})|\{\{|\}\}|\[(?![\[\"\d\]])", stored)
    assert stored.count("{") == stored.count("}") == 1
    shown = {text for texts in json.loads(stored)["texts"] for text in texts}
    assert {"{{c1::x}} 0", "[sound:a.mp3] 1", "\\(x\\) 3", "</script> 4", "'\"&amp; 5"} <= shown
    assert "<b" in drill.fields["Question"]
    assert not re.search(
        r"\[sound|\[latex|\[anki|</script|\\\(", "".join(v for k, v in drill.fields.items() if k != "Data")
    )


def test_the_fields_show_the_first_variant_complete() -> None:
    note = drill_notes(documented())[0]
    (drill,), _ = made(documented())
    first = texts_of(drill)[0]
    for name, parts in {
        "Question": ("model", "layers", "kv_heads", "head_size", "width", "length"),
        "Earlier": ("model", "layers", "kv_heads", "head_size", "width", "length"),
        "Key Points": ("cache",),
        "Answer": ("per_layer", "per_token", "cache"),
    }.items():
        for part in parts:
            assert first.texts[part].replace(" ", "\u00a0") in note.fields[name], (name, part)
    assert str(first.wrong[0]).replace(" ", "\u00a0") in note.fields["Red Flags"]
    assert "Ladder" not in note.fields or not note.fields["Ladder"]
    assert "table 3" in note.fields["Sources"]
    assert note.fields["Place"].endswith("1 / 2")
    assert "How do memory and latency grow" in note.fields["Next"]
    assert {"kind::drill", "pack::llm-inference-serving", "lang::en"} <= set(note.tags)
    assert any(tag.startswith("topic::") for tag in note.tags)
    assert note.position.file == "cards/drills.yaml"
    assert note.position.line == 5


def test_what_the_question_leaves_to_the_table_stands_there_unfolded() -> None:
    text = documented().replace("{layers} layers, {kv_heads} KV heads of size {head_size}", "its shape")
    (drill,), problems = made(text)
    assert problems == []
    assert drill.fields["Ladder"].count("<tr>") == 6
    assert "Earlier" not in drill.fields


def test_drills_are_found_beside_a_pack_in_either_language(tmp_path: Path) -> None:
    folder = tmp_path / "cards" / "p"
    folder.mkdir(parents=True)
    english = english_pack()
    (folder / "SKILL.en.md").write_text(ENGLISH_PACK, encoding="utf-8")
    (folder / "drills.en.yaml").write_text(SMALL, encoding="utf-8")
    (folder / "drills.yaml").write_text(SMALL.replace("transfer", "second"), encoding="utf-8")
    (folder / "drills-old.yaml").write_text("not read", encoding="utf-8")
    inputs = read_inputs([tmp_path / "cards"], None)
    assert [p.message for p in inputs.problems if p.severity.value == "error"] == []
    assert sorted(each.placed.drill.id.text for each in inputs.drills) == ["second", "transfer"]
    assert {each.placed.pack.name for each in inputs.drills} == {english.name}
    (folder / "drills.yaml").write_text(SMALL, encoding="utf-8")
    inputs = read_inputs([tmp_path / "cards"], None)
    assert [p.code for p in inputs.problems if p.severity.value == "error"] == ["duplicate-drill"]
