"""Adding a downloaded pack: where it goes, whether it is what it says, and what it means for notes that exist."""

from __future__ import annotations

import hashlib
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from command import CHECKOUT, SEED, here, ladderdeck, tree
from deck_builder import NOW, Deck, pack_text
from drill_samples import SMALL

from ladderdeck.authoring.adding import Standing, plan_arrivals
from ladderdeck.identity.identify import Change
from ladderdeck.values.model import Kind

RUNGS = ["What is a hash join?", "When does it spill to disk?", "Who reads the plan?"]
EDITED = ["Hash joins: what are they?", "When does it spill to disk?", "How is a GIN index built?"]


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    """A deck with one pack of some date, never built."""
    deck = Deck(tmp_path / "我的 deck")
    deck.write("web", {"Joins": RUNGS}, file="web/SKILL.md", blob="20260101.aaaa")
    return deck


def download(deck: Deck, rungs=EDITED, *, version: str = "20260202.bbbb", name: str = "web", **parts) -> Path:
    """A file as a browser leaves it."""
    file = deck.folder / "SKILL (1).md"
    file.write_text(pack_text(name, {"Joins": rungs}, blob=version, **parts), encoding="utf-8", newline="\n")
    return file


def served(text: str, name: str = "web") -> bytes:
    """A pack with the envelope of a store that names its content."""
    blob = hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]
    head = f"{name} git:20260202.bbbb\n\nImmutable. This exact content is served forever at /api/v1/blob/{blob}.\n\n"
    return (head + text).encode("utf-8")


# Where it goes


@pytest.mark.parametrize(
    ("there", "arrives", "target"),
    [
        ([], ("web", False), "web/SKILL.md"),
        ([("web", False, "web/SKILL.md")], ("web", True), "web/SKILL.zh.md"),
        ([("web", True, "web/SKILL.md")], ("web", False), "web/SKILL.en.md"),
        ([("web", True, "deep/er/SKILL.md")], ("web", False), "deep/er/SKILL.en.md"),
        ([("web", False, "deep/er/joins.md")], ("web", False), "deep/er/joins.md"),
        ([("WEB", False, "big.md")], ("web", False), "big.md"),
        ([("web", True, "flat.md")], ("web", False), "web/SKILL.md"),
        ([("other", False, "other/SKILL.md")], ("缓存", True), "缓存/SKILL.md"),
    ],
)
def test_where_a_pack_goes(tmp_path: Path, there, arrives, target: str) -> None:
    deck = Deck(tmp_path)
    for name, chinese, file in there:
        deck.write(name, {"Joins": RUNGS}, file=file, chinese=chinese)
    name, chinese = arrives
    source = download(deck, name=name, chinese=chinese) if there else None
    if source is None:
        source = tmp_path / "x"
        source.write_text(pack_text(name, {"Joins": EDITED}), encoding="utf-8")
    (arrival,) = plan_arrivals(source, deck.cards, NOW).packs
    assert arrival.target == deck.cards / target


def test_a_first_pack_is_added_byte_by_byte_without_a_question(tmp_path: Path) -> None:
    run = ladderdeck("add", SEED, cwd=tmp_path)
    assert run.code == 0, run.err
    assert run.err == ""
    assert (tmp_path / "cards/llm-inference-serving/SKILL.md").read_bytes() == SEED.read_bytes()
    before = tree(tmp_path)
    again = ladderdeck("add", SEED, cwd=tmp_path)
    assert (again.code, tree(tmp_path)) == (0, before)
    assert "It is there already" in again.out


def test_a_folder_with_both_languages(tmp_path: Path) -> None:
    source = Deck(tmp_path / "downloads")
    source.write("web", {"Joins": RUNGS}, file="web-main/SKILL.md", chinese=True)
    source.write("web", {"Joins": RUNGS}, file="web-main/SKILL.en.md")
    (source.cards / "web-main" / "README.md").write_text("# About\n", encoding="utf-8")
    run = here("add", source.cards, "--to", "packs", cwd=tmp_path)
    assert run.code == 0, run.err
    # In the order of their names, so that the English one came first.
    assert set(tree(tmp_path / "packs")) == {"web/SKILL.md", "web/SKILL.zh.md"}
    assert here("check", "packs", cwd=tmp_path).out == "2 packs: no problems\n"


def test_a_file_that_is_no_pack_is_never_replaced(tmp_path: Path) -> None:
    home = tmp_path / "cards" / "web"
    home.mkdir(parents=True)
    for name in ("SKILL.md", "SKILL.en.md"):
        (home / name).write_text("my own words", encoding="utf-8")
    before = tree(tmp_path / "cards")
    run = here("add", download(Deck(tmp_path)), "-y", cwd=tmp_path)
    assert (run.code, tree(tmp_path / "cards")) == (1, before)
    assert "[taken]" in run.err


# Whether it is what it says

BROKEN = {
    "no such file": (None, "no-such-path"),
    "no pack": (b"# Hello\n", "no-front-matter"),
    "not UTF-8": ("---\nname: 缓存\n".encode("gbk"), "not-utf8"),
    "a mistake": (pack_text("web", {"Joins": RUNGS}).replace("layer: detail", "layer: deep").encode(), "wrong-layer"),
    "another name": (served(pack_text("web", {"Joins": RUNGS}), "other"), "envelope-name"),
    "a path for a name": (pack_text("../../x", {"Joins": RUNGS}).encode(), "wrong-name"),
    "a device for a name": (pack_text("aux", {"Joins": RUNGS}).encode(), "wrong-name"),
    "a page of a website": (b"<!doctype html><title>Sign in</title>", "no-front-matter"),
    "empty": (b"", "empty-file"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_sound_pack_is_refused(deck: Deck, name: str) -> None:
    data, code = BROKEN[name]
    source = deck.folder / "SKILL.md"
    if data is not None:
        source.write_bytes(data)
    arrivals = plan_arrivals(source, deck.cards, NOW)
    assert arrivals.failed
    assert arrivals.packs == ()
    assert code in {problem.code for problem in arrivals.problems}


def test_a_refused_pack_changes_nothing(deck: Deck) -> None:
    source = deck.folder / "SKILL.md"
    source.write_bytes(BROKEN["a path for a name"][0])
    before = tree(deck.folder)
    run = ladderdeck("add", source, "--yes", cwd=deck.folder)
    assert (run.code, tree(deck.folder)) == (1, before)
    assert "[wrong-name]" in run.err
    assert run.err.endswith("nothing was changed\n")


def test_one_broken_pack_of_two_keeps_both_out(tmp_path: Path) -> None:
    source = Deck(tmp_path / "downloads")
    source.write("good", {"Joins": RUNGS})
    (source.cards / "bad.md").write_text("---\nname: bad\nlayer: deep\n---\n", encoding="utf-8")
    assert here("add", source.cards, "--yes", cwd=tmp_path).code == 1
    assert not (tmp_path / "cards").exists()


def test_a_content_that_is_not_what_its_envelope_names_needs_a_yes(tmp_path: Path) -> None:
    text = pack_text("web", {"Joins": RUNGS})
    source = tmp_path / "SKILL.md"
    source.write_bytes(served(text))
    assert here("add", source, "--to", "good", cwd=tmp_path).code == 0
    source.write_bytes(served(text).replace(b"hash join", b"hash jo1n"))
    run = here("add", source, "--to", "bad", cwd=tmp_path)
    assert run.code == 1
    assert "[blob]" in run.err
    assert "say --yes" in run.err
    assert not (tmp_path / "bad").exists()
    assert here("add", source, "--to", "bad", "--yes", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("old", "new", "rungs", "standing"),
    [
        ("20260101.aaaa", "20260202.bbbb", EDITED, Standing.NEWER),
        ("20260202.bbbb", "20260101.aaaa", EDITED, Standing.OLDER),
        ("20260101.aaaa", "20260101.aaaa", EDITED, Standing.EDITED),
        ("20260101.aaaa", "20260101.aaaa", RUNGS, Standing.SAME),
        ("20260101.aaaa", "20260101.bbbb", EDITED, Standing.UNKNOWN),
        ("20260101.aaaa", "", EDITED, Standing.UNKNOWN),
        ("", "20260101.aaaa", EDITED, Standing.UNKNOWN),
        ("abcdef", "fedcba", EDITED, Standing.UNKNOWN),
    ],
)
def test_which_of_two_versions_is_newer(tmp_path: Path, old: str, new: str, rungs, standing: Standing) -> None:
    deck = Deck(tmp_path)
    deck.write("web", {"Joins": RUNGS}, file="web/SKILL.md", blob=old)
    (arrival,) = plan_arrivals(download(deck, rungs, version=new), deck.cards, NOW).packs
    assert arrival.standing is standing


def test_an_older_version_is_said_to_be_one(deck: Deck) -> None:
    run = here("add", download(deck, version="20251231.aaaa"), cwd=deck.folder)
    assert run.code == 1
    assert "OLDER" in run.out


# What it changes


@pytest.mark.parametrize("built", [True, False])
def test_the_difference_is_shown_and_nothing_is_replaced_without_a_yes(deck: Deck, built: bool) -> None:
    if built:
        deck.build()
    source = download(deck)
    before = tree(deck.folder)
    run = here("add", source, cwd=deck.folder)
    assert (run.code, tree(deck.folder)) == (1, before)
    lines = [line.strip() for line in run.out.splitlines()]
    assert lines[0] == "web (en): git:20260101.aaaa is there, git:20260202.bbbb arrives"
    assert "new rung: How is a GIN index built?" in lines
    assert "reworded rung: What is a hash join?  ⇒  Hash joins: what are they?" in lines
    assert "retired rung: Who reads the plan?" in lines
    history = "4 cards keep their history; 1 is new; 1 retires and stays in Anki, tagged, until you delete it."
    assert (history in lines) is built
    assert ("No history is at stake." in lines) is not built
    assert here("add", source, "--yes", cwd=deck.folder).code == 0
    assert (deck.cards / "web" / "SKILL.md").read_bytes() == source.read_bytes()


@pytest.mark.parametrize(
    "topics",
    [
        {"Joins": RUNGS},
        {"Joins": EDITED},
        {"Joins": RUNGS[:1]},
        {"Joins": RUNGS[::-1]},
        {"Plans": RUNGS},
        {"Joins": RUNGS[:2], "Plans": [RUNGS[2], "How is it cached?"]},
        {"Joins": ["Something else entirely", "and one more thing"]},
    ],
    ids=["same", "edited", "shorter", "turned round", "renamed topic", "moved", "all new"],
)
def test_what_is_shown_is_what_a_build_then_does(deck: Deck, topics) -> None:
    deck.write("other", {"Trees": ["What is a B-tree?", "And an LSM tree?"]}, file="other/SKILL.md")
    deck.build()
    source = deck.folder / "download.md"
    source.write_text(pack_text("web", topics, blob="20260202.bbbb"), encoding="utf-8", newline="\n")
    arrivals = plan_arrivals(source, deck.cards, NOW + 5)
    (arrival,) = arrivals.packs
    arrival.target.write_bytes(arrival.data)
    outcome = deck.build(NOW + 5)
    done = [(c.change, c.entry, c.before) for c in outcome.changes if c.entry.pack == "web"]
    assert [(c.change, c.entry, c.before) for c in arrival.changes] == done
    assert {p.code for p in (*arrivals.problems, *arrivals.later)} == {p.code for p in outcome.problems}


def test_drills_and_answers_beside_the_pack_stay(deck: Deck) -> None:
    drills = SMALL.replace("pack: llm-inference-serving", "pack: web").replace(
        "topic: Tensor parallelism", "topic: Joins"
    )
    drills = drills.replace("    rung: Why not across machines\n", "")
    (deck.cards / "web" / "drills.yaml").write_text(drills, encoding="utf-8")
    deck.build()
    arrivals = plan_arrivals(download(deck), deck.cards, NOW + 5)
    assert [c.change for c in arrivals.packs[0].changes if c.entry.kind is Kind.DRILL] == [Change.UNCHANGED]
    assert arrivals.later == ()


def test_what_was_retired_before_is_not_told_again(deck: Deck) -> None:
    deck.build()
    deck.write("web", {"Joins": RUNGS[:2]}, file="web/SKILL.md", blob="20260101.aaaa")
    deck.build(NOW + 5)
    (arrival,) = plan_arrivals(download(deck, [*RUNGS[:2], "How is it cached?"]), deck.cards, NOW + 9).packs
    assert Change.RETIRED not in {changed.change for changed in arrival.changes}
    assert RUNGS[2] not in {changed.entry.text for changed in arrival.changes}


ANSWER = "---\npack: web\ntopic: Joins\n---\n\n## {}\n\n- a hash table\n\nSources: [Title](https://example.org)\n"


@pytest.mark.parametrize(
    ("rung", "code"), [("When will it spill to a disk?", "stale-answer"), ("How is it cached?", "answer-without-item")]
)
def test_answers_that_would_no_longer_fit_are_named(deck: Deck, rung: str, code: str) -> None:
    answers = deck.cards / "web" / "answers"
    answers.mkdir()
    (answers / "joins.md").write_text(ANSWER.format(RUNGS[1]), encoding="utf-8")
    deck.build()
    run = here("add", download(deck, [RUNGS[0], rung, RUNGS[2]]), "--yes", cwd=deck.folder)
    assert run.code == 0, run.err
    assert f"[{code}]" in run.out
    assert "cards/web/answers/joins.md:6:4" in run.out
    assert ("mend" in run.out) is (code == "answer-without-item")


def test_another_pack_that_cannot_be_read_is_not_taken_for_gone(deck: Deck) -> None:
    deck.write("other", {"Trees": EDITED}, file="other/SKILL.md")
    deck.build()
    (deck.cards / "other" / "SKILL.md").write_text("---\nname: other\nlayer: [\n---\n", encoding="utf-8")
    (arrival,) = plan_arrivals(download(deck), deck.cards, NOW + 5).packs
    assert {changed.before.pack for changed in arrival.changes if changed.before} == {"web"}


def test_a_damaged_ledger_is_no_ground_to_compare_on(deck: Deck) -> None:
    deck.build()
    deck.ledger_file.write_bytes(deck.ledger_file.read_bytes()[:200])
    before = tree(deck.cards)
    run = here("add", download(deck), "--yes", cwd=deck.folder)
    assert (run.code, tree(deck.cards)) == (1, before)
    assert "[ledger-damaged]" in run.err


# Being asked


@pytest.mark.parametrize(("reply", "code"), [("y\n", 0), ("\n", 1), ("\x04", 1)])
@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo terminals")
def test_on_a_terminal_one_is_asked(deck: Deck, reply: str, code: int) -> None:
    source = download(deck)
    before = tree(deck.cards)
    ours, theirs = pty.openpty()
    try:
        program = [sys.executable, str(CHECKOUT / "build.py"), "add", str(source)]
        process = subprocess.Popen(
            program, cwd=deck.folder, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        os.write(ours, reply.encode())
        out, err = process.communicate()
    finally:
        os.close(ours)
        os.close(theirs)
    assert process.returncode == code, err.decode()
    assert "Write cards/web/SKILL.md? [y/N]" in out.decode()
    assert (tree(deck.cards) == before) is (code == 1)
    assert b"Traceback" not in err
