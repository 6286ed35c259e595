"""What lies beside a pack: its answer files and the pictures that they show. The edge where these are read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from ..reading.discover import Document, read_file
from ..values.model import Position, Problem, Severity
from ..values.paths import shown
from .answers import is_answer_file

ANSWER_FOLDER = "answers"
DRILL_FILE = re.compile(r"drills(\.\w+)?\.yaml\Z")
LARGEST_PICTURE = 500 * 1024
"""Bytes above which a picture makes a warning: phones sync every one of them."""

_PICTURES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"}


def answer_documents(packs: Sequence[Document], problems: list[Problem]) -> list[Document]:
    """The answer files in the `answers` folders beside ``packs``, each once."""
    folders = dict.fromkeys(pack.file.parent / ANSWER_FOLDER for pack in packs)
    documents = []
    for folder in folders:
        if folder.is_dir():
            for path in sorted(folder.rglob("*.md")):
                data = read_file(path, problems) if path.is_file() else None
                if data is not None and is_answer_file(data):
                    documents.append(Document(shown(path), data, path))
    return documents


def drill_documents(packs: Sequence[Document], problems: list[Problem]) -> list[Document]:
    """The drill files beside ``packs``, each once: `drills.yaml`, and `drills.en.yaml` for one language of several."""
    folders = dict.fromkeys(pack.file.parent for pack in packs)
    paths = [path for folder in folders for path in sorted(folder.glob("drills*.yaml")) if DRILL_FILE.match(path.name)]
    read = ((path, read_file(path, problems)) for path in paths if path.is_file())
    return [Document(shown(path), data, path) for path, data in read if data is not None]


def new_answer_file(folder: Path, topic: str) -> Path:
    """A name for a new answer file of a topic ('' for the pack's own) beside the packs in ``folder``: not yet taken."""
    stem = re.sub(r"[^\w-]+", "-", topic).strip("-")[:60] or "pack"
    names = (f"{stem}{f'-{number}' if number > 1 else ''}.md" for number in count(1))
    return next(file for name in names if not (file := folder / ANSWER_FOLDER / name).exists())


class Pictures:
    """Finds the pictures of answer files and keeps their content, under names made of nothing but it.

    ``files`` maps packaged names to contents: a name with a blank, a bracket or a capital letter breaks on one client
    or another, and two pictures of one name would be mixed up, so neither is kept.
    """

    def __init__(self, home: Path, answers: Sequence[Document]) -> None:
        self.home = home.resolve()
        self.folders = {document.path: document.file.parent for document in answers}
        self.files: dict[str, bytes] = {}
        self.problems: list[Problem] = []
        self._names: dict[Path, str] = {}

    def find(self, file: str, destination: str, position: Position) -> str | None:
        """The packaged name of the picture that ``file`` shows as ``destination``; None, and a problem, without one."""
        if "://" in destination or destination.startswith(("data:", "//")):
            hint = "save the picture beside the answer: a card must work without a network"
            return self._report("picture-url", position, f"`{destination}` is not a file", hint)
        if "\0" in destination:
            return self._report("no-picture", position, "no picture has NUL in its name", "check its name")
        path = (self.folders[file] / destination).resolve()
        if path in self._names:
            return self._names[path]
        if not path.is_relative_to(self.home):
            message = f"`{destination}` leaves the folder {self.home.name}"
            return self._report("picture-outside", position, message, "copy the picture beside the answer")
        if not path.is_file():
            return self._report("no-picture", position, f"there is no picture `{destination}`", "check its name")
        if path.suffix.lower() not in _PICTURES:
            hint = "known are " + ", ".join(sorted(_PICTURES))
            return self._report("picture-type", position, f"`{destination}` is no picture that Anki shows", hint)
        data = read_file(path, self.problems)
        return None if data is None else self._keep(path, data, destination, position)

    def _keep(self, path: Path, data: bytes, destination: str, position: Position) -> str:
        if len(data) > LARGEST_PICTURE:
            message = f"the picture `{destination}` has {len(data) // 1024} kB"
            hint = f"make it smaller than {LARGEST_PICTURE // 1024} kB: every phone stores it"
            self.problems.append(Problem("large-picture", Severity.WARNING, position, message, hint))
        name = f"ladder-{hashlib.sha256(data).hexdigest()[:16]}{path.suffix.lower()}"
        self.files[name] = data
        self._names[path] = name
        return name

    def _report(self, code: str, position: Position, message: str, hint: str) -> str | None:
        self.problems.append(Problem(code, Severity.ERROR, position, message, hint))
        return None
