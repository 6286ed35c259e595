"""How the cards look and behave in a browser: rendered by the real Anki, shown as each app shows them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from axe_playwright_python import sync_playwright as axe_package
from browser import open_browser
from card_samples import sample_notes, seed_notes
from card_shells import HOST, SHELLS, Card, Site, rendered, scaled, typeset
from package_samples import templates

from ladderdeck.values.model import Kind

AUDIT = (Path(__file__).parent / "card_audit.js").read_text(encoding="utf-8")
AXE = (Path(axe_package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
SIZES = dict.fromkeys((320, 360, 412, 768), (1.0, 1.3))
"""Widths of the screen in pixels, and for each by how much the reader has enlarged the text."""
CORNERS = {320: (1.3,), 412: (1.0,)}
SAMPLES = ("chinese", "english", "no-answer", "bare")
STARTS_NO_LINE = "，。、；：？！）」』】》”’…·,.;:?!)]}"

PUT = """html => {
  const box = document.getElementById('qa');
  for (const old of box.querySelectorAll('.ladderdeck, hr, script')) old.remove();
  box.insertAdjacentHTML('beforeend', html);
  for (const old of box.querySelectorAll('script')) {
    const fresh = document.createElement('script');
    fresh.textContent = old.textContent;
    old.replaceWith(fresh);
  }
}"""
"""Puts a card in the place of the one before it, and runs its scripts, as Anki does on a computer."""

LINE_STARTS = """() => {
  const starts = new Set();
  for (const box of document.querySelectorAll('.ladderdeck .text')) {
    const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT), range = document.createRange();
    let last = null;
    while (walk.nextNode()) for (let i = 0; i < walk.currentNode.length; i++) {
      range.setStart(walk.currentNode, i);
      range.setEnd(walk.currentNode, i + 1);
      const place = range.getBoundingClientRect();
      if (place.width && last !== null && place.top > last + 8) starts.add(walk.currentNode.data[i]);
      if (place.width) last = place.top;
    }
  }
  return [...starts];
}"""
"""The characters with which a line begins that is not the first of its text."""


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Card]:
    """All sample cards and those of the seed pack, by guid."""
    return rendered([*sample_notes(), *seed_notes()], tmp_path_factory.mktemp("cards"))


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture
def site():
    """What the page may ask for; that it asked for nothing else is checked after each test."""
    site = Site()
    yield site
    assert site.strangers == []


@pytest.fixture
def page(browser, site):
    context = browser.new_context(has_touch=True, viewport={"width": 360, "height": 640})
    context.route("**/*", site.answer)
    yield context.new_page()
    context.close()


def show(page, site: Site, side: str, css: str, shell: str = "ankidroid-new", night: bool = False) -> None:
    site.html = SHELLS[shell](side, css, night)
    page.goto(HOST + "/card")


def audit(page) -> list[str]:
    return page.evaluate(AUDIT)


def zoomed_audit(page, css: str) -> list[str]:
    """The audit with another stylesheet in the place of the card's own."""
    change = "for (const style of document.querySelectorAll('style'))"
    change += " if (style.textContent.includes('.ladderdeck')) style.textContent = css;"
    return page.evaluate(f"css => {{ {change} return {AUDIT.strip()}; }}", css)


def unfold(page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true })")


def ticks(page):
    return page.locator(".tick")


def verdict(page) -> str:
    """What is said of the ticks, on one line."""
    return page.locator(".verdict .status").first.inner_text().replace("\n", " | ")


# Looks


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("kind", Kind)
def test_every_card_is_legible_everywhere(page, site: Site, cards: dict[str, Card], kind: Kind, shell: str) -> None:
    """Light and dark, four widths, two font sizes; folded, unfolded and ticked.

    Where the app's own styles differ little from another's, and on cards with little on them, the extremes are enough.
    """
    problems = []
    for name in SAMPLES:
        card = cards[f"{kind.value}-{name}"]
        rich = name in ("chinese", "english") and shell in ("desktop", "ankidroid-new")
        for night in (False, True):
            page.set_viewport_size({"width": 320, "height": 640})
            show(page, site, card.back, card.css, shell, night)
            found = audit(page)
            unfold(page)
            if ticks(page).count():
                ticks(page).first.tap()
            for width, factors in SIZES.items() if rich else CORNERS.items():
                page.set_viewport_size({"width": width, "height": 640})
                for factor in factors:
                    spoilt = zoomed_audit(page, scaled(card.css, factor))
                    found += [f"{width} px, x {factor}: {problem}" for problem in spoilt]
            problems += [f"{name}, night {night}: {problem}" for problem in found]
    assert "\n".join(problems) == ""


@pytest.mark.parametrize("kind", Kind)
def test_every_front_is_legible(page, site: Site, cards: dict[str, Card], kind: Kind) -> None:
    """The back repeats the front, so here it is enough to see it alone, at its narrowest and largest."""
    page.set_viewport_size({"width": 320, "height": 640})
    for night in (False, True):
        for name in SAMPLES:
            card = cards[f"{kind.value}-{name}"]
            show(page, site, card.front, scaled(card.css, 1.3), night=night)
            assert audit(page) == [], (night, name)


def test_every_card_of_the_seed_is_legible(page, site: Site, cards: dict[str, Card]) -> None:
    """All in one page, one after the other, as on a computer; no line of Chinese begins with a punctuation mark."""
    guids = [guid for guid in cards if guid.startswith("seed-")]
    page.set_viewport_size({"width": 320, "height": 640})
    show(page, site, "", cards[guids[0]].css)
    starts = set()
    for guid in guids:
        page.evaluate(PUT, cards[guid].back)
        unfold(page)
        assert audit(page) == [], guid
        starts |= set(page.evaluate(LINE_STARTS))
    assert len(starts) > 50
    assert starts & set(STARTS_NO_LINE) == set()


@pytest.mark.parametrize("night", [False, True])
@pytest.mark.parametrize("kind", Kind)
def test_axe_finds_nothing_serious(page, site: Site, cards: dict[str, Card], kind: Kind, night: bool) -> None:
    for name in ("chinese", "no-answer"):
        card = cards[f"{kind.value}-{name}"]
        show(page, site, card.back, card.css, night=night)
        unfold(page)
        page.evaluate(AXE)
        violations = page.evaluate("axe.run(document).then(result => result.violations)")
        serious = [v for v in violations if v["impact"] in ("serious", "critical")]
        assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in serious] == [], name


@pytest.mark.parametrize(
    ("guid", "seen", "unseen"), [("sign-chinese", "请证明", "Show that"), ("sign-english", "Show that", "请证明")]
)
def test_a_card_speaks_its_own_language(page, site: Site, cards: dict[str, Card], guid, seen, unseen) -> None:
    show(page, site, cards[guid].back, cards[guid].css)
    text = page.locator("body").inner_text()
    assert seen in text
    assert unseen not in text


def test_the_night_is_dark_in_every_app(page, site: Site, cards: dict[str, Card]) -> None:
    card = cards["rung-chinese"]
    for shell in SHELLS:
        grounds = []
        for night in (False, True):
            show(page, site, card.back, card.css, shell, night)
            grounds.append(page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor"))
        assert grounds == ["rgb(255, 255, 255)", "rgb(19, 22, 26)"], shell


def test_the_style_is_for_cards_alone() -> None:
    """What Anki itself shows around a card keeps its own look."""
    css = re.sub(r"/\*.*?\*/", "", templates().css, flags=re.DOTALL)
    for rule in re.findall(r"([^{}]+)\{", css):
        for selector in rule.split(","):
            assert selector.strip().startswith(
                (".card", ".nightMode .card", ".night_mode .card", ".ladderdeck", "@media", "hr#answer")
            ), selector
    assert not re.search(r"transition|animation", css), "what does not move needs no 'prefers-reduced-motion'"


@pytest.mark.parametrize(
    ("spoilt", "complaint"),
    [
        (".ladderdeck .turn { color: #999 }", "contrast 2.8"),
        (".ladderdeck .must::before { color: #bbb }", "of ::before"),
        (".ladderdeck .head { background: rgb(0 0 0 / .1) }", "half-transparent"),
        (".ladderdeck .where { font-size: 13px }", "13px text"),
        (".ladderdeck .question { margin-bottom: -40px }", "lies on"),
        (".ladderdeck .question { height: 30px; overflow: hidden }", "is clipped"),
        (".ladderdeck .question .text { white-space: nowrap }", "scrolls sideways"),
        (".ladderdeck .question { position: relative; left: -60px }", "leaves the screen"),
        (".ladderdeck summary { min-height: 0; padding: 0 }", "is a target of"),
        (".ladderdeck pre { overflow: visible }", "scrolls sideways"),
    ],
)
def test_what_is_spoilt_is_noticed(page, site: Site, cards: dict[str, Card], spoilt: str, complaint: str) -> None:
    """The audit itself: each of its complaints can be had."""
    card = cards["rung-chinese"]
    show(page, site, card.back, f"{card.css} .ladderdeck .turn {{ display: block !important }} {spoilt}")
    unfold(page)
    assert any(complaint in problem for problem in audit(page))


# Ticks


MUST = '<li class="must" dir="auto">must</li>'
MAY = '<li dir="auto">may</li>'


@pytest.mark.parametrize(
    ("points", "tapped", "button"),
    [
        ([MUST, MUST, MAY], [0, 1, 2], "Good"),
        ([MUST, MUST, MAY], [0, 1], "Hard"),
        ([MUST, MUST, MAY], [0, 2], "Again"),
        ([MUST, MAY, MAY, MAY], [0], "Again"),
        ([MUST, MAY, MAY, MAY], [0, 3], "Again"),
        ([MUST, MAY, MAY, MAY], [0, 1, 3], "Hard"),
        ([MUST, MAY, MAY, MAY], [1, 2, 3], "Again"),
        ([MAY, MAY, MAY], [0, 1, 2], "Good"),
        ([MAY, MAY, MAY], [1, 2], "Hard"),
        ([MAY, MAY, MAY], [2], "Again"),
        ([MAY], [0], "Good"),
        ([MAY, MAY], [0], "Again"),
        ([MAY, MAY], [0, 0], None),
    ],
)
def test_ticks_name_the_button(page, site: Site, cards: dict[str, Card], points, tapped, button) -> None:
    card = cards["rung-english"]
    back = re.sub(
        r'(<section class="points check">.*?<ul>).*?(</ul>)', rf"\1{''.join(points)}\2", card.back, flags=re.DOTALL
    )
    show(page, site, back, card.css)
    tally = page.locator(".check .tally")
    assert (tally.inner_text(), verdict(page)) == ("Tap what you said", "")
    for index in tapped:
        ticks(page).nth(index).tap()
    if button is None:
        assert (tally.inner_text(), verdict(page)) == ("Tap what you said", "")
        assert page.locator(".missed, .said").count() == 0
        return
    assert tally.inner_text() == f"{len(tapped)} of {len(points)} said"
    assert verdict(page).startswith(f"Press {button} | {len(tapped)} of {len(points)} said")
    musts = [" (a must)" if point == MUST else "" for point in points]
    missing = [f"{index + 1}{musts[index]}" for index in range(len(points)) if index not in tapped]
    assert verdict(page).partition(", not yet: ")[2] == ", ".join(missing)
    row = page.locator(f".verdict .rule .{button.lower()}")
    others = page.locator(f".verdict .rule li:not(.{button.lower()}, .easy)")
    colour = "row => getComputedStyle(row).color"
    assert row.evaluate(colour) not in [other.evaluate(colour) for other in others.all()], (
        "the row that fits is not marked"
    )
    assert page.locator(".said").count() == len(tapped)
    assert page.locator(".missed").count() == len(points) - len(tapped)
    pressed = [t.get_attribute("aria-pressed") for t in ticks(page).all()]
    assert [index for index, value in enumerate(pressed) if value == "true"] == sorted(tapped)


def test_the_ticks_speak_chinese_on_a_chinese_card(page, site: Site, cards: dict[str, Card]) -> None:
    show(page, site, cards["rung-chinese"].back, cards["rung-chinese"].css)
    assert ticks(page).first.get_attribute("aria-label") == "说到了第 1 条（必答）"
    ticks(page).nth(0).tap()
    assert verdict(page) == "按 重来 Again | 说到 1 / 4，还差第 2（必答）、3、4 条"


def test_signs_of_the_whole_topic_are_counted_and_name_no_button(page, site: Site, cards: dict[str, Card]) -> None:
    show(page, site, cards["rung-no-answer"].back, cards["rung-no-answer"].css)
    assert "还没有答案" in page.locator(".missing").inner_text()
    assert page.locator(".rule .hard").inner_text().startswith("困难"), "the person judges"
    assert page.locator(".count-only .tally").inner_text() == "点一下你说到的"
    ticks(page).nth(0).tap()
    assert page.locator(".count-only .tally").inner_text() == "说到 1 / 2，还差第 2 条"
    ticks(page).nth(1).tap()
    assert page.locator(".count-only .tally").inner_text() == "说到 2 / 2"
    assert page.locator("[data-button]").count() == 0


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_that_runs_twice_adds_nothing(page, site: Site, cards: dict[str, Card], shell: str) -> None:
    card = cards["rung-chinese"]
    show(page, site, card.back, card.css, shell)
    ticks(page).first.tap()
    before = page.locator("body").inner_html()
    page.evaluate("[...document.querySelectorAll('.card script, script')].forEach(s => (0, eval)(s.textContent))")
    assert page.locator("body").inner_html() == before
    ticks(page).first.tap()
    assert page.locator(".said").count() == 0


def test_a_second_card_in_the_same_page_starts_afresh(page, site: Site, cards: dict[str, Card]) -> None:
    """Anki on a computer puts one card after the other into the same page, and runs its scripts again."""
    card, other = cards["rung-chinese"], cards["probe-chinese"]
    show(page, site, card.back, card.css, "desktop")
    ticks(page).first.tap()
    page.evaluate(PUT, other.back)
    assert ticks(page).count() == 4
    assert page.locator(".said, .missed").count() == 0
    ticks(page).nth(3).tap()
    assert "1 / 4" in verdict(page)


def test_ticks_work_from_a_keyboard(page, site: Site, cards: dict[str, Card]) -> None:
    show(page, site, cards["probe-english"].back, cards["probe-english"].css)
    ticks(page).nth(1).focus()
    page.keyboard.press("Space")
    assert ticks(page).nth(1).get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.activeElement.className") == "tick"
    ticks(page).nth(2).tap()
    assert page.evaluate("document.activeElement.className") != "tick", "the space bar would tick, not turn the card"


@pytest.mark.parametrize("night", [False, True])
def test_a_tick_looks_like_no_other_button(page, site: Site, cards: dict[str, Card], night: bool) -> None:
    """Anki on a computer gives buttons frames, and shadows under the mouse."""
    show(page, site, cards["rung-chinese"].back, cards["rung-chinese"].css, "desktop", night)
    look = "button => (({ boxShadow, borderStyle, backgroundColor }) => [boxShadow, borderStyle, backgroundColor])(getComputedStyle(button))"
    ticks(page).first.hover()
    assert ticks(page).first.evaluate(look) == ["none", "none", "rgba(0, 0, 0, 0)"]
    ticks(page).first.focus()
    page.keyboard.press("Tab")
    assert page.evaluate(f"({look})(document.activeElement)")[0] != "none", "the focus cannot be seen"


def test_what_lies_above_a_button_can_be_used(page, site: Site, cards: dict[str, Card]) -> None:
    show(page, site, cards["rung-chinese"].back, cards["rung-chinese"].css)
    page.evaluate(
        "document.querySelector('.check a').addEventListener('click', e => { e.preventDefault(); window.followed = 1 })"
    )
    page.locator(".check a").tap()
    assert page.evaluate("window.followed") == 1
    assert page.locator(".said").count() == 0


def test_the_script_keeps_nothing() -> None:
    """AnkiDroid loads the page anew for the back, and two devices share no storage: nothing may depend on it."""
    script = re.search(r"<script>(.*)</script>", templates().cards[Kind.RUNG].back, re.DOTALL)
    assert script is not None
    assert not re.search(
        r"Storage|cookie|DOMContentLoaded|\bonload\b|^(?:const|let|var|function) ", script[1], re.MULTILINE
    )


# Without scripts


@pytest.mark.parametrize("kind", Kind)
def test_a_card_is_complete_without_scripts(browser, site: Site, cards: dict[str, Card], kind: Kind) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 320, "height": 640})
    context.route("**/*", site.answer)
    page = context.new_page()
    for name in SAMPLES:
        card = cards[f"{kind.value}-{name}"]
        for night in (False, True):
            show(page, site, card.back, card.css, night=night)
            assert ticks(page).count() == 0
            assert page.locator(".verdict").first.is_visible()
            for fold in page.locator("summary").all():  # the outer ones first, so that each can be seen
                if fold.locator("xpath=ancestor::*[contains(@class, 'earlier')]").count() == 0:  # for the front alone
                    fold.click()
            assert page.locator(".back details:not([open])").count() == 0
            assert audit(page) == [], (name, night)
    context.close()


# Math


@pytest.mark.parametrize("night", [False, True])
def test_formulas_are_set_and_scroll_by_themselves(page, site: Site, cards: dict[str, Card], night: bool) -> None:
    card = cards["rung-chinese"]
    show(page, site, card.back, card.css, "desktop", night)
    page.set_viewport_size({"width": 320, "height": 640})
    typeset(page)  # the details are closed
    unfold(page)
    assert page.locator("mjx-container").count() == 4
    assert "\\frac" not in page.locator("#qa").inner_text()
    assert audit(page) == []
    wide = page.locator('mjx-container[display="true"]')
    assert wide.evaluate("box => box.scrollWidth > box.clientWidth && box.clientWidth > 100")
    assert wide.evaluate("box => box.scrollHeight <= box.clientHeight + 1"), "the formula is cut off below"
    for formula in page.locator("mjx-container").all():
        assert formula.evaluate("box => box.getBoundingClientRect().height") > 10
        assert formula.evaluate("box => getComputedStyle(box).color === getComputedStyle(box.parentElement).color")
    # The axis of an inline formula is the line's: its letter stands on the baseline of the words around it.
    drift = """box => {
      const word = document.createElement('span');
      word.style.cssText = 'display:inline-block;width:1px;height:0';
      box.before(word);
      const letter = box.querySelector('mjx-mi').getBoundingClientRect();
      const line = word.getBoundingClientRect().bottom;
      word.remove();
      return Math.abs(letter.bottom - line);
    }"""
    assert page.locator("details mjx-container:not([display])").first.evaluate(drift) < 4


def test_a_formula_in_a_point_ticks_it(page, site: Site, cards: dict[str, Card]) -> None:
    """MathJax positions its elements, and what is positioned lies above what is not."""
    show(page, site, cards["rung-chinese"].back, cards["rung-chinese"].css, "desktop")
    typeset(page)
    box = page.locator(".check mjx-container").bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert ticks(page).nth(1).get_attribute("aria-pressed") == "true"
