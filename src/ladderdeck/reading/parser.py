"""The parser: from the text of a ladder document to a Pack, with the problems found on the way.

It goes through the document once: `outline` says which lines are headings, list items and paragraphs; here each is told
by its heading and label what it means, and the lines are split into rungs, signs, red flags and probes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from ..comparing.linking import RedFlagLine, link
from ..values.model import LONGEST_TOPIC, Language, Pack, Position, Probe, Problem, RedFlag, Rung, Severity, Text, Topic
from ..values.wording import wording_key
from . import lines
from .decoding import decode
from .front_matter import Head, read_head
from .labels import LABEL_HINT, SECTION_HEADINGS, Item, Section, label_of, section_hint, section_of
from .located import Located
from .outline import NESTING_LIMIT, Block, Heading, outline
from .slips import slips


@dataclass
class _Draft:
    """What has been read so far. Only the parser sees it; what leaves is frozen."""

    file: str
    focus: list[Text] = field(default_factory=list)
    probes: dict[str, Probe] = field(default_factory=dict)
    red_flag_lines: list[lines.Line] = field(default_factory=list)
    topics: list[Topic] = field(default_factory=list)
    titles: dict[str, Text] = field(default_factory=dict)
    languages: list[Language] = field(default_factory=list)
    sections: dict[Section, Position] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def error(self, code: str, position: Position, message: str, hint: str) -> None:
        self.problems.append(Problem(code, Severity.ERROR, position, message, hint))

    def warn(self, code: str, position: Position, message: str, hint: str) -> None:
        self.problems.append(Problem(code, Severity.WARNING, position, message, hint))


def parse_pack(data: bytes, file: str) -> tuple[Pack | None, tuple[Problem, ...]]:
    """Read a ladder document.

    ``data`` is the file's content, ``file`` its path as problems should name it. Returns the pack, and all problems in
    the order of the file. The pack is None only where the file holds nothing to read; with an error among the problems
    it is what could be understood, good for looking at and not for building.
    """
    text, reading_problems = decode(data, file)
    if text is None:
        return None, reading_problems
    lines_of_text = text.split("\n")
    head = read_head(lines_of_text, file)
    draft = _Draft(file, problems=[*reading_problems, *head.problems])
    body = outline(lines_of_text[head.body_line :], file, head.body_line + 1)
    if body.too_deep is not None:
        message = f"lists are nested more than {NESTING_LIMIT // 2} deep here; what is deeper cannot be read"
        draft.error("nested-too-deep", Position(file, body.too_deep), message, "flatten the list")
    if body.open_fence is not None:
        message = "the code block that begins here has no end, and takes in all that follows"
        draft.warn("open-fence", Position(file, body.open_fence), message, "put a line ``` behind its last line")
    _read_sections(body.blocks, draft)
    red_flags, topics = _link_red_flags(draft)
    pack = _assemble(head, draft, topics, red_flags)
    draft.problems.extend(slips(pack))
    return pack, tuple(sorted(draft.problems, key=lambda p: (p.position, p.severity.value, p.code)))


def _assemble(head: Head, draft: _Draft, topics: tuple[Topic, ...], red_flags: tuple[RedFlag, ...]) -> Pack:
    return Pack(
        name=head.name,
        language=_language(draft),
        layer=head.layer,
        domains=head.domains,
        keywords=head.keywords,
        description=head.description,
        version=head.version,
        blob=head.blob,
        path=draft.file,
        topics=topics,
        red_flags=red_flags,
        probes=tuple(draft.probes.values()),
        focus=tuple(draft.focus),
    )


def _language(draft: _Draft) -> Language:
    """The language of most headings and labels; where they are even, the one that the topics' letters belong to."""
    found = Counter(draft.languages).most_common(2)
    if len(found) == 1 or (found and found[0][1] > found[1][1]):
        return found[0][0]
    text = "".join(rung.text.text for topic in draft.topics for rung in topic.rungs)
    ideographs = sum("\u3400" <= c <= "\u9fff" for c in text)
    return Language.CHINESE if ideographs * 4 >= sum(c.isalpha() for c in text) else Language.ENGLISH


def _read_sections(blocks: tuple[Block, ...], draft: _Draft) -> None:
    starts = [i for i, b in enumerate(blocks) if isinstance(b, Heading) and b.level <= 2]
    for start, end in pairwise([*starts, len(blocks)]):
        heading = blocks[start]
        # The document's title is no section, but a section's name may be written as large.
        if isinstance(heading, Heading) and (heading.level == 2 or start > 0 or section_of(heading.text.text)):
            _read_section(heading.text, blocks[start + 1 : end], draft)
    if Section.TOPICS not in draft.sections:
        names = " or ".join(f"`## {headings[Section.TOPICS]}`" for headings in SECTION_HEADINGS.values())
        message = "the pack has no topics section"
        draft.error("no-topics", Position(draft.file), message, f"add {names}, and under it a `###` for each topic")
    elif not draft.topics:
        position = draft.sections[Section.TOPICS]
        draft.error("no-topics", position, "the topics section holds no topic", "add a `###` heading for each topic")


def _read_section(heading: Located, blocks: tuple[Block, ...], draft: _Draft) -> None:
    title = heading.whole()
    found = section_of(title.text)
    if found is None:
        message = f"the section `{title.text}` is not one that a pack has; it is kept out of the cards"
        draft.warn("unknown-section", title.position, message, section_hint(title.text))
        return
    section, language = found
    draft.languages.append(language)
    if section in draft.sections:
        first = draft.sections[section]
        message = f"the section `{title.text}` stands twice, first in line {first.line}; both are read"
        draft.warn("duplicate-section", title.position, message, "put the two under one heading")
    draft.sections.setdefault(section, title.position)
    if section is Section.TOPICS:
        _read_topics(blocks, draft)
    elif section is Section.FOCUS:
        draft.focus.extend(text.whole() for text in lines.all_text(blocks) if text.text)
    elif section is Section.RED_FLAGS:
        draft.red_flag_lines.extend(_bullets(blocks, title, draft))
    else:
        for line in _bullets(blocks, title, draft):
            probe = lines.read_probe(line, draft.problems)
            if probe:
                _add_probe(probe, draft)


def _bullets(blocks: tuple[Block, ...], section: Text, draft: _Draft) -> list[lines.Line]:
    """The bullets of a section. What stands above the first is its introduction; other text is in no card, and told."""
    found = list(lines.section_lines(blocks))
    first = next((i for i, line in enumerate(found) if line.bullet), 0)
    for index, line in enumerate(found):
        if not line.bullet and line.text.text and (index >= first or line.heading):
            message = f"this text of the section `{section.text}` is no bullet, and belongs to no card"
            draft.warn("unknown-line", line.text.position(0), message, "begin each line that should be read with `- `")
    return [line for line in found if line.bullet]


def _add_probe(probe: Probe, draft: _Draft) -> None:
    key = wording_key(f"{probe.trigger.text} → {probe.follow_up.text}")
    first = draft.probes.setdefault(key, probe)
    if first is not probe:
        text = probe.trigger
        message = (
            f"the probe `{text.text}` stands twice, first in line {first.trigger.position.line}; it makes one card"
        )
        draft.warn("duplicate-probe", text.position, message, "remove one of the two")


def _read_topics(blocks: tuple[Block, ...], draft: _Draft) -> None:
    starts = [i for i, b in enumerate(blocks) if isinstance(b, Heading) and b.level == 3]
    for line in lines.section_lines(blocks[: starts[0]] if starts else blocks):
        if line.bullet or label_of(line.text.text):
            message = f"`{line.text.text}` stands before the first topic and belongs to no card"
            draft.warn("text-outside-topic", line.text.position(0), message, "put it under a `###` topic heading")
    for start, end in pairwise([*starts, len(blocks)]):
        heading = blocks[start]
        if isinstance(heading, Heading):
            _read_topic(heading.text.whole(), blocks[start + 1 : end], draft)


def _read_topic(title: Text, blocks: tuple[Block, ...], draft: _Draft) -> None:
    if not title.text:
        draft.error("no-topic-title", title.position, "a topic has no title", "write it behind the `###`")
    rungs: list[Rung] = []
    signs: list[Text] = []
    seen: set[Item] = set()
    introduction = True
    problems_before = len(draft.problems)
    for line in lines.section_lines(blocks):
        label = label_of(line.text.text)
        introduction = introduction and label is None and not line.bullet
        if label is not None:
            draft.languages.append(label.language)
            if label.item in seen:
                message = f"the topic `{title.text}` has a second line of {label.item.value}; both are read"
                draft.warn("duplicate-line", line.text.position(0), message, "put the two into one")
            seen.add(label.item)
            own = line.behind(label.start, label.end)
            if label.item is Item.LADDER:
                rungs.extend(lines.read_ladder(own, draft.problems))
            else:
                signs.extend(lines.read_list(own, draft.problems))
        elif not introduction and line.text.text:
            message = f"this line of `{title.text}` is neither its ladder nor its signs, and belongs to no card"
            draft.warn("unknown-line", line.text.position(0), message, LABEL_HINT)
    empty_rungs = any(p.code == "empty-rung" for p in draft.problems[problems_before:])
    _check_topic(title, signs, seen, draft)
    _check_ladder(title, rungs, seen, empty_rungs, draft)
    draft.topics.append(Topic(title, tuple(rungs), tuple(_without_repeats(signs, "sign", draft))))


def _check_topic(title: Text, signs: list[Text], seen: set[Item], draft: _Draft) -> None:
    first = draft.titles.setdefault(wording_key(title.text), title)
    if first is not title and title.text:
        message = f"the topic `{title.text}` stands twice, first in line {first.position.line}"
        draft.error("duplicate-topic", title.position, message, "rename one of the two, or put them together")
    if len(signs) > LONGEST_TOPIC:
        _too_many(title, "signs", signs[LONGEST_TOPIC], len(signs), draft)
    if not signs:
        what = "no text behind its signs" if Item.SIGNS in seen else "no signs"
        draft.error("no-signs", title.position, f"the topic `{title.text}` has {what}", LABEL_HINT)


def _check_ladder(title: Text, rungs: list[Rung], seen: set[Item], empty_rungs: bool, draft: _Draft) -> None:
    name = f"the topic `{title.text}`"
    if len(rungs) > LONGEST_TOPIC:
        _too_many(title, "rungs", rungs[LONGEST_TOPIC].text, len(rungs), draft)
    if not rungs and not empty_rungs:
        what = "an empty ladder" if Item.LADDER in seen else "no ladder"
        draft.error("no-ladder", title.position, f"{name} has {what}", LABEL_HINT)
    if len(rungs) == 1:
        message = f"{name} has a ladder of one rung"
        draft.warn("one-rung", rungs[0].text.position, message, "put an arrow → between the questions, 4 is usual")
    first: dict[str, Rung] = {}
    for rung in rungs:
        if first.setdefault(wording_key(rung.text.text), rung) is not rung:
            message = f"the rung `{rung.text.text}` stands twice in {name}"
            draft.error("duplicate-rung", rung.text.position, message, "remove or reword one of the two")


def _too_many(title: Text, what: str, first: Text, count: int, draft: _Draft) -> None:
    """Report that a topic has more than :data:`LONGEST_TOPIC`; ``first`` is the first one that is too many."""
    message = (
        f"the topic `{title.text}` has {count} {what}; more than {LONGEST_TOPIC} make no useful card, and are refused"
    )
    draft.error(f"too-many-{what.replace(' ', '-')}", first.position, message, "make several topics of this one")


def _without_repeats(texts: Iterable[Text], what: str, draft: _Draft) -> list[Text]:
    first: dict[str, Text] = {}
    for text in texts:
        if first.setdefault(wording_key(text.text), text) is not text:
            message = f"the {what} `{text.text}` stands twice in this topic; it makes one card"
            draft.warn(f"duplicate-{what.replace(' ', '-')}", text.position, message, "remove one of the two")
    return list(first.values())


def _link_red_flags(draft: _Draft) -> tuple[tuple[RedFlag, ...], tuple[Topic, ...]]:
    """The red flags that belong to no topic, and the topics with theirs."""
    titles = [topic.title.text for topic in draft.topics]
    linked: list[list[Text]] = [[] for _ in titles]
    loose: list[RedFlag] = []
    entries = [RedFlagLine(line.text.text, lines.outer_colons(line.text)) for line in draft.red_flag_lines]
    bodies = ["\n".join(text.text for text in (*(r.text for r in t.rungs), *t.signs)) for t in draft.topics]
    for line, (topic, colon) in zip(draft.red_flag_lines, link(entries, titles, bodies), strict=True):
        key, start = _key_of(line.text.text, colon)
        flags = lines.read_list(line.behind(start), draft.problems)
        if not flags:
            draft.warn(
                "empty-red-flag", line.text.position(0), f"no red flag follows `{key}`", "write it behind the colon"
            )
        elif topic is None:
            message = (
                f"no topic is near enough to the red flags of `{key or line.text.text}`; they are kept on the pack"
            )
            hint = "begin the line with a topic's title and a colon"
            draft.warn("red-flag-without-topic", line.text.position(0), message, hint)
            loose.extend(RedFlag(key, flag) for flag in flags)
        else:
            linked[topic].extend(flags)
    for owner, own in zip(draft.topics, linked, strict=True):
        if len(own) > LONGEST_TOPIC:
            _too_many(owner.title, "red flags", own[LONGEST_TOPIC], len(own), draft)
    topics = tuple(
        Topic(t.title, t.rungs, t.signs, tuple(_without_repeats(flags, "red flag", draft)))
        for t, flags in zip(draft.topics, linked, strict=True)
    )
    return tuple(loose), topics


def _key_of(text: str, colon: int | None) -> tuple[str, int]:
    """The key of a red-flag line without emphasis, and where the red flags begin, for the colon that ends the key."""
    if colon is None:
        return "", 0
    start = colon + 1
    if text.startswith("**") and text.startswith("**", start):
        start += 2
    return text[:colon].strip().strip("*").strip(), start
