"""Which Markdown files of a folder are packs: those with ladder front matter, or with the section that holds topics."""

from __future__ import annotations

import re

from .labels import Section, section_of

_KEY = re.compile(r"(layer|domains)\s*:")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_HEADING = re.compile(r" {0,3}##(?!#)\s*(.*?)\s*#*\s*\Z")


def is_pack(data: bytes) -> bool:
    """Whether the content of a file is meant to be a pack, even one that is broken or not UTF-8.

    So a pack with a slip in its front matter is an error that is shown, while a README beside it is passed over.
    """
    lines = _tolerantly(data).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    rules = [i for i, line in enumerate(lines) if line.rstrip() == "---"][:2]
    if rules:
        end = rules[1] if len(rules) > 1 else len(lines)
        if any(_KEY.match(line) for line in lines[rules[0] + 1 : end]):
            return True
    return _has_topics_section(lines)


def _has_topics_section(lines: list[str]) -> bool:
    fence = ""
    for line in lines:
        if match := _FENCE.match(line):
            if not fence:
                fence = match.group(1)
            elif match.group(1).startswith(fence):
                fence = ""
        elif not fence and (heading := _HEADING.match(line)):
            found = section_of(heading.group(1))
            if found and found[0] is Section.TOPICS:
                return True
    return False


def _tolerantly(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    return data.decode("utf-8-sig", "replace")
