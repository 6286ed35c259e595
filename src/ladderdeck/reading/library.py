"""All packs of a run together: parsed, filtered by language, and checked against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..values.model import Language, Pack, Position, Problem, Severity
from ..values.progress import Report, silent, tracked
from .discover import Found
from .parser import parse_pack


@dataclass(frozen=True)
class Library:
    """The packs of a run, and all problems found so far, in order."""

    packs: tuple[Pack, ...]
    problems: tuple[Problem, ...]

    @property
    def has_errors(self) -> bool:
        """Whether anything was found that forbids a build."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)


Parse = Callable[[bytes, str], "tuple[Pack | None, tuple[Problem, ...]]"]
"""Makes a pack and its problems of a file's content and path, as :func:`.parser.parse_pack` does."""


def read_library(
    found: Found, language: Language | None = None, report: Report = silent, parse: Parse = parse_pack
) -> Library:
    """Parse the documents that were found. With ``language``, packs in another language are left out, problems and all."""
    packs: list[Pack] = []
    problems: list[Problem] = list(found.problems)
    left_out = 0
    for document in tracked(found.documents, "reading pack", report):
        pack, pack_problems = parse(document.data, document.path)
        if pack is not None and language is not None and pack.language is not language:
            left_out += 1
            continue
        problems.extend(pack_problems)
        if pack is not None:
            packs.append(pack)
    if left_out and not packs and language is not None:
        message = f"none of the {left_out} pack(s) is in the language `{language.value}`"
        position = Position(found.documents[0].path)
        hint = "leave --language out to take them all"
        problems.append(Problem("no-packs", Severity.ERROR, position, message, hint))
    problems.extend(_twins(packs))
    return Library(tuple(packs), tuple(sorted(problems, key=lambda p: (p.position, p.severity.value, p.code))))


def _twins(packs: Sequence[Pack]) -> list[Problem]:
    problems = []
    first: dict[tuple[str, Language], Pack] = {}
    for pack in packs:
        twin = first.setdefault((pack.name.casefold(), pack.language), pack)
        if pack.name and twin is not pack:
            message = (
                f"the pack `{pack.name}` is here twice in the language `{pack.language.value}`: also in {twin.path}"
            )
            hint = "remove one of the two, or give it a name of its own"
            problems.append(Problem("duplicate-pack", Severity.ERROR, Position(pack.path), message, hint))
    return problems
