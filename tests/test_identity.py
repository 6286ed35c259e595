"""Laws of identity: guids never repeat, a time of change moves exactly with the content and only forward."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.compose import compose, retired_note
from ladderdeck.identity import KEPT_RETIRED, Change, Identified, Scope, guids, identify
from ladderdeck.ledger import Ledger
from ladderdeck.model import Kind, Pack
from ladderdeck.note import Note
from ladderdeck.parser import parse_pack
from ladderdeck.settings import Settings

NOW = 1_780_000_000
TYPES = {kind: f"print of {kind.value}" for kind in Kind}
HEAD = "{envelope}---\nname: pack\nlayer: base\n---\n\n## 常考主题清单\n\n"
PLAIN = "### 缓存\n- 阶梯：为什么要缓存 → 淘汰什么 → 两份不一致怎么办\n- 答实的标志：说得出命中率；知道代价\n"
ENVELOPE = "pack git:{version}\n\nImmutable. Served at /api/v1/blob/{blob}.\n\n"


def pack_of(body: str, envelope: str = "") -> Pack:
    pack, problems = parse_pack((HEAD.format(envelope=envelope) + body).encode("utf-8"), "pack.md")
    assert pack
    assert not [p for p in problems if p.severity.value == "error"], problems
    return pack


def notes_of(body: str, envelope: str = "") -> tuple[Note, ...]:
    return compose([pack_of(body, envelope)], Settings())


def identified(
    notes: tuple[Note, ...], ledger: Ledger, now: int = NOW, types: dict[Kind, str] | None = None
) -> Identified:
    packs = frozenset((note.origin.pack, note.origin.language) for note in notes)
    return identify(notes, ledger, now, Scope(packs, packs, types or TYPES, lambda e: retired_note(e, Settings())))


def times(result: Identified) -> dict[str, int]:
    return {note.guid: note.modified for note in result.notes}


TEXTS = st.lists(st.text(st.sampled_from("甲乙丙丁 ab，。`*"), min_size=1, max_size=6), min_size=1, max_size=8)


@given(TEXTS, TEXTS)
def test_guids_never_repeat(rungs: list[str], signs: list[str]) -> None:
    notes = notes_of(PLAIN)
    made = tuple(replace(notes[0], origin=replace(notes[0].origin, wording=text)) for text in [*rungs, *signs])
    assert len(set(guids(made))) == len(made)


@given(st.integers(0, 2 * NOW))
def test_the_same_input_gives_the_same_notes_at_any_time(now: int) -> None:
    first = identified(notes_of(PLAIN), Ledger())
    again = identified(notes_of(PLAIN), first.ledger, now)
    assert again.notes == first.notes
    assert again.ledger == first.ledger
    assert {changed.change for changed in again.changes} == {Change.UNCHANGED}


@given(st.integers(0, 2 * NOW))
def test_a_change_moves_the_time_forward_whatever_the_clock_says(now: int) -> None:
    first = identified(notes_of(PLAIN), Ledger())
    edited = identified(notes_of(PLAIN.replace("淘汰什么", "该淘汰什么")), first.ledger, now)
    before, after = times(first), times(edited)
    assert before.keys() == after.keys()
    changed = {c.entry.guid for c in edited.changes if c.change in (Change.UPDATED, Change.REWORDED)}
    assert changed
    for guid, time in after.items():
        assert time > before[guid] if guid in changed else time == before[guid]


def test_edits_with_one_and_the_same_time_all_arrive() -> None:
    """As with SOURCE_DATE_EPOCH set once and for all."""
    result = identified(notes_of(PLAIN), Ledger())
    seen = times(result)
    for word in ("一", "二", "三"):
        result = identified(notes_of(PLAIN.replace("淘汰什么", f"淘汰什么{word}")), result.ledger)
        now = times(result)
        assert any(now[guid] > seen[guid] for guid in seen)
        seen = now


def test_blanks_emphasis_and_punctuation_are_no_change_of_identity_even_without_a_ledger() -> None:
    for old, new in (
        ("淘汰什么", "**淘汰**什么？"),
        ("淘汰什么", "淘汰 什么"),
        ("为什么要缓存", "`为什么`要缓存。"),
        ("说得出命中率", "说得出「命中率」"),
    ):
        assert guids(notes_of(PLAIN.replace(old, new))) == guids(notes_of(PLAIN)), new


def test_a_lost_ledger_gives_the_same_guids_to_all_that_was_never_reworded() -> None:
    first = identified(notes_of(PLAIN), Ledger())
    edited = identified(notes_of(PLAIN.replace("淘汰什么", "该淘汰什么")), first.ledger)
    lost = identified(notes_of(PLAIN.replace("淘汰什么", "该淘汰什么")), Ledger())
    assert len(times(edited).keys() - times(lost).keys()) == 1


def test_a_new_envelope_alone_changes_nothing() -> None:
    old = notes_of(PLAIN, ENVELOPE.format(version="20260101.a", blob="aaaa"))
    new = notes_of(PLAIN, ENVELOPE.format(version="20260601.b", blob="bbbb"))
    first = identified(old, Ledger())
    again = identified(new, first.ledger, NOW + 60)
    assert again.notes[0].note.fields["Provenance"] == first.notes[0].note.fields["Provenance"]
    assert times(again) == times(first)
    assert again.ledger == first.ledger
    edited = notes_of(
        PLAIN.replace("说得出命中率", "说得出命中率的数字"), ENVELOPE.format(version="20260601.b", blob="bbbb")
    )
    third = identified(edited, first.ledger, NOW + 60)
    assert "20260601.b" in third.notes[0].note.fields["Provenance"]


def test_a_template_moves_its_note_type_only() -> None:
    first = identified(notes_of(PLAIN), Ledger())
    again = identified(notes_of(PLAIN), first.ledger, 0, {**TYPES, Kind.RUNG: "another"})
    assert times(again) == times(first)
    moved = {kind for kind in Kind if again.ledger.types[kind].modified > first.ledger.types[kind].modified}
    assert moved == {Kind.RUNG}


def test_a_deleted_text_stays_for_a_while_retired_and_comes_back_as_the_old_note() -> None:
    first = identified(notes_of(PLAIN), Ledger())
    shorter = PLAIN.replace(" → 两份不一致怎么办", "")
    gone = identified(notes_of(shorter), first.ledger, NOW + 60)
    (retired,) = [changed.entry for changed in gone.changes if changed.change is Change.RETIRED]
    (note,) = [n.note for n in gone.notes if n.guid == retired.guid]
    assert "ladder::retired" in note.tags
    assert note.fields["Notice"]
    assert times(gone)[retired.guid] > times(first)[retired.guid]

    later = identified(notes_of(shorter.replace("知道代价", "知道淘汰的代价")), gone.ledger, NOW + 61 + KEPT_RETIRED)
    assert retired.guid not in times(later)

    back = identified(notes_of(PLAIN), later.ledger, NOW + 62 + KEPT_RETIRED)
    (returned,) = [changed.entry for changed in back.changes if changed.change is Change.RETURNED]
    assert returned.guid == retired.guid
    assert times(back)[retired.guid] > times(gone)[retired.guid]


def test_how_long_a_retired_note_stays_does_not_depend_on_the_day() -> None:
    first = identified(notes_of(PLAIN), Ledger())
    shorter = notes_of(PLAIN.replace(" → 两份不一致怎么办", ""))
    gone = identified(shorter, first.ledger, NOW + 60)
    years_later = identified(shorter, gone.ledger, NOW + 100 * KEPT_RETIRED)
    assert years_later.notes == gone.notes
