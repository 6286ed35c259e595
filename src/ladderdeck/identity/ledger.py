"""The ledger: what each note is called, so that it is found again after an edit. Text in, values out, and back.

The file is JSON with one entry a line. Each line stands for itself (the comma comes first, not last) and ends with a
check sum, so that git merges it line by line, and a line that was damaged or edited by hand is found by its number.
Entries are never removed: a text that comes back is the old note again.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ..values.model import Kind, Position, Problem, Severity

FORMAT = 1
_FIRST_LINE = re.compile(r'\{"format": (\d+)\Z')
_LINE = re.compile(r',"(note|type|pack) ([^"\\]+)": (\{.*\})\Z')
_CONFLICT = re.compile(r"(<{7}|={7}|>{7}|\|{7})(\s|\Z)")
_RESTORE = "restore the file from git or a backup; without it, delete it: what was never reworded keeps its history"


@dataclass(frozen=True, slots=True)
class Entry:
    """What the ledger knows of one note.

    ``text`` is its wording and ``topic`` its topic's title at the last build, ``place`` its index among its kind in the
    topic. ``fingerprint`` stands for what Anki stored, ``modified`` (Unix seconds) for when that last changed,
    ``provenance`` for the pack version of that time. ``retired`` is the time when the text left the pack, 0 while there.
    ``also`` are other wordings, where two merged branches have changed the text and either may be in the pack.
    """

    guid: str
    kind: Kind
    pack: str
    language: str
    topic: str
    text: str
    place: int
    fingerprint: str
    modified: int
    provenance: str = ""
    retired: int = 0
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class TypeEntry:
    """What the ledger knows of a note type: the fingerprint of its templates and style, and when that last changed."""

    fingerprint: str
    modified: int


@dataclass(frozen=True)
class Ledger:
    """All notes that were ever built, by guid, and the note types, by kind."""

    notes: Mapping[str, Entry] = field(default_factory=lambda: MappingProxyType({}))
    types: Mapping[Kind, TypeEntry] = field(default_factory=lambda: MappingProxyType({}))


def write_ledger(ledger: Ledger) -> str:
    """The text of a ledger: the same ledger gives the same text, whatever the order in which it was made."""
    return "".join(_lines(ledger))


def ledger_data(ledger: Ledger) -> bytes:
    """The content of a ledger's file: its text, but never all of it as text, which takes twice the room of its bytes."""
    data = io.BytesIO()
    data.writelines(line.encode("utf-8", "surrogatepass") for line in _lines(ledger))
    return data.getvalue()


def _lines(ledger: Ledger) -> Iterator[str]:
    yield f'{{"format": {FORMAT}\n'
    for kind, entry in sorted(ledger.types.items(), key=lambda item: item[0].value):
        yield _line("type", kind.value, {"fingerprint": entry.fingerprint, "modified": entry.modified})
    counts = Counter((entry.pack, entry.language) for entry in ledger.notes.values())
    for (pack, language), count in sorted(counts.items()):
        yield _line("pack", f"{pack} {language}", {"at_least": count})
    for guid, note in sorted(ledger.notes.items()):
        yield _line("note", guid, _note_values(note))
    yield "}\n"


def _note_values(note: Entry) -> dict[str, Any]:
    values: dict[str, Any] = {
        "pack": note.pack,
        "language": note.language,
        "kind": note.kind.value,
        "topic": note.topic,
        "text": note.text,
        "place": note.place,
        "fingerprint": note.fingerprint,
        "modified": note.modified,
    }
    if note.provenance:
        values["provenance"] = note.provenance
    if note.retired:
        values["retired"] = note.retired
    if note.also:
        values["also"] = list(note.also)
    return values


def _line(what: str, name: str, values: dict[str, Any]) -> str:
    body = json.dumps(values, ensure_ascii=False)
    return f',"{what} {name}": {body[:-1]}, "check": "{_check(what, name, body)}"}}\n'


def _check(what: str, name: str, body: str) -> str:
    return hashlib.sha256(f"{what} {name} {body}".encode("utf-8", "surrogatepass")).hexdigest()[:8]


def read_ledger(text: str, file: str) -> tuple[Ledger, tuple[Problem, ...]]:
    """The ledger in a file's text. With an error among the problems it must not be used: ids would be handed out anew.

    A merge of two branches by lines may leave two lines of one name; the one that was changed later counts.
    """
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    conflict = next((i for i, line in enumerate(lines, 1) if _CONFLICT.match(line)), None)
    if conflict:
        hint = (
            "merge the file first: keep the lines of both sides, and remove the lines with <<<<<<<, ======= and >>>>>>>"
        )
        return Ledger(), (_error("ledger-conflict", file, conflict, "the ledger holds a conflict of git", hint),)
    head = _FIRST_LINE.match(lines[0].lstrip("\ufeff"))
    if head and int(head.group(1)) > FORMAT:
        message = f"the ledger has format {head.group(1)}, and this version of ladderdeck reads up to {FORMAT}"
        return Ledger(), (_error("ledger-version", file, 1, message, "update ladderdeck"),)
    if not head or int(head.group(1)) != FORMAT:
        return Ledger(), (_error("ledger-damaged", file, 1, "this is not the beginning of a ledger", _RESTORE),)
    reader = _Reader(file)
    for number, line in enumerate(lines[1:-1], 2):
        reader.read(number, line)
    if len(lines) < 2 or lines[-1] != "}":
        reader.refuse(len(lines), "the ledger ends in the middle")
    return reader.ledger(), tuple(reader.problems)


@dataclass
class _Reader:
    """Collects the lines of one file; what leaves is frozen."""

    file: str
    notes: dict[str, Entry] = field(default_factory=dict)
    types: dict[Kind, TypeEntry] = field(default_factory=dict)
    at_least: dict[str, tuple[int, int]] = field(default_factory=dict)
    renamed: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, line: int, message: str) -> None:
        self.problems.append(_error("ledger-damaged", self.file, line, message, _RESTORE))

    def read(self, number: int, line: str) -> None:
        match = _LINE.match(line)
        if not match:
            self.refuse(number, "this line of the ledger is not as ladderdeck writes it")
            return
        what, name, body = match.groups()
        try:
            values = json.loads(body)
            check = values.pop("check")
            if _check(what, name, json.dumps(values, ensure_ascii=False)) != check:
                self.refuse(number, "this line of the ledger was changed by hand or damaged")
                return
            self._take(number, what, name, values)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.refuse(number, "this line of the ledger is damaged")

    def _take(self, number: int, what: str, name: str, values: dict[str, Any]) -> None:
        if what == "type":
            kind, entry = Kind(name), TypeEntry(values["fingerprint"], values["modified"])
            self.types[kind] = _later_type(self.types.get(kind, entry), entry)
        elif what == "pack":
            self.at_least[name] = max(self.at_least.get(name, (0, 0)), (int(values["at_least"]), number))
        else:
            also = tuple(values.pop("also", ()))
            note = Entry(guid=name, **{**values, "kind": Kind(values["kind"])}, also=also)
            twin = self.notes.get(name)
            self.notes[name] = note if twin is None else _later(twin, note)
            if twin is not None and (twin.pack, twin.language) != (note.pack, note.language):
                # One of two merged branches renamed the pack: how many notes it should have, nobody knows any more.
                self.renamed |= {f"{twin.pack} {twin.language}", f"{note.pack} {note.language}"}

    def ledger(self) -> Ledger:
        counts = Counter(f"{note.pack} {note.language}" for note in self.notes.values())
        for name, (at_least, number) in self.at_least.items():
            if counts[name] < at_least and name not in self.renamed:
                self.refuse(number, f"{at_least - counts[name]} of the {at_least} notes of `{name}` are missing")
        for name in sorted(counts.keys() - self.at_least.keys() - self.renamed):
            self.refuse(1, f"the line of the pack `{name}` is missing")
        for kind in sorted({note.kind.value for note in self.notes.values()} - {kind.value for kind in self.types}):
            self.refuse(1, f"the line of the note type `{kind}` is missing")
        return Ledger(MappingProxyType(self.notes), MappingProxyType(self.types))


def _later_type(one: TypeEntry, other: TypeEntry) -> TypeEntry:
    """Of two lines about one note type the later; see :func:`_later` for the missing fingerprint."""
    first, second = sorted((one, other), key=lambda entry: (entry.modified, entry.fingerprint))
    is_settled = first.fingerprint == second.fingerprint or second.modified > first.modified
    return replace(second, fingerprint=second.fingerprint * is_settled)


def _later(one: Entry, other: Entry) -> Entry:
    """Of two lines about one note that counts which was changed later; settled alike on every machine.

    Where one branch retired what the other kept, it is kept: should its text be gone, the next build retires it again.
    """
    first, second = sorted((one, other), key=lambda e: (not e.retired, e.modified, e.fingerprint, e.text, e.topic))
    wordings = {text: None for e in (second, first) for text in (e.text, *e.also) if text != second.text}
    modified = max(one.modified, other.modified)
    # Either may be what a phone has by now, so that only a later time than both is sure to arrive there: without a
    # fingerprint, the next build takes the note for changed.
    is_settled = first.fingerprint == second.fingerprint or second.modified > first.modified
    return replace(second, modified=modified, fingerprint=second.fingerprint * is_settled, also=tuple(wordings))


def _error(code: str, file: str, line: int, message: str, hint: str) -> Problem:
    return Problem(code, Severity.ERROR, Position(file, line), message, hint)


def newest(ledger: Ledger) -> int:
    """The latest time of change in the ledger (Unix seconds), 0 for an empty one."""
    times: Iterable[int] = (
        *(note.modified for note in ledger.notes.values()),
        *(entry.modified for entry in ledger.types.values()),
    )
    return max(times, default=0)
