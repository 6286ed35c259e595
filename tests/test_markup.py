"""Where code and math are, as tables of text in and marks out: `[…]` encloses what is protected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.reading.markup import protected_spans, spans


def marked(text: str) -> str:
    """The text with every protected stretch between ⟦ and ⟧."""
    parts, position = [], 0
    for start, end in protected_spans(text):
        parts.append(f"{text[position:start]}⟦{text[start:end]}⟧")
        position = end
    return "".join(parts) + text[position:]


MATH = [
    "⟦$x$⟧",
    "⟦$x_1+x_2$⟧ and ⟦$y_1$⟧",
    "⟦$1*2*3$⟧",
    "设⟦$x$⟧为一",
    "⟦$f'(x)$⟧",
    "⟦$[0,1)$⟧",
    "[⟦$x$⟧]",
    "(⟦$n$⟧)",
    "⟦$a → b$⟧ → c",
    "⟦$a|b$⟧",
    r"⟦$\underbrace{a}_{\text{b}}$⟧",
    r"⟦$\frac{1}{2}$⟧。",
    "⟦$x$⟧, ⟦$y$⟧; ⟦$z$⟧.",
    "⟦$$E = mc^2$$⟧",
    "⟦$$\na\n= b\n$$⟧",
    "公式⟦$$x$$⟧和",
    r"⟦$\text{甲，乙}$⟧",
    r"⟦$50\%$⟧",
    r"⟦$a \\ b$⟧ is a line break of TeX",
    r"⟦$$\begin{matrix} a \\[2pt] b \end{matrix}$$⟧",
    "⟦$$\na % a comment\n= b\n$$⟧",
    "⟦$+$⟧ ⟦$<=$⟧ ⟦$:=$⟧ ⟦$∞$⟧",
    "⟦$.5x$⟧ ⟦$5 mod 3$⟧",
    "'⟦$x$⟧' and '⟦$y$⟧'",
]
NOT_MATH = [
    "$5 to $10",
    "$5 and $6",
    "US$5 or US$6",
    "from $5/$6",
    "$5-$10",
    "/proc/$PID/fd/$FD",
    "$PATH:$HOME",
    "${HOME}/${USER}",
    "$(a)$(b)",
    "$x[$]",
    "[$]x[/$] and [$$]x[/$$]",
    r"\$5 and \$6$",
    "a $ b $ c",
    "a lone $",
    "$",
    "$$",
    "$$$",
    "$$$$",
    "$$ and $$",
    "$foo=$bar;",
    "^foo$|^bar$",
    "$ x$",
    "$x $",
    "$a\nb$",
    "A$B$C",
    "$x$y",
    "$a{$",
    r"$a \) b$",
    r"$a\$$ would end in its own mark",
    r"$a\\{b$",
    "$50%$",
    '"$@" 与 "$*" 的区别',
    "'$1' '$*'",
    "$?,$! 与 ($*,$@)",
    "$?、$!、$@、$#、$$、$0",
    "$(A)/x/$@",
    "$@,$<,$^",
    r"/[a-z]+$/ 与 /\w+$/",
    "(a|b)$|^(c|d)$ 与 ^$|^x$",
    "$5，他花了5$",
    "between $5 and 6$",
    "$.ajax,$.get,$..path",
    "$$HOME:$$PATH $$HOME-$$USER $$A/$$",
    "kill $$,$$",
]
CODE = [
    "⟦`p->q`⟧",
    "⟦``a`b``⟧ c",
    "`unclosed",
    "``two ` one",
    "⟦`a → b；c`⟧；d",
    "⟦`$x`⟧ $y",
    "⟦`a`⟧ and ⟦`$b$`⟧",
    "⟦```\na → b\n```⟧",
    "question\n⟦```python\na ; b\n```⟧\nafter",
    "question\n⟦~~~\n`x\n~~~⟧",
    "question\n⟦```\nunclosed → x⟧",
    "question\n```python",
    "question\n~~~\n\n",
    "question\n⟦~~~ a`b\nx\n~~~⟧",
    "question\n``` a`b\nx",
]


@pytest.mark.parametrize("expected", [*MATH, *CODE, *NOT_MATH])
def test_what_is_protected(expected):
    assert marked(expected.replace("⟦", "").replace("⟧", "")) == expected


@given(st.text(alphabet="`$ab →；\n~{}[]()\\5", max_size=60))
def test_spans_ascend_within_the_text_and_never_overlap(text):
    position = 0
    for span in spans(text):
        assert position <= span.start < span.inner_start <= span.inner_end <= span.end <= len(text)
        position = span.end


@pytest.mark.parametrize("piece", ["`a ``b ", "$a ", "$$a ", "``` \n", "`", "$", "$a{ ", "$ ", "~~~\n"])
def test_long_lines_are_scanned(piece):
    assert list(spans(piece * 50_000)) is not None
