"""What scripts read: packs and problems as plain data for JSON, and problems as GitHub's workflow commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .model import Pack, Problem, Rung, Text, Topic


def library_view(packs: Sequence[Pack], problems: Sequence[Problem]) -> dict[str, Any]:
    """Packs and problems as `inspect` prints them."""
    return {"packs": [_pack(pack) for pack in packs], "problems": [problem_view(problem) for problem in problems]}


def problem_view(problem: Problem) -> dict[str, Any]:
    """A problem as plain data."""
    return {
        "code": problem.code,
        "severity": problem.severity.value,
        "file": problem.position.file,
        "line": problem.position.line,
        "column": problem.position.column,
        "message": problem.message,
        "hint": problem.hint,
    }


def github_command(problem: Problem) -> str:
    """A problem as a workflow command, which GitHub shows beside the line. Escapes as GitHub's own toolkit does."""
    place = problem.position
    properties = {"file": place.file, "line": place.line, "col": place.column, "title": problem.code}
    written = ",".join(f"{key}={_escape_property(str(value))}" for key, value in properties.items())
    return f"::{problem.severity.value} {written}::{_escape(f'{problem.message}; {problem.hint}')}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")


def _pack(pack: Pack) -> dict[str, Any]:
    return {
        "name": pack.name,
        "language": pack.language.value,
        "layer": pack.layer,
        "domains": list(pack.domains),
        "keywords": list(pack.keywords),
        "description": pack.description,
        "version": pack.version,
        "blob": pack.blob,
        "path": pack.path,
        "topics": [_topic(topic) for topic in pack.topics],
        "red_flags": [{**_text(flag.flag), "key": flag.key} for flag in pack.red_flags],
        "probes": [
            {"trigger": p.trigger.text, "follow_up": p.follow_up.text, "line": p.trigger.position.line}
            for p in pack.probes
        ],
    }


def _topic(topic: Topic) -> dict[str, Any]:
    return {
        "title": topic.title.text,
        "line": topic.title.position.line,
        "rungs": [_rung(rung) for rung in topic.rungs],
        "signs": [_text(sign) for sign in topic.signs],
        "red_flags": [_text(flag) for flag in topic.red_flags],
    }


def _rung(rung: Rung) -> dict[str, Any]:
    return {**_text(rung.text), "questions": [question.text for question in rung.questions]}


def _text(text: Text) -> dict[str, Any]:
    return {"text": text.text, "line": text.position.line}
