"""Tables of answers: GitHub's, but a bar inside code or a formula parts no cells, and no cell is dropped in silence.

GitHub's tables part `P(a|b)` and `x|y` in code unless the bar is escaped, drop the cells that a row has too many, and
make text of a table whose second line has another number of columns than its head. An author sees none of it.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit, table

from ..reading.markup import spans

_WITHIN = "\ufdd0"
"""Stands for a bar that parts nothing while the table is read: a character that no text may hold (Unicode, 23.7)."""
_COMPLAINTS, _HIDDEN = "table complaints", "bars hidden"
"""What the rule leaves in the environment of a parse."""


def install_tables(markdown: MarkdownIt) -> None:
    """Teach a parser the tables of answers, in place of GitHub's."""
    markdown.enable("table").block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})


def table_complaints(env: Mapping[str, Any]) -> tuple[tuple[int, str, str], ...]:
    """What is wrong with the tables of the text that was parsed with ``env``: line from 0, message, and what to do."""
    return tuple((line, *text) for line, text in sorted(env.get(_COMPLAINTS, {}).items()))


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if start + 2 > end or "|" not in _line(state, start) or _line(state, start + 1).strip("|-: \t"):
        return False
    if state.is_code_block(start):
        return False
    source = state.src
    state.src = _bars_within_hidden(source, state.env)
    try:
        first = len(state.tokens)
        found = table(state, start, end, silent)
        complaints = state.env.setdefault(_COMPLAINTS, {})
        if found and not silent:
            for token in state.tokens[first:]:
                token.content = token.content.replace(_WITHIN, "|")
            for line in range(start + 2, state.line):
                _check_row(complaints, line, _line(state, line), _cells(_line(state, start)))
        elif not found and "|" in _line(state, start + 1) and "-" in _line(state, start + 1):
            _check_head(complaints, start, _cells(_line(state, start)), _cells(_line(state, start + 1)))
    finally:
        state.src = source
    return found


def _bars_within_hidden(source: str, env: MutableMapping[str, Any]) -> str:
    """The text with another sign, of the same length, for each bar in code or a formula; made once for each text.

    An escaped bar in code stays as it is, for GitHub takes the backslash away there; in a formula `\\|` is TeX's.
    """
    if env.get(_HIDDEN, ("", ""))[0] != source:
        lines = source.split("\n")
        may_hide = [number for number, line in enumerate(lines) if "|" in line and ("`" in line or "$" in line)]
        for number in may_hide:
            lines[number] = _row_hidden(lines[number])
        env[_HIDDEN] = (source, "\n".join(lines))
    return str(env[_HIDDEN][1])


def _row_hidden(line: str) -> str:
    parts, position = [], 0
    for span in spans(line):
        inside = line[span.start : span.end]
        if span.what in ("math", "display"):
            inside = inside.replace("|", _WITHIN)
        else:
            inside = inside.replace("\\|", "\0").replace("|", _WITHIN).replace("\0", "\\|")
        parts += [line[position : span.start], inside]
        position = span.end
    return "".join([*parts, line[position:]])


def _check_row(complaints: dict[int, tuple[str, str]], line: int, row: str, columns: int) -> None:
    cells = _cells(row)
    if cells > columns:
        message = f"this row of the table has {cells} cells, and its head {columns}: the last would not be shown"
        complaints[line] = message, "give the head as many cells, or write a bar that is text as `\\|`"
    elif cells < columns and "｜" in row:
        complaints[line] = "a full-width bar parts no cells of a table", "write | instead of ｜"


def _check_head(complaints: dict[int, tuple[str, str]], line: int, cells: int, columns: int) -> None:
    if cells != columns:
        message = f"this table's head has {cells} cells, and the line of dashes below it {columns}: it would be text"
        complaints[line] = message, "give both as many cells, or write a bar that is text as `\\|`"


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].strip()


def _cells(line: str) -> int:
    cells = escapedSplit(line.strip())
    return len(cells) - (cells[0] == "") - (len(cells) > 1 and cells[-1] == "")
