"""Which files are packs, and what is said of those that cannot be had."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ladderdeck.reading import discover as module
from ladderdeck.reading.discover import discover
from ladderdeck.reading.library import read_library
from ladderdeck.values.model import Language

PACK = "---\nname: {name}\nlayer: base\n---\n\n## 常考主题清单\n\n### 题\n- 阶梯：甲 → 乙\n- 答实的标志：知道\n"
ENGLISH = (
    "---\nname: {name}\nlayer: base\n---\n\n## Frequently tested topics\n\n### T\n- Ladder: a → b\n"
    "- Signs of a solid answer: c\n"
)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, text: str) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def found(*paths: str) -> tuple[list[str], list[str], list[str]]:
    result = discover([Path(path) for path in paths])
    return (
        [document.path for document in result.documents],
        list(result.passed_over),
        [f"{p.code} {p.position.file}" for p in result.problems],
    )


def test_a_folder_is_searched_at_any_depth_and_other_markdown_is_passed_over(folder):
    write("cards/甲 乙/SKILL.md", PACK.format(name="a"))
    write("cards/甲 乙/SKILL.en.md", ENGLISH.format(name="a"))
    write("cards/b/c/pack.markdown", PACK.format(name="b"))
    write("cards/README.md", "# Read me\n")
    write("cards/skill/SKILL.md", "---\nname: x\ndescription: a skill of another kind\n---\n\nText.\n")
    write("cards/b/answers/one.md", "---\npack: b\ntopic: 题\n---\n\n## 甲\n")
    write("cards/format.md", "# How\n\n```\n## 常考主题清单\n```\n")
    write("cards/.hidden/SKILL.md", PACK.format(name="h"))
    write("cards/notes.txt", PACK.format(name="t"))
    documents, passed_over, problems = found("cards")
    assert documents == ["cards/b/c/pack.markdown", "cards/甲 乙/SKILL.en.md", "cards/甲 乙/SKILL.md"]
    assert passed_over == ["cards/README.md", "cards/format.md", "cards/b/answers/one.md", "cards/skill/SKILL.md"]
    assert problems == []


@pytest.mark.parametrize(
    "text",
    [
        "## 常考主题清单\n\n### 题\n",
        "---\nname: [\nlayer: base\n---\n",
        "---\nlayer: base\n",
        "\ufeff---\r\nlayer: base\r\n---\r\n",
    ],
)
def test_a_broken_pack_in_a_folder_is_an_error_and_not_passed_over(folder, text):
    write("cards/a.md", text)
    library = read_library(discover([Path("cards")]))
    assert library.has_errors


def test_a_pack_in_another_encoding_is_an_error_in_a_folder_too(folder):
    for encoding in ("gbk", "utf-16"):
        Path("cards").mkdir(exist_ok=True)
        Path("cards/a.md").write_bytes(PACK.format(name="a").encode(encoding))
        assert [p.code for p in read_library(discover([Path("cards")])).problems] == ["not-utf8"]


def test_a_file_is_taken_as_it_is_and_once(folder):
    write("a.txt", PACK.format(name="a"))
    assert found("a.txt", "./a.txt", "a.txt")[0] == ["a.txt"]
    write("cards/a.md", PACK.format(name="a"))
    assert found("cards", "cards/a.md") == (["cards/a.md"], [], [])
    assert found("cards/a.md", "cards") == (["cards/a.md"], [], [])


def test_links_to_folders_are_not_followed(folder):
    write("cards/a.md", PACK.format(name="a"))
    Path("cards/loop").symlink_to(Path("cards").resolve(), target_is_directory=True)
    assert found("cards") == (["cards/a.md"], [], [])


def test_what_is_not_there_or_no_file(folder):
    Path("empty").mkdir()
    os.mkfifo("pipe")
    assert found("nowhere", "empty", "pipe")[2] == ["no-such-path nowhere", "no-packs empty", "not-a-file pipe"]


def test_pipes_devices_and_links_to_nowhere_do_not_hang(folder):
    write("cards/a.md", PACK.format(name="a"))
    os.mkfifo("cards/pipe.md")
    Path("cards/lost.md").symlink_to("nowhere.md")
    Path("loop.md").symlink_to("loop.md")
    assert found("cards") == (["cards/a.md"], [], ["not-a-file cards/lost.md"])
    assert found("cards/pipe.md", "/dev/null", "/dev/zero", "cards/lost.md")[2] == [
        "not-a-file cards/pipe.md", "not-a-file /dev/null", "not-a-file /dev/zero", "not-a-file cards/lost.md",
    ]  # fmt: skip
    assert found("loop.md")[2] == ["cannot-read loop.md"]


@pytest.mark.parametrize("path", ["x" * 5000, "a/" * 3000, "a\0b"], ids=["long name", "long path", "NUL"])
def test_a_path_that_cannot_be_is_a_problem(folder, path):
    documents, _, (problem,) = found(path)
    assert documents == []
    assert problem.split(" ")[0] in ("no-such-path", "cannot-read")


def test_a_path_below_a_file_is_a_problem(folder):
    write("a.md", PACK.format(name="a"))
    assert found("a.md/b.md")[2] == ["no-such-path a.md/b.md"]


def test_a_link_to_a_pack_and_the_pack_are_one(folder):
    write("cards/a.md", PACK.format(name="a"))
    Path("cards/b.md").symlink_to("a.md")
    Path("linked").symlink_to("cards", target_is_directory=True)
    assert found("cards") == (["cards/a.md"], [], [])
    assert found("linked")[0] == ["linked/a.md"]
    assert found("cards", "linked") == (["cards/a.md"], [], [])


def test_a_file_that_a_folders_search_passed_over_is_a_pack_where_it_is_named(folder):
    write("cards/a.md", PACK.format(name="a"))
    write("cards/README.md", "# Read me\n")
    assert found("cards", "cards/README.md") == (["cards/a.md", "cards/README.md"], [], [])
    assert found("cards/README.md", "cards") == (["cards/README.md", "cards/a.md"], [], [])


def test_a_folder_whose_pack_cannot_be_read_is_not_called_empty(folder, monkeypatch):
    write("cards/a.md", PACK.format(name="a"))
    monkeypatch.setattr(module, "LARGEST_FILE", 10)
    assert found("cards")[2] == ["file-too-large cards/a.md"]


def test_a_folder_that_cannot_be_searched_is_a_problem(folder, monkeypatch):
    write("cards/a.md", PACK.format(name="a"))

    def refuse(top, onerror):
        onerror(PermissionError(13, "Permission denied", "cards/closed"))
        return iter([(str(top), [], ["a.md"])])

    monkeypatch.setattr(module.os, "walk", refuse)
    assert found("cards") == (["cards/a.md"], [], ["cannot-read cards/closed"])


def test_every_problem_says_what_to_do(folder):
    Path("empty").mkdir()
    for problem in discover([Path("nowhere"), Path("empty"), Path("/dev/null")]).problems:
        assert problem.message
        assert problem.hint
        assert (problem.position.line, problem.position.column) == (1, 1)


def test_an_unreadable_file_is_a_problem(folder, monkeypatch):
    write("cards/a.md", PACK.format(name="a"))
    write("cards/b.md", PACK.format(name="b"))
    real = Path.read_bytes

    def refuse(self: Path) -> bytes:
        if self.name == "a.md":
            raise PermissionError(13, "Permission denied", str(self))
        return real(self)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert found("cards") == (["cards/b.md"], [], ["cannot-read cards/a.md"])


def test_a_file_that_is_too_large_is_a_problem(folder, monkeypatch):
    write("cards/a.md", PACK.format(name="a"))
    monkeypatch.setattr(module, "LARGEST_FILE", 10)
    assert found("cards")[2][0] == "file-too-large cards/a.md"


def test_languages_are_kept_apart_and_twins_are_told(folder):
    write("cards/a/SKILL.md", PACK.format(name="a"))
    write("cards/a/SKILL.en.md", ENGLISH.format(name="a"))
    library = read_library(discover([Path("cards")]))
    assert sorted(pack.language.value for pack in library.packs) == ["en", "zh"]
    assert not library.problems
    assert [p.language for p in read_library(discover([Path("cards")]), Language.ENGLISH).packs] == [Language.ENGLISH]
    write("cards/b/SKILL.md", PACK.format(name="A"))
    (problem,) = read_library(discover([Path("cards")])).problems
    assert (problem.code, problem.position.file) == ("duplicate-pack", "cards/b/SKILL.md")
    assert "cards/a/SKILL.md" in problem.message


def test_a_language_that_no_pack_has_is_an_error(folder):
    write("cards/a.md", PACK.format(name="a"))
    library = read_library(discover([Path("cards")]), Language.ENGLISH)
    assert [p.code for p in library.problems] == ["no-packs"]
