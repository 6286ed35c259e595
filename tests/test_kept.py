"""What was rendered before is taken from the store, and nothing but the time tells: not the bytes, not the problems."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import CHECKOUT, SEED, here
from deck_builder import NOW, Deck
from drill_samples import SMALL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ladderdeck.building.build import build
from ladderdeck.building.inputs import read_inputs
from ladderdeck.keeping import kept
from ladderdeck.keeping.pack_data import packed, unpacked
from ladderdeck.keeping.store import NO_STORE, Store
from ladderdeck.reading.parser import parse_pack

PICTURE = b"\x89PNG\r\n\x1a\n"
ANSWERS = """---
pack: web
topic: Joins
---

## What is a hash join?

- a table of {size}[](#size) **in memory**
- ★ one pass, see [the manual][m]

```calc
size = 3 GB * 2
```

![](p.png)

## When does it spill to disk?

- when memory ends

[m]: https://example.org/manual

Sources: [m]
"""


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    return make(tmp_path / "deck")


def make(folder: Path) -> Deck:
    deck = Deck(folder)
    deck.write("web", {"Joins": ["What is a hash join?", "When does it spill to disk?"]})
    (deck.cards / "answers").mkdir()
    (deck.cards / "answers" / "p.png").write_bytes(PICTURE)
    (deck.cards / "answers" / "joins.md").write_text(ANSWERS.replace("{size}", ""), encoding="utf-8")
    drills = SMALL.replace("llm-inference-serving", "web").replace("Tensor parallelism", "Joins")
    drills = drills.replace("Why not across machines", "What is a hash join?")
    (deck.cards / "drills.yaml").write_text(drills, encoding="utf-8")
    return deck


def count(store_folder: Path) -> int:
    return len(list(store_folder.glob("*.entry")))


def test_the_bytes_are_the_same_without_with_an_empty_and_with_a_full_store(tmp_path):
    shutil.copytree(SEED.parent, tmp_path / "cards" / "pack")
    for file in sorted((tmp_path / "cards" / "pack" / "answers").glob("*.md"))[3:]:
        file.unlink()
    made = {}
    for name, store in {"without": NO_STORE, "empty": Store(tmp_path / "s"), "full": Store(tmp_path / "s")}.items():
        deck = Deck(tmp_path)
        shutil.rmtree(tmp_path / "dist", ignore_errors=True)
        deck.ledger_file.unlink(missing_ok=True)
        outcome = build(deck.request(), store=store)
        made[name] = (deck.package.read_bytes(), deck.ledger_file.read_bytes(), outcome)
    assert made["without"] == made["empty"] == made["full"]
    assert count(tmp_path / "s") > 50


def test_what_is_kept_is_not_rendered_again(deck, tmp_path, monkeypatch):
    store = Store(tmp_path / "s")
    first = read_inputs([deck.cards], None, store=store)
    assert {problem.code for problem in first.problems} == {"no-source"}
    assert count(tmp_path / "s") == 3  # the pack, a drill, and one of two answers, for the other shows a picture
    rendered = []
    real = kept.render_answers
    monkeypatch.setattr(kept, "render_drills", None)
    monkeypatch.setattr(kept, "parse_pack", None)
    monkeypatch.setattr(kept, "render_answers", lambda a, p: rendered.extend(a.by_item) or real(a, p))
    assert read_inputs([deck.cards], None, store=store) == first
    assert [item.text for item in rendered] == ["What is a hash join?"]


EDITS = st.sampled_from(
    [
        *[("answers/joins.md", "in memory", "on disk"), ("answers/joins.md", "on disk", "in memory")],
        *[("answers/joins.md", "\n## What", "\n\n\n## What"), ("answers/joins.md", "3 GB", "3 G"), ("answers/joins.md", "3 G ", "3 GB ")],
        *[("answers/joins.md", "/manual", "/other"), ("answers/joins.md", "p.png", "q.png"), ("answers/joins.md", "q.png", "p.png")],
        *[("answers/joins.md", "★ ", ""), ("answers/joins.md", "#size", "#seize"), ("answers/joins.md", "Sources:", "Also:")],
        *[("drills.yaml", "10%", "20%"), ("drills.yaml", "20%", "10%"), ("drills.yaml", "8 * time", "9 * time")],
        *[("drills.yaml", "[10, 20, 30, 50, 80]", "[10, 20]"), ("drills.yaml", "drills:", "\ndrills:")],
        *[("drills.yaml", "a derivation", "![](answers/p.png)"), ("web.md", "What is", "What was"), ("web.md", "web", "net")],
    ]
)  # fmt: skip


@settings(max_examples=20, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(EDITS, min_size=1, max_size=6))
def test_whatever_was_edited_what_is_read_is_what_is_read_without_a_store(tmp_path_factory, edits):
    folder = tmp_path_factory.mktemp("edits")
    deck, store = make(folder / "deck"), Store(folder / "s")
    for file, old, new in edits:
        path = deck.cards / file
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        assert read_inputs([deck.cards], None, store=store) == read_inputs([deck.cards], None)
        assert read_inputs([deck.cards], None, store=store) == read_inputs([deck.cards], None)


@pytest.mark.parametrize(
    "value", [None, 1, [], {"Question": 1}, {"nonsense": "x"}, "x", {"key_points": None}, [[]], [[], 1], [[[1]]], [0]]
)
def test_an_entry_that_is_something_else_is_none(deck, tmp_path, value):
    store, right = Store(tmp_path / "s"), read_inputs([deck.cards], None)
    read_inputs([deck.cards], None, store=store)
    for file in (tmp_path / "s").iterdir():
        store.write(file.name.partition(".")[0], value)
    assert read_inputs([deck.cards], None, store=store) == right


@pytest.mark.parametrize(
    "file", [SEED, *sorted((CHECKOUT / "tests" / "fixtures").rglob("*.md"))], ids=lambda file: file.name
)
def test_a_pack_comes_back_as_it_was_parsed(file):
    parsed = parse_pack(file.read_bytes(), "a/b.md")
    assert unpacked(json.loads(json.dumps(packed(*parsed))), "a/b.md") == parsed


def test_another_program_renders_anew(deck, tmp_path, monkeypatch):
    store = Store(tmp_path / "s")
    read_inputs([deck.cards], None, store=store)
    monkeypatch.setattr(kept, "program", lambda: "a later version")
    read_inputs([deck.cards], None, store=store)
    assert count(tmp_path / "s") == 6


def test_nothing_that_is_kept_tells_where_it_was_made(deck, tmp_path, monkeypatch):
    monkeypatch.setenv("LADDERDECK_CACHE", str(tmp_path / "s"))
    assert here(cwd=deck.folder).code == 0
    for file in (tmp_path / "s").iterdir():
        assert str(tmp_path).encode() not in file.read_bytes()
        json.loads(file.read_bytes().partition(b"\n")[2])


def test_builds_at_the_same_time_share_a_store_and_none_is_hurt(deck, tmp_path):
    environment = {**os.environ, "LADDERDECK_CACHE": str(tmp_path / "s"), "SOURCE_DATE_EPOCH": str(NOW - 10**8)}
    command = [sys.executable, str(CHECKOUT / "build.py"), "--json"]
    runs = []
    for number in range(3):
        shutil.copytree(deck.cards, tmp_path / str(number) / "cards")
        runs.append(
            subprocess.Popen(
                command, cwd=tmp_path / str(number), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        )
    ends = [(run.communicate(), run.returncode) for run in runs]
    assert all(code == 0 and err == b"" for (_, err), code in ends), ends
    packages = {(tmp_path / str(number) / "dist" / "ladders.apkg").read_bytes() for number in range(3)}
    assert len(packages) == 1
    assert not list((tmp_path / "s").glob(".*"))
