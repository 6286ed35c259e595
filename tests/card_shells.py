"""Cards as the apps show them: what the real Anki backend renders, in pages with each app's classes and containers."""

from __future__ import annotations

import importlib.util
import mimetypes
import re
from dataclasses import dataclass
from pathlib import Path

from anki_collection import import_package, new_collection, notes_by_guid
from package_samples import write

from ladderdeck.packaging.templates import Templates

HOST = "http://anki.test"
"""Where the pages of a test seem to come from. Nothing is asked of a network: the browser's requests end in the test."""


@dataclass(frozen=True)
class Card:
    """A card as the backend hands it to an app: the two sides, and the stylesheet of its note type."""

    front: str
    back: str
    css: str


def rendered(notes, folder: Path, look: Templates | None = None) -> dict[str, Card]:
    """Each note's card by guid, out of a package that Anki has imported."""
    collection = new_collection(folder / "user")
    try:
        import_package(collection, write(notes, folder / "cards.apkg", look))
        cards = {}
        for guid, note in notes_by_guid(collection).items():
            (card,) = note.cards()
            output = card.render_output()
            cards[guid] = Card(output.question_text, output.answer_text, output.css)
    finally:
        collection.close()
    return cards


def desktop(side: str, css: str, night: bool) -> str:
    """Anki's reviewer on a computer, with Anki's own styles, script and MathJax."""
    root = 'class="night-mode" data-bs-theme="dark"' if night else 'data-bs-theme="light"'
    styles = "".join(f'<link rel="stylesheet" href="/_anki/css/{name}.css">' for name in ("webview", "reviewer"))
    return f"""<!doctype html><html {root} dir="ltr" lang="en"><head><meta charset="utf-8"><title>Anki</title>{styles}</head>
<body class="{_classes(night, "isLin fancy")}"><div id="qa" dir="auto"><style>{css}</style>{side}</div></body></html>"""


def ankidroid_old(side: str, css: str, night: bool) -> str:
    """AnkiDroid's first reviewer: `#content` with a margin, and a page that is loaded anew for each side."""
    return _page(
        "mobile android linux js",
        "body{margin:0 0 30px;padding:0}body.night_mode{background:#000;color:#fff}#content{margin:.5em}",
        css,
        _classes(night, ""),
        f'<div id="content">{side}</div>',
    )


def ankidroid_new(side: str, css: str, night: bool) -> str:
    """AnkiDroid's new reviewer: `#qa`, as on a computer, and the classes of a phone."""
    own = "hr{background-color:#737373;margin:1em 0;border:none;height:1px}body{margin:20px;overflow-wrap:break-word}"
    buttons = "button{margin:1em .5em}li{text-align:start}pre{text-align:left}img{max-width:100%;max-height:95vh}"
    return _page(
        "mobile android linux js",
        own + buttons,
        "",
        _classes(night, ""),
        f'<div id="qa"><style>{css}</style>{side}</div>',
    )


def ankimobile(side: str, css: str, night: bool) -> str:
    """AnkiMobile: the classes on `body`, and text that is centred unless a card says otherwise."""
    return _page(
        "", "body{margin:0;text-align:center}", css, _classes(night, "iphone mobile ios"), f'<div id="qa">{side}</div>'
    )


def ankiweb(side: str, css: str, night: bool) -> str:
    """AnkiWeb: the card is a box in a page of another style."""
    own = "body{margin:0;font:16px/1.5 sans-serif;text-align:center}body.dark{background:#212529;color:#dee2e6}"
    body = f'<main><div id="qa_box"><div id="qa" class="{_classes(night, "")}"><style>{css}</style>{side}</div></div></main>'
    return _page("", own, "", "dark" if night else "", body)


SHELLS = {
    function.__name__.replace("_", "-"): function
    for function in (desktop, ankidroid_old, ankidroid_new, ankimobile, ankiweb)
}


def _classes(night: bool, more: str) -> str:
    return " ".join(filter(None, ("card card1", more, "nightMode night_mode" if night else "")))


def _page(root: str, own: str, css: str, classes: str, body: str) -> str:
    return f"""<!doctype html><html class="{root}" lang="en"><head><meta charset="utf-8"><title>Card</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{own}</style><style>{css}</style></head>
<body class="{classes}">{body}</body></html>"""


def scaled(css: str, factor: float) -> str:
    """The stylesheet with all font sizes in pixels multiplied, as the apps' text zoom does."""
    return re.sub(r"(font-size:\s*)([\d.]+)px", lambda m: f"{m[1]}{float(m[2]) * factor:g}px", css)


def anki_asset(path: str) -> tuple[bytes, str]:
    """A file of the web pages that Anki itself ships, such as ``css/reviewer.css``; from the package `aqt`, without Qt."""
    found = importlib.util.find_spec("_aqt")
    assert found is not None and found.submodule_search_locations, "install it with: pip install --no-deps aqt"
    file = Path(next(iter(found.submodule_search_locations)), "data", "web", path)
    return file.read_bytes(), mimetypes.guess_type(file.name)[0] or "application/octet-stream"


def typeset(page) -> None:
    """Set the formulas of a page as Anki does on a computer: with its own configuration and its own MathJax."""
    for file in ("js/mathjax.js", "js/vendor/mathjax/tex-chtml-full.js"):
        page.add_script_tag(url=f"{HOST}/_anki/{file}")
    page.evaluate(
        "async () => { await MathJax.startup.promise; await MathJax.typesetPromise([document.getElementById('qa')]) }"
    )


class Site:
    """What answers a browser's requests: the page that was put up, Anki's own files, and a list of all else."""

    def __init__(self) -> None:
        self.html = ""
        self.strangers: list[str] = []

    def answer(self, route) -> None:
        """Answer one request of the browser."""
        url = route.request.url.split("?")[0]
        if url == HOST + "/card":
            route.fulfill(body=self.html, content_type="text/html; charset=utf-8")
        elif url.startswith(HOST + "/_anki/"):
            body, kind = anki_asset(url.removeprefix(HOST + "/_anki/"))
            route.fulfill(body=body, content_type=kind)
        elif url.startswith("data:"):
            route.continue_()
        else:
            self.strangers.append(route.request.url)
            route.abort()
