"""A drill is its id: what changes around it changes the card, never which card it is. And the way of one through the commands."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from anki_collection import counts, import_package, new_collection, notes_by_guid
from command import ladderdeck, tree
from drill_samples import ENGLISH_PACK, SMALL, drill_notes, english_pack

from ladderdeck.composing.compose import retired_note
from ladderdeck.identity.identify import Change, Scope, identify
from ladderdeck.identity.ledger import Ledger, read_ledger, write_ledger
from ladderdeck.reading.settings import Settings
from ladderdeck.values.model import Kind

NOW = 1_700_000_000
SECOND = SMALL.partition("drills:\n")[2].replace("transfer", "transfers")
BOTH = SMALL + SECOND


def scope(*packs: str, gone: tuple[str, ...] = ()) -> Scope:
    built = frozenset((pack, "en") for pack in packs or ("llm-inference-serving",))
    return Scope(built, built, {Kind.DRILL: "look"}, lambda origin: retired_note(origin, Settings()))


def build(text: str, ledger: Ledger, now: int = NOW, pack=None, **more):
    return identify(drill_notes(text, pack), ledger, now, scope(*([pack.name] if pack else []), **more))


def guids(identified) -> dict[str, str]:
    return {changed.entry.text: changed.entry.guid for changed in identified.changes if not changed.entry.retired}


def change_of(identified, id: str) -> Change:
    return next(changed.change for changed in identified.changes if changed.entry.text == id)


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("How long do", "In how much time do", Change.UPDATED),
        ("size / speed -> s", "1 * size / speed -> s", Change.UPDATED),
        ("[10, 20, 30, 50, 80]", "[10, 15, 20, 30, 50, 80]", Change.UPDATED),
        ("tolerance: 10%", "tolerance: 20%", Change.UPDATED),
        ("    rung: Why not across machines\n", "", Change.UPDATED),
        (
            "topic: Tensor parallelism\n    rung: Why not across machines",
            "topic: Long context and memory",
            Change.MOVED,
        ),
        ("    formula: t = s / v\n", "    formula: t = s / v   # the same\n", Change.UNCHANGED),
    ],
)
def test_whatever_changes_it_is_the_same_note(old: str, new: str, change: Change) -> None:
    assert old in SMALL
    first = build(SMALL, Ledger())
    then = build(SMALL.replace(old, new), first.ledger, NOW + 10)
    assert guids(then) == guids(first)
    assert change_of(then, "transfer") is change
    assert then.notes[0].modified == (NOW if change is Change.UNCHANGED else NOW + 10)


def test_another_id_is_another_note_however_alike() -> None:
    first = build(SMALL, Ledger())
    then = build(SMALL.replace("id: transfer", "id: transfers"), first.ledger, NOW + 10)
    assert change_of(then, "transfers") is Change.NEW
    assert change_of(then, "transfer") is Change.RETIRED
    assert then.doubts == ()
    back = build(SMALL, then.ledger, NOW + 20)
    assert guids(back) == guids(first)
    assert change_of(back, "transfer") is Change.RETURNED


def test_two_drills_that_swap_their_contents_keep_their_ids() -> None:
    text = BOTH.replace("How long do {size} take", "In what time do {size} go", 1)
    turned = BOTH.replace("How long do {size} take", "In what time do {size} go").replace(
        "In what time do", "How long do", 1
    )
    turned = turned.replace("How long do {size} go", "How long do {size} take")
    first = build(text, Ledger())
    then = build(turned, first.ledger, NOW + 10)
    assert guids(first) == guids(then)
    assert len(set(guids(first).values())) == 2
    assert {changed.change for changed in then.changes} == {Change.UPDATED}


def test_a_renamed_pack_takes_its_drills_along() -> None:
    first = build(BOTH, Ledger())
    pack = replace(english_pack(), name="serving")
    renamed = build(BOTH.replace("pack: llm-inference-serving", "pack: serving"), first.ledger, NOW + 10, pack)
    assert guids(renamed) == guids(first)


def test_without_a_ledger_the_ids_come_back() -> None:
    first = build(BOTH, Ledger())
    assert guids(build(BOTH.replace("How long", "For how long"), Ledger(), NOW + 10)) == guids(first)


def test_the_ledger_knows_drills() -> None:
    ledger = build(BOTH, Ledger()).ledger
    read, problems = read_ledger(write_ledger(ledger), "ledger.json")
    assert problems == ()
    assert read.notes == ledger.notes


# The commands


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a pack and a drill beside it."""
    folder = tmp_path / "cards" / "serving"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(ENGLISH_PACK, encoding="utf-8")
    (folder / "drills.yaml").write_text(SMALL, encoding="utf-8")
    return tmp_path


def test_a_drill_comes_to_anki_and_its_change_arrives(project: Path) -> None:
    run = ladderdeck(cwd=project)
    assert run.code == 0, run.err
    assert "1 drill" in run.out
    package = project / "dist" / "ladders.apkg"
    collection = new_collection(project / "anki")
    try:
        import_package(collection, package)
        (guid, before) = next((g, n) for g, n in notes_by_guid(collection).items() if "kind::drill" in n.tags)
        first = package.read_bytes()
        assert ladderdeck(cwd=project).code == 0
        assert package.read_bytes() == first
        file = project / "cards" / "serving" / "drills.yaml"
        file.write_text(SMALL.replace("[10, 20, 30, 50, 80]", "[10, 20, 30, 50, 80, 90]"), encoding="utf-8")
        run = ladderdeck(cwd=project)
        assert "1 updated" in run.out
        assert counts(import_package(collection, package))["updated"] == 1
        after = notes_by_guid(collection)[guid]
        assert len(json.loads(after["Data"])["texts"]) == 30 > len(json.loads(before["Data"])["texts"])
        assert after.id == before.id
    finally:
        collection.close()


def test_a_wrong_drill_stops_the_build_and_is_shown_with_its_place(project: Path) -> None:
    file = project / "cards" / "serving" / "drills.yaml"
    file.write_text(SMALL.replace("size / speed", "size / sped").replace("10%", "much"), encoding="utf-8")
    before = tree(project)
    for arguments in ([], ["check"]):
        run = ladderdeck(*arguments, cwd=project)
        assert run.code == 1
        assert "cards/serving/drills.yaml:12:16: error: `much` is no tolerance [wrong-tolerance]" in run.out + run.err
        assert tree(project) == before
    file.write_text(SMALL.replace("size / speed", "size / sped"), encoding="utf-8")
    run = ladderdeck("check", "--format", "github", cwd=project)
    assert "file=cards/serving/drills.yaml,line=11,col=21,title=calculation" in run.out


def test_the_package_never_overwrites_the_drills(project: Path) -> None:
    before = tree(project)
    assert ladderdeck("-o", "cards/serving/drills.yaml", cwd=project).code in (1, 2)
    assert tree(project) == before


def test_the_drills_are_the_same_bytes_everywhere(project: Path) -> None:
    places = [{"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "4711", "TZ": "Asia/Tokyo", "LC_ALL": "C"}]
    for number, environment in enumerate(places):
        run = ladderdeck("preview", "-o", f"{number}.html", cwd=project, **environment)
        assert run.code == 0, run.err
    first, second = ((project / f"{number}.html").read_bytes() for number in (0, 1))
    assert b"06c9d09d1600" in first
    assert first == second


def test_kinds_of_a_deck_may_leave_drills_out(project: Path) -> None:
    (project / "cards" / "deck.yaml").write_text("kinds: [rung]\n", encoding="utf-8")
    run = ladderdeck(cwd=project)
    assert run.code == 0, run.err
    assert "drill" not in run.out


def test_other_languages_drills_are_left_aside(project: Path) -> None:
    chinese = "---\nname: llm-inference-serving\nlayer: base\n---\n\n## 常考主题清单\n\n### 张量并行\n- 阶梯：甲 → 乙\n- 答实的标志：会丙\n"
    (project / "cards" / "serving" / "SKILL.zh.md").write_text(chinese, encoding="utf-8")
    (project / "cards" / "serving" / "drills.yaml").write_text(
        SMALL.replace("drills:", "language: en\ndrills:"), encoding="utf-8"
    )
    for file, drills in (("SKILL.md", 1), ("SKILL.zh.md", 0)):
        run = ladderdeck(f"cards/serving/{file}", "--dry-run", cwd=project)
        assert run.code == 0, run.err
        assert ("1 drill" in run.out) == bool(drills)
    for language, drills in (("en", 1), ("zh", 0)):
        run = ladderdeck("--language", language, "--dry-run", cwd=project)
        assert run.code == 0, run.err
        assert ("1 drill" in run.out) == bool(drills)
    assert "1 drill" in ladderdeck("--dry-run", cwd=project).out


def test_a_language_that_is_added_takes_no_drill_along(project: Path) -> None:
    """Which of two packs a drill belongs to would decide its id, and must not depend on what a build happens to read."""
    english = (project / "cards" / "serving" / "SKILL.md").read_text(encoding="utf-8")
    topic = re.search("### (.*)", english)[1]
    chinese = f"---\nname: llm-inference-serving\nlayer: base\n---\n\n## 常考主题清单\n\n### {topic}\n- 阶梯：甲 → 乙\n- 答实的标志：会丙\n"
    (project / "cards" / "serving" / "SKILL.zh.md").write_text(chinese, encoding="utf-8")
    run = ladderdeck("--dry-run", cwd=project)
    assert run.code == 1
    assert "[drills-without-language]" in run.err
