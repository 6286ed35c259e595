"""What people read: problems and the outcome of a build as lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..identity.identify import Change, Changed
from ..values.model import Kind, Pack, Problem, Severity
from ..values.note import IdentifiedNote
from ..values.paths import visible
from ..values.tags import RETIRED_SEARCH

if TYPE_CHECKING:
    from ..answering.coverage import Row

_NAMES = {
    Kind.RUNG: ("rung", "rungs"),
    Kind.SIGN: ("sign", "signs"),
    Kind.LADDER: ("ladder", "ladders"),
    Kind.RED_FLAG: ("red flag", "red flags"),
    Kind.PROBE: ("probe", "probes"),
    Kind.DRILL: ("drill", "drills"),
}


def problem_text(problem: Problem) -> str:
    """A problem in two lines: where and what, then what to do."""
    where = f"{problem.position}: {problem.severity.value}: "
    return visible(f"{where}{problem.message} [{problem.code}]\n    {problem.hint}")


def problem_count(problems: Iterable[Problem]) -> str:
    """How many errors and warnings there are, in words: '1 error and 2 warnings', 'no problems'."""
    counts = Counter(problem.severity for problem in problems)
    parts = [count_of(counts[s], s.value, f"{s.value}s") for s in Severity if counts[s]]
    return " and ".join(parts) or "no problems"


def count_of(number: int, singular: str, plural: str) -> str:
    """A number with its noun: '1 card', '2 cards'."""
    return f"{number} {singular if number == 1 else plural}"


def kind_counts(notes: Sequence[IdentifiedNote]) -> str:
    """How many notes of each kind there are: '36 rungs, 29 signs, 9 ladders'."""
    counts = Counter(identified.note.origin.kind for identified in notes)
    return ", ".join(count_of(counts[kind], *_NAMES[kind]) for kind in Kind if counts[kind])


_NAMED = (Change.REWORDED, Change.MOVED, Change.RETURNED, Change.RETIRED)
"""The changes that concern a review history, shown by name after every build; the others with --verbose."""

_SHOWN_AT_MOST = 10


def change_lines(changes: Sequence[Changed], *, verbose: bool) -> list[str]:
    """What happened to the notes: a line of counts, then those that changed identity by name, all with ``verbose``."""
    counts = Counter(changed.change for changed in changes)
    summary = ", ".join(f"{counts[change]} {change.value}" for change in Change if counts[change])
    lines = [summary] if summary else []
    for change in Change:
        named = [changed for changed in changes if changed.change is change]
        few_new = change is Change.NEW and len(named) < len(changes)
        if change is Change.UNCHANGED or not named or not (verbose or change in _NAMED or few_new):
            continue
        if few_new and not verbose and len(named) > _SHOWN_AT_MOST:
            lines.append(f"  {len(named)} new; --verbose names them")
            continue
        shown = named if verbose else named[:_SHOWN_AT_MOST]
        lines.extend(f"  {_change_line(changed)}" for changed in shown)
        if len(shown) < len(named):
            lines.append(f"  … and {len(named) - len(shown)} more {change.value}; --verbose shows them")
        if change is Change.RETIRED:
            lines.append(f"  In Anki, search {RETIRED_SEARCH} to see the retired cards, and suspend or delete them.")
    return lines


def arrival_lines(pack: Pack, before: Pack | None, changes: Sequence[Changed], *, built: bool) -> list[str]:
    """What a pack that arrives would change: its versions, its notes by name, and what becomes of their history.

    ``before`` is the pack that is there, ``built`` says whether its notes were ever built.
    """
    name = f"{pack.name} ({pack.language.value})"
    if before is None:
        topics = count_of(len(pack.topics), "topic", "topics")
        return [f"{name}, {_version(pack)}: new, with {topics}"]
    lines = [f"{name}: {_version(before)} is there, {_version(pack)} arrives"]
    if not changes:
        return lines
    than = "what was built last" if built else "the file that is there, which was never built"
    lines.append(f"  Compared with {than}:")
    counts = Counter(changed.change for changed in changes)
    # Cards that only show another one's new wording are counted, not named.
    named = [changed for changed in changes if changed.change is not Change.UPDATED]
    lines.extend(f"  {line}" for line in change_lines(changes, verbose=False)[:1])
    lines.extend(f"  {line}" for line in change_lines(named, verbose=True)[1:] if RETIRED_SEARCH not in line)
    gone, fresh = counts[Change.RETIRED], counts[Change.NEW]
    history = [f"{count_of(len(changes) - gone - fresh, 'card keeps its', 'cards keep their')} history"]
    if fresh:
        history.append(f"{count_of(fresh, 'is', 'are')} new")
    if gone:
        history.append(f"{count_of(gone, 'retires and stays', 'retire and stay')} in Anki, tagged, until you delete it")
    lines.append(f"  {'; '.join(history) if built else 'No history is at stake'}.")
    return lines


def _version(pack: Pack) -> str:
    return pack.version or "one without a version"


def _change_line(changed: Changed) -> str:
    return visible(_what_changed(changed))


def _what_changed(changed: Changed) -> str:
    entry, before = changed.entry, changed.before
    what = f"{changed.change.value} {_NAMES[entry.kind][0]}: "
    if before is not None and changed.change is Change.REWORDED:
        return f"{what}{_short(before.text)}  ⇒  {_short(entry.text)}"
    if before is not None and changed.change is Change.MOVED:
        # A note that belongs to no topic belongs to its pack.
        wholly = before.pack != entry.pack
        places = (f"{e.pack}, {e.topic}" if wholly and e.topic else e.topic or e.pack for e in (before, entry))
        return f"{what}{_short(entry.text)} ({'  ⇒  '.join(places)})"
    return f"{what}{_short(entry.text)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else f"{line[:79]}…"


def coverage_table(rows: Sequence[Row]) -> list[str]:
    """How far topics are answered: a line for each topic, a column for each kind, then what is missing or stale."""
    from ..answering.coverage import KINDS

    topics: dict[tuple[str, str, str], dict[Kind, Row]] = {}
    for row in rows:
        topics.setdefault((row.pack, row.language, row.topic), {})[row.kind] = row
    lines = [" ".join(f"{_NAMES[kind][1]:>10}" for kind in KINDS) + "  topic"]
    for (pack, language, topic), kinds in topics.items():
        cells = (_cell(kinds.get(kind)) for kind in KINDS)
        lines.append(" ".join(f"{cell:>10}" for cell in cells) + f"  {topic or '(the pack)'} · {pack} ({language})")
    answered, missing, stale = (
        sum(len(getattr(row, name)) for row in rows) for name in ("answered", "missing", "stale")
    )
    total = answered + missing + stale
    share = 100 * (answered + stale) // total if total else 100
    lines.append(f"{answered + stale} of {total} answered ({share} %), {missing} missing, {stale} stale")
    names = {row.pack for row in rows}
    several = {row.pack: f" · {row.pack}" for row in rows if row.topic} if len(names) > 1 else {}
    for name in ("missing", "stale"):
        lines.extend(
            f"  {name} {_NAMES[row.kind][0]}: {_short(item.text)}  ({row.topic or row.pack}{several.get(row.pack, '')})"
            for row in rows
            for item in getattr(row, name)
        )
    return lines


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    total = len(row.answered) + len(row.missing) + len(row.stale)
    return f"{len(row.answered) + len(row.stale)}/{total}" + (f" ({len(row.stale)}~)" if row.stale else "")
