"""Loading the card templates: what is checked, and that the project's own are in order."""

import re
import shutil
from pathlib import Path

import pytest
from package_samples import FULL, templates

import ladderdeck.packaging.templates as module
from ladderdeck.packaging.templates import default_folder, load_templates, type_fingerprints
from ladderdeck.values.model import Kind, Position, Severity


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the project's templates, to be spoilt."""
    return Path(shutil.copytree(default_folder(), tmp_path / "templates"))


def only_problem(folder: Path):
    (problem,) = load_templates(folder).problems
    assert problem.severity is Severity.ERROR
    assert problem.message.endswith(".") and problem.hint.endswith(".")
    return problem


def test_the_own_templates_have_no_problem() -> None:
    loaded = templates()
    assert loaded.problems == ()
    assert set(loaded.cards) == set(Kind)
    assert loaded.css.strip()
    assert all(card.front.strip() and card.back.strip() for card in loaded.cards.values())


def test_the_folder_of_a_wheel_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkout = Path(module.__file__).resolve().parents[3] / "templates"
    package = tmp_path / "site" / "ladderdeck"
    (package / "packaging").mkdir(parents=True)
    monkeypatch.setattr(module, "__file__", str(package / "packaging" / "templates.py"))
    assert default_folder() == tmp_path / "templates"
    (package / "_templates").mkdir()
    assert default_folder() == package / "_templates"
    monkeypatch.undo()
    assert default_folder() in (checkout, Path(module.__file__).resolve().parents[1] / "_templates")


@pytest.mark.parametrize("name", ["rung/front.html", "red-flag/back.html", "style.css"])
def test_a_missing_file(folder: Path, name: str) -> None:
    (folder / name).unlink()
    problem = only_problem(folder)
    assert problem.code == "template-missing"
    assert problem.position.file == str(folder / name)


def test_no_folder_at_all(tmp_path: Path) -> None:
    problem = only_problem(tmp_path / "nowhere")
    assert (problem.code, problem.position.file) == ("template-folder", str(tmp_path / "nowhere"))
    assert "templates --export" in problem.hint


def test_an_empty_folder_names_every_file(tmp_path: Path) -> None:
    problems = load_templates(tmp_path).problems
    assert len(problems) == 2 * len(Kind) + 1
    assert {problem.code for problem in problems} == {"template-missing"}
    assert list(problems) == sorted(problems, key=lambda problem: problem.position)


def test_a_file_that_is_not_utf_8(folder: Path) -> None:
    (folder / "probe" / "back.html").write_bytes("{{Question}}\n简历".encode("gbk"))
    problem = only_problem(folder)
    assert (problem.code, problem.position.line) == ("template-encoding", 2)


@pytest.mark.parametrize(
    ("text", "code", "line", "column"),
    [
        ("{{Question}}\n  {{Anwser}}", "template-field", 2, 3),
        ("{{Question}}{{hint:Anwser}}", "template-field", 1, 13),
        ("{{Question}}{{#Nothing}}x{{/Nothing}}", "template-field", 1, 13),
        ("{{Question}}{{FrontSide}}", "template-field", 1, 13),
        ("{{Question}}{{}}", "template-field", 1, 13),
        ("{{question}}{{Question}}", "template-field", 1, 1),
        ("{{Question}}\n{{#Topic}}x", "template-section", 2, 1),
        ("{{Question}}{{/Topic}}", "template-section", 1, 13),
        ("{{Question}}{{#Topic}}{{#Pack}}{{/Topic}}{{/Pack}}", "template-section", 1, 32),
        ("{{Question}} {{Topic}", "template-section", 1, 14),
        ("{{Topic}}", "template-question", 1, 1),
        ("{{hint:Question}}", "template-question", 1, 1),
        ("<!-- {{Question}} -->", "template-question", 1, 1),
        ("{{#Topic}}{{Question}}{{/Topic}}", "template-question", 1, 1),
        ("{{^Question}}{{Question}}{{/Question}}", "template-question", 1, 1),
    ],
)
def test_a_front_that_anki_would_stumble_over(folder: Path, text: str, code: str, line: int, column: int) -> None:
    file = folder / "rung" / "front.html"
    file.write_text(text, encoding="utf-8")
    problem = load_templates(folder).problems[0]
    assert (problem.code, problem.position.line, problem.position.column) == (code, line, column)
    assert problem.position.file == str(file)
    assert "rung/front.html" in problem.message


@pytest.mark.parametrize(
    "text",
    ["{{ Question }}{{Tags}}", "{{#Question}}{{Question}}{{/Question}}", "{{Question}}<!-- {{Anwser}} {{#Topic}} -->"],
)
def test_a_front_that_is_in_order(folder: Path, text: str) -> None:
    (folder / "rung" / "front.html").write_text(text, encoding="utf-8")
    assert load_templates(folder).problems == ()


def test_line_ends_and_byte_order_mark_do_not_matter(folder: Path) -> None:
    before = load_templates(folder)
    for file in folder.rglob("*.*"):
        text = file.read_text(encoding="utf-8")
        file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert load_templates(folder) == before


def test_nothing_is_loaded_from_elsewhere() -> None:
    """A phone may be without a network, and a card must not tell anybody that it is being read."""
    loaded = templates()
    for text in (loaded.css, *(side for card in loaded.cards.values() for side in (card.front, card.back))):
        assert not re.search(r"https?:|//\w|@import|url\(|<script [^>]|<link|<iframe|\bfetch\b|XMLHttp|import\(", text)


@pytest.mark.parametrize("kind", Kind)
def test_every_label_is_there_in_both_languages(kind: Kind) -> None:
    card = templates().cards[kind]
    for text in (card.front, card.back):
        chinese, english = text.count('<span class="zh">'), text.count('<span class="en">')
        assert chinese == english
        labels = r'<span class="(zh|en)">.*?</span>'
        rest = re.sub(labels + r"|<script>.*?</script>|<!--.*?-->|\{\{.*?\}\}|<[^>]*>", "", text, flags=re.DOTALL)
        assert not re.search(r"\w", rest), "a label that is there in one language only"


def test_every_field_that_people_read_is_shown_somewhere() -> None:
    shown = "".join(card.front + card.back for card in templates().cards.values())
    assert {name for name in FULL if "{{" + name + "}}" not in shown} == set()


# What templates share


def test_a_part_stands_in_every_template_that_names_it(folder: Path) -> None:
    (folder / "mine.html").write_text("<i>{{Extra}}</i>\n", encoding="utf-8")
    (folder / "rung" / "front.html").write_text("{{Question}}\n  <!-- include mine.html -->\nend", encoding="utf-8")
    (folder / "sign" / "back.html").write_text("<!-- include mine.html -->", encoding="utf-8")
    loaded = load_templates(folder)
    assert loaded.problems == ()
    assert loaded.cards[Kind.RUNG].front == "{{Question}}\n<i>{{Extra}}</i>\nend"
    assert loaded.cards[Kind.SIGN].back == "<i>{{Extra}}</i>"
    assert "<!-- include" not in "".join(card.front + card.back for card in templates().cards.values())


def test_a_script_comes_with_its_element(folder: Path) -> None:
    (folder / "mine.js").write_text("go();\n", encoding="utf-8")
    (folder / "rung" / "back.html").write_text("x\n<!-- include mine.js -->\n", encoding="utf-8")
    assert load_templates(folder).cards[Kind.RUNG].back == "x\n<script>\ngo();\n</script>\n"


@pytest.mark.parametrize(
    ("name", "text", "code", "line", "column"),
    [
        ("foot.html", "x\n {{Anwser}}", "template-field", 2, 2),
        ("foot.html", "{{#Extra}}", "template-section", 1, 1),
        ("script.js", "var a = {\n b: {}};", "template-script", 2, 6),
        ("script.js", "var a = '</SCRIPT>';", "template-script", 1, 10),
    ],
)
def test_a_mistake_in_a_part_is_reported_once(
    folder: Path, name: str, text: str, code: str, line: int, column: int
) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    problem = only_problem(folder)
    assert (problem.code, problem.position) == (code, Position(str(folder / name), line, column))


def test_a_part_that_is_missing(folder: Path) -> None:
    (folder / "foot.html").unlink()
    problem = only_problem(folder)
    assert (problem.code, problem.position.file) == ("template-missing", str(folder / "foot.html"))


def test_a_change_in_a_part_changes_the_note_types_that_show_it(folder: Path) -> None:
    before = type_fingerprints(load_templates(folder))
    with (folder / "judge.html").open("a", encoding="utf-8") as file:
        file.write("<!-- more -->\n")
    after = type_fingerprints(load_templates(folder))
    assert {kind for kind in Kind if before[kind] != after[kind]} == set(Kind)
    (folder / "missing.html").write_text("", encoding="utf-8")
    assert type_fingerprints(load_templates(folder))[Kind.LADDER] == after[Kind.LADDER]
