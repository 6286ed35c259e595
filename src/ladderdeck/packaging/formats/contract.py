"""What a format is, and what it is given to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...values.model import Kind
from ...values.note import IdentifiedNote
from ..templates import Templates


@dataclass(frozen=True)
class Content:
    """What a build has made: the notes, their look, when each kind's look last changed (Unix seconds), and the pictures
    by name."""

    notes: Sequence[IdentifiedNote]
    templates: Templates
    type_modified: Mapping[Kind, int]
    media: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """A way to write notes into one file.

    ``suffixes`` are those by which `-o` knows it, with their dot, the usual one first. ``next_step`` tells a person what
    to do with the file. ``is_ours`` says whether a file that begins with these bytes (512, or all of it) was written in
    this format by this program, so that it may be replaced. ``write`` writes the file; the same content gives the same
    bytes. It raises ValueError for what cannot be written, and OSError where the disk refuses.
    """

    suffixes: tuple[str, ...]
    next_step: str
    is_ours: Callable[[bytes], bool]
    write: Callable[[Content, Path], None]
