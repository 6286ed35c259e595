"""Paths as people read them."""

from __future__ import annotations

import os
from pathlib import Path

TEMPORARY = ".ladderdeck.tmp"
"""How the names of files end that are being written."""


def shown(path: Path) -> str:
    """A path for messages and JSON: with slashes, and in its real characters.

    Under a locale such as C, Python keeps the bytes of a Chinese name as lone surrogates; here they are text again.
    What is no UTF-8 becomes an escape, since it could not be printed.
    """
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def on_disk(name: str) -> str:
    """A name in its real characters as the disk calls take it: the other way round than :func:`shown`."""
    return os.fsdecode(name.encode("utf-8", "surrogatepass"))
