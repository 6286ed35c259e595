"""Drills in the real Anki and a real browser: the numbers of the day, alike on both sides and on every device."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from anki_collection import import_package, new_collection, notes_by_guid
from axe_playwright_python import sync_playwright as axe_package
from browser import open_browser
from card_shells import HOST, SHELLS, Card, Site, rendered, scaled
from drill_samples import SMALL, documented, drill_notes, seed_drill, seed_drills
from package_samples import templates, write

from ladderdeck.values.model import Kind
from ladderdeck.values.note import IdentifiedNote

AXE = (Path(axe_package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
AUDIT = (Path(__file__).parent / "card_audit.js").read_text(encoding="utf-8")
MODIFIED = 1_700_000_000
NOON = "2026-12-03T12:00:00"
CHINESE, ENGLISH, TRANSFER = "drill-zh", "drill-en", "drill-small"


def notes() -> list[IdentifiedNote]:
    found = {CHINESE: seed_drill(), ENGLISH: drill_notes(documented())[0], TRANSFER: drill_notes(SMALL)[0]}
    return [IdentifiedNote(note, guid, MODIFIED) for guid, note in found.items()]


DATA = {each.guid: json.loads(each.note.fields["Data"]) for each in notes()}


@pytest.fixture(scope="module")
def cards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Card]:
    return rendered(notes(), tmp_path_factory.mktemp("drills"))


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture
def site():
    site = Site()
    yield site
    assert site.strangers == []


@pytest.fixture
def pages(browser, site):
    """Makes pages on devices of their own: a time zone, a moment, with or without scripts or storage."""
    contexts, errors = [], []

    def open_page(moment: str = NOON, zone: str = "Europe/Berlin", *, storage: bool = True, **options):
        context = browser.new_context(
            **{"timezone_id": zone, "viewport": {"width": 320, "height": 640}, "has_touch": True, **options}
        )
        contexts.append(context)
        context.route("**/*", site.answer)
        if not storage:
            refuse = "Object.defineProperty(window, 'sessionStorage', {get() { throw new Error('no storage') }})"
            context.add_init_script(refuse)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        if options.get("java_script_enabled", True):
            page.clock.set_fixed_time(local(moment, zone))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture(scope="module")
def common(browser):
    """One device for the tests that need none of their own."""
    context = browser.new_context(timezone_id="Europe/Berlin", viewport={"width": 320, "height": 640}, has_touch=True)
    yield context.new_page()
    context.close()


@pytest.fixture
def page(common, site):
    """That device, at noon of the day."""
    errors: list[str] = []

    def note(error) -> None:
        errors.append(str(error))

    common.route("**/*", site.answer)
    common.on("pageerror", note)
    set_time(common, NOON)
    yield common
    common.unroute("**/*")
    common.remove_listener("pageerror", note)
    assert errors == []


def local(moment: str, zone: str) -> datetime:
    return datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))


def set_time(page, moment: str, zone: str = "Europe/Berlin") -> None:
    page.clock.set_fixed_time(local(moment, zone))


def show(page, site: Site, side: str, css: str, shell: str = "ankidroid-new") -> None:
    site.html = SHELLS[shell](side, css, False)
    page.goto(HOST + "/card")


def expected(guid: str, moment: str) -> int:
    """Which variant a wall clock's time asks for: the day begins at 4."""
    day = (datetime.fromisoformat(moment) - timedelta(hours=4)).date().toordinal() - datetime(1970, 1, 1).toordinal()
    data = DATA[guid]
    return (day * data["step"] + data["offset"]) % len(data["texts"])


def shown_variant(page, guid: str) -> int:
    """Which variant the page shows: every slot must hold that one's text."""
    slots = page.evaluate(
        "[...document.querySelectorAll('[data-slot]')].map(e => [Number(e.dataset.slot), e.textContent])"
    )
    assert slots
    fitting = [n for n, texts in enumerate(DATA[guid]["texts"]) if all(texts[slot] == text for slot, text in slots)]
    return fitting[0] if len(fitting) == 1 else -1


# The numbers of the day


@pytest.mark.parametrize(
    ("moment", "zone"),
    [
        (NOON, "Europe/Berlin"),
        ("2026-12-03T23:59:59", "Asia/Shanghai"),
        ("2026-12-04T00:00:01", "Asia/Shanghai"),
        ("2026-12-04T03:59:59", "Asia/Shanghai"),
        ("2026-12-04T04:00:00", "Asia/Shanghai"),
        ("2026-03-29T03:30:00", "Europe/Berlin"),  # the clock has just sprung forward
        ("2026-03-29T04:00:00", "Europe/Berlin"),
        ("2026-10-25T02:30:00", "Europe/Berlin"),  # an hour that comes twice
        ("2026-10-25T04:00:00", "Europe/Berlin"),
        ("2026-06-01T12:00:00", "Pacific/Kiritimati"),
        ("2026-06-01T12:00:00", "Pacific/Marquesas"),
        ("2026-09-06T00:30:00", "America/Santiago"),  # midnight does not exist on this day
        ("2027-01-01T03:00:00", "America/New_York"),
        ("2028-02-29T23:00:00", "Asia/Kolkata"),
    ],
)  # fmt: skip
def test_both_sides_take_the_numbers_of_the_local_day(pages, site, cards, moment: str, zone: str) -> None:
    page = pages(moment, zone)
    for guid in DATA:
        for side in (cards[guid].front, cards[guid].back):
            show(page, site, side, cards[guid].css)
            assert shown_variant(page, guid) == expected(guid, moment)


def test_numbers_change_at_four_and_not_at_midnight(page, site, cards) -> None:
    moments = [
        "2026-12-03T22:00:00",
        "2026-12-04T01:00:00",
        "2026-12-04T03:59:59",
        "2026-12-04T04:00:00",
        "2026-12-05T03:00:00",
    ]
    seen = []
    for moment in moments:
        set_time(page, moment)
        show(page, site, cards[TRANSFER].front, cards[TRANSFER].css)
        seen.append(shown_variant(page, TRANSFER))
    assert seen[0] == seen[1] == seen[2] != seen[3] == seen[4]


WALK = """days => {
  const script = [...document.querySelectorAll('script')].map(s => s.textContent).find(s => s.includes('data-drill'));
  const Real = Date, seen = [];
  for (let day = 0; day < days; day++) {
    // Another hour of the day each time, at both of its ends too.
    const moment = new Real(2026, 0, 1 + day, 4 + (day * 7) % 24, (day * 13) % 60).getTime();
    window.Date = class extends Real { constructor(...given) { if (given.length) super(...given); else super(moment); } };
    (0, eval)(script);
    seen.push([...document.querySelectorAll('[data-slot]')].map(e => [Number(e.dataset.slot), e.textContent]));
  }
  window.Date = Real;
  return seen;
}"""
"""Runs the card's script on one day after the other, as a device that shows the card every day does."""


@pytest.mark.parametrize(("guid", "zone"), [*((guid, "Europe/Berlin") for guid in DATA), (TRANSFER, "Pacific/Apia")])
def test_on_400_days_front_and_back_agree(pages, site, cards, guid: str, zone: str) -> None:
    page = pages(zone=zone)
    walks = []
    for side in (cards[guid].front, cards[guid].back):
        show(page, site, side, cards[guid].css)
        walks.append([dict(slots) for slots in page.evaluate(WALK, 400)])
    shown = []
    for front, back in zip(*walks, strict=True):
        assert front.items() <= back.items()
        (variant,) = (
            n
            for n, texts in enumerate(DATA[guid]["texts"])
            if all(texts[int(slot)] == text for slot, text in back.items())
        )
        shown.append(variant)
    assert all(one != other for one, other in pairwise(shown))
    assert len(set(shown)) == len(DATA[guid]["texts"]) >= 20


def test_devices_agree_on_a_day(pages, site, cards) -> None:
    """Other apps, screens, languages, time zones and hours: the same date, the same numbers."""
    devices = [
        (
            "desktop",
            "Europe/Berlin",
            "2026-12-03T05:00:00",
            {"viewport": {"width": 1100, "height": 800}, "locale": "de-DE"},
        ),
        ("ankidroid-old", "Asia/Shanghai", "2026-12-03T23:00:00", {"locale": "zh-CN"}),
        ("ankimobile", "America/Los_Angeles", "2026-12-04T03:00:00", {"locale": "ar-EG"}),
        ("ankiweb", "Pacific/Auckland", NOON, {"locale": "th-TH-u-ca-buddhist"}),
    ]
    for shell, zone, moment, options in devices:
        page = pages(moment, zone, **options)
        for guid in DATA:
            show(page, site, cards[guid].back, cards[guid].css, shell)
            assert shown_variant(page, guid) == expected(guid, NOON), (shell, guid)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_that_runs_twice_changes_nothing(page, site, cards, shell: str) -> None:
    for side in (cards[ENGLISH].front, cards[ENGLISH].back):
        show(page, site, side, cards[ENGLISH].css, shell)
        before = page.locator("body").inner_html()
        page.evaluate("[...document.querySelectorAll('script')].forEach(s => (0, eval)(s.textContent))")
        assert page.locator("body").inner_html() == before


def test_one_card_after_another_in_a_page(page, site, cards) -> None:
    """Anki on a computer puts card after card into one page, and goes back to one that was undone."""
    put = """html => {
      const box = document.getElementById('qa');
      box.innerHTML = html;
      for (const old of box.querySelectorAll('script')) {
        const fresh = document.createElement('script');
        fresh.textContent = old.textContent;
        old.replaceWith(fresh);
      }
    }"""
    show(page, site, "", cards[ENGLISH].css, "desktop")
    for guid in (ENGLISH, CHINESE, ENGLISH, TRANSFER):
        for side in (cards[guid].front, cards[guid].back):
            page.evaluate(put, side)
            assert shown_variant(page, guid) == expected(guid, NOON)


def test_without_scripts_the_first_variant_is_complete(pages, site, cards) -> None:
    for guid, data in DATA.items():
        page = pages(java_script_enabled=False)
        show(page, site, cards[guid].back, cards[guid].css)
        assert page.evaluate("document.querySelectorAll('input').length") == 0
        slots = page.evaluate(
            "[...document.querySelectorAll('[data-slot]')].map(e => [Number(e.dataset.slot), e.textContent])"
        )
        assert all(data["texts"][0][slot] == text for slot, text in slots)
        assert {slot for slot, _ in slots} == set(range(len(data["texts"][0])))
        assert page.locator(".result").is_visible()
        assert page.locator(".verdict").is_visible()
        for item in page.locator(".mistake").all():
            assert item.is_visible() == bool(item.locator(".wrong").text_content())


def test_anki_keeps_the_data_as_they_are(tmp_path: Path, browser, site) -> None:
    """Through a package, the importer and Anki's own editor, which reads a field as HTML and writes it anew."""
    collection = new_collection(tmp_path / "user")
    import_package(collection, write(notes(), tmp_path / "a.apkg"))
    stored = {guid: note["Data"] for guid, note in notes_by_guid(collection).items()}
    collection.close()
    assert {guid: json.loads(text) for guid, text in stored.items()} == DATA
    page = browser.new_page()
    for text in stored.values():
        edited = page.evaluate(
            "html => { const box = document.createElement('div'); box.innerHTML = html; return box.innerHTML }", text
        )
        assert edited == text
    page.close()


# Today's card


@pytest.mark.parametrize("night", [False, True])
def test_axe_finds_nothing_serious_on_either_side(page, site, cards, night: bool) -> None:
    for guid in (CHINESE, ENGLISH):
        for side in (cards[guid].front, cards[guid].back):
            site.html = SHELLS["ankidroid-new"](side, cards[guid].css, night)
            page.goto(HOST + "/card")
            if side is cards[guid].front:
                page.locator(".own input").fill("12")
            page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true })")
            page.evaluate(AXE)
            violations = page.evaluate("axe.run(document).then(result => result.violations)")
            serious = [v for v in violations if v["impact"] in ("serious", "critical")]
            assert [(v["id"], [node["html"] for node in v["nodes"]]) for v in serious] == []
            assert page.evaluate("document.scrollingElement.scrollWidth") == 320


def test_every_drill_that_ships_is_legible_at_320_pixels(page, site, tmp_path) -> None:
    """Unfolded, on the days with the longest numbers, larger text, light and dark by turns; nothing scrolls the page sideways."""
    every = {f"drill-{number}": note for number, note in enumerate(seed_drills())}
    cards = rendered([IdentifiedNote(note, guid, MODIFIED) for guid, note in every.items()], tmp_path)
    assert len(cards) == len(every) >= 18
    problems = []
    for number, (guid, note) in enumerate(every.items()):
        data = json.loads(note.fields["Data"])
        longest = max(range(len(data["texts"])), key=lambda n: sum(map(len, data["texts"][n])))
        day = next(
            d for d in range(20_000, 20_100) if (d * data["step"] + data["offset"]) % len(data["texts"]) == longest
        )
        set_time(page, f"{datetime(1970, 1, 1) + timedelta(days=day):%Y-%m-%d}T12:00:00")
        site.html = SHELLS["ankidroid-new"](cards[guid].back, scaled(cards[guid].css, 1.3), number % 2 == 1)
        page.goto(HOST + "/card")
        page.evaluate("document.querySelectorAll('details').forEach(box => { box.open = true })")
        problems += [f"{note.origin.wording}: {problem}" for problem in page.evaluate(AUDIT)]
    assert problems == []


def test_what_differs_is_filled_everywhere(page, site, cards) -> None:
    show(page, site, cards[TRANSFER].back, cards[TRANSFER].css)
    texts = DATA[TRANSFER]["texts"][expected(TRANSFER, NOON)]
    size, speed, time = texts[0], texts[1], texts[2]
    assert page.locator(".question").text_content() == f"How long do {size} take at {speed}?"
    assert page.locator(".result").text_content() == f"time = {time}"
    assert f"= {size} ÷ {speed}" in page.locator(".calc").inner_text()


def test_a_mistake_that_gives_the_right_number_is_hidden(page, site, tmp_path) -> None:
    note = drill_notes(SMALL.replace("gives: 8 * time", "gives: size / (2 GB/s)"))[0]
    card = rendered([IdentifiedNote(note, "x", MODIFIED)], tmp_path)["x"]
    data = json.loads(note.fields["Data"])
    seen = set()
    for day in range(1, 9):
        set_time(page, f"2026-12-{day:02}T12:00:00")
        show(page, site, card.back, card.css)
        (variant,) = [
            n
            for n, texts in enumerate(data["texts"])
            if page.locator(".calc").inner_text().count(f"= {texts[0]} ÷ {texts[1]}")
        ]
        right = data["numbers"][variant][3] is None
        assert page.locator(".mistakes").is_visible() != right
        seen.add(right)
    assert seen == {True, False}


# One's own result


def answer(page, site, cards, guid: str, typed: str):
    """Type on the front, turn the card; what stands on the back about it, None for nothing."""
    show(page, site, cards[guid].front, cards[guid].css)
    page.locator(".own input").fill(typed)
    show(page, site, cards[guid].back, cards[guid].css)
    said = page.locator(".verdict .status").text_content()
    return (said, page.locator(".verdict").get_attribute("data-button")) if said else None


@pytest.fixture
def numbers() -> list[float]:
    """The result of the day for the small drill, the band around it, and what its mistake gives."""
    return DATA[TRANSFER]["numbers"][expected(TRANSFER, NOON)]


TYPED = [
    (lambda n: f"{n[0]:.3g}", "good"),
    (lambda n: f" {n[0]:.3f} s ", "good"),
    (lambda n: f"{n[0]:.2f}".replace(".", ","), "good"),
    (lambda n: f"{n[0]:.2e}", "good"),
    (lambda n: f"{n[0] / 1000:.6f}e3", "good"),
    (lambda n: f"{n[0] / 1000:.6f} × 10³", "good"),
    (lambda n: f"{n[0]:.2f}".translate(str.maketrans("0123456789.", "０１２３４５６７８９．")), "good"),
    (lambda n: f"+{n[0] * 1.09:.3f}", "good"),
    (lambda n: f"{n[0] * .91:.3f}", "good"),
    (lambda n: f"{n[0] * 1.12:.3f}", None),
    (lambda n: f"{n[0] * .88:.3f}", None),
    (lambda n: f"{n[3]:.3g}", "again"),
    (lambda n: f"{n[3] * 1.05:.3f}", "again"),
    (lambda n: f"{n[0] * 1000:.0f}", "hard"),
    (lambda n: f"{n[0] / 1e6:.12f}", "hard"),
    (lambda n: f"-{n[0]:.3g}", None),
    (lambda n: "much", None),
    (lambda n: "1.2.3,4", None),
    (lambda n: "0", None),
    (lambda n: "1e999", None),
    (lambda n: "<b>12</b>", None),
]  # fmt: skip
"""What is typed, given the numbers of the day, and the button that the back names."""


def test_a_typed_result_is_judged(page, site, cards, numbers) -> None:
    for write_it, kind in TYPED:
        typed = write_it(numbers)
        text, button = answer(page, site, cards, TRANSFER, typed)
        assert button == kind, typed
        assert typed.strip().partition(" s")[0] in text


READINGS = [
    ("1,250", [1250, 1.25]), ("1.250", [1.25, 1250]), ("1,2", [1.2]), ("1,234,567.8", [1234567.8]), ("1.234.567,8", [1234567.8]),
    ("12,34,56", []), ("0,125", [0.125]), ("1_000", [1000]), ("1'000", [1000]), (".5", [0.5]), ("5.", [5]), ("12 345", [12345]),
    ("1,2e3", [1200]), ("1.2E-3", [0.0012]), ("3x10^2", [300]), ("3*10²", [300]), ("２，５", [2.5]), ("7ms", [7]), ("7 MS", [7]),
    ("7 s", []), ("2*100", []), ("4*1024", []), ("3×10⁻²", [0.03]), ("", []), ("e3", []), ("1e", []), ("--1", []), ("٣", []), ("12%", []),
]  # fmt: skip


def test_digits_are_read_as_people_write_them(page, site) -> None:
    """The reader itself, taken out of the script: every reading that a text may have."""
    script = re.search(r"function readings\(.*?\n  }\n", templates().cards[Kind.DRILL].back, re.DOTALL)[0]
    show(page, site, "", "")
    read = page.evaluate(
        f"all => {{ {script} return all.map(typed => readings(typed, 'ms')) }}", [typed for typed, _ in READINGS]
    )
    for (typed, readings), found in zip(READINGS, read, strict=True):
        assert sorted(found) == sorted(readings), typed


def test_the_mistake_that_was_made_is_marked(page, site, cards, numbers) -> None:
    answer(page, site, cards, TRANSFER, f"{numbers[3]:.3g}")
    assert page.locator(".made").inner_text().endswith("took bits for bytes")
    assert page.locator(".status q").inner_text() == "took bits for bytes"
    answer(page, site, cards, TRANSFER, f"{numbers[0]:.3g}")
    assert page.locator(".made").count() == 0


def test_it_speaks_the_language_of_the_card(page, site, cards) -> None:
    show(page, site, cards[CHINESE].front, cards[CHINESE].css)
    assert page.locator(".own label").inner_text() == "你的结果（单位 ms，误差 10% 以内算对，可不填）"
    text, _ = answer(page, site, cards, CHINESE, "xyz")
    assert text == "“xyz” 读不成一个数，请自己对照"
    show(page, site, cards[ENGLISH].front, cards[ENGLISH].css)
    assert page.get_by_label("Your result in GB, right within 10% (optional)").count() == 1


def test_what_was_typed_counts_for_this_showing_only(page, site, cards) -> None:
    assert answer(page, site, cards, TRANSFER, "12") is not None
    assert answer(page, site, cards, TRANSFER, "  ") is None
    assert answer(page, site, cards, TRANSFER, "12") is not None
    show(page, site, cards[ENGLISH].back, cards[ENGLISH].css)
    assert page.locator(".status").text_content() == "", "what was typed for another card"
    show(page, site, cards[TRANSFER].front, cards[TRANSFER].css)
    show(page, site, cards[TRANSFER].back, cards[TRANSFER].css)
    assert page.locator(".status").text_content() == "", "what was typed the last time"
    show(page, site, cards[TRANSFER].front, cards[TRANSFER].css)
    page.locator(".own input").fill("12")
    set_time(page, "2026-12-04T04:00:00")
    show(page, site, cards[TRANSFER].back, cards[TRANSFER].css)
    assert page.locator(".status").text_content() == "", "what was typed for yesterday's numbers"


def test_where_nothing_can_be_kept_nothing_is_asked(pages, site, cards) -> None:
    page = pages(storage=False)
    for side in (cards[TRANSFER].front, cards[TRANSFER].back):
        show(page, site, side, cards[TRANSFER].css)
        assert page.locator("input").count() == 0
        assert shown_variant(page, TRANSFER) == expected(TRANSFER, NOON)


def test_keys_in_the_field_are_not_the_apps(page, site, cards) -> None:
    show(page, site, cards[TRANSFER].front, cards[TRANSFER].css)
    page.evaluate("window.keys = []; addEventListener('keydown', event => window.keys.push(event.key))")
    page.locator(".own input").focus()
    page.keyboard.type("12 3")
    assert page.evaluate("window.keys") == []
    assert page.locator(".own input").input_value() == "12 3"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.tagName") == "BODY"


def test_a_retired_drill_is_a_plain_card(page, site, tmp_path) -> None:
    from ladderdeck.composing.compose import retired_note
    from ladderdeck.identity.identify import Scope, identify
    from ladderdeck.identity.ledger import Ledger
    from ladderdeck.reading.settings import Settings

    note = drill_notes(SMALL)[0]
    pack = frozenset({(note.origin.pack, note.origin.language)})
    scope = Scope(pack, pack, {}, lambda origin: retired_note(origin, Settings()))
    first = identify([note], Ledger(), MODIFIED, scope)
    gone = identify([], first.ledger, MODIFIED + 1, scope)
    (card,) = rendered(gone.notes, tmp_path).values()
    for side in (card.front, card.back):
        show(page, site, side, card.css)
        assert page.locator(".question").inner_text() == "transfer"
        assert page.locator(".notice").first.is_visible()
        assert page.locator("input, .result").count() == 0
