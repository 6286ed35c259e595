"""Sends a package into a running Anki, and looks at what arrived: the steps that :mod:`.push` plans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ..packaging.package_reading import StoredNote
from ..values.tags import RETIRED_SEARCH
from .anki_connect import AnkiConnectError, Connection, call_if_known, greet
from .push import Fate, Places, Plan, SeenNote, expected, forecast, outcome, plan, seen_note

_AT_ONCE = 500
"""Notes or cards that one request names, so that Anki's window stays alive in between."""

_OWN_TYPES = '"note:Ladderdeck *"'
_T = TypeVar("_T")


@dataclass(frozen=True)
class Report:
    """What a push did, or would do: the profile ('' if unknown), each note's fate, what there was to do about cards, and
    what of that is still to be done. ``trouble`` is what Anki refused after the import."""

    profile: str
    fates: tuple[tuple[StoredNote, Fate], ...]
    plan: Plan
    left: Plan
    trouble: AnkiConnectError | None = None


def look_ahead(connection: Connection, notes: Sequence[StoredNote]) -> Report:
    """What a push would do; nothing is changed. Raises AnkiConnectError."""
    profile = greet(connection)
    before = _notes(connection, notes)
    fates = tuple((note, forecast(note, before.get(note.id))) for note in notes)
    to_do = _plan(connection, notes, before, expected(notes, before))
    return Report(profile, fates, to_do, to_do)


def push(connection: Connection, package: Path, notes: Sequence[StoredNote], *, move: bool, sync: bool) -> Report:
    """Import ``package``, which holds ``notes``, and read back what arrived; then move, suspend and sync as asked.

    Raises AnkiConnectError if nothing was imported. What fails later is in the report.
    """
    profile = greet(connection)
    before = _notes(connection, notes)
    if connection.call("importPackage", long=True, path=str(package.resolve())) is not True:
        raise AnkiConnectError("import-failed", "Anki did not import the package", "import it by hand: File, Import")
    fates: tuple[tuple[StoredNote, Fate], ...] = ()
    to_do = left = Plan()
    try:
        after = _notes(connection, notes)
        fates = tuple((note, outcome(note, before.get(note.id), after.get(note.id))) for note in notes)
        to_do = left = _plan(connection, notes, before, after)
        if move and to_do:
            _carry_out(connection, to_do)
            left = _plan(connection, notes, before, after)
        if sync:
            connection.call("sync", long=True)
    except AnkiConnectError as error:
        return Report(profile, fates, to_do, left, error)
    return Report(profile, fates, to_do, left)


def _notes(connection: Connection, notes: Sequence[StoredNote]) -> dict[int, SeenNote]:
    """Those of the package's notes that Anki has. Their ids come from their guids, so they are the same there."""
    found: dict[int, SeenNote] = {}
    for some in _portions(notes):
        infos = connection.call("notesInfo", notes=[note.id for note in some])
        times = None
        try:
            seen = [seen_note(info) for info in infos]
            if any(note is not None and note.modified is None for note in seen):
                times = call_if_known(connection, "notesModTime", notes=[note.id for note in some])
            for index, (note, one) in enumerate(zip(some, seen, strict=True)):
                if one is not None:
                    found[note.id] = one if times is None else _with_time(one, times[index])
        except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
            raise _unexpected("notesInfo") from error
    return found


def _with_time(seen: SeenNote, info: Mapping[str, Any]) -> SeenNote:
    return SeenNote(seen.note_type, int(info["mod"]), seen.tags, seen.fields, seen.cards)


def _plan(
    connection: Connection, notes: Sequence[StoredNote], before: Mapping[int, SeenNote], now: Mapping[int, SeenNote]
) -> Plan:
    retired = _found(connection, f"{RETIRED_SEARCH} {_OWN_TYPES}")
    cards = [card for note in notes if note.id in now for card in now[note.id].cards]
    return plan(notes, before, now, _places(connection, dict.fromkeys((*cards, *retired))), retired)


def _places(connection: Connection, cards: Iterable[int]) -> Places:
    decks: dict[int, str] = {}
    suspended: set[int] = set()
    for some in _portions(list(cards)):
        try:
            answer = connection.call("getDecks", cards=some)
            decks.update((int(card), str(deck)) for deck, inside in answer.items() for card in inside)
            flags = connection.call("areSuspended", cards=some)
            suspended.update(card for card, flag in zip(some, flags, strict=True) if flag)
        except (TypeError, AttributeError, ValueError) as error:
            raise _unexpected("getDecks") from error
    return Places(decks, frozenset(suspended), frozenset(_found(connection, "deck:filtered")))


def _found(connection: Connection, query: str) -> tuple[int, ...]:
    answer = connection.call("findCards", query=query)
    try:
        return tuple(int(card) for card in answer)
    except (TypeError, ValueError) as error:
        raise _unexpected("findCards") from error


def _carry_out(connection: Connection, to_do: Plan) -> None:
    for move in to_do.moves:
        for some in _portions(move.cards):
            connection.call("changeDeck", cards=some, deck=move.target)
    for some in _portions(to_do.suspend):
        connection.call("suspend", cards=some)
    for some in _portions(to_do.wake):
        connection.call("unsuspend", cards=some)


def _portions(items: Sequence[_T]) -> Iterator[list[_T]]:
    return (list(items[start : start + _AT_ONCE]) for start in range(0, len(items), _AT_ONCE))


def _unexpected(action: str) -> AnkiConnectError:
    message = f"AnkiConnect's answer to `{action}` has another form than it should"
    return AnkiConnectError(
        "unexpected-answer", message, "update the add-on in Anki: Tools, Add-ons, Check for Updates"
    )
