"""A line on the terminal that says how far long work is, and is gone when the work is done."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from ..values.progress import Report, silent

_PATIENCE = 0.7
"""Seconds in which nothing is shown: most builds are done by then."""
_AT_MOST_EVERY = 0.1
"""Seconds between two states of the line."""


class ProgressLine:
    """Shows the latest words in one line of a terminal, over the words before. It uses no escape sequence."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._next = clock() + _PATIENCE
        self._width = 0

    def show(self, what: str) -> None:
        """Show what is being done now, unless something was shown a moment ago."""
        now = self._clock()
        if now >= self._next:
            self._write(f"{what} …")
            self._next = now + _AT_MOST_EVERY

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()

    def _write(self, text: str) -> None:
        self._stream.write(f"\r{text.ljust(self._width)}")
        self._stream.flush()
        self._width = len(text)


@contextmanager
def progress(*, wanted: bool) -> Iterator[Report]:
    """Something to report to while a command works. Only a person at a terminal sees it."""
    if not (wanted and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"):
        yield silent
        return
    line = ProgressLine(sys.stderr)
    try:
        yield line.show
    finally:
        line.clear()
