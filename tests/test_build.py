"""A build as a whole: what it writes, what it leaves alone, what it says, and that the input alone decides its bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import CHECKOUT, ladderdeck
from deck_builder import NOW, Deck, changed, guids, one

from ladderdeck.identity.identify import Change
from ladderdeck.values.model import Language
from ladderdeck.values.tags import RETIRED_SEARCH

RUNGS = ["What is a hash join?", "When does it spill to disk?", "Who reads the plan?"]
CHINESE = ["缓存怎么淘汰", "命中率突然掉一半怎么查"]


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    """A deck with an English and a Chinese pack, in a path as people have them."""
    deck = Deck(tmp_path / "我的 deck's [v1]")
    deck.write("web", {"Joins": RUNGS}, file="web/SKILL.md")
    deck.write("caching", {"淘汰": CHINESE}, file="缓存 pack/SKILL.md", chinese=True)
    return deck


def stamps(deck: Deck) -> dict[str, tuple[int, int]]:
    """When each file was last written, and which it is."""
    files = [file for file in deck.folder.rglob("*") if file.is_file()]
    return {str(file): (file.stat().st_mtime_ns, file.stat().st_ino) for file in files}


# What is written


def test_a_build_writes_package_and_ledger_and_nothing_else(deck: Deck) -> None:
    before = deck.on_disk()
    outcome = deck.build()
    assert outcome.written == (deck.ledger_file, deck.package)
    assert deck.on_disk().keys() - before.keys() == {"cards/ledger.json", "dist", "dist/ladders.apkg"}


@pytest.mark.parametrize("later", [0, 1, 86_400, 10**8])
def test_a_rebuild_without_a_change_rewrites_nothing(deck: Deck, later: int) -> None:
    deck.build()
    before, content = stamps(deck), deck.on_disk()
    outcome = deck.build(NOW + later)
    assert (outcome.written, stamps(deck), deck.on_disk()) == ((), before, content)


@pytest.mark.parametrize("later", [0, 86_400, 10**8])
def test_a_deleted_package_is_made_again_byte_by_byte_on_any_day(deck: Deck, later: int) -> None:
    deck.build()
    before = deck.package.read_bytes()
    deck.package.unlink()
    assert deck.build(NOW + later).written == (deck.package,)
    assert deck.package.read_bytes() == before


def test_new_envelopes_alone_rewrite_nothing(deck: Deck) -> None:
    deck.write("web", {"Joins": RUNGS}, file="web/SKILL.md", blob="20260101.aaaa")
    deck.build()
    deck.write("web", {"Joins": RUNGS}, file="web/SKILL.md", blob="20260202.bbbb")
    before = stamps(deck)
    assert deck.build(NOW + 5).written == ()
    assert stamps(deck) == before


def test_a_new_stylesheet_moves_the_note_types_and_no_note(deck: Deck, tmp_path: Path) -> None:
    import shutil

    deck.build()
    before = deck.ledger()
    deck.templates = tmp_path / "templates"
    shutil.copytree(CHECKOUT / "templates", deck.templates)
    style = deck.templates / "style.css"
    style.write_text(style.read_text(encoding="utf-8") + "\n.x { color: red }\n", encoding="utf-8")
    outcome = deck.build(0)
    after = deck.ledger()
    assert outcome.written == (deck.ledger_file, deck.package)
    assert after.notes == before.notes
    assert all(after.types[kind].modified == NOW + 1 for kind in after.types)


def test_a_link_stays_a_link(deck: Deck, tmp_path: Path) -> None:
    deck.build()
    elsewhere = tmp_path / "elsewhere.json"
    deck.ledger_file.rename(elsewhere)
    deck.ledger_file.symlink_to(elsewhere)
    deck.write("web", {"Joins": [*RUNGS, "And then?"]}, file="web/SKILL.md")
    deck.build(NOW + 5)
    assert deck.ledger_file.is_symlink()
    assert "And then?" in elsewhere.read_text(encoding="utf-8")


def test_permissions_are_kept_and_new_files_get_the_users_own(deck: Deck) -> None:
    old = os.umask(0o027)
    try:
        deck.build()
        assert deck.ledger_file.stat().st_mode & 0o777 == 0o640
        deck.ledger_file.chmod(0o600)
        deck.write("web", {"Joins": [*RUNGS, "And then?"]}, file="web/SKILL.md")
        deck.build(NOW + 5)
    finally:
        os.umask(old)
    assert deck.ledger_file.stat().st_mode & 0o777 == 0o600


def test_an_unchanged_ledger_with_other_line_ends_is_left_alone(deck: Deck) -> None:
    deck.build()
    deck.ledger_file.write_bytes(deck.ledger_file.read_bytes().replace(b"\n", b"\r\n"))
    before = stamps(deck)
    assert not deck.try_build(NOW + 5, locked=True).failed
    assert stamps(deck) == before


# --locked and --dry-run


@pytest.mark.parametrize(
    ("rungs", "fails"),
    [
        (RUNGS, False),
        ([*RUNGS, "And then?"], True),
        (RUNGS[:2], True),
        ([RUNGS[0], "When will it spill to disk?", RUNGS[2]], True),
    ],
    ids=["unchanged", "new", "retired", "reworded"],
)
def test_locked_fails_where_the_ledger_would_change(deck: Deck, rungs: list[str], fails: bool) -> None:
    deck.build()
    deck.write("web", {"Joins": rungs}, file="web/SKILL.md")
    before = deck.on_disk()
    outcome = deck.try_build(NOW + 5, locked=True)
    assert outcome.failed is fails
    assert [p.code for p in outcome.problems if p.code == "locked"] == ["locked"] * fails
    assert deck.on_disk() == before


def test_locked_fails_without_a_ledger_and_builds_a_package_with_one(deck: Deck) -> None:
    assert deck.try_build(locked=True).failed
    assert not deck.package.parent.exists()
    deck.build()
    deck.package.unlink()
    assert deck.build(NOW + 5, locked=True).written == (deck.package,)


def test_locked_fails_for_a_merged_ledger_that_was_not_built_since(deck: Deck) -> None:
    deck.build()
    text = deck.ledger_file.read_text(encoding="utf-8")
    line = next(line for line in text.split("\n") if line.startswith(',"note '))
    deck.ledger_file.write_text(text.replace(line, f"{line}\n{line}"), encoding="utf-8", newline="\n")
    assert deck.try_build(locked=True).failed
    deck.build()
    assert deck.ledger_file.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("built_before", [True, False])
def test_a_dry_run_names_every_note_and_writes_nothing(deck: Deck, tmp_path: Path, built_before: bool) -> None:
    if built_before:
        assert ladderdeck(cwd=deck.folder).code == 0
        deck.write("web", {"Joins": ["Hash joins: what are they?", RUNGS[1], "And then?"]}, file="web/SKILL.md")
    before, stamped = deck.on_disk(), stamps(deck)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    run = ladderdeck("--dry-run", cwd=deck.folder, TMPDIR=str(temporary))
    assert run.code == 0, run.err
    assert (deck.on_disk(), stamps(deck)) == (before, stamped)
    assert list(temporary.iterdir()) == []
    assert "Nothing was written, since this was a dry run." in run.out
    if built_before:
        assert "reworded rung: What is a hash join?  ⇒  Hash joins: what are they?" in run.out
        assert "new rung: And then?" in run.out
        assert "retired rung: Who reads the plan?" in run.out
    else:
        assert "new rung: What is a hash join?" in run.out


# What is said


def test_the_report(deck: Deck) -> None:
    assert "new" in ladderdeck(cwd=deck.folder).out
    deck.write(
        "web",
        {
            "Joins": ["Hash joins: what are they?", "Why is a nested loop slow?"],
            "Plans": [RUNGS[2], "How is it cached?"],
        },
        file="web/SKILL.md",
    )
    run = ladderdeck(cwd=deck.folder)
    assert run.code == 0
    lines = run.out.splitlines()
    assert "dist/ladders.apkg" in lines[0]
    assert "1 reworded" in run.out
    assert "  reworded rung: What is a hash join?  ⇒  Hash joins: what are they?" in lines
    assert "  moved rung: Who reads the plan? (Joins  ⇒  Plans)" in lines
    assert "  retired rung: When does it spill to disk?" in lines
    assert any(RETIRED_SEARCH in line for line in lines)
    assert "  new rung: How is it cached?" in lines
    verbose = ladderdeck("--dry-run", "-v", cwd=deck.folder)
    assert "unchanged" in verbose.out
    assert "Next:" in run.out
    assert "is up to date" in ladderdeck(cwd=deck.folder).out


def test_a_deleted_question_is_listed_with_a_search_that_finds_it(deck: Deck) -> None:
    assert ladderdeck(cwd=deck.folder).code == 0
    deck.write("web", {"Joins": RUNGS[:2]}, file="web/SKILL.md")
    out = ladderdeck(cwd=deck.folder).out
    assert "1 retired" in out
    assert "retired rung: Who reads the plan?" in out
    assert "tag:ladder::retired" in out


def test_a_choice_too_close_to_call_names_both(deck: Deck) -> None:
    deck.write(
        "web", {"Joins": ["What does the planner cache; what does the executor cache?", RUNGS[0]]}, file="web/SKILL.md"
    )
    deck.build()
    deck.write(
        "web",
        {"Joins": ["What does the planner cache?", "What does the executor cache?", RUNGS[0]]},
        file="web/SKILL.md",
    )
    outcome = deck.build(NOW + 5)
    problem = one(p for p in outcome.problems if p.code == "close-identity")
    assert "What does the planner cache?" in problem.message
    assert "What does the executor cache?" in problem.message
    assert problem.position.line == 11
    assert guids(outcome) == guids(deck.build(NOW + 6))


def test_a_lost_ledger_is_said_and_rebuilt_with_the_same_guids(deck: Deck) -> None:
    before = guids(deck.build())
    deck.ledger_file.unlink()
    outcome = deck.build(NOW + 5)
    assert [p.code for p in outcome.problems if p.code.endswith("ledger")] == ["no-ledger"]
    assert guids(outcome) == before


def test_a_ledger_from_the_future_is_said(deck: Deck) -> None:
    deck.build(NOW + 10 * 86_400)
    assert [p.code for p in deck.build(NOW).problems if p.code.endswith("ledger")] == ["future-ledger"]


# Less than the whole folder


def test_a_part_of_the_folder_retires_nothing_of_the_rest(deck: Deck) -> None:
    deck.build()
    before = deck.ledger()
    for options in (
        {"paths": [deck.cards / "web"]},
        {"paths": [deck.cards / "web" / "SKILL.md"]},
        {"language": Language.ENGLISH},
    ):
        outcome = deck.build(NOW + 5, output=deck.folder / "part.apkg", **options)
        assert {item.change for item in outcome.changes} == {Change.UNCHANGED}
        assert {note.note.origin.pack for note in outcome.notes} == {"web"}
        assert deck.ledger() == before


def test_a_part_of_the_folder_uses_the_ledger_of_the_whole(deck: Deck) -> None:
    deck.build()
    deck.write("web", {"Joins": ["Hash joins: what are they?", *RUNGS[1:]]}, file="web/SKILL.md")
    outcome = deck.build(NOW + 5, paths=[deck.cards / "web" / "SKILL.md"])
    assert changed(outcome, Change.REWORDED) == ["Hash joins: what are they?"]
    assert not (deck.cards / "web" / "ledger.json").exists()


def test_the_ledger_above_is_found_from_any_folder(deck: Deck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's file of that name, further up, is none."""
    deck.build()
    (tmp_path / "ledger.json").write_text("{}", encoding="utf-8")
    for folder in (tmp_path, deck.folder, deck.cards, deck.cards / "web", CHECKOUT):
        monkeypatch.chdir(folder)
        assert deck.build(NOW + 5, paths=[deck.cards / "web"]).changes
        assert not (deck.cards / "web" / "ledger.json").exists()
    alone = Deck(tmp_path / "alone")
    alone.write("web", {"Joins": RUNGS})
    alone.build()
    assert alone.ledger_file.is_file()


def test_a_pack_that_was_renamed_is_not_known_while_the_rest_cannot_be_read(deck: Deck) -> None:
    """It may be the one that cannot be read."""
    deck.build()
    (deck.cards / "缓存 pack" / "SKILL.md").write_text("---\nname: caching\nlayer: [\n---\n", encoding="utf-8")
    outcome = deck.build(NOW + 5, paths=[deck.cards / "web"])
    assert {item.change for item in outcome.changes} == {Change.UNCHANGED}


@pytest.mark.parametrize("name", ["web", "renamed"])
def test_renamed_files_folders_and_packs_keep_every_guid(deck: Deck, name: str) -> None:
    before = guids(deck.build())
    (deck.cards / "web").rename(deck.cards / "another folder")
    (deck.cards / "another folder" / "SKILL.md").unlink()
    deck.write(name, {"Joins": RUNGS}, file="another folder/deeper/页.md")
    outcome = deck.build(NOW + 5)
    assert guids(outcome) == before
    assert changed(outcome, Change.NEW) == changed(outcome, Change.RETIRED) == []


def test_a_ledger_below_another_is_an_error(deck: Deck) -> None:
    deck.build()
    deck.build(paths=[deck.cards / "web"], ledger=deck.cards / "web" / "ledger.json", output=deck.folder / "part.apkg")
    before = deck.on_disk()
    outcome = deck.try_build(NOW + 5)
    assert [p.code for p in outcome.problems if p.code == "second-ledger"] == ["second-ledger"]
    assert outcome.failed
    assert deck.on_disk() == before
    assert not deck.try_build(NOW + 5, paths=[deck.cards / "web"], output=deck.folder / "part.apkg").failed


# Errors change nothing


def damaged(data: bytes) -> dict[str, tuple[bytes, str]]:
    return {
        "cut off": (data[: len(data) // 2].decode("utf-8", "ignore").encode(), "ledger-damaged"),
        "not UTF-8": (data[:300] + b"\xff" + data[300:], "ledger-damaged"),
        "edited by hand": (data.replace(b"hash join", b"hash joins"), "ledger-damaged"),
        "of a later version": (data.replace(b'"format": 1', b'"format": 7'), "ledger-version"),
        "in conflict": (b"<<<<<<< HEAD\n" + data, "ledger-conflict"),
        "empty": (b"", "ledger-damaged"),
    }


@pytest.mark.parametrize("damage", list(damaged(b"")))
def test_a_ledger_that_cannot_be_trusted_is_refused_and_left_alone(deck: Deck, damage: str) -> None:
    deck.build()
    data, code = damaged(deck.ledger_file.read_bytes())[damage]
    deck.ledger_file.write_bytes(data)
    deck.write("web", {"Joins": ["Hash joins: what are they?", *RUNGS[1:]]}, file="web/SKILL.md")
    before = deck.on_disk()
    outcome = deck.try_build(NOW + 5)
    problems = [p for p in outcome.problems if p.code.startswith("ledger")]
    assert {p.code for p in problems} == {code}
    assert all(p.position.line >= 1 and p.hint for p in problems)
    assert deck.on_disk() == before


def test_a_package_never_overwrites_what_it_is_made_of(deck: Deck) -> None:
    (deck.cards / "deck.yaml").write_text("name: Mine\n", encoding="utf-8")
    deck.build()
    before = deck.on_disk()
    for name in ("web/SKILL.md", "ledger.json", "deck.yaml"):
        outcome = deck.try_build(NOW + 5, output=deck.cards / name)
        assert "own-output" in {p.code for p in outcome.problems}
    assert deck.on_disk() == before


def test_a_text_that_cannot_be_packaged_is_a_problem_and_no_crash(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_) -> None:
        raise ValueError("A note has nothing in its field 'Question'")

    monkeypatch.setattr("ladderdeck.packaging.formats.apkg.write_package", refuse)
    before = deck.on_disk()
    outcome = deck.try_build()
    assert "cannot-package" in {p.code for p in outcome.problems}
    assert deck.on_disk() == before


# The same bytes everywhere

PLACES = [
    {"PYTHONHASHSEED": "1"},
    {"PYTHONHASHSEED": "2", "TZ": "Pacific/Kiritimati"},
    {"PYTHONHASHSEED": "3", "LC_ALL": "C", "PYTHONUTF8": "0"},
    {"TZ": "America/Los_Angeles", "LC_ALL": "zh_CN.GB18030"},
    {"HOME": "/nonexistent", "USER": "somebody", "LANG": "tr_TR.UTF-8"},
]


def test_the_same_input_gives_the_same_bytes_anywhere(deck: Deck, tmp_path: Path) -> None:
    results = set()
    for number, environment in enumerate(PLACES):
        elsewhere = Deck(tmp_path / f"place {number}" / ("x" * number) / "d")
        for name, content in deck.on_disk().items():
            file = elsewhere.folder / name
            if content is None:
                file.mkdir(parents=True)
            else:
                file.write_bytes(content)
        run = subprocess.run(
            [sys.executable, str(CHECKOUT / "build.py"), str(elsewhere.cards), "-o", str(elsewhere.package)],
            cwd=[elsewhere.folder, tmp_path, CHECKOUT][number % 3],
            env={**os.environ, "SOURCE_DATE_EPOCH": str(NOW), **environment},
            umask=[0o022, 0o077, 0][number % 3],
            capture_output=True,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        results.add((elsewhere.ledger_file.read_bytes(), elsewhere.package.read_bytes()))
    assert len(results) == 1


def test_with_one_source_date_epoch_an_edit_still_moves_the_time_forward(deck: Deck) -> None:
    times = []
    for answer in ("first", "second", "third"):
        deck.write("web", {"Joins": RUNGS}, file="web/SKILL.md", signs={"Joins": [f"has the {answer} number"]})
        assert ladderdeck(cwd=deck.folder, SOURCE_DATE_EPOCH=str(NOW)).code == 0
        times.append(deck.entry(RUNGS[0]).modified)
    assert times == [NOW, NOW + 1, NOW + 2]
