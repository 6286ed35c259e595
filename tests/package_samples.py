"""Notes as the tests of packaging need them: any kind, any of its parts replaced."""

import sys
from pathlib import Path

from ladderdeck.packaging.package import write_package
from ladderdeck.packaging.templates import Templates, default_folder, load_templates
from ladderdeck.values.model import Kind
from ladderdeck.values.note import IdentifiedNote, Note, Origin

MODIFIED = 1_700_000_000
TYPE_MODIFIED = dict.fromkeys(Kind, MODIFIED)
FULL = {
    "Question": '<div class="text" dir="auto">Why does throughput stop growing? 为什么</div>',
    "Topic": '<div class="text" dir="auto">Batching</div>',
    "Pack": '<div class="text" dir="auto">serving</div>',
    "Language": "zh-CN",
    "Place": "2 / 4",
    "Earlier": '<ol><li dir="auto">What is a batch?</li></ol>',
    "Next": '<div class="text" dir="auto">What about latency?</div>',
    "Ladder": '<ol><li dir="auto">What is a batch?</li><li dir="auto">And then?</li></ol>',
    "Key Points": '<ul><li dir="auto">memory bandwidth</li></ul>',
    "Answer": "<p>Every step reads all weights.</p>",
    "Follow Up": '<ul><li dir="auto">And the tail?</li></ul>',
    "Signs": '<ul><li dir="auto">draws the curve</li></ul>',
    "Red Flags": '<ul><li dir="auto">says bigger is better</li></ul>',
    "Sources": '<ul><li dir="auto">a paper</li></ul>',
    "Provenance": '<div class="text" dir="auto">1.2.0 · 3f9a1c2</div>',
    "Notice": '<div class="text" dir="auto">retired</div>',
    "Extra": '<div class="text" dir="auto">spare part</div>',
    "Data": '{"secret": 1}',
}


def make(kind=Kind.RUNG, number=0, *, fields=None, tags=("kind::x",), deck="Ladders::Serving", due=None, **identity):
    """A note of ``kind``; ``number`` makes its guid and wording its own, ``guid`` and ``modified`` replace those."""
    origin = Origin("serving", "zh", kind, "Batching", f"wording {number}", number)
    note = Note(origin, FULL if fields is None else fields, tags, deck, number if due is None else due)
    guid = identity.get("guid", f"{kind.value}-{number}")
    return IdentifiedNote(note, guid, identity.get("modified", MODIFIED))


def templates() -> Templates:
    """The project's own templates."""
    return load_templates(default_folder())


def write(notes, file: Path, look: Templates | None = None, type_modified=TYPE_MODIFIED) -> Path:
    """Write a package with the project's templates, or ``look``."""
    write_package(notes, look or templates(), type_modified, file)
    return file


def every_kind() -> list[IdentifiedNote]:
    """Two full notes of each kind, in two decks."""
    return [make(kind, number, deck=f"Ladders::{number}") for kind in Kind for number in range(2)]


if __name__ == "__main__":
    write(every_kind(), Path(sys.argv[1]))
