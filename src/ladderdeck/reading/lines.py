"""The lines of a section, and what is in them: rungs, questions, signs, red flags, probes.

A line is a bullet (or, under a topic, a paragraph too) with whatever is nested in it. Splitting never loses text: what is
nested deeper than the format asks for stays with the item that it stands under.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..values.model import Probe, Problem, Rung, Severity, Text
from .labels import label_of
from .located import Located
from .outline import Block, Fence, Heading, Item, List, Paragraph
from .split import Shelter, first_arrow, shelter, split_at_arrows, split_at_semicolons

_SAYS_NOTHING = frozenset("；; \t\n\u3000\xa0")
_NUMBER = re.compile(r"[0-9]{1,3}[.)]\s+")
_REPORTED_AT_MOST = 10
"""Of one kind of problem in one line; how many more there are is told in one sentence."""


@dataclass(frozen=True)
class Line:
    """A line of a section: its own text, the blocks nested under it, and whether it is a list item or a heading."""

    text: Located
    nested: tuple[Block, ...]
    bullet: bool
    heading: bool = False

    def behind(self, start: int, end: int | None = None) -> Line:
        """The line without what stands before ``start`` and behind ``end``: without its label or key."""
        own = self.text.cut(start, len(self.text.text) if end is None else end)
        return Line(own, self.nested, self.bullet, self.heading)


def section_lines(blocks: Sequence[Block]) -> Iterator[Line]:
    """The list items among ``blocks``, and the paragraphs, small headings and code blocks between them.

    A labelled paragraph without text of its own takes the list that follows it, and a label at the beginning of a
    soft-wrapped line begins a line of its own.
    """
    skip = -1
    for index, block in enumerate(blocks):
        if index == skip:
            continue
        if isinstance(block, List):
            for item in block.items:
                yield from _item_lines(item.blocks)
        elif isinstance(block, Fence):
            yield Line(block.text, (), bullet=False)
        else:
            *before, last = _at_labels(block.text)
            yield from (Line(text, (), bullet=False) for text in before)
            label = label_of(last.text)
            following = blocks[index + 1] if index + 1 < len(blocks) else None
            takes_list = label is not None and label.start == label.end and isinstance(following, List)
            if takes_list and following is not None:
                skip = index + 1
                yield Line(last, (following,), bullet=False)
            else:
                yield Line(last, (), bullet=False, heading=isinstance(block, Heading))


def _item_lines(blocks: tuple[Block, ...]) -> Iterator[Line]:
    if blocks and isinstance(blocks[0], Paragraph | Heading):
        *before, last = _at_labels(blocks[0].text)
        yield from (Line(text, (), bullet=True) for text in before)
        yield Line(last, blocks[1:], bullet=True)
    elif blocks:
        yield from section_lines(blocks)


def _at_labels(text: Located) -> list[Located]:
    cuts = [0, *(o for o in text.offsets[1:] if label_of(text.text[o : o + 80])), len(text.text)]
    return [text.cut(start, end) for start, end in pairwise(cuts)] if text.text else [text]


def all_text(blocks: Sequence[Block]) -> Iterator[Located]:
    """The text of ``blocks`` and of all that is nested in them, in order."""
    for block in blocks:
        if isinstance(block, List):
            for item in block.items:
                yield from all_text(item.blocks)
        else:
            yield block.text


@dataclass(frozen=True)
class _Part:
    """A stretch of a line, with what shelters its brackets; ``fence`` marks a code block, in which nothing splits."""

    source: Located
    sheltered: Shelter
    start: int
    end: int
    fence: bool = False

    def text(self) -> Text:
        return self.source.piece(self.start, self.end)


def read_ladder(line: Line, problems: list[Problem]) -> list[Rung]:
    """The rungs of a ladder line without its label; empty rungs are reported and left out."""
    rungs: list[list[_Part]] = []
    arrows = 0
    if numbered := _numbered(line.text):
        for text in numbered:
            rungs.extend([part] for part in _arrow_parts(text, problems, loose_edges=True))
    elif line.text.text:
        parts = _arrow_parts(line.text, problems, loose_edges=any(isinstance(b, List) for b in line.nested))
        arrows = len(parts) - 1
        rungs.extend([part] for part in parts)
    for block in line.nested:
        if isinstance(block, List) and not arrows:
            for item in block.items:
                rungs.extend(_item_rungs(item, problems))
        else:
            # What stands under a ladder that is complete belongs to its last rung.
            _continue_rung(rungs, block, problems)
    rungs = [parts for parts in rungs if parts]
    empty = [_is_empty(parts) for parts in rungs]
    _report_empty([parts for parts, is_empty in zip(rungs, empty, strict=True) if is_empty], problems)
    return [_rung(parts) for parts, is_empty in zip(rungs, empty, strict=True) if not is_empty]


def _numbered(text: Located) -> list[Located]:
    """The items of a numbered list that Markdown took for soft-wrapped lines, since its first number is not 1."""
    marks = [_NUMBER.match(text.text, offset) for offset in text.offsets]
    ends = [*text.offsets[1:], len(text.text)]
    return [text.cut(mark.end(), end) for mark, end in zip(marks, ends, strict=True) if mark] if all(marks) else []


def _item_rungs(item: Item, problems: list[Problem]) -> list[list[_Part]]:
    """The rungs of a list item: one as a rule, several where it holds arrows; what is nested goes to the last."""
    rungs: list[list[_Part]] = []
    for index, block in enumerate(item.blocks):
        if index == 0 and not isinstance(block, List | Fence):
            rungs.extend([part] for part in _arrow_parts(block.text, problems, loose_edges=True))
        else:
            _continue_rung(rungs, block, problems)
    return rungs or [[_whole(item.mark, problems)]]


def _continue_rung(rungs: list[list[_Part]], block: Block, problems: list[Problem]) -> None:
    if not rungs:
        rungs.append([])
    if isinstance(block, Fence):
        rungs[-1].append(_Part(block.text, Shelter((), (), ()), 0, len(block.text.text), fence=True))
    elif isinstance(block, List):
        for item in block.items:
            for inner in item.blocks:
                _continue_rung(rungs, inner, problems)
    elif block.text.text:
        parts = _arrow_parts(block.text, problems, loose_edges=True)
        if block.text.text.startswith("→"):
            rungs.extend([part] for part in parts)
        else:
            rungs[-1].append(parts[0])
            rungs.extend([part] for part in parts[1:])


def _whole(text: Located, problems: list[Problem]) -> _Part:
    sheltered = shelter(text.text)
    _report_unbalanced(text, sheltered, problems)
    return _Part(text, sheltered, 0, len(text.text))


def _arrow_parts(text: Located, problems: list[Problem], *, loose_edges: bool) -> list[_Part]:
    """The parts between the arrows; with ``loose_edges`` an arrow at either end only ties the item to its neighbour."""
    whole = _whole(text, problems)
    spans = list(split_at_arrows(text.text, whole.sheltered))
    if loose_edges and len(spans) > 1:
        spans = spans[1:] if not text.text[slice(*spans[0])].strip() else spans
        spans = spans[:-1] if len(spans) > 1 and not text.text[slice(*spans[-1])].strip() else spans
    return [_Part(text, whole.sheltered, start, end) for start, end in spans]


def _is_empty(parts: list[_Part]) -> bool:
    """Whether a rung asks nothing: it is blank, or nothing but semicolons."""
    return not any(set(part.source.text[part.start : part.end]) - _SAYS_NOTHING for part in parts)


def _rung(parts: list[_Part]) -> Rung:
    questions: list[Text] = []
    for part in parts:
        if part.fence:
            fence = part.text()
            last = questions.pop() if questions else None
            questions.append(Text(f"{last.text}\n{fence.text}", last.position) if last else fence)
        else:
            questions.extend(_semicolon_pieces(part))
    texts = [text for part in parts if (text := part.text()).text]
    return Rung(Text("\n".join(text.text for text in texts), texts[0].position), tuple(questions))


def _semicolon_pieces(part: _Part) -> list[Text]:
    spans = split_at_semicolons(part.source.text, part.sheltered, part.start, part.end)
    return [part.source.piece(*span) for span in spans if part.source.text[slice(*span)].strip()]


def read_list(line: Line, problems: list[Problem]) -> list[Text]:
    """The signs or red flags of a line without its label or key: split at semicolons, or nested as a list.

    A full stop at the end is punctuation of the line, not text.
    """
    found: list[Text] = []
    own = [Paragraph(item) for item in _numbered(line.text) or [line.text]]
    for block in (*own, *line.nested):
        _extend_list(found, block, problems)
    return found


def _extend_list(found: list[Text], block: Block, problems: list[Problem]) -> None:
    if isinstance(block, List):
        for item in block.items:
            for inner in item.blocks:
                _extend_list(found, inner, problems)
    elif isinstance(block, Fence):
        fence = block.text.whole()
        last = found.pop() if found else None
        found.append(Text(f"{last.text}\n{fence.text}", last.position) if last else fence)
    elif block.text.text:
        pieces = [Text(_without_full_stop(p.text), p.position) for p in _semicolon_pieces(_whole(block.text, problems))]
        found.extend(piece for piece in pieces if piece.text)


def _without_full_stop(text: str) -> str:
    ends = text.endswith(("。", "．")) or (text.endswith(".") and not text.endswith(".."))
    return text[:-1].rstrip() if ends else text


def read_probe(line: Line, problems: list[Problem]) -> Probe | None:
    """The probe of a line: the first arrow outside brackets parts it, later ones are text; nested items follow up too."""
    text = line.text
    sheltered = _whole(text, problems).sheltered
    arrow = first_arrow(text.text, sheltered)
    start, end = arrow or (len(text.text), len(text.text))
    trigger, follow_up = text.piece(0, start), text.piece(end, len(text.text))
    nested = [inner.whole() for inner in all_text(line.nested) if inner.text]
    if nested:
        first = follow_up if follow_up.text else nested[0]
        follow_up = Text("\n".join(t.text for t in [follow_up, *nested] if t.text), first.position)
    hint = "write `Resume says X → what is pressed on`"
    if not trigger.text:
        message = "a probe does not say what in the resume it is about; it makes no card"
        problems.append(Problem("empty-probe", Severity.WARNING, text.position(0), message, hint))
        return None
    if not follow_up.text:
        message = f"the probe `{trigger.text}` does not say what is pressed on"
        problems.append(Problem("probe-without-arrow", Severity.WARNING, trigger.position, message, hint))
    return Probe(trigger, follow_up)


def outer_colons(text: Located) -> tuple[int, ...]:
    """The offsets of the first few colons that could end a key: outside brackets, and not in 10:30, a URL or a::b."""
    sheltered = shelter(text.text)
    found: list[int] = []
    for offset, character in enumerate(text.text):
        following = text.text[offset + 1 : offset + 2]
        ends_key = character == "：" or (character == ":" and not (following.isascii() and following.strip(" \t")))
        if ends_key and not sheltered.holds(offset):
            found.append(offset)
            if len(found) == 8:
                break
    return tuple(found)


def _report_unbalanced(text: Located, sheltered: Shelter, problems: list[Problem]) -> None:
    offsets = sheltered.unbalanced
    hint = "close it, or remove it: until then arrows and semicolons behind it split the line"
    messages = [f"`{text.text[offset]}` has no partner in this line" for offset in offsets[:_REPORTED_AT_MOST]]
    if len(offsets) > _REPORTED_AT_MOST:
        messages.append(f"and {len(offsets) - _REPORTED_AT_MOST} more brackets in this line have no partner")
    for offset, message in zip(offsets, messages, strict=False):
        problems.append(Problem("unbalanced-bracket", Severity.WARNING, text.position(offset), message, hint))


def _report_empty(rungs: list[list[_Part]], problems: list[Problem]) -> None:
    hint = "write a question between the arrows, or remove one arrow"
    messages = ["a rung is empty"] * min(len(rungs), _REPORTED_AT_MOST)
    if len(rungs) > _REPORTED_AT_MOST:
        messages.append(f"and {len(rungs) - _REPORTED_AT_MOST} more rungs of this ladder are empty")
    for parts, message in zip(rungs, messages, strict=False):
        problems.append(Problem("empty-rung", Severity.ERROR, parts[0].text().position, message, hint))
