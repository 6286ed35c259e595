"""Builds that are interrupted: disk holds the old pair of ledger and package or the new one, and nothing beside it."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import CHECKOUT, ladderdeck
from deck_builder import NOW, Deck

from ladderdeck.build import build

TOPICS = {"Caching": ["why does a cache help", "what does it evict"], "Queues": ["who reads first", "who reads twice"]}
EDITED = {**TOPICS, "Caching": ["why does a cache help", "what does it evict first"]}


def pair(deck: Deck) -> tuple[bytes, bytes]:
    return deck.ledger_file.read_bytes(), deck.package.read_bytes()


class Trouble:
    """Makes the n-th call of one of some functions fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: BaseException, at: int) -> None:
        self.calls = 0
        self.happened = False
        functions = [(Path, "write_bytes"), (Path, "replace"), (os, "replace"), (os, "fsync"), (shutil, "copy2")]
        for owner, name in functions:
            monkeypatch.setattr(owner, name, self.wrapped(getattr(owner, name), error, at))

    def wrapped(self, real, error: BaseException, at: int):
        def call(*arguments, **options):
            self.calls += 1
            if self.calls == at:
                self.happened = True
                raise error
            return real(*arguments, **options)

        return call


@pytest.mark.parametrize("known", [True, False], ids=["over an older build", "for the first time"])
@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left on device"), PermissionError(13, "denied"), KeyboardInterrupt()],
    ids=["full disk", "no permission", "Ctrl-C"],
)
def test_trouble_at_any_step_leaves_a_pair_and_nothing_beside_it(tmp_path, monkeypatch, error, known: bool) -> None:
    happened = 0
    for at in range(1, 16):
        deck = Deck(tmp_path / f"{at}")
        deck.write("web", TOPICS)
        if known:
            deck.build()
        deck.write("web", EDITED)
        before = deck.on_disk()
        outcome = None
        with monkeypatch.context() as patch:
            trouble = Trouble(patch, error, at)
            try:
                outcome = build(deck.request(NOW + 60))
            except KeyboardInterrupt:
                assert isinstance(error, KeyboardInterrupt)
        if not trouble.happened:
            break
        happened += 1
        if outcome is not None and not outcome.failed:
            # What cannot be done and does not matter keeps nobody from the new pair.
            assert deck.build(NOW + 60, locked=True).written == ()
            continue
        if outcome is not None:
            assert {p.code for p in outcome.problems if p.severity.value == "error"} == {"cannot-write"}
        assert deck.on_disk() == before, f"at call {at}"
        deck.build(NOW + 60)
    assert happened >= 4


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_build_that_is_killed_leaves_a_pair_that_the_next_build_completes(
    tmp_path: Path, kill: signal.Signals
) -> None:
    deck = Deck(tmp_path / "我的 deck")
    deck.write("web", TOPICS)
    deck.build()
    dice = random.Random(int(kill))
    program = [sys.executable, str(CHECKOUT / "build.py")]
    for number in range(5):
        deck.write("web", {**TOPICS, "Caching": [f"why does a cache help {number}", "what does it evict"]})
        before = pair(deck)
        with subprocess.Popen(program, cwd=deck.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                process.communicate(timeout=dice.uniform(0.1, 0.6))
            except subprocess.TimeoutExpired:
                process.send_signal(kill)
                process.communicate()
        ledger, package = pair(deck)
        assert package == before[1] or ledger != before[0], "a package that its ledger does not know"
        run = ladderdeck(cwd=deck.folder)
        assert run.code == 0, run.err
        assert ladderdeck("--locked", cwd=deck.folder).code == 0


def test_two_builds_at_once_leave_one_pair(tmp_path: Path) -> None:
    deck = Deck(tmp_path / "deck")
    deck.write("web", TOPICS)
    program = [sys.executable, str(CHECKOUT / "build.py")]
    builds = [
        subprocess.Popen(program, cwd=deck.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)
    ]
    for process in builds:
        _, err = process.communicate()
        assert process.returncode == 0, err
    assert ladderdeck("--locked", cwd=deck.folder).code == 0
    assert sorted(path.name for path in deck.cards.iterdir()) == ["ledger.json", "web.md"]
    assert [path.name for path in deck.package.parent.iterdir()] == ["ladders.apkg"]
