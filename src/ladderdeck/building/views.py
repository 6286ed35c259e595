"""What scripts read: packs, outcomes and problems as plain data for JSON, and problems as GitHub's workflow commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..identity.identify import Change, Changed
from ..identity.ledger import Entry
from ..values.model import Kind, Pack, Problem, Rung, Text, Topic
from ..values.paths import shown
from .request import Request

if TYPE_CHECKING:
    from ..answering.coverage import Row
    from .build import Outcome


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


def outcome_view(outcome: Outcome, request: Request) -> dict[str, Any]:
    """A build's outcome as `build --json` prints it. `changes` leaves out the notes that stayed as they were."""
    counts = Counter(changed.change for changed in outcome.changes)
    kinds = Counter(identified.note.origin.kind for identified in outcome.notes)
    return {
        "failed": outcome.failed,
        "dry_run": request.dry_run,
        "output": shown(request.output),
        "format": request.format_name,
        "written": [shown(file) for file in outcome.written],
        "notes": len(outcome.notes),
        "decks": sorted({identified.note.deck for identified in outcome.notes}),
        "kinds": {kind.value: kinds[kind] for kind in Kind},
        "counts": {change.value: counts[change] for change in Change},
        "changes": [_changed(changed) for changed in outcome.changes if changed.change is not Change.UNCHANGED],
        "problems": [problem_view(problem) for problem in outcome.problems],
    }


def _changed(changed: Changed) -> dict[str, Any]:
    return {
        "change": changed.change.value,
        **_entry(changed.entry),
        "before": None if changed.before is None else _entry(changed.before),
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "guid": entry.guid,
        "kind": entry.kind.value,
        "pack": entry.pack,
        "language": entry.language,
        "topic": entry.topic,
        "text": entry.text,
    }


def coverage_view(rows: Sequence[Row], problems: Sequence[Problem]) -> dict[str, Any]:
    """How far packs are answered, as `answers --json` prints it."""
    columns = ("answered", "missing", "stale")
    return {
        "counts": {name: sum(len(getattr(row, name)) for row in rows) for name in columns},
        "rows": [
            {
                "pack": row.pack,
                "language": row.language,
                "topic": row.topic,
                "kind": row.kind.value,
                **{name: [item.text for item in getattr(row, name)] for name in columns},
            }
            for row in rows
        ],
        "problems": [problem_view(problem) for problem in problems],
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
