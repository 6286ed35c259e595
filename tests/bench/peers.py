"""Other exporters with the same notes: each in its own input format, and installed into an environment of its own.

What cannot be installed or run is skipped, and the table says why.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .measure import Failed, Sample, Workplace, program
from .parts import COLD, ready_rows, workplace
from .results import Plan, Results

_IN_A_FILE = 100
_LONGEST = 300
"""Seconds that a peer may take, and that its installation may."""

_Card = tuple[str, str]
"""A front and a back, as Markdown."""


@dataclass(frozen=True)
class Peer:
    """An exporter: its name and version on the package index, how its input is written, and how it is called.

    ``needs`` are requirements that its own package forgot to name. ``files`` gives paths and texts, ``command`` the arguments behind the program's name, for the folder with the input
    and the one for the output, which is the working folder as well.
    """

    name: str
    version: str
    program: str
    renders: bool
    files: Callable[[Sequence[_Card]], Iterator[tuple[str, str]]]
    command: Callable[[Path, Path], Sequence[str | Path]]
    needs: Sequence[str] = ()


def _ankdown(cards: Sequence[_Card]) -> Iterator[tuple[str, str]]:
    for number, part in _parts(cards):
        text = "\n---\n\n".join(f"{front}\n\n%\n\n{back}\n" for front, back in part)
        yield f"bench/cards-{number}.md", text


def _ankivalenz(cards: Sequence[_Card]) -> Iterator[tuple[str, str]]:
    yield "ankivalenz.json", json.dumps({"deck_id": 1234567890, "deck_name": "bench"})
    for number, part in _parts(cards):
        text = "".join(f"- {front} ?:: {back}\n" for front, back in part)
        yield f"cards-{number}.md", f"# Cards {number}\n\n{text}"


def _markdown_anki_decks(cards: Sequence[_Card]) -> Iterator[tuple[str, str]]:
    for number, part in _parts(cards):
        text = "".join(f"\n## {front}\n\n{back}\n" for front, back in part)
        yield f"cards-{number}.md", f"# Cards {number}\n{text}"


def _anki_yaml_tool(cards: Sequence[_Card]) -> Iterator[tuple[str, str]]:
    template = {"name": "Card 1", "qfmt": "{{Front}}", "afmt": "{{FrontSide}}<hr id=answer>{{Back}}"}
    config = {"name": "Bench", "deck-name": "bench", "css": "", "fields": ["Front", "Back"], "templates": [template]}
    data = "".join(f"  - {_json({'front': front, 'back': back, 'tags': ['bench']})}\n" for front, back in cards)
    yield "deck.yaml", f"config: {_json(config)}\ndata:\n{data}"


PEERS = (
    Peer("ankdown", "0.7.1", "ankdown", True, _ankdown, lambda source, out: ("-r", source, "-p", out / "out.apkg")),
    Peer("ankivalenz", "1.0.2", "ankivalenz", True, _ankivalenz, lambda source, out: ("run", source)),
    Peer(
        "markdown-anki-decks",
        "1.1.1",
        "mdankideck",
        True,
        _markdown_anki_decks,
        lambda source, out: (source, out),
        needs=("click<8.2",),  # its typer is of 2022, and reads the command line with the click of that time
    ),
    Peer(
        "anki-yaml-tool",
        "0.4.0",
        "anki-yaml-tool",
        False,
        _anki_yaml_tool,
        lambda source, out: ("build", "--file", source / "deck.yaml", "--output", out / "out.apkg"),
    ),
)


def peers(plan: Plan, results: Results) -> None:
    """Each peer and a cold build of this project in turn, at the largest size up to 10,000 notes."""
    sizes = [size for size in plan.sizes if size <= 10_000]
    if not sizes:
        results.skip("peers", "all", "peers are measured with up to 10,000 notes")
        return
    size = sizes[-1]
    place = workplace(plan, f"packs-{size}", size)
    cards = list(zip(*_texts(place, ready_rows(plan, size)), strict=True))
    ready = [peer for peer in PEERS if _prepared(peer, cards, plan, results)]
    for number in range(min(plan.rounds, 2)):
        plan.say(f"{size} notes, round {number + 1}: cold, beside other exporters")
        place.forget()
        results.add("peers", COLD, size, place.run(program(), output=place.output)[0])
        for peer in list(ready):
            plan.say(f"{size} notes, round {number + 1}: {peer.name}")
            try:
                results.add("peers", peer.name, size, _measured(peer, plan, size))
            except Failed as failed:
                results.skip("peers", peer.name, failed)
                ready.remove(peer)


def _measured(peer: Peer, plan: Plan, size: int) -> Sample:
    """One run. Raises Failed where it does not end well, or does not make all notes."""
    place = Workplace(plan.folder / f"peer-{peer.name}-out")
    shutil.rmtree(place.folder, ignore_errors=True)
    place.folder.mkdir()
    source = plan.folder / f"peer-{peer.name}"
    called = peer.command(source, place.folder)
    sample, _ = place.run((str(_environment(plan, peer) / "bin" / peer.program), *map(str, called)), longest=_LONGEST)
    packages = [path for path in place.folder.rglob("*.apkg") if "tmp" not in path.parts[-2:]]
    made = sum(map(_notes_in, packages))
    if made != size:
        raise Failed(f"it made {made} of {size} notes")
    return Sample(sample.wall, sample.cpu, sample.peak, sum(path.stat().st_size for path in packages))


def _prepared(peer: Peer, cards: Sequence[_Card], plan: Plan, results: Results) -> bool:
    """Whether the peer is installed, and its input written."""
    try:
        _install(plan, peer)
    except Failed as failed:
        results.skip("peers", peer.name, failed)
        return False
    for path, text in peer.files(cards):
        file = plan.folder / f"peer-{peer.name}" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return True


def _environment(plan: Plan, peer: Peer) -> Path:
    return plan.peers / f"{peer.name}-{peer.version}-python{sys.version_info[0]}.{sys.version_info[1]}"


def _install(plan: Plan, peer: Peer) -> None:
    """Install a peer, once. Raises Failed where that does not work."""
    folder = _environment(plan, peer)
    if (folder / "installed").exists():
        return
    plan.say(f"installing {peer.name}")
    shutil.rmtree(folder, ignore_errors=True)
    python = folder / "bin" / "python"
    install = ("-m", "pip", "install", "-q", "--disable-pip-version-check", f"{peer.name}=={peer.version}", *peer.needs)
    for command in ((sys.executable, "-m", "venv", str(folder)), (str(python), *install)):
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Failed(f"it cannot be installed: {error}") from error
        if run.returncode:
            errors = [line for line in run.stderr.splitlines() if line.startswith("ERROR")]
            raise Failed(f"it cannot be installed: {(errors or run.stderr.splitlines() or ['no reason'])[-1][:200]}")
    (folder / "installed").touch()


def _texts(place: Workplace, rows: Path) -> tuple[list[str], list[str]]:
    """Fronts and backs of basic cards as Markdown: each note's question, and 300 characters of what else it holds."""
    file = place.folder / "tmp" / "cards.json"
    place.work("cards", rows, file)
    fronts, backs = json.loads(file.read_text(encoding="utf-8"))
    return fronts, backs


def _notes_in(package: Path) -> int:
    with zipfile.ZipFile(package) as archive, tempfile.TemporaryDirectory() as folder:
        database = sqlite3.connect(archive.extract("collection.anki2", folder))
        (count,) = database.execute("SELECT count(*) FROM notes").fetchone()
        database.close()
    return int(count)


def _parts(cards: Sequence[_Card]) -> Iterable[tuple[int, Sequence[_Card]]]:
    return ((start, cards[start : start + _IN_A_FILE]) for start in range(0, len(cards), _IN_A_FILE))


def _json(value: object) -> str:
    """JSON, which is YAML too."""
    return json.dumps(value, ensure_ascii=False)
