"""What Windows and macOS do otherwise, as far as it can be played here: each test takes away or bends what they lack."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from deck_builder import Deck

from ladderdeck.cli.common import _Output, named
from ladderdeck.keeping import files
from ladderdeck.values.paths import shown


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    made = Deck(tmp_path)
    made.write("web", {"Joins": ["What is a hash join?", "When does it spill to disk?"]})
    return made


def refuse(times: int):
    """`Path.replace` as on Windows, where somebody has the file open the first few times."""
    calls = iter(range(times))
    real = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if next(calls, None) is not None:
            raise PermissionError(13, "Access is denied", str(target))
        return real(self, target)

    return replace


def test_a_file_that_is_held_for_a_moment_is_tried_again(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr(Path, "replace", refuse(3))
    deck.build()
    assert deck.package.is_file()


def test_a_file_that_stays_open_is_a_problem_and_everything_is_as_it_was(
    deck: Deck, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = deck.on_disk()
    monkeypatch.setattr(files, "_PAUSES", (0.0, 0.0))
    monkeypatch.setattr(Path, "replace", refuse(100))
    (problem,) = [p for p in deck.try_build().problems if p.code == "cannot-write"]
    assert "Access is denied" in problem.message
    assert deck.on_disk() == before


def test_signals_that_a_system_lacks_are_not_held_back(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGHUP")
    deck.build()
    assert deck.package.is_file()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_request_to_end_waits_until_both_files_are_replaced(
    deck: Deck, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    got: list[int] = []
    number = getattr(signal, name)
    monkeypatch.setattr(files, "_sync_folder", lambda _: (signal.raise_signal(number), got.append(0)))
    old = signal.signal(number, lambda number, _: got.append(number))
    try:
        deck.build()
    finally:
        signal.signal(number, old)
    assert got == [0, 0, number, number]


def test_a_folder_that_cannot_be_opened_is_written_to_all_the_same(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows opens no folder."""
    real, refused = os.open, []

    def open_file(path, flags, *rest, **named):
        if str(path) in (str(deck.cards), str(deck.package.parent)):
            refused.append(path)
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", open_file)
    deck.build()
    assert len(refused) == 2


def test_without_users_and_without_getuid_there_is_a_lock(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "getuid")
    deck.build()


@pytest.mark.parametrize(("separator", "given"), [("/", "new/"), ("\\", "new\\"), ("\\", "new/")])
def test_a_folder_ends_with_the_systems_own_separator(
    monkeypatch: pytest.MonkeyPatch, separator: str, given: str
) -> None:
    monkeypatch.setattr(os, "sep", separator)
    output = _Output(path_type=Path).convert(given, None, None)
    monkeypatch.undo()
    assert named(output, Path("dist", "ladders.apkg")).name == "ladders.apkg"


def test_paths_are_shown_with_slashes() -> None:
    class Windows(type(Path())):
        def as_posix(self) -> str:
            return str(self).replace("\\", "/")

    assert shown(Windows("cards\\缓存\\SKILL.md")) == "cards/缓存/SKILL.md"
