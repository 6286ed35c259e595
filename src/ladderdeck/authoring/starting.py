"""Files to start from: a commented pack with an answer and a drill, and a copy of the packaged templates. Written once,
never over something that is there."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from ..keeping.files import replace_together
from ..reading.discover import discover
from ..reading.front_matter import is_pack_name
from ..reading.library import read_library
from ..values.model import Language, Pack, Position, Problem, Severity
from ..values.paths import on_disk, shown

PACK_FILE = "SKILL.md"
LONGEST_NAME = 80
"""Characters of a pack's name: as a folder, in Chinese, that is 240 of the 255 bytes that a file system takes."""

_PLACEHOLDER = "NAME-OF-THE-PACK"
_PROGRAM = "python build.py"
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?\Z", re.IGNORECASE)
"""What Windows takes for a device, with any suffix."""

_TEMPLATE_SUFFIXES = (".html", ".css", ".js")


def wrong_name(name: str) -> str | None:
    """What is wrong with a name for a new pack and its folder, with what to write instead; None where it is fine."""
    if _RESERVED.match(name):
        return (
            f"`{name}` is a device on Windows, where the folder could not be made; write another, such as `my-{name}`"
        )
    if len(name) > LONGEST_NAME:
        return f"the name has {len(name)} characters; write at most {LONGEST_NAME}"
    if is_pack_name(name):
        return None
    near = re.sub(r"[^\w.+-]+|_+\Z", "-", unicodedata.normalize("NFC", name)).strip("-._")
    instead = f", such as `{near}`" if is_pack_name(near) and not _RESERVED.match(near) else ", such as `my-pack`"
    return f"`{name}` cannot be a pack's name; use letters, digits and -{instead}"


def packs_in(folder: Path) -> tuple[Pack, ...]:
    """The packs in a folder, whatever is wrong with them; none where there is no such folder."""
    return read_library(discover([folder])).packs if folder.is_dir() else ()


def new_pack(
    name: str, language: Language, folder: Path, program: str = _PROGRAM
) -> tuple[dict[Path, bytes], tuple[Problem, ...]]:
    """The files of a new pack in ``folder``, by path; an error, and no files, where its name or its place is taken.

    ``name`` is one that :func:`wrong_name` has nothing against, ``program`` what the comments in the files call this
    program.
    """
    name = unicodedata.normalize("NFC", name)
    for pack in packs_in(folder):
        if (pack.name.casefold(), pack.language) == (name.casefold(), language):
            message = f"there is a pack `{pack.name}` in the language `{language.value}` already"
            return {}, (_taken(pack.path, "duplicate-pack", message),)
    home = folder / on_disk(name)
    if home.exists() or home.is_symlink():
        return {}, (_taken(shown(home), "taken", "there is something of that name already"),)
    source = Path(__file__).parent / "beginnings" / language.value
    words = {_PLACEHOLDER.encode(): name.encode(), _PROGRAM.encode(): program.encode()}
    files = sorted(source.rglob("*.*"), key=lambda file: (file.name != PACK_FILE, file))
    return {home / file.relative_to(source): _put(file.read_bytes(), words) for file in files}, ()


def _put(text: bytes, words: Mapping[bytes, bytes]) -> bytes:
    for old, new in words.items():
        text = text.replace(old, new)
    return text


def _taken(place: str, code: str, message: str) -> Problem:
    hint = "choose another name; nothing that is there is overwritten"
    return Problem(code, Severity.ERROR, Position(place), message, hint)


def missing_templates(packaged: Path, folder: Path) -> dict[Path, bytes]:
    """Those of the packaged templates that are not in ``folder``, by the path that they would have there."""
    files = [file for file in sorted(packaged.rglob("*")) if file.suffix in _TEMPLATE_SUFFIXES]
    wanted = {folder / file.relative_to(packaged): file for file in files}
    return {path: file.read_bytes() for path, file in wanted.items() if not (path.exists() or path.is_symlink())}


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write files, all or none. Raises OSError, with nothing changed."""
    replace_together({path: partial(_fill, data=data) for path, data in contents.items()})


def _fill(path: Path, data: bytes) -> None:
    path.write_bytes(data)
