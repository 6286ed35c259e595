"""Read the card templates from their folder: ``front.html`` and ``back.html`` in one per kind, and ``style.css``.

What several templates share stands once, in a file beside ``style.css``, and they name it on a line of its own:
``<!-- include foot.html -->``. A script (``<!-- include script.js -->``) comes with its ``<script>`` element around it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from ..values.model import Kind, Position, Problem, Severity
from ..values.note import FIELDS
from ..values.paths import shown
from .note_types import NOTE_TYPES

_SPECIAL = frozenset({"Tags", "Type", "Deck", "Subdeck", "Card", "CardFlag", "CardID"})
"""What Anki offers on both sides besides a note's fields (Anki manual, 'Field Replacements': special fields)."""

_TAG = re.compile(r"\{\{([^{}]*)\}\}")
_INCLUDE = re.compile(r"^[ \t]*<!-- include ([\w-]+\.(?:html|js)) -->[ \t]*$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


@dataclass(frozen=True)
class CardTemplate:
    """The two sides of a card, in Anki's template language."""

    front: str
    back: str


@dataclass(frozen=True)
class Templates:
    """The look of all cards: the two sides per kind, and the stylesheet that they share.

    ``problems`` says what is wrong with the files, sorted by place; with an error in it the templates must not be
    packaged, and what could not be read is ''.
    """

    cards: Mapping[Kind, CardTemplate]
    css: str
    problems: tuple[Problem, ...] = ()


def default_folder() -> Path:
    """The folder of the templates that belong to this program.

    In an installed wheel they lie inside of the package, in a checkout beside ``src``. Where neither is there, the
    path in the checkout comes back, and :func:`load_templates` will say which files it misses.
    """
    package = Path(__file__).resolve().parent.parent
    installed = package / "_templates"
    return installed if installed.is_dir() else package.parent.parent / "templates"


def load_templates(folder: Path) -> Templates:
    """Read and check the templates in ``folder``; whatever is wrong is in the result's ``problems``, nothing is raised.

    Lines may end in CRLF and a file may begin with a byte order mark: neither is passed on, so that the same templates
    make the same package everywhere.
    """
    if not folder.is_dir():
        hint = "Name a folder with templates; `templates --export DIR` writes one to start from."
        missing = Problem("template-folder", Severity.ERROR, Position(shown(folder)), "There is no such folder.", hint)
        nothing = MappingProxyType(dict.fromkeys(Kind, CardTemplate("", "")))
        return Templates(nothing, "", (missing,))
    problems: list[Problem] = []
    parts = _Parts(folder, problems)
    cards: dict[Kind, CardTemplate] = {}
    for kind in Kind:
        front_file, back_file = (folder / kind.value / name for name in ("front.html", "back.html"))
        front, back = _read(front_file, problems), _read(back_file, problems)
        if front is not None:
            problems += _check(front, front_file, is_front=True)
        if back is not None:
            problems += _check(back, back_file, is_front=False)
        cards[kind] = CardTemplate(parts.put_into(front or ""), parts.put_into(back or ""))
    css = _read(folder / "style.css", problems) or ""
    problems.sort(key=lambda problem: (problem.position, problem.code))
    return Templates(MappingProxyType(cards), css, tuple(problems))


def type_fingerprints(templates: Templates) -> dict[Kind, str]:
    """For each kind what Anki would store of its note type, in 16 hexadecimal digits: names, templates and style."""
    prints = {}
    for kind, note_type in NOTE_TYPES.items():
        card = templates.cards[kind]
        names = [note_type.name, note_type.template_name, *FIELDS]
        content = json.dumps([names, card.front, card.back, templates.css], ensure_ascii=False)
        prints[kind] = hashlib.sha256(content.encode()).hexdigest()[:16]
    return prints


@dataclass(frozen=True)
class _Parts:
    """The files that templates share: each is read and checked once, with the first template that names it."""

    folder: Path
    problems: list[Problem]
    known: dict[str, str] = field(default_factory=dict)

    def put_into(self, text: str) -> str:
        """``text`` with each line that names a part replaced by that part."""
        return _INCLUDE.sub(lambda match: self._part(match.group(1)), text)

    def _part(self, name: str) -> str:
        if name not in self.known:
            file = self.folder / name
            text = _read(file, self.problems)
            self.known[name] = (text or "").rstrip("\n")
            if text is not None and name.endswith(".js"):
                self.problems.extend(_check_script(text, file))
                self.known[name] = f"<script>\n{self.known[name]}\n</script>"
            elif text is not None:
                self.problems.extend(_check(text, file, is_front=False))
        return self.known[name]


def _check_script(text: str, file: Path) -> list[Problem]:
    """What would end a script early, or be taken for a field: Anki reads templates before any browser does."""
    found = re.search(r"\{\{|\}\}|</script", text, re.IGNORECASE)
    if found is None:
        return []
    offset = found.start()
    line, column = text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
    message, hint = f"holds {found.group()!r}, which Anki or a browser misreads.", "Put a blank into it."
    return [_problem("template-script", file, line, column, message, hint)]


def _read(file: Path, problems: list[Problem]) -> str | None:
    """The text of a file, without line ends of another system; None, and one more problem, if it cannot be had."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problems.append(_problem("template-encoding", file, line, 1, "is not UTF-8 text.", "Save the file as UTF-8."))
    except OSError as error:
        reason = f"cannot be read ({error.strerror or type(error).__name__})."
        hint = "Put the file there; `templates --export DIR` writes what DIR does not have."
        problems.append(_problem("template-missing", file, 1, 1, reason, hint))
    else:
        return text.replace("\r\n", "\n").replace("\r", "\n")
    return None


def _check(text: str, file: Path, *, is_front: bool) -> list[Problem]:
    """What Anki would stumble over, or silently make no card of, in one side of a card."""
    problems: list[Problem] = []
    open_sections: list[tuple[str, re.Match[str]]] = []
    asks = False

    def report(code: str, offset: int, message: str, hint: str) -> None:
        line = text.count("\n", 0, offset) + 1
        column = offset - text.rfind("\n", 0, offset)
        problems.append(_problem(code, file, line, column, message, hint))

    # What is done with is blanked rather than cut, so that offsets still point into the file.
    live = _COMMENT.sub(_blank, text)
    for tag in _TAG.finditer(live):
        inner = tag.group(1).strip()
        sign, name = (inner[0], inner[1:].strip()) if inner[:1] in ("#", "^", "/") else ("", inner.split(":")[-1])
        if not _is_known(name, is_front=is_front):
            hint = f"Name one of these: {', '.join(FIELDS)}."
            report("template-field", tag.start(), f"names a field {name!r} that no note has.", hint)
        if sign == "/":
            names = [opened for opened, _ in open_sections]
            if names[-1:] != [name]:
                report("template-section", tag.start(), f"closes {name!r}, which is not the one open.", _SECTION_HINT)
            if name in names:  # it and what was opened within: one complaint is enough for a wrong order
                del open_sections[len(names) - 1 - names[::-1].index(name) :]
        elif sign:
            open_sections.append((name, tag))
        elif inner == "Question" and all(opened.group(1).strip() == "#Question" for _, opened in open_sections):
            asks = True
    for name, tag in open_sections:
        report("template-section", tag.start(), f"opens {name!r} and never closes it.", _SECTION_HINT)
    half = _TAG.sub(_blank, live).find("{{")
    if half >= 0:
        report("template-section", half, "has a '{{' without its '}}'.", "Write {{Field}}, with two braces each.")
    if is_front and not asks:
        # Anki makes no card of a front on which no field shows, and genanki counts only a plain one.
        hint = "Add {{Question}}, as it is and outside of every condition: without it a note may get no card."
        report("template-question", 0, "has no {{Question}} that always shows.", hint)
    return problems


_SECTION_HINT = "Give every {{#Field}} and {{^Field}} its {{/Field}}, the inner one first."


def _blank(match: re.Match[str]) -> str:
    """As many blanks as ``match`` is long, with its line breaks kept."""
    return re.sub(r"[^\n]", " ", match.group())


def _is_known(name: str, *, is_front: bool) -> bool:
    """Whether Anki finds something under this name on this side of a card; only the back can repeat the front."""
    return name in FIELDS or name in _SPECIAL or (name == "FrontSide" and not is_front)


def _problem(code: str, file: Path, line: int, column: int, message: str, hint: str) -> Problem:
    """An error in a template; ``message`` goes on after the file's name."""
    name = f"{file.parent.name}/{file.name}"
    return Problem(code, Severity.ERROR, Position(shown(file), line, column), f"The template {name} {message}", hint)
