"""Input of a size that no person writes: it ends, with the right result or with a problem that names the limit."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest
from anki_collection import package_database
from deck_builder import Deck, pack_text
from hypothesis import given
from hypothesis import strategies as st
from package_samples import make, write

from ladderdeck.composing.compose import compose
from ladderdeck.identity.ledger import ledger_data, read_ledger, write_ledger
from ladderdeck.reading.parser import parse_pack
from ladderdeck.reading.settings import Settings
from ladderdeck.rendering import rich
from ladderdeck.rendering.rich import render_point, render_rich, work_of
from ladderdeck.rendering.worked import Worked
from ladderdeck.values.model import LONGEST_TOPIC, Kind, Position, Text


def parsed(text: str):
    pack, problems = parse_pack(text.encode(), "pack.md")
    assert pack is not None
    return pack, [(problem.code, problem.position.line) for problem in problems]


@pytest.mark.parametrize(("count", "codes"), [(LONGEST_TOPIC, []), (LONGEST_TOPIC + 1, ["too-many-rungs"])])
def test_a_ladder_has_a_longest_length(count: int, codes: list[str]) -> None:
    pack, problems = parsed(pack_text("p", {"t": [f"question {n}" for n in range(count)]}))
    assert [code for code, _ in problems] == codes
    assert len(pack.topics[0].rungs) == count


def test_signs_and_red_flags_have_a_longest_length_too() -> None:
    many = [f"thing {n}" for n in range(LONGEST_TOPIC + 1)]
    text = pack_text("p", {"t": ["why", "how"]}, {"t": many})
    text += f"\n## Common failures and red flags\n\n- t: {'; '.join(f'no {thing}' for thing in many)}\n"
    assert [code for code, _ in parsed(text)[1]] == ["too-many-signs", "too-many-red-flags"]


def test_what_can_be_shown_of_a_topic_that_is_too_long_is_its_beginning() -> None:
    """Each of 10,000 rungs shows all before it: half a gigabyte of cards, if they were made."""
    pack, problems = parsed(pack_text("p", {"t": [f"question {n}" for n in range(10_000)]}))
    assert problems == [("too-many-rungs", 11)]
    notes = compose([pack], Settings())
    assert sum(note.origin.kind is Kind.RUNG for note in notes) == LONGEST_TOPIC
    assert max(len(text) for note in notes for text in note.fields.values()) < 20_000


@pytest.mark.parametrize("sign", ["<", "[", "*", "（", "`", "$", "_"])
def test_a_long_line_of_signs_makes_its_cards(sign: str) -> None:
    line = sign * 100_000
    pack, _ = parsed(pack_text("p", {"t": [f"why {line}", "how"]}, {"t": [f"says {line}"]}))
    notes = compose([pack], Settings())
    kinds = [note.origin.kind for note in notes]
    assert kinds == [Kind.RUNG, Kind.RUNG, Kind.SIGN, Kind.LADDER]
    assert len(notes[0].fields["Question"]) >= len(line)


@pytest.mark.parametrize("sign", ["→", "；"])
def test_a_long_line_of_separators_is_no_crash(sign: str) -> None:
    pack, problems = parsed(pack_text("p", {"t": [f"why {sign * 100_000} how", "when"]}))
    assert len(problems) < 20
    assert len(compose([pack], Settings())) < 10


def test_500_decks_are_one_row(tmp_path: Path) -> None:
    notes = [make(number=n, deck=f"Ladders::{n}") for n in range(500)]
    database = package_database(write(notes, tmp_path / "a.apkg"), tmp_path / "out")
    ((decks,),) = database.execute("SELECT decks FROM col").fetchall()
    names = {deck["name"]: deck["id"] for deck in json.loads(decks).values()}
    assert len(names) == 502  # with the root, and Anki's own
    rows = database.execute("SELECT n.guid, c.did FROM notes n JOIN cards c ON c.nid = n.id").fetchall()
    assert dict(rows) == {note.guid: names[note.note.deck] for note in notes}
    database.close()


def test_a_ledgers_bytes_are_its_text_and_a_build_leaves_python_as_it_was(tmp_path: Path) -> None:
    before = gc.get_threshold()
    deck = Deck(tmp_path)
    deck.write("p", {"话题": ["why 甲", "how 乙"], "other": ["what", "when"]})
    deck.build()
    assert gc.get_threshold() == before
    data = deck.ledger_file.read_bytes()
    ledger, problems = read_ledger(data.decode(), "ledger.json")
    assert not problems
    assert data == ledger_data(ledger) == write_ledger(ledger).encode()


# What is skipped would have changed nothing


def at(text: str) -> Text:
    return Text(text, Position("a.md", 1, 1))


NOTHING = Worked()
INLINE = st.text(alphabet=st.one_of(st.sampled_from(list("*_`$[]()!<>&;\\/:~|#+-=.\"' \t\n\r\0ab1http；，甲")), st.characters(exclude_categories=["Cs"])), max_size=60)  # fmt: skip


@given(INLINE)
def test_a_point_without_marks_needs_no_parser(text: str) -> None:
    """What is not parsed shows as what the parser makes of it."""
    quick = render_point(at(text), NOTHING, {}, lambda *_: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rich, "_INLINE_MARK", rich.re.compile(""))
        assert render_point(at(text), NOTHING, {}, lambda *_: None) == quick


BLOCKS = st.lists(st.sampled_from(["```", "~~~", "````", " calc", "CALC", "&#99;alc", "\\calc", "c", "x = 1", "\n", "  ", "> ", "- "])).map("".join)  # fmt: skip


@given(BLOCKS)
def test_a_text_without_a_sign_of_a_calculation_has_none(text: str) -> None:
    quick = work_of(at(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rich, "_may_calculate", lambda _: True)
        assert work_of(at(text)) == quick


def test_a_lexer_that_is_used_again_begins_anew() -> None:
    unfinished = at('```python\nx = """text\n```')
    other = at("```python\nclass A: pass\n```")
    fresh = render_rich(other, NOTHING, {}, lambda *_: None)
    render_rich(unfinished, NOTHING, {}, lambda *_: None)
    assert render_rich(other, NOTHING, {}, lambda *_: None) == fresh
