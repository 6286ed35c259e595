"""Realistic packs for the benchmarks: of 100 notes each, every second one Chinese, with answers to a part of it.

The same arguments give the same files, byte for byte: the seeds are the packs' numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .words import Words

NOTES_IN_A_PACK = 100
_TOPIC_NOTES = 88
"""Topics are added until they make this many notes; probes fill the pack up."""

_ENGLISH = {
    "topics": "Frequently tested topics",
    "ladder": "Ladder",
    "signs": "Signs of a solid answer",
    "flags": "Common failures and red flags",
    "probes": "Probing projects and internships",
    "focus": "What interviewers care about",
    "resume": "Resume mentions",
    "sources": "Sources",
    "colon": ": ",
    "semicolon": "; ",
}
_CHINESE = {
    "topics": "常考主题清单",
    "ladder": "阶梯",
    "signs": "答实的标志",
    "flags": "常见失守与危险信号",
    "probes": "项目 / 实习怎么深挖",
    "focus": "面试官在意什么",
    "resume": "简历出现",
    "sources": "来源",
    "colon": "：",
    "semicolon": "；",
}


@dataclass(frozen=True)
class Topic:
    """A topic of a generated pack: its title, its rungs (each of one question or two), signs and red flags."""

    title: str
    rungs: tuple[str, ...]
    signs: tuple[str, ...]
    flags: tuple[str, ...]

    @property
    def notes(self) -> int:
        """How many notes it makes: one a rung, sign and red flag, and one for the ladder."""
        return len(self.rungs) + len(self.signs) + len(self.flags) + 1


def pack_files(number: int) -> Iterator[tuple[str, str]]:
    """The files of a generated pack: their paths below the cards folder, and their texts."""
    chinese = number % 2 == 1
    words = Words(f"pack {number}", chinese)
    labels = _CHINESE if chinese else _ENGLISH
    name = f"pack-{number:04}"
    topics = list(_topics(words))
    probes = NOTES_IN_A_PACK - sum(topic.notes for topic in topics)
    yield f"{name}/SKILL.md", _pack(name, number, topics, probes, words, labels)
    for place, topic in enumerate(topics[:: max(1, len(topics) // 2)]):
        yield f"{name}/answers/answer-{place}.md", _answers(name, topic, words, labels)


def write_packs(folder: Path, notes: int) -> int:
    """Write packs of ``notes`` notes in all, rounded up to whole packs, below ``folder``. Returns the number of notes."""
    count = -(-notes // NOTES_IN_A_PACK)
    for number in range(count):
        for name, text in pack_files(number):
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text.encode())
    return count * NOTES_IN_A_PACK


def edited(text: str, round_number: int) -> str:
    """A pack's text after a small edit: the first ladder's first rung is worded differently."""
    for label in ("- 阶梯：", "- Ladder: "):
        if label in text:
            return text.replace(label, f"{label}[{round_number}] ", 1)
    raise ValueError("this is no generated pack")


def _topics(words: Words) -> Iterator[Topic]:
    made = 0
    while made < _TOPIC_NOTES:
        rungs = tuple(_questions(words) for _ in range(words.number(3, 5)))
        signs = tuple(words.sentence() for _ in range(words.number(2, 4)))
        flags = tuple(words.sentence() for _ in range(words.number(2, 3)))
        topic = Topic(words.title(), rungs, signs, flags)
        made += topic.notes
        if made < NOTES_IN_A_PACK:
            yield topic


def _questions(words: Words) -> str:
    if not words.chance(0.3):
        return words.sentence()
    return f"{words.sentence()}{'；' if words.chinese else '; '}{words.sentence()}"


def _pack(name: str, number: int, topics: list[Topic], probes: int, words: Words, labels: dict[str, str]) -> str:
    colon, semicolon = labels["colon"], labels["semicolon"]
    lines = [f"{name} git:20260101.{number:08x}", "", "---", f"name: {name}", f"description: {words.sentence()}"]
    lines += [f"keywords: [{words.thing()}, {words.thing()}]", "layer: detail", f"domains: [area-{number % 7}]", "---"]
    lines += ["", f"## {labels['focus']}", "", words.sentence()]
    lines += ["", f"## {labels['probes']}", ""]
    lines += [f"- {labels['resume']} {words.title()} → {words.sentence()}" for _ in range(probes)]
    lines += ["", f"## {labels['flags']}", ""]
    lines += [f"- {topic.title}{colon}{semicolon.join(topic.flags)}" for topic in topics]
    lines += ["", f"## {labels['topics']}"]
    for topic in topics:
        lines += ["", f"### {topic.title}", f"- {labels['ladder']}{colon}{' → '.join(topic.rungs)}"]
        lines += [f"- {labels['signs']}{colon}{semicolon.join(topic.signs)}"]
    return "\n".join(lines) + "\n"


def _answers(name: str, topic: Topic, words: Words, labels: dict[str, str]) -> str:
    lines = ["---", f"pack: {name}", f"topic: {topic.title}", "---", "", f"# {labels['ladder']}"]
    for rung in topic.rungs:
        lines += ["", f"## {rung}", "", *(f"- {'★ ' if n < 2 else ''}{words.clause()}" for n in range(4))]
        lines += ["", ". ".join(words.sentence() for _ in range(4)) + "."]
        if words.chance(0.3):
            lines += ["", "$$", r"E = \frac{1-\alpha^{k+1}}{1-\alpha}", "$$"]
        if words.chance(0.25):
            lines += ["", "```python", f"# {words.thing()}", "def step(batch: int) -> int:"]
            lines += ["    total = sum(x * x for x in range(batch))", "    return total if batch else -1", "```"]
        if words.chance(0.25):
            lines += ["", f"| {words.thing()} | {words.thing()} |", "| --- | --- |"]
            lines += [f"| {words.thing()} | {words.number(1, 999)} ms |" for _ in range(3)]
        lines += ["", f"{labels['sources']}{labels['colon']}[{words.title()}](https://example.org/{name})"]
    return "\n".join(lines) + "\n"
