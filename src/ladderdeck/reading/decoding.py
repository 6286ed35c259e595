"""From the bytes of a file to text that can be parsed, with every byte that must not reach Anki reported."""

from __future__ import annotations

import re

from ..values.model import Position, Problem, Severity

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NONCHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")
_REPLACEMENT = "\ufffd"
_REPORTED_AT_MOST = 20


def decode(data: bytes, file: str) -> tuple[str | None, tuple[Problem, ...]]:
    """The text of a file, with ``\\n`` for every line end and without a byte order mark, and what is wrong with it.

    None where nothing can be read: an empty file, or bytes that are not UTF-8. Control characters are errors, since
    one U+001F breaks a whole import into Anki.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return None, (_not_utf8(data, file, error),)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        problem = Problem(
            "empty-file",
            Severity.ERROR,
            Position(file),
            "the file is empty",
            "write a pack in it, or remove the file",
        )
        return None, (problem,)
    problems = tuple(_characters(text, file))
    # Parsing goes on, so that one run shows everything else that is wrong too.
    return _NONCHARACTER.sub(_REPLACEMENT, _CONTROL.sub(_REPLACEMENT, text)), problems


def character_problem(character: str, position: Position) -> Problem | None:
    """What is wrong with a single character wherever it came from, or None: controls, surrogates, non-characters."""
    if _CONTROL.match(character):
        what = f"the control character U+{ord(character):04X} cannot be shown, and can break the whole import into Anki"
        return Problem("control-character", Severity.ERROR, position, what, "delete it")
    if _NONCHARACTER.match(character):
        what = f"U+{ord(character):04X} stands for no character"
        name = "lone-surrogate" if "\ud800" <= character <= "\udfff" else "control-character"
        return Problem(name, Severity.ERROR, position, what, "delete it, or write the character that was meant")
    return None


def unfit_characters(text: str) -> list[int]:
    """The offsets of the characters of ``text`` that must not reach Anki."""
    return sorted(m.start() for pattern in (_CONTROL, _NONCHARACTER) for m in pattern.finditer(text))


def _not_utf8(data: bytes, file: str, error: UnicodeDecodeError) -> Problem:
    # utf-8-sig counts from behind the byte order mark.
    start = error.start + (3 if data.startswith(b"\xef\xbb\xbf") and error.object is not data else 0)
    before = data[:start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    line = before.count(b"\n") + 1
    column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace").lstrip("\ufeff")) + 1
    position = Position(file, line, column)
    byte = data[start]
    if data[start : start + 2] in (b"\xff\xfe", b"\xfe\xff"):
        message = f"the file is UTF-16, not UTF-8 (byte {start} is 0x{byte:02X})"
    elif byte == 0xED and data[start + 1 : start + 2] >= b"\xa0":
        message = f"byte {start} (0x{byte:02X}) begins a lone surrogate, which is not UTF-8"
        return Problem("lone-surrogate", Severity.ERROR, position, message, "write the character that was meant")
    else:
        message = f"the file is not UTF-8: byte {start} is 0x{byte:02X}"
    return Problem("not-utf8", Severity.ERROR, position, message, "save the file as UTF-8")


def _characters(text: str, file: str) -> list[Problem]:
    offsets = unfit_characters(text)
    problems = [p for o in offsets[:_REPORTED_AT_MOST] if (p := character_problem(text[o], _place(text, file, o)))]
    if len(offsets) > _REPORTED_AT_MOST:
        rest = f"and {len(offsets) - _REPORTED_AT_MOST} more characters like these"
        place = _place(text, file, offsets[_REPORTED_AT_MOST])
        problems.append(Problem("control-character", Severity.ERROR, place, rest, "look whether the file is text"))
    mangled = text.find(_REPLACEMENT)
    if mangled >= 0:
        message = f"{text.count(_REPLACEMENT)} replacement character(s) U+FFFD: text was lost before it came here"
        place = _place(text, file, mangled)
        problems.append(
            Problem("replacement-character", Severity.WARNING, place, message, "restore the text from its source")
        )
    return problems


def _place(text: str, file: str, offset: int) -> Position:
    line = text.count("\n", 0, offset) + 1
    return Position(file, line, offset - (text.rfind("\n", 0, offset) + 1) + 1)
