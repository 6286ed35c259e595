"""An address as a QR code in the terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence

_BORDER = 4
"""Light modules around the code; scanners want four."""

_DARK_ON_LIGHT = "\x1b[38;5;16;48;5;231m"
"""Black on white by the numbers of the fixed palette, so that no theme of a terminal, dark or light, turns it round."""

_RESET = "\x1b[0m"
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def qr_lines(text: str, *, columns: int, encoding: str, colour: bool) -> tuple[str, ...]:
    """``text`` as a QR code for a terminal that is ``columns`` wide and shows ``encoding``; no lines if it cannot be.

    Two rows of the code share a line where the encoding has half blocks; else a module is two coloured blanks. Without
    ``colour`` the light parts are drawn, as is right on a dark terminal; most phones read the code either way.
    """
    import segno

    code = segno.make(text, error="l", boost_error=False, micro=False)
    rows = [[bool(module) for module in row] for row in code.matrix_iter(border=_BORDER)]
    if _can_show(encoding):
        lines = _half_blocks(rows, colour=colour)
    elif colour:
        lines = _blanks(rows)
    else:
        return ()
    return lines if all(len(_ESCAPE.sub("", line)) <= columns for line in lines) else ()


def _can_show(encoding: str) -> bool:
    try:
        "█▀▄".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _half_blocks(rows: Sequence[Sequence[bool]], *, colour: bool) -> tuple[str, ...]:
    """Two rows a line. With colour the blocks are the dark modules on white, without they are the light ones."""
    lines = []
    light = [False] * len(rows[0])
    for index in range(0, len(rows), 2):
        below = rows[index + 1] if index + 1 < len(rows) else light
        cells = zip(rows[index], below, strict=True)
        text = "".join(" ▄▀█"[2 * (upper == colour) + (lower == colour)] for upper, lower in cells)
        lines.append(f"{_DARK_ON_LIGHT}{text}{_RESET}" if colour else text)
    return tuple(lines)


def _blanks(rows: Sequence[Sequence[bool]]) -> tuple[str, ...]:
    """A row a line, in blanks alone: a black or white background needs no character."""
    dark, light = "\x1b[48;5;16m  ", "\x1b[48;5;231m  "
    return tuple("".join(dark if module else light for module in row) + _RESET for row in rows)
