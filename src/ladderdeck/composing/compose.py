"""From packs to notes: what each card asks and shows. Pure; knows ladders and HTML, but neither files nor guids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..answering.answer_match import ItemKey
from ..reading.settings import Settings
from ..reading.split import shelter, split_at_list_marks
from ..rendering.render import render_text
from ..values.model import LONGEST_TOPIC, Kind, Language, Pack, Rung, Text, Topic
from ..values.note import Note, Origin
from ..values.tags import RETIRED_TAG, tag, topic_tags
from .answer_html import AnswerHtml
from .drill_html import DrillHtml

_RETIRED = {
    Language.CHINESE: "这张卡片的内容已从题库中移除。可以暂停或删除它。",
    Language.ENGLISH: "This text is no longer in its pack. You may suspend or delete this card.",
}
_LAST = 10**6
"""Where a retired card stands among new cards, should it come to a collection that never had it: behind all others."""


def compose(
    packs: Iterable[Pack],
    settings: Settings,
    answers: Mapping[ItemKey, AnswerHtml] | None = None,
    drills: Sequence[DrillHtml] = (),
) -> tuple[Note, ...]:
    """The notes of all packs, deck by deck, topic by topic, rungs in order. ``answers`` are the answers to their items,
    ``drills`` those of all packs.

    ``due`` counts within a deck, so that a change in one pack never moves the cards of another.
    """
    notes: list[Note] = []
    for pack in sorted(packs, key=lambda p: (p.name, p.language.value)):
        own = [drill for drill in drills if drill.placed.pack is pack]
        deck = settings.deck_name(pack.name, pack.language)
        notes.extend(_Composer(pack, settings, answers or {}, own, deck).notes())
    return tuple(notes)


def retired_note(origin: Origin, settings: Settings) -> Note:
    """What a note becomes when its text has left the pack: the question, and a word that it may go.

    A package cannot delete a note; this one tells its owner, and is found by its tag.
    """
    language = Language(origin.language)
    fields = {
        "Question": _block(origin.wording),
        "Topic": _block(origin.topic) if origin.topic else "",
        "Pack": render_text(origin.pack),
        "Language": language.attribute,
        "Notice": _RETIRED[language],
    }
    tags = (
        RETIRED_TAG,
        tag("pack", origin.pack),
        tag("lang", origin.language),
        tag("kind", origin.kind.value),
    )
    return Note(origin, fields, tuple(sorted(tags)), settings.deck_name(origin.pack, language), _LAST)


@dataclass(frozen=True)
class _Composer:
    pack: Pack
    settings: Settings
    answers: Mapping[ItemKey, AnswerHtml]
    drills: Sequence[DrillHtml]
    deck: str

    def notes(self) -> Iterator[Note]:
        places: Counter[tuple[Kind, str]] = Counter()
        for due, note in enumerate(self._in_order()):
            made = note.origin
            group = (made.kind, made.topic)
            origin = Origin(made.pack, made.language, made.kind, made.topic, made.wording, places[group])
            yield Note(origin, note.fields, note.tags, note.deck, due, note.position)
            places[group] += 1

    def _in_order(self) -> Iterator[Note]:
        makers = {
            Kind.RUNG: self._rungs,
            Kind.SIGN: self._signs,
            Kind.RED_FLAG: self._red_flags,
            Kind.LADDER: self._ladder,
            Kind.DRILL: self._drills,
        }
        kinds = self.settings.kinds
        tags = topic_tags(self.pack.name, (topic.title.text for topic in self.pack.topics))
        for topic, topic_tag in zip(map(_within_limits, self.pack.topics), tags, strict=True):
            shared = _shared_fields(topic)
            for kind in kinds:
                if kind in makers:
                    for note in makers[kind](topic):
                        fields, all_tags = {**shared, **note.fields}, tuple(sorted((*note.tags, topic_tag)))
                        yield Note(note.origin, fields, all_tags, note.deck, note.due, note.position)
        if Kind.PROBE in kinds:
            yield from self._probes()
        if Kind.RED_FLAG in kinds:
            yield from self._loose_red_flags()

    def _note(
        self,
        kind: Kind,
        topic: str,
        text: Text,
        question: str,
        fields: dict[str, str],
        tags: tuple[str, ...] = (),
        asked: str = "",
    ) -> Note:
        """A note of this pack. ``asked`` is what answers call the item, where that is not its text."""
        pack = self.pack
        common = {
            "Question": question,
            "Pack": render_text(pack.name),
            "Language": pack.language.attribute,
            "Provenance": _provenance(pack.name, pack.version, pack.blob),
        }
        all_tags = (
            *(tag("domain", domain) for domain in pack.domains or ("all",)),
            tag("pack", pack.name),
            tag("layer", pack.layer),
            tag("lang", pack.language.value),
            tag("kind", kind.value),
            *tags,
        )
        origin = Origin(pack.name, pack.language.value, kind, topic, text.text, 0)
        answer = self._answer(kind, topic, asked or text.text)
        return Note(origin, {**common, **answer, **fields}, tuple(sorted(all_tags)), self.deck, 0, text.position)

    def _answer(self, kind: Kind, topic: str, text: str) -> dict[str, str]:
        answer = self.answers.get(ItemKey(self.pack.name, self.pack.language.value, kind, topic, text), AnswerHtml())
        return {"Key Points": answer.key_points, "Answer": answer.details, "Sources": answer.sources}

    def _rungs(self, topic: Topic) -> Iterator[Note]:
        steps = topic.rungs
        for index, rung in enumerate(steps):
            fields = {
                "Place": f"{_steps(index, len(steps))}{index + 1} / {len(steps)}",
                "Earlier": _ladder_list(steps[:index]),
                "Next": _questions(steps[index + 1]) if index + 1 < len(steps) else "",
            }
            place = tag("rung", str(index + 1))
            yield self._note(Kind.RUNG, topic.title.text, rung.text, _questions(rung), fields, (place,))

    def _signs(self, topic: Topic) -> Iterator[Note]:
        fields = {"Ladder": _ladder_list(topic.rungs), "Signs": ""}
        for sign in topic.signs:
            yield self._note(Kind.SIGN, topic.title.text, sign, _block(sign.text), fields)

    def _red_flags(self, topic: Topic) -> Iterator[Note]:
        fields = {"Ladder": _ladder_list(topic.rungs), "Red Flags": ""}
        for flag in topic.red_flags:
            yield self._note(Kind.RED_FLAG, topic.title.text, flag, _block(flag.text), fields)

    def _ladder(self, topic: Topic) -> Iterator[Note]:
        title = topic.title.text
        place = f'{_steps(None, len(topic.rungs))}<span class="number">{len(topic.rungs)}</span>'
        fields = {"Place": place, "Ladder": _ladder_list(topic.rungs)}
        yield self._note(Kind.LADDER, title, topic.title, _block(title), fields)

    def _drills(self, topic: Topic) -> Iterator[Note]:
        for drill in self.drills:
            if drill.placed.topic is not topic:
                continue
            fields = {"Signs": "", **drill.fields}
            if drill.placed.rung is not None:
                index, rungs = drill.placed.rung, topic.rungs
                fields["Place"] = f"{_steps(index, len(rungs))}{index + 1} / {len(rungs)}"
                fields["Next"] = _questions(rungs[index])
            question = fields.pop("Question")
            yield self._note(Kind.DRILL, topic.title.text, drill.placed.drill.id, question, fields)

    def _probes(self) -> Iterator[Note]:
        for probe in self.pack.probes:
            trigger, follow_up = probe.trigger.text, probe.follow_up.text
            fields = {"Follow Up": _points(follow_up)}
            text = Text(f"{trigger} → {follow_up}", probe.trigger.position)
            yield self._note(Kind.PROBE, "", text, _block(trigger), fields, asked=trigger)

    def _loose_red_flags(self) -> Iterator[Note]:
        for red_flag in self.pack.red_flags:
            fields = {"Topic": _block(red_flag.key)} if red_flag.key else {}
            yield self._note(Kind.RED_FLAG, "", red_flag.flag, _block(red_flag.flag.text), fields)


def _within_limits(topic: Topic) -> Topic:
    """The topic, or the beginning of one that is too long: no build takes that, but a preview shows what it can."""
    if max(len(topic.rungs), len(topic.signs), len(topic.red_flags)) <= LONGEST_TOPIC:
        return topic
    cut = slice(LONGEST_TOPIC)
    return Topic(topic.title, topic.rungs[cut], topic.signs[cut], topic.red_flags[cut])


@lru_cache(maxsize=16)
def _provenance(*parts: str) -> str:
    """A pack's name, version and blob on one line: one text, and not as many as the pack has notes."""
    return " · ".join(render_text(part) for part in parts if part)


def _shared_fields(topic: Topic) -> dict[str, str]:
    """What every note of a topic may show: its title, its signs and its red flags."""
    return {
        "Topic": _block(topic.title.text),
        "Signs": _list(topic.signs),
        "Red Flags": _list(topic.red_flags),
    }


def _block(source: str) -> str:
    return f'<div class="text" dir="auto">{render_text(source)}</div>'


def _list(texts: Sequence[Text]) -> str:
    return _items([text.text for text in texts])


def _items(texts: Sequence[str]) -> str:
    items = "".join(f'<li class="text" dir="auto">{render_text(text)}</li>' for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def _steps(here: int | None, count: int) -> str:
    """The ladder as a small picture, which the stylesheet draws: a bar a rung, filled up to the one with index ``here``."""
    names = ("" if here is None or index > here else "here" if index == here else "below" for index in range(count))
    bars = "".join(f'<i class="{name}"></i>' if name else "<i></i>" for name in names)
    return f'<span class="steps" aria-hidden="true">{bars}</span>'


def _points(follow_up: str) -> str:
    """A probe's follow-up as the points to be ready for, one an item. The marks between them are kept, out of sight."""
    spans = split_at_list_marks(follow_up, shelter(follow_up))
    points = [(piece, follow_up.index(piece, start)) for start, end in spans if (piece := follow_up[start:end].strip())]
    nexts = [*(start for _, start in points), len(follow_up)][1:]
    items = "".join(
        f'<li class="text" dir="auto">{render_text(piece)}'
        f'<span class="mark" hidden>{render_text(follow_up[start + len(piece) : following])}</span></li>'
        for (piece, start), following in zip(points, nexts, strict=True)
    )
    return f"<ul>{items}</ul>" if items else ""


def _questions(rung: Rung) -> str:
    """A rung's questions, one a line: a list where there are several."""
    return _block(rung.questions[0].text) if len(rung.questions) == 1 else _list(rung.questions)


def _ladder_list(rungs: Sequence[Rung]) -> str:
    items = "".join(f"<li>{_questions(rung)}</li>" for rung in rungs)
    return f"<ol>{items}</ol>" if items else ""
