"""How the command line behaves towards a person: Ctrl-C, slips, and what a build says of itself."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pexpect
import pytest
from command import CHECKOUT, ladderdeck
from deck_builder import Deck, changed, pack_text

from ladderdeck.building.build import build
from ladderdeck.building.inputs import read_inputs
from ladderdeck.building.report import change_lines
from ladderdeck.cli.progress import ProgressLine
from ladderdeck.identity.identify import Change, Changed
from ladderdeck.identity.ledger import Entry
from ladderdeck.values.model import Kind, Severity

RUNGS = ["What is a hash join?", "When does it spill to disk?", "Who reads the plan?"]


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    made = Deck(tmp_path)
    made.write("web", {"Joins": RUNGS})
    return made


# Ctrl-C

HOOK = """
import os, signal, sys
left = int(os.environ["INTERRUPT_AT"])
seen = 0
def hook(event, arguments):
    global seen
    if event == "import" and "ladderdeck.__main__" in sys.modules:
        seen += 1
        if seen == left:
            os.kill(os.getpid(), signal.SIGINT)
        elif left == 0:
            print("IMPORTING", file=sys.stderr)
sys.addaudithook(hook)
"""


def interrupted(deck: Deck, at: int) -> subprocess.CompletedProcess[str]:
    """A build that gets Ctrl-C when it imports its ``at``-th module; with 0 it says what it imports."""
    hook = deck.folder.parent / "hook"
    hook.mkdir(exist_ok=True)
    (hook / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(hook), "INTERRUPT_AT": str(at), "TMPDIR": str(hook)}
    program = [sys.executable, str(CHECKOUT / "build.py")]
    return subprocess.run(program, cwd=deck.folder, env=environment, capture_output=True, text=True, check=False)


def test_ctrl_c_at_any_import_ends_with_one_line(tmp_path: Path) -> None:
    deck = Deck(tmp_path / "deck")
    deck.write("web", {"Joins": RUNGS})
    before = deck.on_disk()
    total = interrupted(deck, 0).stderr.count("IMPORTING")
    assert total > 100
    (deck.folder / "dist" / "ladders.apkg").unlink()
    (deck.folder / "dist").rmdir()
    deck.ledger_file.unlink()
    for at in (1, 2, 3, 10, total // 4, total // 2, total - 5):
        run = interrupted(deck, at)
        assert (run.returncode, run.stdout, run.stderr) == (130, "", "\nStopped. No file is half-written.\n"), at
        assert deck.on_disk() == before


def test_a_reader_who_has_enough_ends_it_quietly(deck: Deck) -> None:
    for number in range(200):
        deck.write(f"pack{number}", {"Joins": RUNGS})
    program = [sys.executable, str(CHECKOUT / "build.py"), "inspect"]
    with subprocess.Popen(program, cwd=deck.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (0, 1)


# Slips


@pytest.mark.parametrize(
    ("word", "command"), [("chekc", "check"), ("Preview", "preview"), ("anwsers", "answers"), ("biuld", "build")]
)
def test_a_misspelt_command_is_no_path(deck: Deck, word: str, command: str) -> None:
    run = ladderdeck(word, cwd=deck.folder)
    assert run.code == 2
    assert f"There is no command `{word}`, and no file or folder of that name. Did you mean `{command}`?" in run.err
    deck.write("web", {"Joins": RUNGS}, file=f"{word}/web.md")
    assert ladderdeck(f"cards/{word}", cwd=deck.folder).code == 0
    (deck.cards / word).rename(deck.folder / word)
    assert ladderdeck("check", word, cwd=deck.folder).code == 0


def test_an_option_that_begins_the_line_is_no_misspelt_command(deck: Deck) -> None:
    assert ladderdeck("--templates", CHECKOUT / "templates", cwd=deck.folder).code == 0


def test_a_path_that_is_no_command_is_a_path(deck: Deck) -> None:
    run = ladderdeck("nowhere", cwd=deck.folder)
    assert run.code == 1
    assert "nowhere:1:1: error: there is no such file or folder" in run.err


# What a build says of itself


def codes(outcome) -> list[str]:
    return [problem.code for problem in outcome.problems]


def test_retired_notes_are_counted_apart(deck: Deck) -> None:
    ladderdeck(cwd=deck.folder)
    deck.write("web", {"Joins": RUNGS[:2]})
    run = ladderdeck(cwd=deck.folder)
    assert run.out.startswith(
        "dist/ladders.apkg: 4 notes in 1 deck\n  2 rungs, 1 sign, 1 ladder\n"
        "  and 1 retired note, whose text has left the packs\n"
    )


def test_few_new_notes_are_named_and_many_are_not(deck: Deck) -> None:
    assert "new rung" not in ladderdeck(cwd=deck.folder).out
    deck.write("web", {"Joins": [*RUNGS, "How is a GIN index built?"]})
    assert "  new rung: How is a GIN index built?\n" in ladderdeck(cwd=deck.folder).out
    deck.write("web", {"Joins": [*RUNGS, "How is a GIN index built?"], "Scans": [f"{n * 7919}?" for n in range(12)]})
    run = ladderdeck(cwd=deck.folder)
    assert "  14 new; --verbose names them\n" in run.out
    assert "new rung" not in run.out


def test_no_summary_of_a_package_that_was_not_written(deck: Deck) -> None:
    (deck.folder / "dist").write_text("a file where the folder should be", encoding="utf-8")
    run = ladderdeck(cwd=deck.folder)
    assert (run.code, run.out) == (1, "")
    assert "nothing was written" in run.err


def test_a_kind_that_is_left_out_is_named(deck: Deck) -> None:
    deck.build()
    (deck.cards / "deck.yaml").write_text("name: Mine\nkinds: [rung, ladder]\n", encoding="utf-8")
    outcome = deck.build()
    (problem,) = [p for p in outcome.problems if p.code == "kind-left-out"]
    assert problem.message == "`kinds` leaves out `sign`: 1 card(s) of it retire"
    assert (Path(problem.position.file).name, problem.position.line) == ("deck.yaml", 2)
    assert "kind-left-out" not in codes(deck.build())


def test_a_deck_that_is_called_otherwise_is_said(deck: Deck) -> None:
    """By deck.yaml, where only the last package knows the old name, and by the pack, where the ledger does."""
    deck.build()
    (deck.cards / "deck.yaml").write_text("name: Mine\n", encoding="utf-8")
    (problem,) = [p for p in deck.build().problems if p.code == "renamed-deck"]
    assert "5 card(s) stay in Anki's deck `Ladders::web (en)`, and new ones go to `Mine::web (en)`" in problem.message
    assert codes(deck.build()) == []
    deck.package.unlink()
    (deck.cards / "web.md").unlink()
    deck.write("site", {"Joins": RUNGS})
    (problem,) = [p for p in deck.build().problems if p.code == "renamed-deck"]
    assert "`Mine::web (en)`, and new ones go to `Mine::site (en)`" in problem.message
    (deck.cards / "deck.yaml").write_text("name: Mine\ndecks: {page: site}\n", encoding="utf-8")
    (deck.cards / "site.md").unlink()
    deck.write("page", {"Joins": RUNGS})
    assert codes(deck.build()) == []


def test_a_part_of_the_deck_says_what_it_lacks(deck: Deck) -> None:
    deck.write("other", {"Scans": [f"{text}!!" for text in RUNGS]})
    run = ladderdeck("cards/web.md", cwd=deck.folder)
    assert "\n  without 1 pack of this deck: other\n" in run.out
    assert "without" not in ladderdeck(cwd=deck.folder).out


@pytest.mark.parametrize(
    ("arguments", "file"),
    [(["-o", "new/sub/"], "new/sub/ladders.apkg"), (["-o", "new/", "--format", "csv"], "new/ladders.csv")],
)
def test_a_slash_at_the_end_makes_a_folder(deck: Deck, arguments: list[str], file: str) -> None:
    assert ladderdeck(*arguments, cwd=deck.folder).code == 0
    assert (deck.folder / file).is_file()
    assert ladderdeck("preview", "-o", "page/", cwd=deck.folder).code == 0
    assert (deck.folder / "page" / "preview.html").is_file()


def test_a_lost_ledger_is_refused_where_it_would_cost_a_history(deck: Deck) -> None:
    deck.build()
    deck.ledger_file.unlink()
    assert codes(deck.try_build(dry_run=True)) == ["no-ledger"], "nothing was reworded"
    deck.build()
    deck.write("web", {"Joins": ["What is a hash join good for?", *RUNGS[1:]]})
    deck.build()
    deck.ledger_file.unlink()
    before = deck.on_disk()
    run = ladderdeck("check", cwd=deck.folder)
    assert run.code == 1
    assert "cards/ledger.json:1:1: error: the ledger is lost, and 1 card(s)" in run.out
    for _ in range(2):
        outcome = deck.try_build()
        assert codes(outcome) == ["lost-ledger"]
        assert outcome.failed
        assert deck.on_disk() == before
    deck.package.unlink()
    assert codes(deck.build()) == []


def test_another_decks_package_is_no_sign_of_a_lost_ledger(deck: Deck, tmp_path: Path) -> None:
    deck.build()
    other = tmp_path / "notes"
    other.mkdir()
    (other / "scan.md").write_text(pack_text("scans", {"Scans": RUNGS}), encoding="utf-8")
    assert codes(deck.try_build(paths=[other], dry_run=True)) == []
    assert "no-ledger" not in codes(deck.try_build(paths=[other / "nowhere.md"]))


def test_a_text_that_comes_back_as_it_began_is_the_old_note(deck: Deck) -> None:
    deck.build()
    guid = deck.entry(RUNGS[0]).guid
    reworded = "What is a hash join good for?"
    deck.write("web", {"Joins": [reworded, *RUNGS[1:]]})
    deck.build()
    deck.write("web", {"Joins": RUNGS[1:]})
    assert changed(deck.build(), Change.RETIRED) == [reworded]
    deck.write("web", {"Joins": RUNGS})
    assert changed(deck.build(), Change.RETURNED) == [RUNGS[0]]
    assert deck.entry(RUNGS[0]).guid == guid


def test_a_note_that_moves_from_a_topic_to_its_pack_says_so() -> None:
    entry = Entry("g", Kind.RED_FLAG, "web", "en", "Joins", "says only fast", 0, "", 1)
    (line,) = change_lines([Changed(Change.MOVED, replace(entry, topic=""), entry)], verbose=False)[1:]
    assert line == "  moved red flag: says only fast (Joins  ⇒  web)"


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("name:\n", "empty-setting", 1),
        ("name: A\nkinds: []\n", "empty-setting", 2),
        ("name: A\nkinds:\n", "empty-setting", 2),
        ("decks:\n  wbe: W\n", "unknown-pack", 2),
    ],
)
def test_what_does_nothing_in_deck_yaml_is_said(deck: Deck, text: str, code: str, line: int) -> None:
    (deck.cards / "deck.yaml").write_text(text, encoding="utf-8")
    deck.write("other", {"Scans": RUNGS})
    for paths in ([deck.cards], [deck.cards / "other.md"]):
        found = read_inputs(paths, None).problems
        assert [(p.code, p.severity, p.position.line) for p in found] == [(code, Severity.WARNING, line)]
    if code == "unknown-pack":
        assert found[0].hint == "did you mean `web`?"


# Progress and colour, for a person at a terminal only


def test_the_line_of_progress_comes_late_changes_and_goes() -> None:
    stream, times = io.StringIO(), iter([0.0, 0.5, 0.8, 0.85, 1.0])
    line = ProgressLine(stream, lambda: next(times))
    for what in ("reading pack 1 of 3", "reading pack 2 of 3", "reading pack 3 of 3", "packing"):
        line.show(what)
    assert stream.getvalue() == "\rreading pack 2 of 3 …\rpacking …            "
    line.clear()
    shown = stream.getvalue().rpartition("…")[2]
    assert shown.endswith("\r")
    assert not shown.replace("\r", "").strip()


def test_no_line_is_taken_away_that_was_not_there() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream, lambda: 0.0)
    line.show("reading")
    line.clear()
    assert stream.getvalue() == ""


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_terminals_without_no_color(deck: Deck, environment: dict[str, str], coloured: bool) -> None:
    (deck.cards / "web.md").write_text("---\nname: web\nlayer: base\n---\n", encoding="utf-8")
    values = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | environment
    program = [str(CHECKOUT / "build.py"), "check"]
    child = pexpect.spawn(sys.executable, program, cwd=str(deck.folder), env=values, encoding="utf-8", timeout=60)
    child.expect(pexpect.EOF)
    assert ("\x1b[31m error: \x1b[0m" in child.before) is coloured
    assert ("\x1b" in child.before) is coloured
    run = ladderdeck("check", cwd=deck.folder)
    assert "\x1b" not in run.out + run.err


def test_work_tells_how_far_it_is_and_pipes_hear_nothing(deck: Deck) -> None:
    deck.write("other", {"Scans": RUNGS})
    heard: list[str] = []
    build(deck.request(), heard.append)
    assert heard[:2] == ["reading pack 1 of 2", "reading pack 2 of 2"]
    assert heard[-1] == "packing 10 cards"
    run = ladderdeck(cwd=deck.folder)
    assert "\r" not in run.out + run.err
    assert run.err == ""
