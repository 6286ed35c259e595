"""A deck as a user has it: a folder `cards` with packs, and builds of it with any clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ladderdeck.building.build import Outcome, Request, build
from ladderdeck.identity.identify import Change
from ladderdeck.identity.ledger import Entry, Ledger, read_ledger
from ladderdeck.packaging.templates import default_folder

NOW = 1_780_000_000

Topics = Mapping[str, Sequence[str]]


def pack_text(name: str, topics: Topics, signs: Topics | None = None, chinese: bool = False, blob: str = "") -> str:
    """A pack as Markdown: for each topic its rungs, and its signs (one about the topic, where none are given)."""
    heading, ladder, sign, gap = (
        ("常考主题清单", "阶梯：", "答实的标志：", "；")
        if chinese
        else ("Frequently tested topics", "Ladder: ", "Signs of a solid answer: ", "; ")
    )
    lines = [f"{name} git:{blob}", "", "---"] if blob else ["---"]
    lines += [f"name: {name}", "description: a pack", "layer: detail", "domains: [web]", "---", "", f"## {heading}"]
    for topic, rungs in topics.items():
        lines += ["", f"### {topic}", f"- {ladder}{' → '.join(rungs)}"]
        own = f"有关于{topic}的数字" if chinese else f"has numbers about {topic}"
        lines.append(f"- {sign}{gap.join((signs or {}).get(topic, [own]))}")
    return "\n".join([*lines, ""])


@dataclass
class Deck:
    """A folder with `cards/` and `dist/` in it."""

    folder: Path
    templates: Path = field(default_factory=default_folder)

    @property
    def cards(self) -> Path:
        return self.folder / "cards"

    @property
    def package(self) -> Path:
        return self.folder / "dist" / "ladders.apkg"

    @property
    def ledger_file(self) -> Path:
        return self.cards / "ledger.json"

    def write(self, name: str, topics: Topics, *, file: str = "", **parts) -> Path:
        """Write a pack, as `NAME.md` or the given file."""
        path = self.cards / (file or f"{name}.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pack_text(name, topics, **parts), encoding="utf-8", newline="\n")
        return path

    def request(self, now: int = NOW, **options) -> Request:
        """A request to build the whole folder, with what ``options`` replace."""
        values = {"paths": [self.cards], "output": self.package, "templates": self.templates, "now": now, "clock": now}
        return Request(**(values | options))

    def try_build(self, now: int = NOW, **options) -> Outcome:
        """Build, whether that works or not."""
        return build(self.request(now, **options))

    def build(self, now: int = NOW, **options) -> Outcome:
        """Build, and expect no error."""
        outcome = self.try_build(now, **options)
        assert not outcome.failed, outcome.problems
        return outcome

    def ledger(self) -> Ledger:
        """The ledger, which must be in order."""
        ledger, problems = read_ledger(self.ledger_file.read_text(encoding="utf-8"), "ledger.json")
        assert not problems, problems
        return ledger

    def entry(self, text: str) -> Entry:
        """The entry of the rung with this text."""
        return one(entry for entry in self.ledger().notes.values() if entry.text == text and entry.kind.value == "rung")

    def on_disk(self) -> dict[str, bytes | None]:
        """Every file and folder below, with its content."""
        return {
            path.relative_to(self.folder).as_posix(): path.read_bytes() if path.is_file() else None
            for path in sorted(self.folder.rglob("*"))
        }


def one(items):
    """The only one of ``items``."""
    (item,) = items
    return item


def guids(outcome: Outcome) -> dict[str, str]:
    """The guids of the rungs in a build, by text."""
    return {
        identified.note.origin.wording: identified.guid
        for identified in outcome.notes
        if identified.note.origin.kind.value == "rung"
    }


def changed(outcome: Outcome, change: Change) -> list[str]:
    """The texts of the notes to which this happened."""
    return [item.entry.text for item in outcome.changes if item.change is change]
