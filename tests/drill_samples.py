"""Drills for tests: a small one that rows of a table change, the documentation's example, and those of the seed."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from command import CHECKOUT, SEED

from ladderdeck.answering.drill_file import parse_drills
from ladderdeck.answering.drill_match import place_drills
from ladderdeck.composing.compose import compose
from ladderdeck.composing.drill_html import DrillHtml, render_drills
from ladderdeck.reading.parser import parse_pack
from ladderdeck.reading.settings import Settings
from ladderdeck.values.model import Kind, Pack, Problem
from ladderdeck.values.note import Note

SEED_DRILLS = SEED.with_name("drills.yaml")
ENGLISH_PACK = """---
name: llm-inference-serving
layer: base
---

## Frequently tested topics

### Long context and memory
- Ladder: How do memory and latency grow with the length → What do chunks, parallelism and swapping solve
- Signs of a solid answer: can compute the KV cache

### Tensor parallelism
- Ladder: Why not across machines
- Signs of a solid answer: names the volume
"""
SMALL = """pack: llm-inference-serving
drills:
  - id: transfer
    topic: Tensor parallelism
    rung: Why not across machines
    question: "How long do {size} take at {speed}?"
    given:
      size: {values: [10, 20, 30, 50, 80], unit: GB}
      speed: {values: [1, 2, 4, 5, 8], unit: GB/s}
    steps: |
      time = size / speed -> s
    tolerance: 10%
    bounds: [0.5 s, 100 s]
    formula: t = s / v
    mistakes:
      - text: took bits for bytes
        gives: 8 * time
    source: a derivation
"""


def documented() -> str:
    """The example of a whole file in the documentation."""
    text = (CHECKOUT / "docs" / "drills.md").read_text(encoding="utf-8")
    return re.search(r"```yaml\n(pack: .*?)```", text, re.DOTALL)[1]


def english_pack(folder: str = "cards") -> Pack:
    pack, problems = parse_pack(ENGLISH_PACK.encode(), f"{folder}/SKILL.md")
    assert pack is not None and [p.message for p in problems if p.severity.value == "error"] == []
    return pack


def made(text: str, pack: Pack | None = None) -> tuple[tuple[DrillHtml, ...], list[Problem]]:
    """What comes of a drill file beside a pack: the drills made ready, and all problems."""
    pack = pack or english_pack()
    path = str(Path(pack.path).with_name("drills.yaml"))
    file, problems = parse_drills(text.encode(), path)
    folders = dict.fromkeys((pack.path, path), Path(pack.path).parent)
    placed, of_places = place_drills([pack], [file] if file else [], folders, all_languages=True)
    drills, of_drills = render_drills(placed, lambda file, destination, position: None)
    return drills, [*problems, *of_places, *of_drills]


def drill_notes(text: str, pack: Pack | None = None) -> list[Note]:
    """The notes of a drill file that has nothing wrong with it."""
    pack = pack or english_pack()
    drills, problems = made(text, pack)
    assert problems == []
    notes = compose([pack], Settings(), {}, drills)
    return [note for note in notes if note.origin.kind is Kind.DRILL]


def seed_drill() -> Note:
    """One of the seed's drills, in Chinese: with a group, a formula, mistakes and a note."""
    return next(note for note in seed_drills() if note.origin.wording == "decode-bandwidth-bound")


@functools.cache
def seed_drills() -> list[Note]:
    """The notes of the seed's drills."""
    pack, _ = parse_pack(SEED.read_bytes(), SEED.as_posix())
    return drill_notes(SEED_DRILLS.read_text(encoding="utf-8"), pack)
