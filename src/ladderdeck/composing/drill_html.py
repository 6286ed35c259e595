"""Drills as they stand on a card: the first variant as plain HTML, and all of them as data for the template's script.

Whatever differs from variant to variant stands in an element with `data-slot`, whose number says which of a variant's
texts belongs into it. Without scripts the card shows the first variant, complete.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ..answering.drill_match import PlacedDrill
from ..answering.drills import PLACEHOLDER, Drill
from ..calculating.calc import NO_BREAK_SPACE
from ..calculating.drill_numbers import Variant, WorkedStep, variants
from ..calculating.units import Quantity, conversion, read_number, show_number
from ..rendering.render import show_math, show_text
from ..rendering.rich import Rich, render_point, render_rich, work_of
from ..rendering.worked import powers, raised
from ..values.model import Position, Problem, Severity, Text
from .answer_html import PictureFinder

_FILLABLE = re.compile(
    r"(<code\b.*?</code>|<pre\b.*?</pre>|<[^>]*>|\\\(.*?\\\)|\\\[.*?\\\])|" + PLACEHOLDER.pattern, re.DOTALL
)
"""A name in braces, or what may hold braces of its own: code, tags and formulas."""


@dataclass(frozen=True)
class DrillHtml:
    """A drill made ready for its note; ``fields`` are those that it fills, by their names in Anki."""

    placed: PlacedDrill
    fields: Mapping[str, str]


def render_drills(
    placed: Sequence[PlacedDrill], picture: PictureFinder
) -> tuple[tuple[DrillHtml, ...], tuple[Problem, ...]]:
    """Compute and render every drill, and collect the problems of all. A drill with an error is left out."""
    rendered = []
    problems: list[Problem] = []
    for each in placed:
        found, of_drill = variants(each.drill, each.pack.name, each.pack.language.value)
        problems.extend(of_drill)
        if found:
            page = _Page(each, found, picture)
            rendered.append(DrillHtml(each, page.fields()))
            problems.extend(page.problems)
    return tuple(rendered), tuple(problems)


@dataclass
class _Page:
    """Renders one drill, and collects what is wrong with its texts."""

    placed: PlacedDrill
    variants: Sequence[Variant]
    picture: PictureFinder
    problems: list[Problem] = field(default_factory=list)
    slots: dict[tuple[str, ...], int] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    """The names that stood in braces so far."""

    @property
    def drill(self) -> Drill:
        return self.placed.drill

    def fields(self) -> dict[str, str]:
        drill = self.drill
        groups = {group.name.text: group.members for group in drill.together}
        given = {*groups, *(each.name.text for each in drill.given)}
        every = set(self.variants[0].texts)
        question = self.rich(drill.question, given, "the question")
        self.check_asked()
        hidden = [each for each in drill.given if each.name.text not in self.named]
        if not question.strip():
            self.report("empty-key", drill.question.position, "the question shows nothing", "write it as plain text")
        fields = {
            "Question": question or show_text(drill.id.text),
            "Ladder" if hidden else "Earlier": self.givens(),
            "Follow Up": self.rich(drill.hint, given, "the hint"),
            "Key Points": self.result(),
            "Answer": self.steps() + self.formula() + self.rich(drill.note, every, "the note"),
            "Red Flags": self.mistakes(every),
            "Sources": self.sources(),
        }
        # Last, for only now it is known what the slots are.
        return {**fields, "Data": self.data()}

    def report(self, code: str, position: Position, message: str, hint: str) -> None:
        self.problems.append(Problem(code, Severity.ERROR, position, message, hint))

    def check_asked(self) -> None:
        """Every given quantity stands in the question, by itself or by its group."""
        groups = {name: group.name.text for group in self.drill.together for name in group.members}
        if self.named - set(self.variants[0].texts):
            return  # a misspelt name was reported, and is what is missing here
        for given in self.drill.given:
            name = given.name.text
            if name not in self.named and groups.get(name) not in self.named:
                message = f"`{name}` is needed, but the question does not say it"
                hint = f"write `{{{name}}}` into the question" + (", or its group's name" if name in groups else "")
                self.report("unasked-given", given.name.position, message, hint)

    # Texts

    def slot(self, texts: Sequence[str], element: str, name: str = "") -> str:
        """An element that shows one of ``texts``, the one of the day's variant; what never differs needs no slot."""
        shown = f' class="{name}"' if name else ""
        if len(set(texts)) > 1:
            shown += f' data-slot="{self.slots.setdefault(tuple(texts), len(self.slots))}"'
        return f"<{element}{shown}>{show_text(texts[0])}</{element}>"

    def texts(self, name: str) -> list[str]:
        """What a name stands for in each variant: a quantity in one piece, a combination's name as it is."""
        is_group = any(name == group.name.text for group in self.drill.together)
        return [text if is_group else _kept(text) for text in (variant.texts[name] for variant in self.variants)]

    def find(self, destination: str, position: Position) -> str | None:
        return self.picture(self.placed.file, destination, position)

    def rich(self, source: Text, names: Collection[str], what: str) -> str:
        if not source.text:
            return ""
        worked, problems = work_of(source)
        self.problems.extend(problems)
        return self.filled(render_rich(source, worked, {}, self.find), source, names, what)

    def point(self, source: Text, names: Collection[str], what: str) -> str:
        worked, _ = work_of(source)
        return self.filled(render_point(source, worked, {}, self.find), source, names, what)

    def filled(self, rich: Rich, source: Text, names: Collection[str], what: str) -> str:
        """Rendered Markdown with a slot for every name in braces."""
        self.problems.extend(rich.problems)
        unknown: list[str] = []

        def fill(match: re.Match[str]) -> str:
            name = match[2]
            if name is None:
                return match[0]
            self.named.add(name)
            if name not in names:
                unknown.append(name)
                return match[0]
            return self.slot(self.texts(name), "b", "given")

        html = _FILLABLE.sub(fill, rich.html)
        for name in dict.fromkeys(unknown):
            computed = name in self.variants[0].texts
            message = (
                f"`{name}` is computed, and must not stand in {what}"
                if computed
                else f"`{name}` in {what} is no quantity"
            )
            hint = "name one of these: " + ", ".join(f"`{known}`" for known in sorted(names))
            self.report("unknown-name", _place_of(f"{{{name}}}", source), message, hint)
        return html

    # The parts of a card

    def givens(self) -> str:
        """What is given as a table: groups before what they set, everything else in the order of the file."""
        rows = []
        grouped = {name: group for group in self.drill.together for name in group.members}
        shown: set[str] = set()
        for each in self.drill.given:
            group = grouped.get(each.name.text)
            if group is not None and group.name.text not in shown:
                shown.add(group.name.text)
                rows.append((group.name.text.replace("_", " "), group.name.text))
            rows.append((each.label, each.name.text))
        lines = (
            f'<tr><th scope="row" dir="auto">{show_text(label)}</th>{self.slot(self.texts(name), "td")}</tr>'
            for label, name in rows
        )
        return f'<table class="givens"><tbody>{"".join(lines)}</tbody></table>'

    def result(self) -> str:
        name = self.drill.result.text or self.variants[0].steps[-1].name
        result = self.slot([_kept(str(variant.result)) for variant in self.variants], "b")
        band = self.slot([_band(variant) for variant in self.variants], "span")
        tolerance = f"(±{show_number(100 * self.drill.tolerance)}%)"
        return f'<p class="result" dir="auto">{show_text(name)} = {result}</p><p class="band">{band} {tolerance}</p>'

    def steps(self) -> str:
        lines = (self.step([variant.steps[n] for variant in self.variants]) for n in range(len(self.variants[0].steps)))
        return f'<dl class="calc">{"".join(lines)}</dl>'

    def step(self, steps: Sequence[WorkedStep]) -> str:
        first = steps[0]
        result = self.slot([_kept(str(step.result)) for step in steps], "b")
        ways = [] if first.given else [powers(show_text(first.expression))]
        if not first.given and first.substituted != first.expression:
            ways.append(self.slot([raised(step.substituted) for step in steps], "span"))
        note = f' <span class="note">{show_text(first.note)}</span>' if first.note else ""
        arithmetic = "".join(f"<dd>= {way}</dd>" for way in ways)
        factors = [conversion(step.substituted, step.result.unit) for step in steps]
        if any(factors):
            arithmetic += f"<dd>{self.slot(factors, 'span', 'note')}</dd>"
        return f'<dt dir="auto"><span>{show_text(first.name)}{note}</span> {result}</dt>{arithmetic}'

    def formula(self) -> str:
        return f'<div class="scroll">{show_math(self.drill.formula.text, display=True)}</div>'

    def mistakes(self, names: Collection[str]) -> str:
        """The usual mistakes, each with the number that it gives; on a day when that is right it is hidden."""
        items = []
        for number, mistake in enumerate(self.drill.mistakes):
            gives = [_text(variant.wrong[number]) for variant in self.variants]
            hidden = "" if gives[0] else " hidden"
            text = self.point(mistake.text, names, "a mistake")
            items.append(f'<li class="mistake" dir="auto"{hidden}>{self.slot(gives, "b", "wrong")} {text}</li>')
        return f"<ul>{''.join(items)}</ul>"

    def sources(self) -> str:
        items = [self.point(source, (), "a source") for source in self.drill.sources]
        return items[0] if len(items) == 1 else f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"

    # What the script reads

    def data(self) -> str:
        """All variants as JSON that is the same in a field, in an attribute and after Anki's editor has been over it.

        Nothing in it is markup for HTML, MathJax or Anki: such characters are escaped within its texts.
        """
        pack, count = self.placed.pack, len(self.variants)
        seed = hashlib.sha256("\x1f".join((pack.name, pack.language.value, self.drill.id.text)).encode()).digest()
        steps = [step for step in range(2, count - 1) if math.gcd(step, count) == 1]
        data = {
            "id": seed.hex()[:12],
            "step": steps[seed[0] % len(steps)],
            "offset": seed[1] % count,
            "unit": self.variants[0].result.unit,
            "tolerance": self.drill.tolerance,
            "texts": [[slot[index] for slot in self.slots] for index in range(count)],
            "numbers": [_numbers(variant) for variant in self.variants],
        }
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        # Brackets within texts only; what JSON itself needs of them makes none of Anki's tags.
        return re.sub(r'"(?:[^"\\]|\\.)*"', lambda match: _shielded(match[0]), text)


def _shielded(string: str) -> str:
    """A JSON string in which no character means anything to HTML, MathJax or Anki."""
    inner = string[1:-1].replace("\\\\", "\\u005c").replace('\\"', "\\u0022")
    inner = re.sub(r"[<>&'{}\[\]$\u00a0]", lambda match: f"\\u{ord(match[0]):04x}", inner)
    return f'"{inner}"'


def _text(quantity: Quantity | None) -> str:
    return "" if quantity is None else _kept(str(quantity))


def _kept(quantity: str) -> str:
    """A quantity that no line's end parts from its unit."""
    return quantity.replace(" ", NO_BREAK_SPACE)


def _band(variant: Variant) -> str:
    low, high = (show_number(value) for value in (variant.low, variant.high))
    return (
        f"{low} – {_kept(str(Quantity(variant.high, variant.result.unit)))}" if low != high else _text(variant.result)
    )


def _numbers(variant: Variant) -> list[float | None]:
    """What a typed number is compared with: the result, the band around it, then what each mistake gives."""
    wrong = (None if quantity is None else quantity.value for quantity in variant.wrong)
    # The ends that the card shows are right, too, though they are rounded.
    low, high = (read_number(show_number(end)) for end in (variant.low, variant.high))
    numbers = (variant.result.value, min(low, variant.low), max(high, variant.high), *wrong)
    return [None if number is None else float(f"{number:.8g}") for number in numbers]


def _place_of(needle: str, source: Text) -> Position:
    """Where a part of a text stands in its file."""
    for offset, line in enumerate(source.text.split("\n")):
        if needle in line:
            place = source.position
            return Position(place.file, place.line + offset, place.column + line.index(needle))
    return source.position
