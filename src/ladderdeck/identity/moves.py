"""Where the texts of the ledger are today: packs that were renamed, and topics that went into another pack. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from ..values.model import Kind
from ..values.note import Origin
from ..values.wording import wording_key
from .ledger import Entry

PackName = tuple[str, str]
"""A pack's name and language."""

_Topic = tuple[PackName, str]
"""A pack, and the key of a topic's title."""


def renamed_packs(
    origins: Sequence[Origin], entries: Sequence[Entry], gone: frozenset[PackName]
) -> dict[PackName, PackName]:
    """The new name of each pack that was renamed: the unknown pack that shares most texts with it, at least a third."""
    known = {(e.pack, e.language) for e in entries}
    texts: dict[PackName, set[tuple[Kind, str]]] = defaultdict(set)
    for origin in origins:
        if (origin.pack, origin.language) not in known:
            texts[origin.pack, origin.language].add((origin.kind, wording_key(origin.wording)))
    shared: Counter[tuple[PackName, PackName]] = Counter()
    sizes: Counter[PackName] = Counter()
    for entry in entries:
        old = (entry.pack, entry.language)
        if old not in gone or entry.retired:
            continue
        sizes[old] += 1
        for new, keys in texts.items():
            if new[1] == entry.language and (entry.kind, wording_key(entry.text)) in keys:
                shared[old, new] += 1
    renamed: dict[PackName, PackName] = {}
    for (old, new), count in sorted(shared.items(), key=lambda item: (-item[1], item[0])):
        if old not in renamed and new not in renamed.values() and count * 3 >= min(sizes[old], len(texts[new])):
            renamed[old] = new
    return renamed


def packs_today(
    origins: Sequence[Origin], entries: Sequence[Entry], renamed: dict[PackName, PackName], gone: frozenset[PackName]
) -> dict[str, PackName]:
    """The pack in which each entry, by its guid, is to be looked for: its own, by today's name, or that of its topic."""
    packs = {e.guid: renamed.get((e.pack, e.language), (e.pack, e.language)) for e in entries}
    moved = _moved_topics(origins, [e for e in entries if e.topic and not e.retired], packs, gone)
    if moved:
        for entry in entries:
            if entry.topic and not entry.retired:
                pack = packs[entry.guid]
                packs[entry.guid] = moved.get((pack, wording_key(entry.topic)), pack)
    return packs


def _moved_topics(
    origins: Sequence[Origin], entries: Sequence[Entry], packs: dict[str, PackName], gone: frozenset[PackName]
) -> dict[_Topic, PackName]:
    """The new pack of each topic that is in its own no longer: the one in which its title is new, and with the title at
    least a third of its texts."""
    today = {((origin.pack, origin.language), wording_key(origin.topic)) for origin in origins}
    searched = {pack for pack, _ in today} | gone
    missing: dict[_Topic, set[tuple[Kind, str]]] = defaultdict(set)
    known: set[_Topic] = set()
    for entry in entries:
        topic = (packs[entry.guid], wording_key(entry.topic))
        known.add(topic)
        if topic not in today and topic[0] in searched:
            missing[topic].add((entry.kind, wording_key(entry.text)))
    titles = {(topic[0][1], topic[1]) for topic in missing}
    arrived: dict[_Topic, set[tuple[Kind, str]]] = defaultdict(set)
    for origin in origins if missing else ():
        topic = ((origin.pack, origin.language), wording_key(origin.topic))
        if topic not in known and (origin.language, topic[1]) in titles:
            arrived[topic].add((origin.kind, wording_key(origin.wording)))
    shared = [
        (-len(texts & there), old, new)
        for old, texts in missing.items()
        for new, there in arrived.items()
        if (old[0][1], old[1]) == (new[0][1], new[1]) and 3 * len(texts & there) >= min(len(texts), len(there)) > 0
    ]
    moved: dict[_Topic, PackName] = {}
    taken: set[_Topic] = set()
    for _, old, new in sorted(shared):
        if old not in moved and new not in taken:
            moved[old] = new[0]
            taken.add(new)
    return moved
