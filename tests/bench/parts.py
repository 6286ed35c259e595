"""The parts of the benchmark: each takes a plan and adds rows. What is compared runs in turn, round by round."""

from __future__ import annotations

import shutil
from pathlib import Path

from .measure import CHECKOUT, PYTHON, Failed, Sample, Workplace, program
from .packs import edited
from .results import Plan, Results

COLD, WARM, UNCHANGED = "cold", "warm", "unchanged"
RAW, RAW_SHORT, FLOOR = "genanki raw, the same fields", "genanki raw, 3 short fields", "floor: sqlite3 and zip"
BARE, HELP, CHECK = "bare python -c pass", "--help", "check of one pack"
FIRST, AGAIN, AGAIN_REAL = "cold build of one pack", "unchanged, a generated pack", "unchanged, the pack in cards/"
EDITED = "one pack edited"
PACKAGING = "packaging alone"
SMALL = "a small pack"
PEERS_THAT_RENDER = ("ankdown", "ankivalenz", "markdown-anki-decks")


def workplace(plan: Plan, name: str, notes: int) -> Workplace:
    """A folder with generated packs of so many notes; the same one each time for a name."""
    place = plan.places.setdefault(name, Workplace(plan.folder / name))
    if not place.folder.exists():
        place.folder.mkdir(parents=True)
        plan.say(f"generating {notes} notes")
        place.work("write", notes, "cards")
        place.keep()
    return place


def startup(plan: Plan, results: Results) -> None:
    """How long nothing takes, and how long next to nothing."""
    place, real = workplace(plan, "one-pack", 100), Workplace(plan.folder / "real-pack")
    shutil.copytree(CHECKOUT / "cards", real.folder / "cards", ignore=shutil.ignore_patterns("ledger.json"))
    for one in (place, real):
        one.run(program(), output=one.output)
    for number in range(plan.rounds * 2 - 1):
        plan.say(f"start-up, round {number + 1}")
        for name, where, command in (
            (BARE, place, (PYTHON, "-c", "pass")),
            (HELP, place, program("--help")),
            (CHECK, place, program("check", "cards/pack-0000/SKILL.md")),
            (AGAIN, place, program()),
            (AGAIN_REAL, real, program()),
        ):
            results.add("startup", name, 0, where.run(command)[0])
    place.forget()
    results.add("startup", FIRST, 0, place.run(program(), output=place.output)[0])


def builds(plan: Plan, results: Results) -> None:
    """Whole processes: genanki and the floor with the notes ready, and this project from the packs' text."""
    for size in plan.sizes:
        place = workplace(plan, f"packs-{size}", size)
        output, rows = place.output, plan.folder / f"rows-{size}.pickle"
        first: bytes | None = None
        for number in range(plan.rounds_for(size)):
            plan.say(f"{size} notes, round {number + 1}: cold, warm, unchanged")
            place.forget()
            results.add("builds", COLD, size, place.run(program(), output=output)[0])
            content = output.read_bytes()
            results.check(f"cold builds of {size} notes give the same bytes", content == (first or content))
            first = first or content
            output.unlink()
            results.add("builds", WARM, size, place.run(program(), output=output)[0])
            results.check(f"a warm build of {size} notes gives the bytes of a cold one", output.read_bytes() == first)
            before = output.stat().st_mtime_ns
            results.add("builds", UNCHANGED, size, place.run(program(), output=output)[0])
            same = output.stat().st_mtime_ns == before
            results.check(f"an unchanged build of {size} notes writes nothing", same)
            if not number:
                _check_without_a_store(place, size, first, results)
                place.work("rows", output, rows)
                compression = place.work("level", output)[1]["level"]
            plan.say(f"{size} notes, round {number + 1}: genanki and the floor")
            for name, fields in ((RAW_SHORT, "short"), (RAW, "all")):
                results.add("builds", name, size, place.work("raw", rows, place.folder / "raw.apkg", fields)[0])
            floor = place.work("floor", rows, place.folder / "floor.apkg", compression)[0]
            results.add("builds", FLOOR, size, floor)


def _check_without_a_store(place: Workplace, size: int, expected: bytes, results: Results) -> None:
    """Whether a build that may keep nothing between builds gives the same bytes, from packs alone and with the ledger."""
    for kept in ((), (place.ledger,)):
        place.forget(but=kept)
        sample, _ = place.run(program(), output=place.output, LADDERDECK_CACHE="")
        results.add("builds", f"cold, nothing kept{', with a ledger' if kept else ''}", size, sample)
        same = place.output.read_bytes() == expected
        results.check(f"{size} notes: the same bytes with and without what is kept between builds", same)


def stages(plan: Plan, results: Results) -> None:
    """Each stage of a build on its own, in one process, without and with a ledger of all notes."""
    for size in [size for size in plan.sizes if size <= 10_000]:
        place = workplace(plan, f"packs-{size}", size)
        for number in range(plan.rounds_for(size)):
            place.forget()
            for what in ("first", "again"):
                plan.say(f"stages of {size} notes, round {number + 1}")
                whole, found = place.work("stages", "cards", "stages.apkg", "stages.json")
                for stage, wall in found["wall"].items():
                    results.add(f"stages, {what}", stage, size, Sample(wall, found["cpu"][stage]))
                out = Sample(whole.wall, whole.cpu, whole.peak, found["out"])
                results.add(f"stages, {what}", "whole process", size, out)


def packaging(plan: Plan, results: Results) -> None:
    """Packaging alone, notes ready, beside the floor with the same compression, in one process."""
    for size in plan.sizes:
        place, rows = workplace(plan, f"packs-{size}", size), ready_rows(plan, size)
        compression = place.work("level", _small(plan).output)[1]["level"]
        plan.say(f"packaging {size} notes")
        rounds = max(1, min(plan.rounds, 100_000 // size))
        _, found = place.work("packaging", "cards", rows, place.folder / "packaging.apkg", compression, rounds)
        for name, key in ((FLOOR, "floor"), (PACKAGING, "packaging")):
            for wall, cpu, out in found[key]:
                results.add("packaging", name, size, Sample(wall, cpu, 0, out))
        results.check(f"packaging {size} notes gives the same bytes each time", found["same"])
        if results.find("builds", RAW, size) is None:
            raw = place.work("raw", rows, place.folder / "raw.apkg", "all")[0]
            results.add("packaging", RAW, size, raw)


def library(plan: Plan, results: Results) -> None:
    """Hundreds of packs: a first build, one where nothing has changed, and one where a single pack was edited."""
    count = plan.library
    place = workplace(plan, f"library-{count}", count * 100)
    output = place.output
    plan.say(f"{count} packs: cold")
    place.forget()
    results.add("library", COLD, count, place.run(program(), output=output)[0])
    rounds = max(1, min(plan.rounds, 3))
    for number in range(rounds):
        plan.say(f"{count} packs, round {number + 1}: unchanged, and one edited")
        results.add("library", UNCHANGED, count, place.run(program(), output=output)[0])
        ledger = place.ledger.read_bytes()
        pack = place.folder / "cards" / f"pack-{number * (count - 1) // max(1, rounds - 1):04}" / "SKILL.md"
        pack.write_bytes(edited(pack.read_bytes().decode(), number).encode())
        results.add("library", EDITED, count, place.run(program(), output=output)[0])
    plan.say(f"{count} packs: the last edit once more, without anything that was kept but the ledger")
    content = output.read_bytes()
    place.forget()
    place.ledger.write_bytes(ledger)
    sample = place.run(program(), output=output)[0]
    results.add("library", "one pack edited, cold with a ledger", count, sample)
    results.check("one pack edited: the bytes of a cold build", output.read_bytes() == content)


def identity(plan: Plan, results: Results) -> None:
    """Known notes that come again, and packs that come again with every wording changed, in a library and in half of it."""
    place = Workplace(plan.folder / "identity")
    place.folder.mkdir(parents=True, exist_ok=True)
    packs = [count * plan.scale // 100 for count in (1000, 2000)]
    for known in (50_000 * plan.scale // 100, 100_000 * plan.scale // 100):
        plan.say(f"identity: {known} known notes, and {packs} reworded ones")
        try:
            whole, found = place.work("identity", known, *packs, longest=300)
        except Failed as failed:
            results.skip("identity", f"{known} known", failed)
            continue
        for name, wall in found["wall"].items():
            results.add("identity", name, known, Sample(wall, found["cpu"][name], whole.peak))
        changes = found["changes"]
        results.check("all known notes are found again", changes["known"] == {"unchanged": found["notes"]})
        for count in packs:
            is_found = changes[f"reworded {count}"] == {"reworded": count}
            results.check("all reworded notes are found again", is_found)


def ready_rows(plan: Plan, size: int) -> Path:
    """The file with the rows of a package of so many notes, as :mod:`bench.work` keeps them."""
    place, rows = workplace(plan, f"packs-{size}", size), plan.folder / f"rows-{size}.pickle"
    if not rows.exists():
        plan.say(f"building {size} notes")
        place.run(program(), output=place.output)
        place.work("rows", place.output, rows)
    return rows


def _small(plan: Plan) -> Workplace:
    """A small package of this project, to see how it is compressed."""
    place = workplace(plan, "one-pack", 100)
    if not place.output.exists():
        place.run(program(), output=place.output)
    return place
