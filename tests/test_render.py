"""Source text to HTML, as a table, and laws that hold for any text."""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.rendering.render import plain_text, render_text

SLASH = "<span>\\</span>"
TABLE = [
    ("vector<int>", "vector&lt;int&gt;"),
    ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
    ("&amp; &lt;", "&amp;amp; &amp;lt;"),
    ("<std::vector> <https://a.b>", "&lt;std::vector&gt; &lt;https://a.b&gt;"),
    ("snake_case_name __init__ _x_", "snake_case_name __init__ _x_"),
    ("2 * 3 * 4, 2*3*4, *args, **kwargs", "2 * 3 * 4, 2*3*4, *args, **kwargs"),
    ("x**2 + y**2, 2**3**4", "x**2 + y**2, 2**3**4"),
    ("src/**/test/** and **/*.py", "src/**/test/** and **/*.py"),
    ("这是**重点**内容", "这是<b>重点</b>内容"),
    ("**「重点」**内容", "<b>「重点」</b>内容"),
    ("**a** and **b**", "<b>a</b> and <b>b</b>"),
    ("**kwargs and **bold**", "**kwargs and <b>bold</b>"),
    ("**a `x**y` b**", '<b>a <code dir="ltr">x**y</code> b</b>'),
    ("***x*** ****", "***x*** ****"),
    ("`a<b` and ``a`b``", '<code dir="ltr">a&lt;b</code> and <code dir="ltr">a`b</code>'),
    ("`[sound:x.mp3]`", '<code dir="ltr">&#91;sound:x.mp3]</code>'),
    ("[sound:x.mp3] [LaTeX]x[/LaTeX] [$]x[/$]", "&#91;sound:x.mp3] &#91;LaTeX]x&#91;/LaTeX] &#91;$]x&#91;/$]"),
    ("[[type:Field]]", "&#91;&#91;type:Field]]"),
    ("[text](https://a.b/c_(d))", '<a href="https://a.b/c_(d)">text</a>'),
    ("[**bold**](https://a.b)", '<a href="https://a.b"><b>bold</b></a>'),
    ("[pack](../project-deep-dive/SKILL.md)", "pack"),
    ("handlers[i](event) arr[0](x)", "handlers&#91;i](event) arr&#91;0](x)"),
    ("[a](javascript:alert(1)) [a][b]", "&#91;a](javascript:alert(1)) &#91;a]&#91;b]"),
    ("![alt](a.png)", "!&#91;alt](a.png)"),
    (r"\( x \) \[ y \]", rf"{SLASH}( x \) {SLASH}&#91; y \]"),
    (r"\\(x", rf"\{SLASH}(x"),
    (r"\begin{align} \ref{x} \n", rf"{SLASH}begin{{align}} {SLASH}ref{{x}} \n"),
    ("`\\(x\\)`", f'<code dir="ltr">{SLASH}(x\\)</code>'),
    ("$x_1 < y$", r"\(x_1 &lt; y\)"),
    ("当 $a$，$b$ 与 $c$ 时", r'当 <span class="together">\(a\)，</span>\(b\) 与 \(c\) 时'),
    ("($x$).", r'(<span class="together">\(x\)).</span>'),
    ("$$a[0]$$", r"\[ a&#91;0] \]"),
    ("$$sound:x$$", r"\[ sound:x \]"),
    ("{{c1::x}} {{Field}}", "{{c1::x}} {{Field}}"),
    ("# 1. - + ---", "# 1. - + ---"),
    ("# title", "# title"),
    ("1. one", "1. one"),
    ("> quote", "&gt; quote"),
    ("a\nb", "a<br>b"),
    ("a  \r\n  b\rc", "a  <br>  b<br>c"),
    ("**a**\r\n**b**", "<b>a</b><br><b>b</b>"),
    ("a\0b", "a\ufffdb"),
    (r"$a\$$ (x)", r"$a\$$ (x)"),
    (r"$$a \\[2pt] b$$", r"\[ a \\&#91;2pt] b \]"),
    ('"$@" 与 "$*"', '"$@" 与 "$*"'),
    ("[a `b](http://c.d) e` f", '&#91;a <code dir="ltr">b](http://c.d) e</code> f'),
    ("[`a]b`](http://c.d)", '&#91;<code dir="ltr">a]b</code>](http://c.d)'),
    ("[$x$](http://c.d/$y)", r'<a href="http://c.d/$y">\(x\)</a>'),
    ("**[x](https://a/**b)** z", '<b><a href="https://a/**b">x</a></b> z'),
    ("**a [b** c](http://d)", "<b>a &#91;b</b> c](http://d)"),
    ("[a **b](http://c) d**", '<a href="http://c">a **b</a> d**'),
    ("[ ](http://a.b) arr[0](a.txt)", "&#91; ](http://a.b) arr&#91;0](a.txt)"),
    ("\\[(x](a.md)", f"{SLASH}(x"),
    ("e\u0301", "é"),
    (
        "问题\n```python\na[0] = 1\n\n\tb < c\n```",
        '问题<pre dir="ltr"><code class="language-python">a&#91;0] = 1\n\n\tb &lt; c</code></pre>',
    ),
    ("q\n```python", "q<br>```python"),
    ("q\n```python\nx", 'q<pre dir="ltr"><code class="language-python">x</code></pre>'),
    ("q\n```c++ title\n\n x \n\n```", 'q<pre dir="ltr"><code class="language-c++">\n x \n</code></pre>'),
    ("a\n~~~\n`x\n~~~\nb", 'a<pre dir="ltr"><code>`x</code></pre>b'),
]


@pytest.mark.parametrize(("source", "html"), TABLE)
def test_text_becomes_html(source, html):
    assert render_text(source) == html


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("这是**重点**，`a<b`", "这是重点，a<b"),
        ("[文档](https://a.b) $x_1$", "文档 $x_1$"),
        ("a\nb", "a b"),
        ("问\n```python\nx = 1\n```\n答", "问 x = 1 答"),
        ("[包](../a/SKILL.md) __init__ &amp; $5", "包 __init__ &amp; $5"),
    ],
)
def test_plain_text_has_no_markup(source, text):
    assert plain_text(source) == text


class Visible(HTMLParser):
    """What a browser shows of HTML, near enough."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.text += "\n" if tag in ("br", "pre") else ""

    def handle_endtag(self, tag: str) -> None:
        self.text += "\n" if tag == "pre" else ""


def visible(html: str) -> str:
    parser = Visible()
    parser.feed(html)
    parser.close()
    return parser.text


ANY = st.text(alphabet=st.one_of(st.sampled_from(list("*_`$[](){}<>&;\\/:! \n#ab1→；，。「」甲乙")), st.characters(exclude_categories=["Cs", "Cc"])), max_size=80)  # fmt: skip


UNMARKED = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="*`$[~")


@given(st.text(alphabet=st.one_of(UNMARKED, st.just("\n")), max_size=80))
def test_text_without_marks_shows_exactly_as_written(source):
    assert visible(render_text(source)) == unicodedata.normalize("NFC", source)


@given(ANY)
def test_nothing_in_the_html_is_live(source):
    html = render_text(source)
    outside_math = re.sub(r"\\\(.*?\\\)|\\\[ .*? \\\]", "", html, flags=re.DOTALL)
    assert "[" not in outside_math
    assert not re.search(r"\\[(\[]", outside_math)
    assert set(re.findall(r"<(/?\w+)", html)) <= {
        "b", "/b", "code", "/code", "pre", "/pre", "a", "/a", "br", "span", "/span",
    }  # fmt: skip
    assert not re.search(r"&(?!amp;|lt;|gt;|quot;|#91;|#x27;)", html)


@given(ANY)
def test_plain_text_is_what_shows(source):
    """Math counts as its source, so that its dollars come back from MathJax's delimiters."""
    html = render_text(source)
    html = re.sub(r"\\\((.*?)\\\)", r"$\1$", html)
    html = re.sub(r"\\\[ (.*?) \\\]", r"$$\1$$", html, flags=re.DOTALL)
    shown, plain = "".join(visible(html).split()), "".join(plain_text(source).split())
    assert shown == plain
    assert "\n" not in plain_text(source)


@given(ANY)
def test_only_marks_are_lost(source):
    """Without the marks of code, bold and links, source and screen hold the same letters in the same order."""
    source = unicodedata.normalize("NFC", source)
    shown = visible(render_text(source))
    letters = [c for c in source if c.isalnum()]
    remaining = iter(letters)
    assert all(any(c == other for other in remaining) for c in shown if c.isalnum())
    if "](" not in source and "~~~" not in source and "```" not in source:
        assert [c for c in shown if c.isalnum()] == letters


@pytest.mark.parametrize("piece", ["<", "[", "*", "**a ", "$", "`", "[a](", "](", "[[", "\\(", "**", "$x", "&", "→"])
def test_long_lines_are_rendered(piece):
    assert render_text(piece * 100_000)
