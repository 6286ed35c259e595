"""Formulas for a page that has no MathJax: Anki's delimiters turned into MathML, which every browser shows by itself."""

from __future__ import annotations

import functools
import html
import re

_FORMULA = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)


def with_mathml(source: str) -> str:
    """A field's HTML with each ``\\(…\\)`` and ``\\[…\\]`` as MathML; what cannot be converted shows its TeX as code.

    The set of commands is smaller than MathJax's, so the preview can show TeX where Anki shows a formula.
    """
    return _FORMULA.sub(_mathml, source) if "\\(" in source or "\\[" in source else source


def _mathml(match: re.Match[str]) -> str:
    display = match.group(1) is None
    return _converted(html.unescape(match.group(2) if display else match.group(1)).strip(), display)


@functools.cache
def _converted(formula: str, display: bool) -> str:
    # Only previews with a formula pay for the import.
    from latex2mathml.converter import convert

    try:
        return str(convert(formula, display="block" if display else "inline"))
    except Exception:  # the library raises whatever its parser stumbles over, also IndexError and KeyError
        return f'<code class="tex">{html.escape(formula, quote=False)}</code>'
