"""What the last build left behind, compared with this one: a ledger that was lost, decks that are called otherwise now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from ..identity.identify import Change, Changed
from ..packaging.package_reading import read_places
from ..reading.settings import Settings
from ..values.model import Language, Position, Problem, Severity
from ..values.note import IdentifiedNote
from ..values.paths import shown
from ..values.tags import RETIRED_TAG, tag


@dataclass(frozen=True)
class Former:
    """The package of the last build: each note's deck by its guid, and the guids per pack's tag, without retired notes."""

    decks: Mapping[str, str]
    by_pack: Mapping[tuple[str, str], frozenset[str]]


def read_former(output: Path) -> Former:
    """What is in the package that a build is about to replace; nothing where there is none that can be read."""
    decks: dict[str, str] = {}
    by_pack: dict[tuple[str, str], set[str]] = {}
    try:
        notes = read_places(output.read_bytes())
    except (OSError, ValueError):
        notes = ()
    for guid, tags, deck in notes:
        decks[guid] = deck
        if RETIRED_TAG not in tags:
            by_pack.setdefault(_pack_tags(tags), set()).add(guid)
    return Former(MappingProxyType(decks), MappingProxyType({k: frozenset(v) for k, v in by_pack.items()}))


def _pack_tags(tags: Iterable[str]) -> tuple[str, str]:
    named = {name: text for text in tags for name in ("pack", "lang") if text.startswith(f"{name}::")}
    return named.get("pack", ""), named.get("lang", "")


def lost_ledger(
    file: Path, former: Former, guids: Iterable[str], packs: Iterable[tuple[str, str]]
) -> tuple[Problem, ...]:
    """What it means that a deck has no ledger, though a package of it is there: ``guids`` are those of its notes without
    the ledger, ``packs`` (name, language) what is built.

    An error where notes of the package would get a new identity, a warning where all keep theirs; nothing where the
    package is another deck's, or where there is none.
    """
    now = frozenset(guids)
    known = [former.by_pack.get((tag("pack", name), tag("lang", language)), frozenset()) for name, language in packs]
    old = frozenset().union(*known)
    if not old & now:
        return ()
    position = Position(shown(file))
    if lost := len(old - now):
        message = (
            f"the ledger is lost, and {lost} card(s) that were reworded or left the packs would lose their history"
        )
        hint = f"restore {shown(file)} from git or a backup; to begin anew without it, remove the old package first"
        return (Problem("lost-ledger", Severity.ERROR, position, message, hint),)
    message = "there is no ledger, though this deck was built before; every card counts as changed"
    hint = f"if {shown(file)} was lost, restore it from git before anybody imports this package"
    return (Problem("no-ledger", Severity.WARNING, position, message, hint),)


def renamed_decks(
    former: Former, notes: Sequence[IdentifiedNote], changes: Iterable[Changed], settings: Settings
) -> tuple[Problem, ...]:
    """A warning for each deck whose cards Anki will leave where they are, since it is called otherwise now."""
    old = dict(former.decks)
    for changed in changes:
        before = changed.before
        if before is not None and before.pack != changed.entry.pack and not before.retired:
            old.setdefault(before.guid, settings.deck_name(before.pack, Language(before.language)))
    moved = Counter(
        (old[identified.guid], identified.note.deck)
        for identified in notes
        if old.get(identified.guid, identified.note.deck) != identified.note.deck
    )
    places = {
        identified.note.deck: identified.note.position for identified in reversed(notes) if identified.note.position
    }
    problems = []
    for (before_name, now_name), count in sorted(moved.items()):
        message = (
            f"{count} card(s) stay in Anki's deck `{before_name}`, and new ones go to `{now_name}`: "
            "a package moves no card"
        )
        hint = (
            "rename the deck in Anki before you import this, or move the cards with `push --move`; "
            "to keep the old name, write it in deck.yaml"
        )
        position = places.get(now_name) or Position("")
        problems.append(Problem("renamed-deck", Severity.WARNING, Position(position.file), message, hint))
    return tuple(problems)


def left_out_kinds(changes: Iterable[Changed], settings: Settings, settings_file: Path) -> tuple[Problem, ...]:
    """A warning for each kind whose notes retire since `kinds:` does not name it any more."""
    counts = Counter(
        changed.entry.kind
        for changed in changes
        if changed.change is Change.RETIRED and changed.entry.kind not in settings.kinds
    )
    position = settings.places.get("kinds") or Position(shown(settings_file))
    return tuple(
        Problem(
            "kind-left-out",
            Severity.WARNING,
            position,
            f"`kinds` leaves out `{kind.value}`: {count} card(s) of it retire",
            f"write `{kind.value}` into `kinds` again to keep them",
        )
        for kind, count in sorted(counts.items(), key=lambda item: item[0].value)
    )
