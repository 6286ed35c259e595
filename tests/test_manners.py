"""How the command line behaves towards a person: Ctrl-C, slips, and what a build says of itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import CHECKOUT, ladderdeck
from deck_builder import Deck

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


def test_a_path_that_is_no_command_is_a_path(deck: Deck) -> None:
    run = ladderdeck("nowhere", cwd=deck.folder)
    assert run.code == 1
    assert "nowhere:1:1: error: there is no such file or folder" in run.err
