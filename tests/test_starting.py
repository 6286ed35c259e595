"""What one starts from: a new pack that builds as it is, and one's own copy of the templates."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from command import CHECKOUT, here, ladderdeck, tree
from deck_builder import Deck, pack_text

from ladderdeck.authoring.starting import LONGEST_NAME, missing_templates, new_pack, write_files, wrong_name
from ladderdeck.building.inputs import read_inputs
from ladderdeck.packaging.templates import default_folder, load_templates
from ladderdeck.reading.front_matter import blob_fits
from ladderdeck.values.model import Kind, Language

# Names

GOOD = [
    "caching",
    "my-pack",
    "缓存",
    "c++",
    "a",
    "node.js",
    "no",
    "1.0",
    "2026",
    "null",
    "true",
    "x_y",
    "long" * 20,
    "cache\u0301",
]
BAD = {
    "": "my-pack",
    "a b": "`a-b`",
    "系统 设计": "`系统-设计`",
    "..": "my-pack",
    ".": "my-pack",
    ".hidden": "`hidden`",
    "a/b": "`a-b`",
    "..\\..\\x": "`x`",
    "/etc/passwd": "`etc-passwd`",
    "-x": "`x`",
    "trailing.": "`trailing`",
    "what?": "`what`",
    "a:b": "`a-b`",
    "tab\there": "`tab-here`",
    "nul\0": "my-pack",
    "🚀": "my-pack",
    "CON": "`my-CON`",
    "nul.txt": "`my-nul.txt`",
    "Com1": "`my-Com1`",
    "x" * (LONGEST_NAME + 1): f"at most {LONGEST_NAME}",
}


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("language", Language)
def test_a_new_pack_of_any_good_name_builds_without_a_word(tmp_path: Path, name: str, language: Language) -> None:
    assert wrong_name(name) is None
    deck = Deck(tmp_path)
    files, problems = new_pack(name, language, deck.cards)
    assert problems == ()
    write_files(files)
    outcome = deck.build()
    assert outcome.problems == ()
    (pack,) = read_inputs([deck.cards], None).library.packs
    assert pack.language is language
    assert next(iter(files)).parent.name == pack.name
    kinds = {note.note.origin.kind.value for note in outcome.notes}
    assert kinds == {kind.value for kind in Kind}
    assert any("1,000" in note.note.fields["Key Points"] for note in outcome.notes)
    shown = "".join("".join(note.note.fields.values()) for note in outcome.notes)
    assert "NAME-OF-THE-PACK" not in b"".join(files.values()).decode("utf-8")
    assert not any(word in shown for word in ("No card", "卡片", "docs/", "a card that asks", "python build.py"))


@pytest.mark.parametrize("name", BAD)
def test_a_bad_name_is_wrong_usage_with_a_better_one(name: str) -> None:
    assert BAD[name] in (wrong_name(name) or "")


def test_a_bad_name_on_the_command_line(tmp_path: Path) -> None:
    for name in ("../x", "a b", "aux"):
        run = ladderdeck("new", name, cwd=tmp_path)
        assert run.code == 2
        assert "Invalid value for NAME" in run.err
    assert tree(tmp_path) == {}


# The place


@pytest.mark.parametrize(
    ("there", "name", "language", "code"),
    [
        ("web/SKILL.md", "web", "en", "duplicate-pack"),
        ("elsewhere/deep.md", "web", "en", "duplicate-pack"),
        ("elsewhere/deep.md", "WEB", "en", "duplicate-pack"),
        ("web/SKILL.md", "web", "zh", "taken"),
        ("other/notes.txt", "other", "en", "taken"),
        ("other", "other", "en", "taken"),
    ],
)
def test_nothing_is_overwritten(tmp_path: Path, there: str, name: str, language: str, code: str) -> None:
    file = tmp_path / "cards" / there
    file.parent.mkdir(parents=True)
    text = pack_text("web", {"Joins": ["What is a join?", "And then?"]}) if there.endswith(".md") else "my own words"
    file.write_text(text, encoding="utf-8")
    before = tree(tmp_path)
    run = here("new", name, "--language", language, cwd=tmp_path)
    assert (run.code, tree(tmp_path)) == (1, before)
    assert f"[{code}]" in run.err


def test_a_link_that_leads_nowhere_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "mine").symlink_to(tmp_path / "elsewhere")
    assert here("new", "mine", cwd=tmp_path).code == 1
    assert not (tmp_path / "elsewhere").exists()


def test_new_as_a_person_uses_it(tmp_path: Path) -> None:
    run = ladderdeck(
        "new", "缓存", "--language", "zh", cwd=tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONIOENCODING="utf-8"
    )
    assert run.code == 0, run.err
    assert run.out.splitlines()[:3] == [
        "cards/缓存/SKILL.md",
        "cards/缓存/answers/caching.md",
        "cards/缓存/drills.yaml",
    ]
    # Where all packs are in one language, so is the next.
    assert ladderdeck("new", "second", cwd=tmp_path).code == 0
    assert "常考主题清单" in (tmp_path / "cards" / "second" / "SKILL.md").read_text(encoding="utf-8")
    assert ladderdeck("new", "third", "--in", "elsewhere", cwd=tmp_path).code == 0
    assert "Frequently tested" in (tmp_path / "elsewhere" / "third" / "SKILL.md").read_text(encoding="utf-8")
    run = ladderdeck("check", cwd=tmp_path)
    assert run.out.strip() == "2 packs: no problems"


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "mkdir", refuse)  # and not by the folder's mode, which is nothing to root
    run = here("new", "mine", cwd=tmp_path)
    assert run.code == 1
    assert "cannot-write" in run.err
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_folders_place(tmp_path: Path) -> None:
    (tmp_path / "cards").write_bytes(b"")
    assert here("new", "mine", cwd=tmp_path).code == 2
    run = here("new", "mine", "--in", "cards/deeper", cwd=tmp_path)
    assert run.code == 1
    assert "cannot be written" in run.err


# Templates


def test_exported_templates_are_the_packaged_ones(tmp_path: Path) -> None:
    run = here("templates", "--export", "my look", cwd=tmp_path)
    assert run.code == 0
    assert tree(tmp_path / "my look") == tree(CHECKOUT / "templates")
    assert load_templates(tmp_path / "my look") == load_templates(default_folder())
    assert here("templates", "--check", "my look", cwd=tmp_path).out == "my look: no problems\n"


def test_an_export_adds_what_is_missing_and_leaves_the_rest(tmp_path: Path) -> None:
    shutil.copytree(CHECKOUT / "templates", tmp_path / "look")
    (tmp_path / "look" / "style.css").write_text("mine", encoding="utf-8")
    (tmp_path / "look" / "sign" / "back.html").unlink()
    run = here("templates", "--export", "look", cwd=tmp_path)
    assert run.out.splitlines()[:2] == ["look/sign/back.html", "look: 1 file written, none overwritten"]
    assert (tmp_path / "look" / "style.css").read_text(encoding="utf-8") == "mine"
    assert missing_templates(default_folder(), tmp_path / "look") == {}


def test_a_build_and_a_preview_with_a_look_of_ones_own(tmp_path: Path) -> None:
    deck = Deck(tmp_path)
    deck.write("web", {"Joins": ["What is a join?", "And then?"]})
    here("templates", "--export", "look", cwd=tmp_path)
    with (tmp_path / "look" / "style.css").open("a", encoding="utf-8") as style:
        style.write(".of-my-own { color: red }\n")
    assert here("-q", cwd=tmp_path).code == 0
    types = deck.ledger().types
    assert here("--templates", "look", "-q", cwd=tmp_path).code == 0
    assert deck.ledger().types != types
    assert here("preview", "--templates", "look", cwd=tmp_path).code == 0
    assert ".of-my-own" in (tmp_path / "dist" / "preview.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [["build"], ["check"], ["preview"], ["templates"]])
def test_what_is_wrong_with_a_look_is_said_and_nothing_is_written(tmp_path: Path, command: list[str]) -> None:
    Deck(tmp_path).write("web", {"Joins": ["What is a join?", "And then?"]})
    shutil.copytree(CHECKOUT / "templates", tmp_path / "look")
    (tmp_path / "look" / "rung" / "front.html").write_text("{{Question}} {{Anwser}}", encoding="utf-8")
    (tmp_path / "look" / "sign" / "back.html").unlink()
    before = tree(tmp_path)
    option = "--check" if command == ["templates"] else "--templates"
    for folder, codes in [("look", ["template-field", "template-missing"]), ("nowhere", ["template-folder"])]:
        run = here(*command, option, folder, cwd=tmp_path)
        assert run.code == 1
        assert [code for code in codes if f"[{code}]" not in run.out + run.err] == []
    assert tree(tmp_path) == before


@pytest.mark.parametrize("arguments", [[], ["--export", "a", "--check", "b"]])
def test_templates_needs_to_be_told_which(tmp_path: Path, arguments: list[str]) -> None:
    run = here("templates", *arguments, cwd=tmp_path)
    assert run.code == 2
    assert tree(tmp_path) == {}


# Blobs


def test_the_blob_of_the_received_pack_fits_however_its_lines_end() -> None:
    data = (CHECKOUT / "cards" / "llm-inference-serving" / "SKILL.md").read_bytes()
    for same in (data, data + b"\n\n", data.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + data):
        assert blob_fits(same) is True
    for other in (
        data.replace("投机".encode(), "投资".encode(), 1),
        data + b"\nmore",
        data.replace(b"4e99f", b"4e98f"),
    ):
        assert blob_fits(other) is False
    for none in (b"", data[data.index(b"---") :], b"x git:1\n\n---\nname: x\n---\n"):
        assert blob_fits(none) is None
