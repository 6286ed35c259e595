"""Answers as they stand on a card: key points to tick, details, sources; and what is wrong with their content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..answering.answer_match import Answered, Answers, ItemKey
from ..rendering.rich import render_point, render_rich, work_of
from ..values.model import Position, Problem

PictureFinder = Callable[[str, str, Position], "str | None"]
"""Gives the packaged name of an image, by the path of the answer file, the destination and the place it is used."""


@dataclass(frozen=True)
class AnswerHtml:
    """The parts of an answer as HTML; '' for a part that is not there."""

    key_points: str = ""
    details: str = ""
    sources: str = ""


def render_answers(
    answers: Answers, picture: PictureFinder
) -> tuple[Mapping[ItemKey, AnswerHtml], tuple[Problem, ...]]:
    """Render every answer that has found its item, and collect the problems of all."""
    rendered: dict[ItemKey, AnswerHtml] = {}
    problems: list[Problem] = []
    for item, answered in answers.by_item.items():
        rendered[item] = _render(answered, picture, problems)
    return rendered, tuple(problems)


def _render(answered: Answered, picture: PictureFinder, problems: list[Problem]) -> AnswerHtml:
    answer, references = answered.answer, answered.file.references

    def find(destination: str, position: Position) -> str | None:
        return picture(answered.file.path, destination, position)

    worked, found = work_of(answer.details)
    problems.extend(found)
    items = []
    for point in answer.key_points:
        rich = render_point(point.text, worked, references, find)
        problems.extend(rich.problems)
        items.append(
            f'<li class="must" dir="auto">{rich.html}</li>' if point.must else f'<li dir="auto">{rich.html}</li>'
        )
    details = render_rich(answer.details, worked, references, find)
    sources = render_rich(answer.sources, worked, references, find)
    problems.extend((*details.problems, *sources.problems))
    return AnswerHtml(f"<ul>{''.join(items)}</ul>" if items else "", details.html, sources.html)
