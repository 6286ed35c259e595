"""What makes a card poor although it is well-formed: warnings about answers and rungs, each with its place. Pure.

The limits come from what is known of good cards: few, testable points, said aloud and ticked; a source for each answer;
code that fits a phone held upright.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from ..values.model import Pack, Position, Problem, Severity, Text
from ..values.wording import wording_key
from .answer_match import Answered, Answers
from .answers import KeyPoint

MOST_KEY_POINTS = 7
LONGEST_KEY_POINT = 120
WIDEST_CODE = 48
"""Columns of code that a phone of 360 px shows without scrolling, at the size of type that the cards use."""
TOO_ALIKE = 90
"""The likeness in per cent from which on two key points of a topic say the same."""

_YES_NO = re.compile(
    r"(?:是否|能否|可否|是不是|能不能|会不会|有没有必要).*\Z|.*吗[？?]?\Z"
    r"|(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have)\s.*\?\Z",
    re.IGNORECASE | re.DOTALL,
)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*(\w*)[^\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)


def judge(packs: Iterable[Pack], answers: Answers) -> tuple[Problem, ...]:
    """The warnings about the rungs of ``packs`` and about ``answers``, in no particular order."""
    problems = [problem for pack in packs for problem in _yes_no_rungs(pack)]
    by_topic: dict[tuple[str, str, str], list[KeyPoint]] = {}
    for answered in answers.by_item.values():
        if not is_empty(answered):
            problems.extend(_judge_answer(answered))
            item = answered.item
            by_topic.setdefault((item.pack, item.language, item.topic), []).extend(answered.answer.key_points)
    for points in by_topic.values():
        problems.extend(_alike(points))
    return tuple(problems)


def is_empty(answered: Answered) -> bool:
    """Whether an answer is a heading only, as in a skeleton: it counts as missing."""
    return not answered.answer.key_points and not answered.answer.details.text


def _yes_no_rungs(pack: Pack) -> Iterator[Problem]:
    for topic in pack.topics:
        for rung in topic.rungs:
            if len(rung.questions) == 1 and _YES_NO.match(rung.questions[0].text):
                message = f"`{rung.text.text}` can be answered with yes or no"
                yield _warning("yes-no-rung", rung.text.position, message, "ask how, why, when or what it costs")


def _judge_answer(answered: Answered) -> Iterator[Problem]:
    answer = answered.answer
    where = answer.heading.position
    if not answer.key_points:
        hint = "begin the answer with a list of 3 to 5 clauses that can be ticked"
        yield _warning("no-key-points", where, f"the answer to `{answer.heading.text}` has no key points", hint)
    if len(answer.key_points) > MOST_KEY_POINTS:
        message = (
            f"the answer has {len(answer.key_points)} key points; nobody says more than {MOST_KEY_POINTS} from memory"
        )
        yield _warning(
            "many-key-points", where, message, "keep the 3 to 5 that matter, and move the rest to the details"
        )
    for point in answer.key_points:
        if len(point.text.text) > LONGEST_KEY_POINT:
            message = f"a key point has {len(point.text.text)} characters"
            yield _warning("long-key-point", point.text.position, message, "keep one testable clause a point")
    if not answer.sources.text:
        hint = "end the answer with a line `来源：[title][label]` or `Sources: [title][label]`"
        yield _warning("no-source", where, f"the answer to `{answer.heading.text}` names no source", hint)
    yield from _wide_code(answer.details)


def _wide_code(details: Text) -> Iterator[Problem]:
    for fence in _FENCE.finditer(details.text):
        if fence.group(2).lower() == "calc":
            continue
        first = details.text.count("\n", 0, fence.start(3))
        for number, line in enumerate(fence.group(3).split("\n")):
            if columns(line) > WIDEST_CODE:
                position = Position(details.position.file, details.position.line + first + number)
                message = f"a line of code has {columns(line)} columns, and a phone shows {WIDEST_CODE}"
                yield _warning("wide-code", position, message, "break the line")


def columns(line: str) -> int:
    """How wide a line is in a monospaced face: a Chinese character takes two columns, a tab goes to the next of four."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line.expandtabs(4))


def _alike(points: Sequence[KeyPoint]) -> Iterator[Problem]:
    if len(points) < 2:
        return
    # Only a deck with answers should pay for the import.
    from rapidfuzz import fuzz, process

    keys = [wording_key(point.text.text) for point in points]
    for index, point in enumerate(points[1:], 1):
        twin = process.extractOne(keys[index], keys[:index], scorer=fuzz.ratio, score_cutoff=TOO_ALIKE)
        if twin is not None:
            message = f"this key point says what another does, at {points[twin[2]].text.position}"
            yield _warning("alike-key-points", point.text.position, message, "keep it where it belongs")


def _warning(code: str, position: Position, message: str, hint: str) -> Problem:
    return Problem(code, Severity.WARNING, position, message, hint)
