"""Paths and texts as people read them on a terminal."""

from __future__ import annotations

import os
import re
from pathlib import Path

TEMPORARY = ".ladderdeck.tmp"
"""How the names of files end that are being written."""


_COMMANDS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys instead of showing it, line ends and tabs aside: control characters and changes of direction."""


def visible(text: str) -> str:
    """A text in which everything is to be seen: what would command the terminal stands there as an escape."""
    return _COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def shown(path: Path) -> str:
    """A path for messages and JSON: with slashes, and in its real characters.

    Under a locale such as C, Python keeps the bytes of a Chinese name as lone surrogates; here they are text again.
    What is no UTF-8 or commands a terminal becomes an escape.
    """
    return visible(os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")).replace("\n", "\\n")


def on_disk(name: str) -> str:
    """A name in its real characters as the disk calls take it: the other way round than :func:`shown`."""
    return os.fsdecode(name.encode("utf-8", "surrogatepass"))
