"""Make the pictures of docs/pictures: one card of each kind, front and back, light and dark, as a phone shows them.

The cards come out of a package that the real Anki has imported. Run it from a checkout: python tools/pictures.py
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CHECKOUT / "src"), str(CHECKOUT / "tests")]

from browser import open_browser  # noqa: E402
from card_samples import sample_notes, seed_notes  # noqa: E402
from card_shells import HOST, SHELLS, Site, rendered, typeset  # noqa: E402
from drill_samples import seed_drills  # noqa: E402

from ladderdeck.packaging.templates import default_folder, load_templates  # noqa: E402
from ladderdeck.previewing.preview import preview_page  # noqa: E402
from ladderdeck.values.note import IdentifiedNote  # noqa: E402

FOLDER = CHECKOUT / "docs" / "pictures"
WIDTH, HEIGHT, TALLEST = 360, 720, 1040
SHARPNESS = 1.25

PHONE_FONTS = "<fontconfig><include>/etc/fonts/fonts.conf</include>{}</fontconfig>".format(
    "".join(
        f'<match target="pattern"><test name="family" qual="any"><string>{family}</string></test>'
        '<edit name="family" mode="prepend" binding="strong"><string>Roboto</string><string>Noto Sans CJK SC</string></edit>'
        "</match>"
        for family in ("system-ui", "sans", "sans-serif")
    )
)
"""What an Android phone takes for `system-ui`; with Debian's fonts-roboto-unhinted and fonts-noto-cjk installed."""

PICTURES = {
    # name: (note, side, dark, points to tick, what to unfold)
    "rung-front-light": ("rung", "front", False, (), ""),
    "rung-back-light": ("rung", "back", False, (0, 1, 3), ""),
    "rung-back-dark": ("rung", "back", True, (0, 3), ".answer"),
    "rung-front-dark": ("rung", "front", True, (), ".earlier"),
    "no-answer-light": ("rung-no-answer", "back", False, (0,), ""),
    "sign-light": ("sign", "back", False, (0, 1), ""),
    "sign-dark": ("sign", "front", True, (), ""),
    "ladder-light": ("ladder", "front", False, (), ""),
    "ladder-dark": ("ladder", "back", True, (0, 1, 3), ""),
    "red-flag-light": ("red-flag", "front", False, (), ""),
    "red-flag-dark": ("red-flag", "back", True, (), ""),
    "probe-light": ("probe", "back", False, (0, 1, 2, 3), ""),
    "probe-dark": ("probe", "front", True, (), ""),
    "drill-light": ("drill", "front", False, (), ".given-table"),
    "drill-dark": ("drill", "back", True, (), ""),
}


def main() -> None:
    """Draw all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    drill = next(note for note in seed_drills() if note.origin.wording.startswith("kv-bytes"))
    seed = [*seed_notes(), IdentifiedNote(drill, "drill", 1_700_000_000)]
    with tempfile.TemporaryDirectory() as folder:
        fonts = Path(folder, "fonts.conf")
        fonts.write_text(PHONE_FONTS)
        os.environ["FONTCONFIG_FILE"] = str(fonts)
        draw(seed, Path(folder))


def draw(seed, folder: Path) -> None:
    """Draw the cards, then the preview."""
    with open_browser() as browser:
        cards = rendered([*sample_notes(), *seed], folder)
        first = {note.note.origin.kind.value: note.guid for note in reversed(seed)}
        first["rung"] = next(note.guid for note in seed if "3 / 4" in note.note.fields["Place"])
        for name, (note, side, dark, ticked, unfolded) in PICTURES.items():
            card, site = cards[first.get(note, note)], Site()
            site.html = SHELLS["desktop"](getattr(card, side), card.css, dark)
            context = browser.new_context(
                viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=SHARPNESS, has_touch=True
            )
            context.route("**/*", site.answer)
            page = context.new_page()
            page.goto(HOST + "/card")
            if note == "drill" and side == "back":
                typed_on_the_front(page, site, card.front, card.css, dark)
            typeset(page)
            for point in ticked:
                page.locator(".tick").nth(point).tap()
            if unfolded:
                page.locator(unfolded).first.evaluate("box => { box.open = true }")
            if side == "back":
                length = page.evaluate("document.scrollingElement.scrollHeight")
                page.set_viewport_size({"width": WIDTH, "height": min(length, TALLEST)})
            page.evaluate("scrollTo(0, 0)")
            page.mouse.move(0, 0)
            page.screenshot(path=str(FOLDER / f"{name}.png"))
            context.close()
        draw_preview(browser, seed, folder)


def typed_on_the_front(page, site: Site, front: str, css: str, dark: bool) -> None:
    """Type a result that a usual mistake gives on the front of a drill, then come back to its back."""
    wrong = page.locator(".mistake .wrong").first.inner_text()
    back, site.html = site.html, SHELLS["desktop"](front, css, dark)
    page.goto(HOST + "/card")
    page.locator(".own input").fill(wrong)
    site.html = back
    page.goto(HOST + "/card")


def draw_preview(browser, seed, folder: Path) -> None:
    """Draw the preview of the seed pack as a computer shows it."""
    file = folder / "preview.html"
    notes = [one.note for one in seed]
    content = preview_page(notes, [], load_templates(default_folder()), {})
    file.write_text(content.replace(f"{CHECKOUT}{os.sep}", ""), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1180, "height": 720})
    page.goto(file.as_uri())
    page.keyboard.press("j")
    page.frame_locator("iframe").nth(1).locator(".tick").first.click()
    page.screenshot(path=str(FOLDER / "preview.png"))


if __name__ == "__main__":
    main()
