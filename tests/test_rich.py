"""Answers as HTML: Markdown in, what the card holds out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.rendering.rich import render_point, render_rich, work_of
from ladderdeck.values.model import Position, Text


def rendered(markdown: str, *, line: int = 1, column: int = 1):
    source = Text(markdown, Position("a.md", line, column))
    worked, _ = work_of(source)
    references = {"DOC": {"href": "https://example.org/doc", "title": ""}}
    return render_rich(source, worked, references, lambda destination, _: f"packed-{destination}")


def shown(markdown: str) -> str:
    """The HTML without what every table, paragraph and cell carries."""
    html = rendered(markdown).html
    for noise in (' dir="auto"', ' dir="ltr"', '<div class="scroll"><table>', "</table></div>"):
        html = html.replace(noise, "")
    return html


HEAD = "<thead><tr><th>a</th><th>b</th></tr></thead>"


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        # Emphasis beside Chinese, where CommonMark leaves the marks as text.
        ("**重点：**后面", "<p><strong>重点：</strong>后面</p>"),
        ("前面**“引号”**后面", "<p>前面<strong>“引号”</strong>后面</p>"),
        ('前面**"q"**后面', '<p>前面<strong>"q"</strong>后面</p>'),
        ("*注意！*再看", "<p><em>注意！</em>再看</p>"),
        ("是**（必须）**的", "<p>是<strong>（必须）</strong>的</p>"),
        ("**`x`**的", "<p><strong><code>x</code></strong>的</p>"),
        ("**$x$**的", "<p><strong>\\(x\\)</strong>的</p>"),
        # And as CommonMark has it where there is no Chinese.
        ("a **b**c", "<p>a <strong>b</strong>c</p>"),
        ('a**"b"**c', '<p>a**"b"**c</p>'),
        ("snake_case_name and __init__", "<p>snake_case_name and <strong>init</strong></p>"),
        ("_a_ and a_b_", "<p><em>a</em> and a_b_</p>"),
        ("2 * 3 * 4", "<p>2 * 3 * 4</p>"),
        ("***both***", "<p><em><strong>both</strong></em></p>"),
        # Money is no formula, and a formula is no Markdown.
        ("from $5 to $10", "<p>from $5 to $10</p>"),
        ("$a_1 * b_2 * c$", "<p>\\(a_1 * b_2 * c\\)</p>"),
        (r"$x < y \& z$", r"<p>\(x &lt; y \&amp; z\)</p>"),
        ("$$\nx_1 * y * z\n$$", '<div class="scroll">\\[ x_1 * y * z \\]</div>'),
        ("- so:\n  $$\n  x\n  $$\n- then", '<ul><li>so:<div class="scroll">\\[ x \\]</div></li><li>then</li></ul>'),
        ("> as\n>\n> $$x$$", '<blockquote><p>as</p><div class="scroll">\\[ x \\]</div></blockquote>'),
        ("# Sum\n$$x$$", '<h4>Sum</h4><div class="scroll">\\[ x \\]</div>'),
        (
            "so\n\\begin{align}\na &= b \\\\\n\nc &= d\n\\end{align}\nthen",
            '<p>so</p><div class="scroll">\\[ \\begin{align}\na &amp;= b \\\\\n\nc &amp;= d\n\\end{align} \\]</div><p>then</p>',
        ),
        (
            "\\begin{cases} a \\\\ b \\end{cases}",
            '<div class="scroll">\\[ \\begin{cases} a \\\\ b \\end{cases} \\]</div>',
        ),
        ("$$\\begin{align}\na\n\\end{align}$$", '<div class="scroll">\\[ \\begin{align}\na\n\\end{align} \\]</div>'),
        ("\\begin{align} is never closed", "<p><span>\\</span>begin{align} is never closed</p>"),
        # Anki's own syntax, and HTML, are text.
        ("[sound:a.mp3] {{c1::x}}", "<p>&#91;sound:a.mp3] {{c1::x}}</p>"),
        ("a <b>c</b> &lt;", "<p>a &lt;b&gt;c&lt;/b&gt; &lt;</p>"),
        ("<script>x</script>", "<p>&lt;script&gt;x&lt;/script&gt;</p>"),
        ("`\\(x\\)`", "<p><code><span>\\</span>(x\\)</code></p>"),
        # Lists and blocks.
        ("3. c\n4. d", '<ol start="3"><li>c</li><li>d</li></ol>'),
        ("- a\n  - b\n    1. c", "<ul><li>a<ul><li>b<ol><li>c</li></ol></li></ul></li></ul>"),
        ("- a\n\n  ```\n  x = 1\n  ```", "<ul><li><p>a</p><pre><code>x = 1</code></pre></li></ul>"),
        ("第一行\n第二行", "<p>第一行第二行</p>"),
        ("one\ntwo", "<p>one two</p>"),
        ("a  \nb", "<p>a<br>b</p>"),
        ("a\n\n---\n\nb", "<p>a</p><hr><p>b</p>"),
        # Links and pictures.
        ("[d][doc]", '<p><a href="https://example.org/doc">d</a></p>'),
        ("[x](https://a.example/b_c_d?q=[1])", '<p><a href="https://a.example/b_c_d?q=%5B1%5D">x</a></p>'),
        ("[x](notes/other.md)", "<p>x</p>"),
        ("<https://a.example>", '<p><a href="https://a.example">https://a.example</a></p>'),
        ('![a "b"](<my p.png>)', '<p><img src="packed-my p.png" alt="a &quot;b&quot;"></p>'),
        # Tables.
        ("| a | b |\n|---|---|\n| 1 | 2 |", f"{HEAD}<tbody><tr><td>1</td><td>2</td></tr></tbody>"),
        ("a | b\n--- | ---\n1 |", f"{HEAD}<tbody><tr><td>1</td><td></td></tr></tbody>"),
        ("| a | b |\n|---|---|\n| `x|y` | 2 |", f"{HEAD}<tbody><tr><td><code>x|y</code></td><td>2</td></tr></tbody>"),
        ("| a | b |\n|---|---|\n| `x\\|y` | 2 |", f"{HEAD}<tbody><tr><td><code>x|y</code></td><td>2</td></tr></tbody>"),
        ("| a | b |\n|---|---|\n| $P(x|y)$ | 2 |", f"{HEAD}<tbody><tr><td>\\(P(x|y)\\)</td><td>2</td></tr></tbody>"),
        ("| a | b |\n|---|---|\n| $\\|x\\|$ | 2 |", f"{HEAD}<tbody><tr><td>\\(\\|x\\|\\)</td><td>2</td></tr></tbody>"),
        ("| a | b |\n|---|---|\n| x\\|y | 2 |", f"{HEAD}<tbody><tr><td>x|y</td><td>2</td></tr></tbody>"),
        ("| a | b |\n|---|---|\n| $5 | $10 |", f"{HEAD}<tbody><tr><td>$5</td><td>$10</td></tr></tbody>"),
        ("- t\n\n  | a | b |\n  |---|---|", f"<ul><li><p>t</p>{HEAD}</li></ul>"),
        (
            "| a |\n|--:|\n| 1 |",
            '<thead><tr><th style="text-align:right">a</th></tr></thead>'
            '<tbody><tr><td style="text-align:right">1</td></tr></tbody>',
        ),
        ("    | a | b |\n    |---|", "<pre><code>| a | b |\n|---|</code></pre>"),
    ],
)
def test_markdown_reaches_the_card_as_it_was_meant(markdown, html):
    assert shown(markdown) == html
    assert rendered(markdown).problems == ()


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("| a | b |\n|---|---|\n| 1 | 2 | 3 |", ["a.md:7:1: error: table-cells"]),
        ("text\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| x || y |", ["a.md:10:1: error: table-cells"]),
        ("| a | b |\n|---|\n| 1 | 2 |", ["a.md:5:1: error: table-cells"]),
        ("| a |\n|---|---|", ["a.md:5:1: error: table-cells"]),
        ("text\n| a |\n|---|---|", ["a.md:6:1: error: table-cells"]),
        ("```\n| a |\n|---|---|\n```", []),
        ("| a | b |\n|---|---|\n| `1|2|3` | $x|y$ |", []),
        (r"so \(x\) is", ["a.md:5:4: warning: tex-delimiters"]),
        ("so\n\n\\[\nx\n\\]", ["a.md:7:1: warning: tex-delimiters"]),
        (r"`\(x\)` and $\begin{array}{c}a \\[2pt] b\end{array}$", []),
        ("[x](javascript:alert)", ["a.md:5:1: warning: open-link"]),
        ("[3](#none)", ["a.md:5:3: error: unknown-quantity"]),
    ],
)
def test_what_would_not_be_seen_is_said_with_its_place(markdown, expected):
    problems = rendered(markdown, line=5).problems
    assert [f"{p.position}: {p.severity.value}: {p.code}" for p in problems] == expected


def test_a_key_point_is_rendered_as_a_line_of_an_answer():
    worked, _ = work_of(Text("", Position("a.md", 1, 1)))
    for markdown in ("**重点：**后面", "plain", "`a|b`", "from $5 to $10"):
        point = render_point(Text(markdown, Position("a.md", 1, 1)), worked, {}, lambda *_: None).html
        assert f'<p dir="auto">{point}</p>' == rendered(markdown).html


CELL = st.text(alphabet="ab|`$\\ 中：", max_size=8)


@given(st.lists(st.lists(CELL, min_size=1, max_size=4), min_size=1, max_size=5))
def test_every_cell_is_shown_or_complained_about(rows):
    markdown = "| 甲 | 乙 |\n|---|---|\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows)
    rich = rendered(markdown)
    assert "\ufdd0" not in rich.html
    if not rich.problems:
        for character in "ab中：":
            assert rich.html.replace("<table>", "").count(character) >= markdown.count(character)
