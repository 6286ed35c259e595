"""What was done before is not done again: a command that is run anew says and does what the whole work would."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command import Run, here, tree
from deck_builder import Deck
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ladderdeck.building.build
from ladderdeck.building import watching
from ladderdeck.keeping import unchanged
from ladderdeck.keeping.store import Store
from ladderdeck.packaging.templates import default_folder

RUNGS = ["What is a hash join?", "When does it spill to disk?", "Who reads the plan?"]
ANSWER = (
    "---\npack: web\ntopic: Joins\n---\n\n## What is a hash join?\n\n- a table in memory\n\n![](p.png)\n\nSources: me\n"
)
PICTURE = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    deck = Deck(tmp_path / "我的 deck")
    deck.write("web", {"Joins": RUNGS}, file="web/SKILL.md")
    deck.write("数据库", {"索引": RUNGS}, chinese=True)
    (deck.cards / "README.md").write_text("# No pack\n", encoding="utf-8")
    (deck.cards / "web" / "answers").mkdir()
    (deck.cards / "web" / "answers" / "joins.md").write_text(ANSWER, encoding="utf-8")
    (deck.cards / "web" / "answers" / "p.png").write_bytes(PICTURE)
    shutil.copytree(default_folder(), deck.folder / "look")
    return deck


class Works:
    """Counts how often the whole work is done."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self._build = ladderdeck.building.build.build
        patch.setattr(ladderdeck.building.build, "build", self)

    def __call__(self, *arguments: object) -> object:
        self.count += 1
        return self._build(*arguments)


@pytest.fixture
def works(monkeypatch: pytest.MonkeyPatch) -> Works:
    return Works(monkeypatch)


def build(deck: Deck, *options: str, where: str = ".") -> Run:
    return here(*options, "--templates", str(deck.folder / "look"), cwd=deck.folder / where)


FORMS = [(), ("--json",), ("--verbose",), ("--quiet",)]


@pytest.mark.parametrize("options", [(), ("--format", "csv"), ("--locked",), ("--language", "zh"), ("cards/web",)])
def test_the_second_build_does_nothing_and_says_what_the_whole_work_says(deck, works, options):
    build(deck)  # --locked needs a ledger
    first = build(deck, *options)
    assert first.code == 0, first
    done = works.count
    before = tree(deck.folder)
    again = [build(deck, *options, *form) for form in FORMS]
    assert works.count == done
    whole = [build(deck, *options, *form, "--no-cache") for form in FORMS]
    assert works.count == done + len(FORMS)
    assert again == whole
    assert tree(deck.folder) == before


def replace(file: str, old: str, new: str) -> Callable[[Deck], None]:
    def edit(deck: Deck) -> None:
        path = deck.folder / file
        status = path.stat()
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))  # times may lie

    return edit


def write(file: str, data: bytes | str) -> Callable[[Deck], None]:
    def edit(deck: Deck) -> None:
        path = deck.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    return edit


def remove(file: str) -> Callable[[Deck], None]:
    return lambda deck: (deck.folder / file).unlink()


def damage(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 3 : len(data) // 2] = bytes(len(data) // 2 - len(data) // 3)
    file.write_bytes(data)


def link_folder(deck: Deck) -> None:
    (deck.folder / "elsewhere").mkdir()
    (deck.cards / "more").symlink_to(deck.folder / "elsewhere", target_is_directory=True)


CHANGES = {
    "a rung": replace("cards/web/SKILL.md", "hash", "sort"),
    "an answer": replace("cards/web/answers/joins.md", "memory", "a bag."),
    "a picture": write("cards/web/answers/p.png", PICTURE + b"1"),
    "a picture is gone": remove("cards/web/answers/p.png"),
    "a new answer": write("cards/web/answers/.more/x.md", "---\npack: web\n---\n"),
    "drills": write("cards/web/drills.yaml", "pack: web\ndrills: []\n"),
    "drills of a language": write("cards/web/drills.en.yaml", "pack: web\ndrills: []\n"),
    "a setting": write("cards/deck.yaml", "name: Other\n"),
    "a new pack": write("cards/deep/er/x.markdown", "---\nname: x\nlayer: base\n---\n"),
    "a Markdown file that was no pack": write("cards/README.md", "---\nname: x\nlayer: base\n---\n"),
    "a pack is gone": remove("cards/数据库.md"),
    "the look": replace("look/style.css", "{", "{ "),
    "a part of the look": replace("look/foot.html", "<", " <"),
    "the ledger is gone": remove("cards/ledger.json"),
    "the ledger is damaged": replace("cards/ledger.json", "Joins", "Loins"),
    "a second ledger": write("cards/.hidden/ledger.json", '{"format": 1\n}\n'),
    "the package is gone": remove("dist/ladders.apkg"),
    "the package is another": write("dist/ladders.apkg", "PK"),
    "the package was cut": lambda deck: os.truncate(deck.package, deck.package.stat().st_size - 1),
    "the package is damaged": lambda deck: damage(deck.package),
    "left over from a build that was killed": write("dist/.ladders-1-2.ladderdeck.tmp", ""),
    "a link to a folder": link_folder,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_after_any_change_the_work_is_done(deck, works, change):
    assert build(deck).code == 0
    assert build(deck).out.endswith("is up to date.\n")
    assert works.count == 1
    change(deck)
    build(deck)
    assert works.count == 2


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_after_any_change_a_check_says_what_a_whole_one_says(deck, change):
    build(deck)
    here("check", "-v", cwd=deck.folder)
    change(deck)
    forms = [("-v",), ("--json",), ("--format", "github")]
    for form in forms * 2:
        assert here("check", *form, cwd=deck.folder) == here("check", *form, "--no-cache", cwd=deck.folder)


@pytest.mark.parametrize(
    "options",
    [
        ("-o", "other.apkg"),
        ("--language", "en"),
        ("--ledger", "other.json"),
        ("--locked",),
        ("--dry-run",),
        ("cards/web",),
    ],
    ids=" ".join,
)
def test_another_question_is_another_work(deck, works, options):
    build(deck)
    build(deck, *options)
    assert works.count == 2


def test_the_same_words_in_another_folder_are_another_work(deck, works):
    build(deck, "cards/")
    shutil.copytree(deck.cards, deck.folder / "copy" / "cards")
    shutil.copytree(deck.folder / "dist", deck.folder / "copy" / "dist")
    here("cards/", "--templates", str(deck.folder / "look"), cwd=deck.folder / "copy")
    assert works.count == 2


def test_another_program_does_the_work(deck, works, monkeypatch):
    build(deck)
    monkeypatch.setattr(unchanged, "program", lambda: "a later version")
    build(deck)
    assert works.count == 2


def test_a_file_that_is_saved_during_the_work_is_not_forgotten(deck, works, monkeypatch):
    """Also where it holds again at the end what it held at the beginning."""
    file = deck.cards / "web" / "SKILL.md"
    real = ladderdeck.building.build.build

    def build_meanwhile(*arguments: object) -> object:
        saved = file.read_bytes()
        file.write_bytes(saved.replace(b"hash", b"sort"))
        try:
            return real(*arguments)
        finally:
            file.write_bytes(saved)

    monkeypatch.setattr(ladderdeck.building.build, "build", build_meanwhile)
    build(deck)
    monkeypatch.setattr(ladderdeck.building.build, "build", real)
    run = build(deck)
    assert "1 reworded" in run.out


def test_a_clock_that_was_set_back_is_told(deck, monkeypatch):
    build(deck)
    monkeypatch.setattr("time.time", lambda: 1_000_000_000)
    assert "future-ledger" in build(deck).err
    assert "future-ledger" in build(deck).err


def test_a_build_with_mistakes_is_not_remembered(deck, works):
    write("cards/web/SKILL.md", "---\nname: web\nlayer: base\n---\n")(deck)
    assert [build(deck).code for _ in range(2)] == [1, 1]
    assert works.count == 2


def test_what_a_deck_is_made_of_is_one_list():
    assert set(unchanged.READ) == watching._PACK_FILES


# Histories

EDITS = st.sampled_from(
    [
        *[
            ("web", "What is", "What was"),
            ("web", "What was", "What is"),
            ("web", "Who reads the plan?", "Who writes?"),
        ],
        *[("web", " → When does it spill to disk?", ""), ("web", "Joins", "Merges"), ("web", "name: web", "name: net")],
        *[
            ("数据库", "索引", "存储"),
            ("数据库", "name: 数据库", "name: web"),
            ("数据库", "What is a hash join?", "为什么？"),
        ],
        *[("web", "has numbers about Joins", "has numbers; has numbers about Joins")],
        *[
            ("deck.yaml", "", "kinds: [rung]\n"),
            ("deck.yaml", "kinds: [rung]\n", ""),
            ("deck.yaml", "", "name: Other\n"),
        ],
    ]
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(EDITS, min_size=1, max_size=5))
def test_whatever_was_edited_the_build_after_the_build_says_what_the_whole_work_says(tmp_path_factory, edits):
    deck = Deck(tmp_path_factory.mktemp("history"))
    deck.write("web", {"Joins": RUNGS, "Merges too": ["What is a hash join?", "Why?"]})
    deck.write("数据库", {"索引": RUNGS}, chinese=True)
    here(cwd=deck.folder)
    for file, old, new in edits:
        path = deck.cards / (file if file.endswith(".yaml") else f"{file}.md")
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(text.replace(old, new, 1) if old else text + new, encoding="utf-8")
        here(cwd=deck.folder)
        before = tree(deck.folder)
        assert here("--json", cwd=deck.folder) == here("--json", "--no-cache", cwd=deck.folder)
        assert here("-v", cwd=deck.folder) == here("-v", "--no-cache", cwd=deck.folder)
        assert tree(deck.folder) == before


# The store

KEY = "0" * 64


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Store(tmp_path / "cache").write(KEY, {"text": "钥匙 \udc80"})
    return tmp_path / "cache"


def test_what_was_kept_is_read_again(folder):
    assert Store(folder).read(KEY) == {"text": "钥匙 \udc80"}
    assert Store(folder).read("1" * 64) is None


def test_an_entry_that_was_damaged_is_none(folder):
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for position in range(len(whole)):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        assert Store(folder).read(KEY) is None
        file.write_bytes(whole[:position])
        assert Store(folder).read(KEY) is None


def test_an_entry_under_another_name_is_none(folder):
    (file,) = folder.iterdir()
    file.rename(folder / file.name.replace(KEY, "1" * 64))
    assert Store(folder).read("1" * 64) is None


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such bits")
def test_a_folder_that_others_may_write_to_is_not_trusted(folder):
    folder.chmod(0o777)
    assert Store(folder).read(KEY) is None
    Store(folder).write("1" * 64, 1)
    assert len(list(folder.iterdir())) == 1


def test_where_nothing_can_be_kept_all_goes_on(tmp_path, deck, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    for place in (str(tmp_path / "file"), str(tmp_path / "file" / "below"), ""):
        monkeypatch.setenv("LADDERDECK_CACHE", place)
        run = build(deck)
        assert (run.code, run.err) == (0, "")
    assert (tmp_path / "file").read_bytes() == b""


def test_the_store_stays_within_its_size_and_the_newest_stay(tmp_path):
    store = Store(tmp_path, largest=10_000)
    for number in range(40):
        store.write(f"{number:064}", "x" * 1000)
        for file in tmp_path.glob(f"{number:064}*"):
            os.utime(file, (number, number))
    store.tidy()
    kept = sorted(int(file.name.partition(".")[0]) for file in tmp_path.iterdir())
    assert kept == [36, 37, 38, 39]
