"""The preview: the same cards as in Anki, in one page that asks nobody for anything."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from browser import open_browser
from card_samples import CHINESE, sample_notes, seed_notes
from card_shells import rendered
from click.testing import CliRunner
from command import ladderdeck
from deck_builder import pack_text
from drill_samples import SMALL, drill_notes
from package_samples import FULL, make, templates
from playwright.sync_api import expect

import ladderdeck.previewing.preview as module
from ladderdeck.cli import cli
from ladderdeck.packaging.templates import CardTemplate, Templates
from ladderdeck.previewing.preview import pictures_shown, preview_data, preview_page, problems_by_note
from ladderdeck.previewing.preview_math import with_mathml
from ladderdeck.values.model import Kind, Position, Problem, Severity

ANKI_JS = (Path(module.__file__).parent / "preview_page" / "anki.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture
def page(browser):
    """A page without a network; that it asked for nothing but its own file is checked after each test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, has_touch=True)
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert errors == []
    assert [url for url in asked if not url.startswith(("file:", "about:", "data:"))] == []


def open_preview(page, tmp_path: Path, notes, problems=(), pictures=None) -> None:
    file = tmp_path / "preview.html"
    file.write_text(preview_page(notes, problems, templates(), pictures or {}), encoding="utf-8")
    page.goto(file.as_uri())


def plain_notes(identified):
    return [one.note for one in identified]


def values_of(note, look: Templates) -> dict[str, str]:
    """What the page fills into a template, without the conversion of formulas."""
    data = preview_data([note], [], look, {})
    texts = list(dict.fromkeys(text for text in note.fields.values() if text))
    kind = data["types"][note.origin.kind.value]
    special = {"Tags": " ".join(note.tags), "Deck": note.deck, "Subdeck": note.deck.split("::")[-1]}
    fields = {name: texts[number] for name, number in data["cards"][0]["fields"].items()}
    return {**special, "Type": kind["type"], "Card": kind["card"], **fields}


def by_page(page, notes, look: Templates) -> list[list[str]]:
    """Front and back of each note as the preview's own renderer makes them."""
    types = preview_data([], [], look, {})["types"]
    cards = [[types[one.note.origin.kind.value], values_of(one.note, look)] for one in notes]
    program = f"cards => {{ {ANKI_JS}; return cards.map(([type, values]) => Object.values(anki.card(type, values))) }}"
    return page.evaluate(program, cards)


# The renderer


def test_it_renders_what_anki_renders(page, tmp_path: Path) -> None:
    notes = [*sample_notes(), *seed_notes()]
    cards = rendered(notes, tmp_path)
    for note, (front, back) in zip(notes, by_page(page, notes, templates()), strict=True):
        assert front == cards[note.guid].front
        assert back == cards[note.guid].back


@pytest.mark.parametrize(
    "template",
    [
        "{{ Question }}{{Extra}}",
        "{{#Extra}}yes {{Extra}}{{/Extra}}{{^Extra}}no{{/Extra}}",
        "{{#Topic}}{{^Extra}}{{#Pack}}deep{{/Pack}}{{/Extra}}{{/Topic}}",
        "{{#Tags}}{{Tags}}{{/Tags}} {{Type}} {{Card}} {{Deck}} {{Subdeck}}",
        "<!-- {{Question}} {{#Extra}} -->{{Topic}}",
        "{{#Data}}brackets }} { and {not} fields{{/Data}}",
    ],
)
@pytest.mark.parametrize(
    "extra", ["", " ", "\n\t", "<br>", "<div></div>", "<div><br /></div>", "0", "&nbsp;", "\u3000", "<!-- -->"]
)
def test_conditions_hold_as_in_anki(page, tmp_path: Path, template: str, extra: str) -> None:
    look = templates()
    card = CardTemplate("{{Question}}" + template, "{{FrontSide}}|" + template)
    look = replace(look, cards={**look.cards, Kind.RUNG: card})
    note = make(fields=FULL | {"Extra": extra}, tags=("a::b", "c"), deck="Ladders::Serving")
    cards = rendered([note], tmp_path, look)
    assert by_page(page, [note], look) == [[cards[note.guid].front, cards[note.guid].back]]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("no formula, <b>5 &lt; 6</b>", "no formula, <b>5 &lt; 6</b>"),
        (r"<span>\</span>(x<span>\</span>)", r"<span>\</span>(x<span>\</span>)"),
        (r"is \( a &lt; b \).", "<mo>&#x0003C;</mo>"),
        (r"\[ \frac{1}{2} \]", 'display="block"'),
        (r"\( x \) and \( y \)", 'display="inline"'),
        (r"\( x^2^3 \) here", '<code class="tex">x^2^3</code> here'),
    ],
)
def test_formulas_become_mathml(source: str, shown: str) -> None:
    made = with_mathml(source)
    assert shown in made
    assert made.count("<math") == source.count(r"\( ") + source.count(r"\[ ") - made.count('class="tex"')


# Where problems belong


def problem(line: int, column: int = 1, severity: Severity = Severity.WARNING, file: str = "a.md") -> Problem:
    return Problem("some-code", severity, Position(file, line, column), f"message {line}", "hint")


def test_problems_stand_beside_their_cards() -> None:
    places = [Position("a.md", 7, 5), Position("a.md", 7, 20), Position("a.md", 8, 3), None]
    notes = [replace(make().note, position=place) for place in places]
    problems = [problem(7, 6), problem(7, 20), problem(7, 1), problem(9), problem(8, 50), problem(7, 6, file="b.md")]
    assert problems_by_note(notes, problems) == ([[0, 2], [1], [4], []], [3, 5])


def test_only_pictures_that_are_shown_are_in_the_page(page, tmp_path: Path) -> None:
    dot = bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6364f8cf500f00038601"
        "805a347d6b0000000049454e44ae426082"
    )
    pictures = {"0a1b.png": dot, "unused.png": b"unused"}
    note = make(fields=FULL | {"Answer": '<p><img alt="" src="0a1b.png"></p>'}).note
    shown = pictures_shown([note], pictures)
    assert set(shown) == {"0a1b.png"}
    open_preview(page, tmp_path, [note], pictures=shown)
    frame = page.frame_locator("iframe").nth(1)
    frame.locator("summary", has_text="详解").click()
    assert frame.locator(".answer img").evaluate("picture => picture.complete && picture.naturalWidth") == 1


# The page


def test_it_shows_front_and_back_in_frames_of_their_own(page, tmp_path: Path) -> None:
    open_preview(page, tmp_path, plain_notes(sample_notes()))
    assert page.locator("iframe").count() == 2
    front, back = (page.frame_locator("iframe").nth(side) for side in (0, 1))
    assert "加速比由什么决定" in front.locator(".question").inner_text()
    assert back.locator(".tick").count() == 4
    back.locator(".tick").first.tap()
    assert "1 / 4" in back.locator(".verdict").inner_text()
    assert back.locator("math").count() > 1
    assert page.locator("iframe").first.get_attribute("sandbox") == "allow-scripts"


def test_colours_width_and_size_can_be_chosen(page, tmp_path: Path) -> None:
    open_preview(page, tmp_path, plain_notes(sample_notes()))
    page.locator("#dark").check()
    assert page.locator("iframe").count() == 4
    page.locator("#light").uncheck()
    page.locator("#back").uncheck()
    frame = page.frame_locator("iframe")
    assert frame.locator("body").evaluate("body => getComputedStyle(body).backgroundColor") == "rgb(19, 22, 26)"
    page.locator("#width").select_option("412")
    page.locator("#zoom").select_option("1.3")
    assert frame.locator("html").evaluate("root => root.clientWidth") == 412
    assert frame.locator("body").evaluate("body => getComputedStyle(body).fontSize") == "23.4px"


def test_it_is_used_from_a_keyboard(page, tmp_path: Path) -> None:
    open_preview(page, tmp_path, plain_notes(seed_notes()))
    assert page.locator("#number").inner_text() == "1 of 102"
    for key, number in [("j", 2), ("ArrowDown", 3), ("k", 2), ("ArrowUp", 1), ("k", 1)]:
        page.keyboard.press(key)
        assert page.locator("#number").inner_text() == f"{number} of 102"
    page.keyboard.press("Space")
    assert [page.locator(side).is_checked() for side in ("#front", "#back")] == [True, False]
    page.keyboard.press("Space")
    assert [page.locator(side).is_checked() for side in ("#front", "#back")] == [False, True]
    page.frame_locator("iframe").locator(".question").click()
    page.keyboard.press("j")
    expect(page.locator("#number")).to_have_text("2 of 102")
    page.locator("#list").focus()
    page.keyboard.press("/")
    page.keyboard.type("拒绝采样")
    assert page.locator("#text").input_value() == "拒绝采样"
    assert page.locator(".row").count() > 0
    assert page.locator("#counts").inner_text() != "102 of 102 cards"


def test_it_filters_by_topic_kind_and_text(page, tmp_path: Path) -> None:
    open_preview(page, tmp_path, plain_notes(seed_notes()))
    assert (
        page.locator("#counts").inner_text()
        == "102 of 102 cards: 36 rungs, 29 signs, 9 ladders, 22 red flags, 6 probes"
    )
    page.locator("#kind").select_option("sign")
    assert page.locator("#number").inner_text() == "1 of 29"
    page.locator("#topic").select_option(label="投机解码")
    assert page.locator("#number").inner_text() == "1 of 3"
    page.locator("#text").fill("拒绝 分布")
    assert re.fullmatch(r"[12] of 102 cards: [12] signs", page.locator("#counts").inner_text())
    page.locator("#text").fill("no such words")
    assert page.locator("#stage").inner_text() == "No card passes the filter."
    page.locator("#text").fill("")
    assert page.locator("#number").inner_text().endswith("of 3")


def test_problems_are_shown_and_found(page, tmp_path: Path) -> None:
    notes = [replace(make(number=n).note, position=Position("a.md", n)) for n in (1, 2, 3)]
    problems = [problem(3, 4, Severity.ERROR), problem(50)]
    open_preview(page, tmp_path, notes, problems)
    assert "1 more problem" in page.locator("#loose summary").inner_text()
    page.locator("#loose summary").click()
    assert "a.md:50:1" in page.locator("#loose").inner_text()
    assert page.locator("#problems").inner_text() == ""
    page.locator("#troubled").check()
    assert page.locator("#number").inner_text() == "1 of 1"
    assert page.locator("#place").inner_text() == "a.md:3:1"
    assert page.locator("#problems").inner_text() == "error: message 3 a.md:3:4\nhint"


@pytest.fixture
def noon(browser):
    """A page in a time zone where it is about noon, so that no day begins during the test; and the day's number.

    Playwright's own clock is no help here: it would overwrite the one that the preview gives a frame.
    """
    now = datetime.now(timezone.utc)
    ahead = 12 - now.hour
    context = browser.new_context(timezone_id=f"Etc/GMT{-ahead:+d}", viewport={"width": 1440, "height": 900})
    yield context.new_page(), (now + timedelta(hours=ahead)).date()
    context.close()


def test_a_drill_has_a_slider_for_the_day(noon, tmp_path: Path) -> None:
    """Front and back take the numbers of the day that is chosen; other cards have no slider."""
    page, today = noon
    number = today.toordinal() - date(1970, 1, 1).toordinal()
    (drill,) = drill_notes(SMALL)
    data = json.loads(drill.fields["Data"])
    open_preview(page, tmp_path, [make().note, drill])
    assert not page.locator("#day").is_visible()
    page.keyboard.press("j")
    assert page.locator("#day").is_visible()
    assert page.locator("#date").inner_text() == "today"
    front, back = (page.frame_locator("iframe").nth(side) for side in (0, 1))
    seen = set()
    for days in (0, 1, 2, 30, 60, 0):
        page.locator("#day").fill(str(days))
        size, speed, time = data["texts"][((number + days) * data["step"] + data["offset"]) % len(data["texts"])][:3]
        question = f"How long do {size} take at {speed}?"
        expect(front.locator(".question")).to_have_text(question)
        expect(back.locator(".question")).to_have_text(question)
        expect(back.locator(".result")).to_have_text(f"time = {time}")
        seen.add(question)
    assert len(seen) == 5
    page.locator("#day").focus()
    page.keyboard.press("ArrowRight")
    tomorrow = today + timedelta(days=1)
    assert page.locator("#date").inner_text() == f"{tomorrow:%a, %b} {tomorrow.day} (+1)"
    assert page.locator("#number").inner_text() == "2 of 2"
    page.locator("#day").blur()
    page.keyboard.press("k")
    assert not page.locator("#day").is_visible()
    assert page.locator("#counts").inner_text() == "2 of 2 cards: 1 rung, 1 drill"


def test_a_phone_can_show_it_too(page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 360, "height": 700})
    open_preview(page, tmp_path, plain_notes(seed_notes()))
    assert page.evaluate("document.scrollingElement.scrollWidth") == 360
    page.locator("#cards").tap()
    page.locator(".row").nth(2).tap()
    assert page.locator("#number").inner_text() == "3 of 102"
    assert not page.locator("#side").is_visible()
    page.locator("#next").tap()
    assert page.locator("#number").inner_text() == "4 of 102"


def test_a_large_deck_draws_only_what_is_in_sight(page, tmp_path: Path) -> None:
    notes = []
    for number in range(5000):
        fields = CHINESE | {"Question": f'<div class="text" dir="auto">question {number}</div>'}
        notes.append(make(number=number, fields=fields).note)
    html = preview_page(notes, [], templates(), {})
    assert len(html) < 3_000_000, "texts that notes share must be there once"
    open_preview(page, tmp_path, notes)
    assert page.locator("#number").inner_text() == "1 of 5000"
    assert page.locator("iframe").count() == 2
    assert page.locator(".row").count() < 30
    page.locator("#list").evaluate("list => { list.scrollTop = list.scrollHeight }")
    page.locator("#row-4999").click()
    assert page.locator("#number").inner_text() == "5000 of 5000"
    assert page.locator(".row").count() < 30
    page.locator("#text").fill("question 4321")
    assert page.locator("#number").inner_text() == "1 of 1"


def test_text_cannot_leave_the_data(page, tmp_path: Path) -> None:
    nasty = '<div class="text">&lt;/script&gt; <!-- </script><script>top.bad = 1</script> \u2028 <!-- page.js --></div>'
    open_preview(page, tmp_path, [make(fields=FULL | {"Question": nasty}).note])
    assert page.locator("#number").inner_text() == "1 of 1"
    assert page.evaluate("window.bad") is None


# The command


@pytest.fixture
def deck(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one small pack, in which commands run."""
    folder = tmp_path / "cards" / "p"
    folder.mkdir(parents=True)
    text = "---\nname: p\nlayer: base\n---\n\n## 常考主题清单\n\n### 题目\n- 阶梯：甲 → 乙\n- 答实的标志：会丙\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return folder / "SKILL.md"


def test_the_command_writes_the_page_and_says_where(deck: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["preview"])
    assert result.exit_code == 0, result.output
    assert result.output.startswith("dist/preview.html: 4 cards, ")
    written = (tmp_path / "dist" / "preview.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'application/json">(.*?)</script>', written, re.DOTALL)[1])
    assert [card["kind"] for card in data["cards"]] == ["rung", "rung", "sign", "ladder"]
    assert data["cards"][0]["place"] == "cards/p/SKILL.md:9:6"
    assert sorted(path.name for path in (tmp_path / "dist").iterdir()) == ["preview.html"]


def test_the_command_opens_the_page_on_request(deck: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("click.launch", opened.append)
    assert CliRunner().invoke(cli, ["preview", "--open", "-o", "x y.html"]).exit_code == 0
    assert opened == [(tmp_path / "x y.html").resolve().as_uri()]


def test_a_pack_with_a_mistake_is_shown_all_the_same(deck: Path) -> None:
    with deck.open("a", encoding="utf-8") as file:
        file.write("\n### 没有阶梯的题目\n- 答实的标志：会丁\n")
    result = CliRunner().invoke(cli, ["preview"])
    assert result.exit_code == 0, result.output
    assert "1 error" in result.output


@pytest.mark.parametrize("arguments", [["nowhere"], ["-o", "cards/p/SKILL.md"], ["-o", "cards"]])
def test_where_nothing_can_be_written_it_says_so(deck: Path, arguments: list[str]) -> None:
    before = deck.read_bytes()
    result = CliRunner().invoke(cli, ["preview", *arguments])
    assert result.exit_code in (1, 2)
    assert "rror" in result.output
    assert deck.read_bytes() == before


@pytest.mark.parametrize(
    ("there", "code"),
    [(b"a diary", 1), (b"<!doctype html><title>Somebody's page</title>", 1), (b"", 0), (None, 0)],
)
def test_it_replaces_only_a_page_of_its_own(tmp_path: Path, there: bytes | None, code: int) -> None:
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "web.md").write_text(pack_text("web", {"Joins": ["What is a hash join?"]}), encoding="utf-8")
    page = tmp_path / "page.html"
    if there is not None:
        page.write_bytes(there)
    run = ladderdeck("preview", "-o", "page.html", cwd=tmp_path)
    assert run.code == code
    if code:
        assert "[not-ours]" in run.err
        assert page.read_bytes() == there
    else:
        assert ladderdeck("preview", "-o", "page.html", cwd=tmp_path).code == 0
