"""Which pack, topic and rung each drill belongs to. Pure.

A topic and a rung are found by their wording, as answers find their items: exactly, else the nearest one with a warning,
so that a new version of a pack carries the drills along; else it is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..comparing.linking import THRESHOLD, likeness
from ..values.model import Pack, Position, Problem, Severity, Text, Topic
from ..values.wording import wording_key
from .answer_match import LIKE_ENOUGH, pack_meant
from .drills import Drill, DrillFile


@dataclass(frozen=True)
class PlacedDrill:
    """A drill that has found its topic; ``rung`` is the index of the rung that it trains, None where it names none."""

    drill: Drill
    file: str
    pack: Pack
    topic: Topic
    rung: int | None


def place_drills(
    packs: Sequence[Pack], files: Iterable[DrillFile], folders: Mapping[str, Path], *, all_languages: bool
) -> tuple[tuple[PlacedDrill, ...], tuple[Problem, ...]]:
    """Find the topic of every drill. Drills of packs that this run leaves out are left out, too.

    ``folders`` tells where each pack and drill file lies, by its path as shown: a pack that arrives is shown where it is now.
    ``all_languages`` says that no pack was left out: for its language, or since only the other's file was named.
    """
    placer = _Placer(packs, folders, all_languages)
    for file in sorted(files, key=lambda f: f.path):
        placer.add(file)
    return tuple(placer.found), tuple(placer.problems)


class _Placer:
    def __init__(self, packs: Sequence[Pack], folders: Mapping[str, Path], all_languages: bool) -> None:
        self.packs = packs
        self.folders = folders
        self.all_languages = all_languages
        self.found: list[PlacedDrill] = []
        self.problems: list[Problem] = []
        self.taken: dict[tuple[str, str, str], Position] = {}

    def report(self, code: str, severity: Severity, position: Position, message: str, hint: str) -> None:
        self.problems.append(Problem(code, severity, position, message, hint))

    def add(self, file: DrillFile) -> None:
        beside = [pack for pack in self.packs if self.folders[pack.path] == self.folders[file.path]]
        name, renamed = pack_meant(file.pack, {pack.name for pack in beside})
        self.problems.extend(renamed)
        packs = [pack for pack in beside if pack.name == name.text]
        fitting = [pack for pack in packs if file.language.text in ("", pack.language.value)]
        if beside and not packs:
            message = f"no pack in this folder is called `{file.pack.text}`"
            hint = "the name stands in the pack's front matter: " + ", ".join(f"`{p.name}`" for p in beside)
            self.report("drills-without-pack", Severity.ERROR, file.pack.position, message, hint)
        elif len(fitting) > 1:
            # Else a language that is added, or left out of a build, would decide whose the drills are, and their ids.
            message = f"the pack `{name.text}` is there in several languages, and this file does not say which"
            hint = "add `language: zh` or `language: en`; the other language has a file of its own, as drills.en.yaml"
            self.report("drills-without-language", Severity.ERROR, file.pack.position, message, hint)
            return
        elif packs and not fitting and self.all_languages:
            message = f"the pack `{name.text}` is not there in the language `{file.language.text}`"
            self.report(
                "drills-without-pack", Severity.ERROR, file.language.position, message, "mend or remove `language:`"
            )
        for drill in file.drills if fitting else ():
            self.place(drill, file, fitting)

    def place(self, drill: Drill, file: DrillFile, packs: Sequence[Pack]) -> None:
        titles = [(pack, topic) for pack in packs for topic in pack.topics]
        index = self.nearest_topic(drill.topic, [topic.title.text for _, topic in titles])
        if index is None:
            if titles:
                # No card comes of it, but what else is wrong with the drill is found in the same run.
                pack = titles[0][0]
                self.found.append(PlacedDrill(drill, file.path, pack, Topic(drill.topic, (), ()), None))
            return
        pack, topic = titles[index]
        identity = (pack.name, pack.language.value, drill.id.text)
        if identity in self.taken:
            message = f"the id `{drill.id.text}` is taken, first in {self.taken[identity]}"
            hint = "give each drill of a pack an id of its own"
            self.report("duplicate-drill", Severity.ERROR, drill.id.position, message, hint)
            return
        self.taken[identity] = drill.id.position
        rung = self.nearest_rung(drill.rung, topic) if drill.rung.text else None
        self.found.append(PlacedDrill(drill, file.path, pack, topic, rung))

    def nearest_topic(self, wanted: Text, titles: Sequence[str]) -> int | None:
        key = wording_key(wanted.text)
        for index, title in enumerate(titles):
            if wording_key(title) == key:
                return index
        scored = [(likeness(wanted.text, title, titles), -index) for index, title in enumerate(titles)]
        score, negative = max(scored, default=(0.0, 0))
        if score < THRESHOLD:
            message, hint = f"the pack has no topic `{wanted.text}`", "write the topic's title as it stands in the pack"
            self.report("drill-without-topic", Severity.ERROR, wanted.position, message, hint)
            return None
        message = f"the topic `{wanted.text}` is taken for `{titles[-negative]}`"
        self.report("drill-topic", Severity.WARNING, wanted.position, message, "write the title as in the pack")
        return -negative

    def nearest_rung(self, wanted: Text, topic: Topic) -> int | None:
        from rapidfuzz import fuzz

        key = wording_key(wanted.text)
        keys = [wording_key(rung.text.text) for rung in topic.rungs]
        if key in keys:
            return keys.index(key)
        scored = [(fuzz.ratio(key, other) / 100, -index) for index, other in enumerate(keys)]
        score, negative = max(scored, default=(0.0, 0))
        if score < LIKE_ENOUGH:
            message = f"the topic `{topic.title.text}` has no rung `{wanted.text}`"
            hint = "write the rung as it stands in the pack, or leave `rung:` out"
            self.report("drill-without-rung", Severity.ERROR, wanted.position, message, hint)
            return None
        message = f"the rung `{wanted.text}` is taken for `{topic.rungs[-negative].text.text}`"
        self.report("drill-rung", Severity.WARNING, wanted.position, message, "write the rung as in the pack")
        return -negative
