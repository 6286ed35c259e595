"""Which program this is: what is kept of one is of no use to another."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path


@functools.cache
def program() -> str:
    """A digest of this program's source, of the Python that runs it, and of what is installed beside it."""
    digest = hashlib.sha256(sys.version.encode())
    for file in sorted(_sources(str(Path(__file__).parent.parent))):
        digest.update(os.fsencode(file))
        with Path(file).open("rb") as stream:
            digest.update(hashlib.sha256(stream.read()).digest())
    for folder in sys.path:
        # A package that is installed or removed changes the time of the folder that it is in.
        if folder.endswith("-packages") and Path(folder).is_dir():
            digest.update(os.fsencode(f"{folder} {Path(folder).stat().st_mtime_ns}"))
    return digest.hexdigest()


def _sources(folder: str) -> Iterator[str]:
    with os.scandir(folder) as found:
        for entry in found:
            if entry.name.endswith(".py"):
                yield entry.path
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _sources(entry.path)
