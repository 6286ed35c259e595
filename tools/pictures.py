"""Make the pictures of docs/pictures: one card of each kind, front beside back, light and dark, as a phone shows them.

The cards come out of a package that the real Anki has imported. Run it from a checkout: python tools/pictures.py
"""

from __future__ import annotations

import os
import sys
import tempfile
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CHECKOUT / "src"), str(CHECKOUT / "tests")]

from browser import open_browser  # noqa: E402
from card_samples import seed_notes  # noqa: E402
from card_shells import HOST, SHELLS, Site, rendered, typeset  # noqa: E402
from drill_samples import seed_drills  # noqa: E402

from ladderdeck.packaging.templates import default_folder, load_templates  # noqa: E402
from ladderdeck.previewing.preview import preview_page  # noqa: E402
from ladderdeck.values.note import IdentifiedNote  # noqa: E402

FOLDER = CHECKOUT / "docs" / "pictures"
WIDTH, GAP = 360, 20
SHARPNESS = 1.5

PHONE_FONTS = "<fontconfig><include>/etc/fonts/fonts.conf</include>{}</fontconfig>".format(
    "".join(
        f'<match target="pattern"><test name="family" qual="any"><string>{family}</string></test>'
        '<edit name="family" mode="prepend" binding="strong"><string>Roboto</string><string>Noto Sans CJK SC</string></edit>'
        "</match>"
        for family in ("system-ui", "sans", "sans-serif")
    )
)
"""What an Android phone takes for `system-ui`; with Debian's fonts-roboto-unhinted and fonts-noto-cjk installed."""

CARDS = {
    # name: (note, points to tick in the light picture, points to tick in the dark one)
    "rung": ("rung", (0, 1, 3), (0, 1, 2, 3)),
    "no-answer": ("rung-unanswered", (0,), ()),
    "sign": ("sign", (0, 1, 2), (0, 1)),
    "ladder": ("ladder", (0, 1, 3), (0, 1, 2, 3)),
    "red-flag": ("red-flag", (0, 1), (0,)),
    "probe": ("probe", (0, 1, 2, 3), (0, 1, 2, 3, 4)),
    "drill": ("drill", (), ()),
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
    """Draw the cards, each with its front and its whole back side by side, then the preview."""
    with open_browser() as browser:
        cards = rendered([*seed, without_answer(seed)], folder)
        first = {note.note.origin.kind.value: note.guid for note in reversed(seed)}
        first["rung"] = next(note.guid for note in seed if "3 / 4" in note.note.fields.get("Place", ""))
        for name, (note, *ticked) in CARDS.items():
            card = cards[first.get(note, note)]
            for dark, points in zip((False, True), ticked, strict=True):
                sides = [draw_side(browser, card, side, dark, points) for side in ("front", "back")]
                join(browser, sides, dark, FOLDER / f"{name}-{'dark' if dark else 'light'}.png")
        draw_preview(browser, seed, folder)


def without_answer(seed) -> IdentifiedNote:
    """A rung of the seed as it is before somebody writes its answer."""
    one = next(
        note
        for note in reversed(seed)
        if "2 / 4" in note.note.fields.get("Place", "") and note.note.origin.kind.value == "rung"
    )
    fields = {**one.note.fields, "Key Points": "", "Answer": "", "Sources": ""}
    return replace(one, note=replace(one.note, fields=fields), guid="rung-unanswered")


def draw_side(browser, card, side: str, dark: bool, points) -> bytes:
    """One side of a card, as long as it is, with these points ticked."""
    site = Site()
    site.html = SHELLS["desktop"](getattr(card, side), card.css, dark)
    context = browser.new_context(
        viewport={"width": WIDTH, "height": 300}, device_scale_factor=SHARPNESS, has_touch=True
    )
    context.route("**/*", site.answer)
    page = context.new_page()
    page.goto(HOST + "/card")
    if side == "back" and page.locator(".mistake .wrong").count():
        typed_on_the_front(page, site, card.front, card.css, dark)
    typeset(page)
    for point in points if side == "back" else ():
        page.locator(".tick").nth(point).tap()
    page.set_viewport_size({"width": WIDTH, "height": page.evaluate("document.scrollingElement.scrollHeight")})
    page.evaluate("scrollTo(0, 0)")
    page.mouse.move(0, 0)
    picture = page.screenshot()
    context.close()
    return picture


def join(browser, sides, dark: bool, file: Path) -> None:
    """Two sides beside each other in one picture."""
    around = "#3a414a" if dark else "#d5dae1"
    page = browser.new_page(viewport={"width": 2 * WIDTH + 3 * GAP, "height": 100}, device_scale_factor=SHARPNESS)
    images = "".join(f'<img src="data:image/png;base64,{b64encode(side).decode()}">' for side in sides)
    page.set_content(
        f"<style>body{{margin:0;padding:{GAP}px;display:flex;gap:{GAP}px;align-items:flex-start;background:{around}}}"
        f"img{{width:{WIDTH}px;border-radius:12px}}</style>{images}"
    )
    page.screenshot(path=str(file), full_page=True)
    page.close()


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
