"""The lines of a section, and what is in them: rungs, questions, signs, red flags, probes.

A line is a bullet (or, under a topic, a paragraph too) with whatever is nested in it. Splitting never loses text: what is
nested deeper than the format asks for stays with the item that it stands under.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .labels import label_of
from .located import Located
from .model import Probe, Problem, Rung, Severity, Text
from .outline import Block, Fence, Heading, Item, List, Paragraph
from .split import Shelter, first_arrow, shelter, split_at_arrows, split_at_semicolons

_UNBALANCED_AT_MOST = 10


@dataclass(frozen=True)
class Line:
    """A line of a section: its own text, the blocks nested under it, and whether it is a list item."""

    text: Located
    nested: tuple[Block, ...]
    bullet: bool


def section_lines(blocks: Sequence[Block], *, paragraphs: bool = False) -> Iterator[Line]:
    """The list items among ``blocks``, with ``paragraphs`` also the paragraphs and small headings between them.

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
        elif paragraphs and isinstance(block, Paragraph | Heading):
            *before, last = _at_labels(block.text)
            yield from (Line(text, (), bullet=False) for text in before)
            label = label_of(last.text)
            following = blocks[index + 1] if index + 1 < len(blocks) else None
            takes_list = label is not None and label[2] == len(last.text) and isinstance(following, List)
            if takes_list and following is not None:
                skip = index + 1
                yield Line(last, (following,), bullet=False)
            else:
                yield Line(last, (), bullet=False)


def _item_lines(blocks: tuple[Block, ...]) -> Iterator[Line]:
    if blocks and isinstance(blocks[0], Paragraph | Heading):
        *before, last = _at_labels(blocks[0].text)
        yield from (Line(text, (), bullet=True) for text in before)
        yield Line(last, blocks[1:], bullet=True)
    elif blocks:
        yield from section_lines(blocks, paragraphs=True)


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


def read_ladder(line: Line, start: int, problems: list[Problem]) -> list[Rung]:
    """The rungs of a ladder line whose own text begins at ``start``; empty rungs are reported and left out."""
    rungs: list[list[_Part]] = []
    own = line.text.cut(start, len(line.text.text))
    arrows = 0
    if own.text:
        parts = _arrow_parts(own, problems, loose_edges=any(isinstance(b, List) for b in line.nested))
        arrows = len(parts) - 1
        rungs.extend([part] for part in parts)
    for block in line.nested:
        if isinstance(block, List) and not arrows:
            for item in block.items:
                rungs.extend(_item_rungs(item, problems))
        else:
            # What stands under a ladder that is complete belongs to its last rung.
            _continue_rung(rungs, block, problems)
    return [rung for parts in rungs if (rung := _rung(parts, problems))]


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


def _rung(parts: list[_Part], problems: list[Problem]) -> Rung | None:
    """A rung of its parts, or None and a problem where it asks nothing."""
    questions: list[Text] = []
    for part in parts:
        if part.fence:
            fence = part.text()
            last = questions.pop() if questions else None
            questions.append(Text(f"{last.text}\n{fence.text}", last.position) if last else fence)
        else:
            questions.extend(_semicolon_pieces(part))
    texts = [text for part in parts if (text := part.text()).text]
    if not questions:
        position = parts[0].text().position
        message, hint = "a rung is empty", "write a question between the arrows, or remove one arrow"
        problems.append(Problem("empty-rung", Severity.ERROR, position, message, hint))
        return None
    return Rung(Text("\n".join(text.text for text in texts), texts[0].position), tuple(questions))


def _semicolon_pieces(part: _Part) -> list[Text]:
    spans = split_at_semicolons(part.source.text, part.sheltered, part.start, part.end)
    return [piece for span in spans if (piece := part.source.piece(*span)).text]


def read_list(line: Line, start: int, problems: list[Problem]) -> list[Text]:
    """The signs or red flags of a line whose own text begins at ``start``: split at semicolons, or nested as a list.

    A full stop at the end is punctuation of the line, not text.
    """
    found: list[Text] = []
    own = Paragraph(line.text.cut(start, len(line.text.text)))
    for block in (own, *line.nested):
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
    marks = sheltered.unbalanced
    hint = "close it, or remove it: until then arrows and semicolons behind it split the line"
    for mark in marks[:_UNBALANCED_AT_MOST]:
        position = text.position(mark.offset)
        message = f"`{mark.character}` has no partner in this line"
        problems.append(Problem("unbalanced-bracket", Severity.WARNING, position, message, hint))
    if len(marks) > _UNBALANCED_AT_MOST:
        position = text.position(marks[_UNBALANCED_AT_MOST].offset)
        message = f"and {len(marks) - _UNBALANCED_AT_MOST} more brackets in this line have no partner"
        problems.append(Problem("unbalanced-bracket", Severity.WARNING, position, message, hint))
