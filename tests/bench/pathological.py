"""Input that is out of the ordinary, each at n and 2n: what it costs must not grow with the square of it.

Every case is a folder of packs that is built; an error that names a limit is as good as a package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from .measure import Failed, Sample, Workplace, program
from .parts import SMALL
from .results import Plan, Results

_LONGEST, _MEMORY = 60, 4 * 10**9
"""Seconds and bytes that a case may take."""
_QUICK = 2
"""Seconds below which a build is measured again."""

_HEAD = "---\nname: {name}\ndescription: d\nkeywords: [k]\nlayer: base\n---\n\n## Frequently tested topics\n"
_Files = Iterator[tuple[str, str]]


def _pack(*topics: str, name: str = "odd") -> _Files:
    yield f"{name}/SKILL.md", _HEAD.format(name=name) + "".join(topics)


def _topic(number: int = 0, ladder: str = "why → how", signs: str = "one; two") -> str:
    return f"\n### Topic number {number}\n- Ladder: {ladder}\n- Signs of a solid answer: {signs}\n"


def _rungs(count: int) -> str:
    return " → ".join(f"what of {number}" for number in range(count))


def _one_line(character: str) -> Callable[[int], _Files]:
    return lambda n: _pack(_topic(ladder=f"why {character * n} → how"))


def _answer(rung: Callable[[int], str]) -> Callable[[int], _Files]:
    def files(n: int) -> _Files:
        yield from _pack(_topic())
        yield "odd/answers/a.md", f"---\npack: odd\ntopic: Topic number 0\n---\n\n## why\n\n- a\n\n{rung(n)}\n"

    return files


def _many_packs(n: int) -> _Files:
    for number in range(n):
        yield from _pack(_topic(number), name=f"pack-{number:05}")


CASES: Mapping[str, tuple[int, Callable[[int], _Files]]] = {
    **{f"one line of {character}": (500_000, _one_line(character)) for character in "<[*→；"},
    "one line of words": (500_000, lambda n: _pack(_topic(ladder=f"why {'word ' * (n // 5)} → how"))),
    "one line of < in an answer": (500_000, _answer(lambda n: "<" * n)),
    "one line of [ in an answer": (500_000, _answer(lambda n: "[" * n)),
    "one line of * in an answer": (500_000, _answer(lambda n: "*" * n)),
    "topics in a pack": (2500, lambda n: _pack(*(_topic(number) for number in range(n)))),
    "rungs in a topic": (5000, lambda n: _pack(_topic(ladder=_rungs(n)))),
    "topics of 200 rungs": (20, lambda n: _pack(*(_topic(number, ladder=_rungs(200)) for number in range(n)))),
    "decks": (250, _many_packs),
    "brackets in each other": (5000, lambda n: _pack(_topic(ladder=f"why {'(' * n}a{')' * n} → how"))),
    "quotes in each other, in an answer": (5000, _answer(lambda n: "> " * n + "deep")),
    "brackets in each other, in an answer": (5000, _answer(lambda n: "[" * n + "a" + "](b)" * n)),
}


def pathological(plan: Plan, results: Results) -> None:
    """Build each case at n and at 2n, in turn with a small pack; what is quick several times, since its noise is large."""
    small = _place(plan, "small", _pack(_topic()))
    for number, (name, (size, files)) in enumerate(CASES.items()):
        n = max(1, size * plan.scale // 100)
        places = {count: _place(plan, f"odd-{number}-{count}", files(count)) for count in (n, 2 * n)}
        for _ in range(min(plan.rounds, 3)):
            plan.say(f"{name}: {n} and {2 * n}")
            small.forget()
            results.add("pathological", SMALL, 0, small.run(program(), output=small.output)[0])
            samples = [_measured(name, count, place, results) for count, place in places.items()]
            if any(sample is None or sample.wall > _QUICK for sample in samples):
                break


def _measured(name: str, count: int, place: Workplace, results: Results) -> Sample | None:
    """One build, which may be refused with an error; None where it does not end well, or not in time."""
    place.forget()
    try:
        sample, _ = place.run(program("-q"), output=place.output, codes=(0, 1), longest=_LONGEST, memory=_MEMORY)
    except Failed as failed:
        results.skip("pathological", f"{name}, {count:,}", failed)
        return None
    results.add("pathological", name, count, sample)
    return sample


def _place(plan: Plan, name: str, files: _Files) -> Workplace:
    place = Workplace(plan.folder / name)
    for path, text in files:
        file: Path = place.folder / "cards" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    place.keep()
    return place
