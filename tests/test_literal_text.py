"""The author's text on the learner's screen: through the parser, the package, the real Anki and a real browser.

Every hostile text is a rung, a sign, a red flag, a probe and a topic title of a pack; what the browser shows of the cards
must be what was written.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from anki_collection import import_package, new_collection, notes_by_guid, sides
from browser import open_browser
from command import ladderdeck

LITERAL = [
    "vector<int>", "List<T>", "a < b && c > d", "&amp;", "snake_case_name", "2 * 3 * 4", "C#", "{{c1::x}}", "{{Field}}",
    "[sound:a.mp3]", "[latex]x[/latex]", "[LATEX]x[/LATEX]", "[anki:tts lang=en_US]x[/anki:tts]", "[anki:play:q:0]",
    "<script>alert(1)</script>", r"\( x \)", r"\[ y \]", r"\\( z", "$5 and $6", "$5 to $10", "~/.bashrc", "#1", "👩‍💻 🇬🇧 𠮷",
    "骨 直 海", "مرحبا (x) بك!", "שלום C++ עולם", "1 <= n <= 10^4", "#include <bits/stdc++.h>", "a<b && c>d",
    "/proc/$PID/fd/$FD", r"\$HOME", "$x[$]", "[$]x[/$]", "[$$]x[/$$]", "[[type:Field]]", "{{text:Field}}", "{{{x}}}",
    "__init__ 与 __proto__", "*args, **kwargs", "x**2 + y**2", "src/**/*.py", "handlers[i](event)", "<std::vector>",
    "<!-- comment -->", "<br>", "&#91;sound:x]", "&lt;T&gt; &nbsp;", "a ~~b~~ c", r"\begin{align} x \end{align}", "C:\\new\\table",
    "'single' \"double\" “curly” ‘it’s’", "10%2F & 50% #tag", "é e\u0301", "ﬁ Ⅷ ①", "x\u00a0y", "ab\u200bc",
    '"$@" 与 "$*" 的区别', "$$HOME:$$PATH", r"/[a-z]+$/ 与 /\w+$/", r"$a\$$ (x", "$50%$", "\\&#91;x\\&#40;y",
    "<img src=x onerror=alert(1)>", "javascript:alert(1)", "</div></body>", "{{FrontSide}}", "{{#Question}}x{{/Question}}",
]  # fmt: skip
MARKED = [
    ("`p->q` 与 `a → b`", "p->q 与 a → b"),
    ("这是**重点**内容", "这是重点内容"),
    ("**「重点」**内容", "「重点」内容"),
    ("见 [文档](https://example.org/a_b) 一节", "见 文档 一节"),
    ("`[sound:x.mp3]` 与 `\\(x\\)`", "[sound:x.mp3] 与 \\(x\\)"),
    ("`{{c1::x}}`", "{{c1::x}}"),
]
CASES = [(text, text) for text in LITERAL] + MARKED


def pack() -> str:
    topics = "".join(
        f"### 题 {number} {source}\n- 阶梯：{number} 甲 {source} 尾 → {number} 乙 {source} 尾\n- 答实的标志：{number} 丙 {source} 尾\n\n"
        for number, (source, _) in enumerate(CASES)
    )
    probes = "".join(f"- {number} 简历 {source} 尾 → 追 {source} 尾\n" for number, (source, _) in enumerate(CASES))
    return (
        "---\nname: hostile\nlayer: detail\ndomains: [test]\n---\n\n"
        f"## 常考主题清单\n\n{topics}\n## 项目 / 实习怎么深挖\n\n{probes}"
    )


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, tuple[str, str]]:
    """Front and back of every card, by kind and number of the case, as Anki renders them."""
    folder: Path = tmp_path_factory.mktemp("literal")
    (folder / "cards").mkdir()
    (folder / "cards" / "hostile.md").write_text(pack(), encoding="utf-8")
    run = ladderdeck(cwd=folder)
    assert run.code == 0, run.err
    collection = new_collection(folder / "anki")
    try:
        import_package(collection, folder / "dist" / "ladders.apkg")
        found = {}
        for guid, note in notes_by_guid(collection).items():
            kind = next(tag for tag in note.tags if tag.startswith("kind::")).removeprefix("kind::")
            number = re.search(r"\d+", re.sub(r"<[^>]*>", "", note["Question"]))[0]
            found.setdefault(f"{kind} {number}", sides(collection, guid))
        return found
    finally:
        collection.close()


@pytest.fixture(scope="module")
def shown(pages) -> dict[str, tuple[str, str]]:
    """What a browser shows of the question and the back of each card, as text."""
    with open_browser() as browser:
        page = browser.new_page(java_script_enabled=True)
        result = {}
        for key, (front, back) in pages.items():
            page.set_content(f"<body class='card'><div id='qa'>{front}</div></body>")
            question = page.evaluate("[...document.querySelectorAll('.text')].map(e => e.textContent).join('\\n')")
            page.set_content(f"<body class='card'><div id='qa'>{back}</div></body>")
            whole = page.evaluate("[...document.querySelectorAll('.text')].map(e => e.textContent).join('\\n')")
            result[key] = (question, whole)
        return result


@pytest.mark.parametrize("number", range(len(CASES)), ids=[text for _, text in CASES])
def test_the_text_shows_as_it_was_written(shown, number):
    wanted = unicodedata.normalize("NFC", CASES[number][1])
    question, back = shown[f"rung {number}"]
    assert f"{number} 甲 {wanted} 尾" in question
    assert f"{number} 乙 {wanted} 尾" in back
    assert f"{number} 丙 {wanted} 尾" in shown[f"sign {number}"][0]
    assert f"{number} 简历 {wanted} 尾" in shown[f"probe {number}"][0]
    # A follow-up is shown as a list: what parts its points is in the page, but on lines of their own.
    assert f"追 {wanted} 尾".replace("\n", "") in shown[f"probe {number}"][1].replace("\n", "")
    assert f"题 {number} {wanted}" in shown[f"ladder {number}"][0]


def test_mathjax_finds_nothing_in_the_page(pages):
    """As MathJax looks for its delimiters: in the text of the page, where no element comes between."""
    texts = """() => {
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        const found = [];
        document.body.normalize();
        while (walker.nextNode()) {
            if (!walker.currentNode.parentElement.closest('script, style')) found.push(walker.currentNode.data);
        }
        return found.filter(text => /\\\\[(\\[]|\\\\begin\\{/.test(text));
    }"""
    with open_browser() as browser:
        page = browser.new_page()
        for key, sides_of_card in pages.items():
            for html in sides_of_card:
                page.set_content(f"<body class='card'><div id='qa'>{html}</div></body>")
                assert page.evaluate(texts) == [], key


def test_nothing_in_the_cards_is_live(pages):
    for key, sides_of_card in pages.items():
        for html in sides_of_card:
            content = re.sub(r"<script.*?</script>|<style.*?</style>", "", html, flags=re.DOTALL)
            assert "[anki:play" not in content, key
            assert "[sound:" not in content, key
            assert not re.search(r"<(?:img|script)\b(?! data-ladder)[^>]*(?:src=x|alert)", content), key
            assert not re.search(r"\\[(\[]", content), key
