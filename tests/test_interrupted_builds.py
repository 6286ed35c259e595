"""Builds that fail, are interrupted, are killed, or meet each other: on disk is the old pair of files or the new one."""

from __future__ import annotations

import contextlib
import errno
import filecmp
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest
from command import CHECKOUT
from deck_builder import NOW, Deck

from ladderdeck.keeping import files
from ladderdeck.keeping.files import only_one

RUNGS = ["What is a hash join?", "When does it spill to disk?", "Who reads the plan?"]
EDITED = [*RUNGS, "How is a GIN index built?"]


def make(folder: Path, *, built: bool) -> Deck:
    """A deck with an edit that was not built yet; without ``built`` it was never built at all."""
    deck = Deck(folder)
    deck.write("web", {"Joins": RUNGS})
    if built:
        deck.build()
        deck.write("web", {"Joins": EDITED})
    return deck


@pytest.fixture(params=[True, False], ids=["rebuild", "first build"])
def deck(request: pytest.FixtureRequest, tmp_path: Path) -> Deck:
    return make(tmp_path / "我的 deck", built=request.param)


# Every call to the disk fails once

CALLS = [
    (os, "open"), (os, "fsync"), (os, "umask"), (shutil, "copy2"), (filecmp, "cmp"),
    (Path, "mkdir"), (Path, "write_bytes"), (Path, "replace"), (Path, "chmod"), (Path, "unlink"), (Path, "exists"), (Path, "open"),
    (zipfile.ZipFile, "writestr"), (sqlite3, "connect"), (tempfile, "mkdtemp"),
]  # fmt: skip
"""What a build calls when it writes."""


class Trip:
    """Counts calls while files are being replaced, and raises at one of them: in its place, or when it has been done."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int, error: BaseException, *, after: bool) -> None:
        self.count, self.at, self.error, self.after, self.armed = 0, at, error, after, False
        self.what = ""
        for owner, name in CALLS:
            patch.setattr(owner, name, self.wrap(getattr(owner, name)))
        replace = files.replace_together
        patch.setattr("ladderdeck.building.build.replace_together", lambda writers: self.watch(replace, writers))

    def watch(self, replace, writers):
        self.armed = True
        try:
            return replace(writers)
        finally:
            self.armed = False

    def wrap(self, call):
        def wrapped(*arguments, **options):
            if not self.armed:
                return call(*arguments, **options)
            self.count += 1
            trips = self.count == self.at
            if trips:
                self.what = call.__name__
            if trips and not self.after:
                raise self.error
            result = call(*arguments, **options)
            if trips:
                if isinstance(result, int) and self.what == "open":
                    os.close(result)
                elif hasattr(result, "close"):
                    result.close()
                raise self.error
            return result

        return wrapped


ERRORS = {
    "disk full": lambda: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "Ctrl-C": KeyboardInterrupt,
    "out of memory": MemoryError,
}


@pytest.mark.parametrize("after", [False, True], ids=["instead", "after"])
@pytest.mark.parametrize("name", ERRORS)
def test_whatever_fails_while_writing_there_is_the_old_pair_or_the_new(deck: Deck, name: str, after: bool) -> None:
    from killed_builds import restore, without_left_overs

    old = deck.on_disk()
    deck.build(NOW + 5)
    new = deck.on_disk()
    failed = 0
    for at in range(1, 500):
        restore(deck, old)
        with pytest.MonkeyPatch.context() as patch:
            trip = Trip(patch, at, ERRORS[name](), after=after)
            outcome = None
            with contextlib.suppress(KeyboardInterrupt, MemoryError):
                outcome = deck.try_build(NOW + 5)
        if trip.count < at:
            break
        after_it = deck.on_disk()
        if trip.what == "unlink" and not after:
            # What cannot be removed stays until the next build.
            after_it = without_left_overs(after_it)
        assert after_it in (old, new), f"call {at}, {trip.what}: {sorted(after_it)}"
        if outcome is not None and outcome.failed:
            failed += 1
            assert after_it == old
            assert "cannot-write" in {problem.code for problem in outcome.problems}
        elif outcome is not None:
            assert after_it == new
    else:
        pytest.fail("this does not end")
    assert outcome is not None
    assert deck.on_disk() == new
    assert at > 20
    assert failed > 5 or not isinstance(ERRORS[name](), OSError)


def test_a_full_disk_while_the_database_is_written_is_a_problem_and_no_crash(
    deck: Deck, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite has its own error for it."""
    from ladderdeck.packaging import anki_file

    def full(*_) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(anki_file._Note, "store", full)
    before = deck.on_disk()
    outcome = deck.try_build(NOW + 5)
    assert ["database or disk is full" in p.message for p in outcome.problems if p.code == "cannot-write"] == [True]
    assert deck.on_disk() == before


def test_an_unwritable_ledger_is_named(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(file: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))

    monkeypatch.setattr(files, "_create", refuse)
    (problem,) = [p for p in deck.try_build(NOW + 5).problems if p.code == "cannot-write"]
    assert problem.position.file.endswith("ledger.json")
    assert "Permission denied" in problem.message


# Real signals


@pytest.mark.parametrize(
    ("name", "built"), [("SIGKILL", False), ("SIGKILL", True), ("SIGINT", True), ("SIGINT", False)]
)
def test_a_build_that_dies_at_any_step_leaves_a_pair_that_the_next_one_makes_good(
    tmp_path: Path, name: str, built: bool
) -> None:
    """Old ledger and old package, or both new; only a death right between the two replacements leaves the new ledger with
    the old package, which nobody can tell from a package that was not imported yet, and the next build makes the new one."""
    deck = make(tmp_path / "deck", built=built)
    program = [sys.executable, str(Path(__file__).with_name("killed_builds.py")), str(deck.folder), name]
    paths = os.pathsep.join([str(CHECKOUT / "src"), str(CHECKOUT / "tests")])
    environment = {**os.environ, "PYTHONPATH": paths, "TMPDIR": str(deck.folder.parent)}
    run = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    seen = json.loads(run.stdout)
    assert seen["died"] == sum(count for state, count in seen.items() if state != "died") > 50
    assert seen["old"] > 30
    assert seen.get("between", 0) <= (0 if name == "SIGINT" else 16)


def command(deck: Deck, *arguments: str) -> list[str]:
    return [sys.executable, str(CHECKOUT / "build.py"), *arguments, str(deck.cards), "-o", str(deck.package)]


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGINT"])
def test_a_build_that_is_killed_at_any_moment(tmp_path: Path, name: str) -> None:
    """From outside, at moments that chance picks: most hit a build that reads, some one that writes."""
    from killed_builds import restore, without_left_overs

    deck = make(tmp_path / "我的 deck", built=True)
    old = deck.on_disk()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(NOW + 5), "TMPDIR": str(tmp_path)}
    subprocess.run(command(deck), env=environment, check=True, capture_output=True)
    new = deck.on_disk()
    between = {**old, "cards/ledger.json": new["cards/ledger.json"]}
    dice = random.Random(name)
    for _ in range(6):
        restore(deck, old)
        process = subprocess.Popen(command(deck), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=dice.uniform(0.0, 0.8))
        process.send_signal(signal.Signals[name])
        process.communicate()
        assert without_left_overs(deck.on_disk()) in (old, new, between)
        subprocess.run(command(deck), env=environment, check=True, capture_output=True)
        assert deck.on_disk() == new


# Builds that meet


def test_two_builds_at_once_lose_nothing(tmp_path: Path) -> None:
    """Eight processes, each building its own part of one deck, with one ledger and one package for all of them."""
    names = [f"pack{number}" for number in range(4)]
    together, one_by_one = (Deck(tmp_path / name) for name in ("together", "one by one"))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(NOW), "TMPDIR": str(tmp_path)}
    processes = []
    for deck in (together, one_by_one):
        for name in names:
            deck.write(name, {"Joins": [f"{text} ({name})" for text in RUNGS]})
    for number in range(8):
        part = [sys.executable, str(CHECKOUT / "build.py"), str(together.cards / f"{names[number % 4]}.md")]
        part += ["-o", str(together.package), "--ledger", str(together.ledger_file)]
        processes.append(subprocess.Popen(part, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    for process in processes:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    assert {entry.pack for entry in together.ledger().notes.values()} == set(names)
    one_by_one.build()
    assert together.ledger() == one_by_one.ledger()
    subprocess.run(command(together), env=environment, check=True, capture_output=True)
    assert together.package.read_bytes() == one_by_one.package.read_bytes()


def test_a_build_that_waits_too_long_for_another_gives_up(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    before = deck.on_disk()
    monkeypatch.setattr(files, "LOCK_PATIENCE", 0)
    for file in (deck.ledger_file, deck.package):
        with only_one([file]):
            outcome = deck.try_build(NOW + 5)
        assert [problem.code for problem in outcome.problems] == ["busy"]
    assert deck.on_disk() == before
    assert not deck.try_build(NOW + 5).failed


def test_without_a_folder_for_the_lock_there_is_a_problem_and_no_crash(
    deck: Deck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    before = deck.on_disk()
    outcome = deck.try_build(NOW + 5)
    assert [problem.code for problem in outcome.problems] == ["cannot-write"]
    assert deck.on_disk() == before
