"""Parsed packs as plain lists, and back, for the store. A pack's own file is not written into every place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..values.model import Language, Pack, Position, Probe, Problem, RedFlag, Rung, Severity, Text, Topic


def packed(pack: Pack | None, problems: Iterable[Problem]) -> list[Any]:
    """A pack and its problems as lists of texts and numbers."""
    told = [[p.code, p.severity.value, p.position.line, p.position.column, p.message, p.hint] for p in problems]
    if pack is None:
        return [told]
    head = [pack.name, pack.language.value, pack.layer, list(pack.domains), list(pack.keywords)]
    topics = [
        [_text(t.title), [[_text(r.text), _texts(r.questions)] for r in t.rungs], _texts(t.signs), _texts(t.red_flags)]
        for t in pack.topics
    ]
    flags = [[flag.key, _text(flag.flag)] for flag in pack.red_flags]
    probes = [[_text(probe.trigger), _text(probe.follow_up)] for probe in pack.probes]
    return [told, *head, pack.description, pack.version, pack.blob, topics, flags, probes, _texts(pack.focus)]


def unpacked(data: Sequence[Any], file: str) -> tuple[Pack | None, tuple[Problem, ...]]:
    """The pack and the problems in what :func:`packed` made, for the path ``file``.

    Raises ValueError, TypeError or IndexError where it is something else.
    """
    told, *rest = data
    problems = tuple(
        Problem(code, Severity(severity), Position(file, line, column), message, hint)
        for code, severity, line, column, message, hint in told
    )
    if not rest:
        if not problems:
            raise ValueError("no pack, and no reason for it")
        return None, problems
    name, language, layer, domains, keywords, description, version, blob, topics, flags, probes, focus = rest

    def text(value: Sequence[Any]) -> Text:
        written, line, column = value
        return Text(written, Position(file, line, column))

    def texts(values: Iterable[Sequence[Any]]) -> tuple[Text, ...]:
        return tuple(map(text, values))

    pack = Pack(
        name=name,
        language=Language(language),
        layer=layer,
        domains=tuple(domains),
        keywords=tuple(keywords),
        description=description,
        version=version,
        blob=blob,
        path=file,
        topics=tuple(
            Topic(text(title), tuple(Rung(text(rung), texts(parts)) for rung, parts in rungs), texts(signs), texts(red))
            for title, rungs, signs, red in topics
        ),
        red_flags=tuple(RedFlag(key, text(flag)) for key, flag in flags),
        probes=tuple(Probe(text(trigger), text(follow_up)) for trigger, follow_up in probes),
        focus=texts(focus),
    )
    return pack, problems


def _text(text: Text) -> list[Any]:
    return [text.text, text.position.line, text.position.column]


def _texts(texts: Iterable[Text]) -> list[list[Any]]:
    return [_text(text) for text in texts]
