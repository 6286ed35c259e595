"""The ledger's file: written and read back, damaged in every way, and merged by git."""

import os
import random
import subprocess
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from deck_builder import NOW, Deck, guids, one
from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.identity.ledger import Entry, Ledger, TypeEntry, newest, read_ledger, write_ledger
from ladderdeck.values.model import Kind, Severity

ROOT = Path(__file__).parent.parent

# Round trip

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
times = st.integers(0, 2**40)
entries = st.builds(
    Entry,
    guid=st.text("0123456789abcdef", min_size=20, max_size=20),
    kind=st.sampled_from(Kind),
    pack=st.from_regex(r"[a-z0-9-]{1,12}", fullmatch=True),
    language=st.sampled_from(["zh", "en"]),
    topic=texts,
    text=texts,
    place=st.integers(0, 5000),
    fingerprint=st.text("0123456789abcdef", max_size=16),
    modified=times,
    provenance=texts,
    retired=times,
    also=st.lists(texts, max_size=2).map(tuple),
)


def make_ledger(notes: list[Entry], types: dict[Kind, TypeEntry] | None = None) -> Ledger:
    every = {kind: TypeEntry("f", 1) for kind in Kind} if types is None else types
    return Ledger(MappingProxyType({entry.guid: entry for entry in notes}), MappingProxyType(every))


ledgers = st.builds(
    make_ledger,
    st.lists(entries, min_size=1, max_size=8),
    st.fixed_dictionaries(
        {kind: st.builds(TypeEntry, st.text("0123456789abcdef", max_size=16), times) for kind in Kind}
    ),
)


@given(ledgers)
def test_what_is_written_is_read_back(ledger: Ledger) -> None:
    assert read_ledger(write_ledger(ledger), "ledger.json") == (ledger, ())


@given(ledgers, st.randoms())
def test_the_text_depends_on_the_content_only(ledger: Ledger, dice: random.Random) -> None:
    notes = list(ledger.notes.values())
    dice.shuffle(notes)
    types = dict(reversed(ledger.types.items()))
    assert write_ledger(make_ledger(notes, types)) == write_ledger(ledger)


@given(ledgers)
def test_one_line_an_entry_sorted_and_json(ledger: Ledger) -> None:
    import json

    text = write_ledger(ledger)
    lines = text.split("\n")
    packs = {(entry.pack, entry.language) for entry in ledger.notes.values()}
    assert lines[0] == '{"format": 1'
    assert lines[-2:] == ["}", ""]
    assert len(lines) == 3 + len(ledger.notes) + len(packs) + len(Kind)
    notes = [line for line in lines if line.startswith(',"note ')]
    assert notes == sorted(notes)
    assert len(json.loads(text)) == len(lines) - 2


def test_an_entry_that_did_not_change_is_the_same_line() -> None:
    notes = [entry(number) for number in range(20)]
    before = write_ledger(make_ledger(notes)).split("\n")
    after = write_ledger(make_ledger([*notes[:7], replace(notes[7], text="other"), *notes[8:]])).split("\n")
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


def entry(number: int, **changes) -> Entry:
    plain = Entry(f"{number:020x}", Kind.RUNG, "web", "en", "Joins — 连接", f'What "is" {number}?', number, "f" * 16, 5)
    return replace(plain, **changes)


SMALL = make_ledger(
    [entry(1), entry(2, provenance="v1"), entry(3, retired=9, also=("x",))], {Kind.RUNG: TypeEntry("f", 1)}
)
TEXT = write_ledger(SMALL)

# Damage


def refusal(text: str):
    """The first error of a ledger that is refused."""
    _, problems = read_ledger(text, "ledger.json")
    assert problems, "this was accepted"
    assert all(problem.severity is Severity.ERROR and problem.hint for problem in problems)
    return problems[0]


def test_a_ledger_cut_off_anywhere_is_refused_or_complete() -> None:
    data = TEXT.encode()
    accepted = []
    for length in range(len(data)):
        try:
            text = data[:length].decode()
        except UnicodeDecodeError:
            continue  # the build refuses what is not UTF-8: see test_build.py
        ledger, problems = read_ledger(text, "ledger.json")
        if problems:
            last = text.rstrip("\n").count("\n") + 1
            assert last in {problem.position.line for problem in problems}, text[-40:]
        else:
            assert ledger == SMALL
            accepted.append(length)
    assert accepted == [len(data) - 1]


@pytest.mark.parametrize("mask", [0x01, 0x02, 0x08, 0x20])
def test_a_flipped_bit_anywhere_is_refused_or_harmless(mask: int) -> None:
    data = TEXT.encode()
    harmless = 0
    for offset in range(len(data)):
        flipped = bytearray(data)
        flipped[offset] ^= mask
        try:
            text = flipped.decode()
        except UnicodeDecodeError:
            continue
        ledger, problems = read_ledger(text, "ledger.json")
        if problems:
            line = data.count(b"\n", 0, offset) + 1
            # A line end that was flipped joins its line with the next.
            assert any(abs(problem.position.line - line) <= 1 for problem in problems)
        else:
            assert ledger == SMALL
            harmless += 1
    assert harmless < 10


@pytest.mark.parametrize("line", range(2, TEXT.count("\n")))
def test_a_lost_line_is_refused(line: int) -> None:
    lines = TEXT.split("\n")
    refusal("\n".join(lines[: line - 1] + lines[line:]))


@given(st.lists(st.sampled_from(["web", "queues", "caches"]), min_size=2, max_size=12), st.data())
def test_a_lost_run_of_lines_is_refused(packs: list[str], data: st.DataObject) -> None:
    """Whatever part is gone: notes without their pack's line, packs without all of their notes. Only a pack of which
    nothing at all is left would not be missed; guids are in no order, so that is no run of lines in a real ledger."""
    ledger = make_ledger(
        [entry(number, pack=pack) for number, pack in enumerate(packs)], {Kind.RUNG: TypeEntry("f", 1)}
    )
    lines = write_ledger(ledger).split("\n")
    start = data.draw(st.integers(1, len(lines) - 3))
    end = data.draw(st.integers(start + 1, len(lines) - 2))
    read, problems = read_ledger("\n".join([*lines[:start], *lines[end:]]), "ledger.json")
    left = {note.pack for note in read.notes.values()}
    assert problems or dict(read.notes) == {guid: note for guid, note in ledger.notes.items() if note.pack in left}


def test_an_edit_by_hand_is_refused_with_its_line() -> None:
    problem = refusal(TEXT.replace('What \\"is\\" 2?', 'What \\"was\\" 2?'))
    assert problem.position.line == TEXT[: TEXT.index('is\\" 2?')].count("\n") + 1
    assert "changed by hand" in problem.message
    assert "git" in problem.hint


@pytest.mark.parametrize("marker", ["<<<<<<< HEAD", "=======", ">>>>>>> theirs", "||||||| base"])
def test_a_conflict_marker_is_refused_with_its_line_and_what_to_do(marker: str) -> None:
    lines = TEXT.split("\n")
    lines.insert(4, marker)
    problem = refusal("\n".join(lines))
    assert (problem.code, problem.position.line) == ("ledger-conflict", 5)
    assert "keep the lines of both sides" in problem.hint


def test_a_ledger_of_a_later_version_is_refused() -> None:
    problem = refusal(TEXT.replace('"format": 1', '"format": 2'))
    assert (problem.code, problem.position.line, problem.hint) == ("ledger-version", 1, "update ladderdeck")


@pytest.mark.parametrize(
    "text", ["", "\n", "{}", "[]", "null", "# notes", '{"format": 0\n}\n', '{"format": 1', '{"format": 1\n']
)
def test_what_is_no_ledger_is_refused(text: str) -> None:
    assert refusal(text).position.line == 1


def test_half_of_the_lines_lost_is_refused_and_says_how_many() -> None:
    lines = write_ledger(make_ledger([entry(number) for number in range(40)])).split("\n")
    problem = refusal("\n".join([*lines[: len(lines) // 2], "}", ""]))
    assert "of the 40 notes of `web en` are missing" in problem.message


def test_a_note_whose_line_is_deeper_than_python_goes_is_refused() -> None:
    refusal(TEXT.replace('"place": 1', '"place": ' + "[" * 100_000))


@pytest.mark.parametrize(
    "change", [lambda t: t.replace("\n", "\r\n"), lambda t: "\ufeff" + t, lambda t: t.rstrip("\n"), lambda t: t + "\n"]
)
def test_line_ends_byte_order_mark_and_last_line_do_not_matter(change) -> None:
    assert read_ledger(change(TEXT), "ledger.json") == (SMALL, ())


def test_the_newest_time() -> None:
    assert newest(Ledger()) == 0
    assert newest(make_ledger([entry(1, modified=7)], {Kind.RUNG: TypeEntry("f", 5)})) == 7
    assert newest(make_ledger([entry(1, modified=7)], {Kind.RUNG: TypeEntry("f", 9)})) == 9


# Two lines about one note, as a merge by lines leaves them


def merged(*notes: Entry) -> Entry:
    lines = [line for note in notes for line in write_ledger(make_ledger([note])).split("\n")[1:-2]]
    ledger, problems = read_ledger("\n".join(['{"format": 1', *lines, "}", ""]), "ledger.json")
    assert not problems
    return ledger.notes[notes[0].guid]


def test_the_later_line_counts_whatever_their_order() -> None:
    early, late = (
        entry(1, text="early", fingerprint="e", modified=5),
        entry(1, text="late", fingerprint="l", modified=6),
    )
    assert merged(early, late) == merged(late, early) == replace(late, also=("early",))


def test_of_two_changes_in_one_second_the_next_build_makes_a_later_one() -> None:
    one, other = entry(1, fingerprint="a"), entry(1, fingerprint="b")
    assert merged(one, other) == merged(other, one) == replace(one, fingerprint="")


def test_what_one_branch_retired_and_the_other_changed_is_still_there() -> None:
    retired, live = entry(1, retired=9, modified=9, fingerprint="r"), entry(1, text="new", modified=7, fingerprint="l")
    result = merged(retired, live)
    assert (result.retired, result.text, result.fingerprint, result.modified) == (0, "new", "", 9)
    assert result.also == (entry(1).text,)


# Real merges by git

RUNGS = ["What is a hash join?", "When does it spill?", "Who reads the plan?", "Why is a nested loop slow?"]
UNION = (ROOT / ".gitattributes").read_text(encoding="utf-8")


class Repository:
    """A deck in a git repository of its own."""

    def __init__(self, folder: Path, attributes: str) -> None:
        self.deck = Deck(folder)
        folder.mkdir()
        self.git("init", "-q", "-b", "main")
        (folder / ".gitattributes").write_text(attributes, encoding="utf-8")
        (folder / ".gitignore").write_text("/dist/\n", encoding="utf-8")

    def git(self, *arguments: str, check: bool = True) -> int:
        names = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "core.autocrlf=false"]
        # Nothing of the machine's own configuration may matter.
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        for name in [name for name in environment if name.startswith("GIT_") and "CONFIG" not in name]:
            del environment[name]
        run = subprocess.run(
            ["git", *names, *arguments], cwd=self.deck.folder, env=environment, capture_output=True, check=False
        )
        assert not (check and run.returncode), run.stderr
        return run.returncode

    def build_and_commit(self, now: int) -> None:
        self.deck.build(now)
        self.git("add", "-A")
        self.git("commit", "-qm", "edit")


def web(*rungs: str, **others: list[str]) -> dict[str, list[str]]:
    return {"Joins": list(rungs), **others}


def write_packs(deck: Deck, packs: dict[str, dict[str, list[str]]]) -> None:
    for old in deck.cards.glob("*.md"):
        old.unlink()
    for name, topics in packs.items():
        deck.write(name, topics)


BASE = {"web": web(*RUNGS)}
REWORDED_ONE = [RUNGS[0], "When will it spill to disk?", *RUNGS[2:]]
REWORDED_OTHER = [*RUNGS[:3], "Why is a nested loop join so slow?"]
MERGES = {
    # What each branch makes of the packs, and what the merged packs are.
    "both add notes": (
        {"web": web(*RUNGS, Locks=["What does a row lock block?"])},
        {"web": web(*RUNGS, "How is it parallelised?")},
        {"web": web(*RUNGS, "How is it parallelised?", Locks=["What does a row lock block?"])},
    ),
    "both add the same note": (
        {"web": web(*RUNGS, "And then?")},
        {"web": web(*RUNGS, "And then?")},
        {"web": web(*RUNGS, "And then?")},
    ),
    "both reword different notes": (
        {"web": web(*REWORDED_ONE)},
        {"web": web(*REWORDED_OTHER)},
        {"web": web(*REWORDED_ONE[:3], REWORDED_OTHER[3])},
    ),
    "both reword the same note, the first is kept": (
        {"web": web("Hash joins: what are they?", *RUNGS[1:])},
        {"web": web("Explain the hash join", *RUNGS[1:])},
        {"web": web("Hash joins: what are they?", *RUNGS[1:])},
    ),
    "both reword the same note, the second is kept": (
        {"web": web("Hash joins: what are they?", *RUNGS[1:])},
        {"web": web("Explain the hash join", *RUNGS[1:])},
        {"web": web("Explain the hash join", *RUNGS[1:])},
    ),
    "one retires what the other rewords": (
        {"web": web(RUNGS[0], *RUNGS[2:])},
        {"web": web(*REWORDED_ONE)},
        {"web": web(*REWORDED_ONE)},
    ),
    "both retire": ({"web": web(*RUNGS[1:])}, {"web": web(*RUNGS[:3])}, {"web": web(*RUNGS[1:3])}),
    "one renames the pack, the other adds": (
        {"frontend": web(*RUNGS)},
        {"web": web(*RUNGS, "How is it parallelised?")},
        {"frontend": web(*RUNGS, "How is it parallelised?")},
    ),
    "one renames the pack, the other rewords": (
        {"frontend": web(*RUNGS)},
        {"web": web(*REWORDED_ONE)},
        {"frontend": web(*REWORDED_ONE)},
    ),
    "one renames the pack, the other retires": (
        {"frontend": web(*RUNGS)},
        {"web": web(*RUNGS[1:])},
        {"frontend": web(*RUNGS[1:])},
    ),
    "one renames a topic, the other adds a pack": (
        {"web": {"Joining": RUNGS}},
        {"web": web(*RUNGS), "queues": {"Kafka": ["What is a partition?"]}},
        {"web": {"Joining": RUNGS}, "queues": {"Kafka": ["What is a partition?"]}},
    ),
    "both add a pack": (
        {"web": web(*RUNGS), "caches": {"Redis": ["What evicts a key?"]}},
        {"web": web(*RUNGS), "queues": {"Kafka": ["What is a partition?"]}},
        {
            "web": web(*RUNGS),
            "caches": {"Redis": ["What evicts a key?"]},
            "queues": {"Kafka": ["What is a partition?"]},
        },
    ),
}


@pytest.mark.parametrize("with_union", [True, False], ids=["with merge=union", "without"])
@pytest.mark.parametrize("situation", MERGES)
def test_two_branches_merged_by_git(tmp_path: Path, situation: str, with_union: bool) -> None:
    ours, theirs, together = MERGES[situation]
    repository = Repository(tmp_path / "repository", UNION if with_union else "* -text\n")
    deck = repository.deck
    write_packs(deck, BASE)
    repository.build_and_commit(NOW)
    known = {guid: entry.text for guid, entry in deck.ledger().notes.items()}
    repository.git("checkout", "-qb", "theirs")
    write_packs(deck, theirs)
    repository.build_and_commit(NOW + 20)
    of_theirs = dict(deck.ledger().notes)
    repository.git("checkout", "-q", "main")
    write_packs(deck, ours)
    repository.build_and_commit(NOW + 10)
    of_ours = dict(deck.ledger().notes)

    conflict = repository.git("merge", "-q", "--no-edit", "theirs", check=False)
    write_packs(deck, together)
    text = deck.ledger_file.read_text(encoding="utf-8")
    if "<<<<<<<" in text:
        assert conflict and not with_union
        outcome = deck.try_build(NOW + 30)
        (refused,) = [problem for problem in outcome.problems if problem.severity is Severity.ERROR]
        assert refused.code == "ledger-conflict"
        assert text.split("\n")[refused.position.line - 1].startswith("<<<<<<<")
        # What the hint says to do: keep the lines of both sides.
        kept = [line for line in text.split("\n") if not line.startswith(("<<<<<<<", "=======", ">>>>>>>"))]
        deck.ledger_file.write_text("\n".join(kept), encoding="utf-8", newline="\n")

    outcome = deck.build(NOW + 30)
    ledger = deck.ledger()
    assert ledger.notes.keys() == of_ours.keys() | of_theirs.keys(), "an id was lost, or a new one handed out"
    live = {(e.pack, e.kind, e.topic, e.text): e.guid for e in ledger.notes.values() if not e.retired}
    texts = [
        (name, Kind.RUNG, topic, text)
        for name, topics in together.items()
        for topic, rungs in topics.items()
        for text in rungs
    ]
    assert {key for key in live if key[1] is Kind.RUNG} == set(texts)
    for old, merged_entry in ((known[guid], entry) for guid, entry in ledger.notes.items() if guid in known):
        if old in {text for *_, text in texts}:
            assert merged_entry.text == old, "a text changed places with another"
    for branch in (of_ours, of_theirs):
        for guid, before in branch.items():
            after = ledger.notes[guid]
            assert after.modified > before.modified or after.fingerprint == before.fingerprint, (
                "a phone would not take it"
            )
    again = deck.try_build(NOW + 40, locked=True)
    assert not again.failed and not again.written
    assert guids(again).items() >= {text: live[key] for key in texts for text in [key[3]]}.items()


def test_the_lines_of_a_conflict_are_readable(tmp_path: Path) -> None:
    """Without union a conflict shows whole lines, each with the text of its note: a person can tell what they are."""
    repository = Repository(tmp_path / "repository", "* -text\n")
    write_packs(repository.deck, BASE)
    repository.build_and_commit(NOW)
    repository.git("checkout", "-qb", "theirs")
    write_packs(repository.deck, {"web": web("Explain the hash join", *RUNGS[1:])})
    repository.build_and_commit(NOW + 20)
    repository.git("checkout", "-q", "main")
    write_packs(repository.deck, {"web": web("Hash joins: what are they?", *RUNGS[1:])})
    repository.build_and_commit(NOW + 10)
    assert repository.git("merge", "-q", "theirs", check=False)
    text = repository.deck.ledger_file.read_text(encoding="utf-8")
    conflicts = text.count("<<<<<<<")
    between = [part.split("=======")[0] for part in text.split("<<<<<<<")[1:]]
    assert conflicts >= 1
    assert one(part for part in between if "Hash joins: what are they?" in part)
