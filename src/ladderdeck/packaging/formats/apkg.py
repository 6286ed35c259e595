"""Anki's package: notes, note types, decks and pictures in one file, for every Anki there is."""

from __future__ import annotations

from pathlib import Path

from ..package import begins_as_package, write_package
from .contract import Content, Format


def _write(content: Content, file: Path) -> None:
    write_package(content.notes, content.templates, content.type_modified, file, content.media)


FORMAT = Format(
    suffixes=(".apkg",),
    next_step="send this file to your phone and open it with Anki; the README says how.",
    is_ours=begins_as_package,
    write=_write,
)
