"""What is measured inside of a process: genanki alone, the plain floor, packaging, and each stage of a build.

Run as `python -m bench.work TASK ARGUMENT...`; the last line that it prints is JSON. `preparation` are the wall and
processor seconds that do not count.
"""

from __future__ import annotations

import html
import json
import pickle
import re
import sqlite3
import sys
import time
import warnings
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

_TAG = re.compile("<[^>]*>")
_SHORT = 300


def _clock() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(start: tuple[float, float]) -> tuple[float, float]:
    now = _clock()
    return now[0] - start[0], now[1] - start[1]


def rows(package: str, kept: str) -> dict[str, Any]:
    """Keep the rows of a package, as plain tuples, for `raw` and `floor`."""
    with zipfile.ZipFile(package) as archive, Path(kept).with_suffix(".anki2").open("wb") as stream:
        stream.write(archive.read("collection.anki2"))
        entry = archive.getinfo("collection.anki2")
    database = sqlite3.connect(Path(kept).with_suffix(".anki2"))
    schema = [sql for (sql,) in database.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")]
    tables = {name: database.execute(f"SELECT * FROM {name}").fetchall() for name in ("col", "notes", "cards")}
    database.close()
    Path(kept).write_bytes(pickle.dumps((schema, tables)))
    return {"notes": len(tables["notes"]), "compressed": entry.compress_size, "database": entry.file_size}


def level(package: str) -> dict[str, Any]:
    """The level of compression with which a package was written: the one that gives its size again."""
    with zipfile.ZipFile(package) as archive:
        entry, content = archive.getinfo("collection.anki2"), archive.read("collection.anki2")
    if entry.compress_type == zipfile.ZIP_STORED:
        return {"level": 0}
    sizes = {number: _deflated(content, number) for number in range(1, 10)}
    return {"level": min(sizes, key=lambda number: (abs(sizes[number] - entry.compress_size), abs(number - 6)))}


def raw(kept: str, output: str, fields: str) -> dict[str, Any]:
    """genanki as its documentation shows it, with ready fields: all of a note's own, or `short`: 3 of 300 characters."""
    start = _clock()
    _, tables = pickle.loads(Path(kept).read_bytes())
    ready = [(row[6].split("\x1f"), row[5].split()) for row in tables["notes"]]
    if fields == "short":
        ready = [(_short(texts), tags[:4]) for texts, tags in ready]
    preparation = _since(start)
    warnings.simplefilter("ignore")
    import genanki  # type: ignore[import-untyped]

    names = [f"Field {number}" for number in range(len(ready[0][0]))]
    template = {"name": "Card", "qfmt": "{{Field 0}}", "afmt": "{{FrontSide}}<hr id=answer>{{Field 1}}"}
    model = genanki.Model(1607392319, "Bench", [{"name": name} for name in names], [template])
    deck = genanki.Deck(2059400110, "Bench")
    for texts, tags in ready:
        deck.add_note(genanki.Note(model=model, fields=texts, tags=tags))
    genanki.Package(deck).write_to_file(output)
    return {"preparation": preparation, "out": Path(output).stat().st_size}


def cards(kept: str, file: str) -> dict[str, Any]:
    """Keep fronts and backs of basic cards for other exporters: plain text, with the marks of code and math left in."""
    _, tables = pickle.loads(Path(kept).read_bytes())
    fronts, backs = [], []
    for number, row in enumerate(tables["notes"]):
        question, *others = row[6].split("\x1f")
        fronts.append(f"{number + 1}) {_as_markdown(question)}")
        backs.append(_as_markdown(max(others, key=len))[:_SHORT].strip())
    Path(file).write_text(json.dumps((fronts, backs), ensure_ascii=False), encoding="utf-8")
    return {}


def _as_markdown(text: str) -> str:
    marked = re.sub("</?code>", "`", re.sub("</?strong>", "**", text))
    return " ".join(html.unescape(_TAG.sub(" ", marked)).replace("<", "&lt;").split())


def floor(kept: str, output: str, compression: str) -> dict[str, Any]:
    """The same rows by sqlite3 and zipfile and nothing else."""
    start = _clock()
    schema, tables = pickle.loads(Path(kept).read_bytes())
    preparation = _since(start)
    _write_plainly(schema, tables, Path(output), int(compression))
    return {"preparation": preparation, "out": Path(output).stat().st_size}


def packaging(cards: str, kept: str, output: str, compression: str, rounds: str) -> dict[str, Any]:
    """Packaging alone beside the floor, in turn, in one process; and whether it writes the same bytes each time."""
    schema, tables = pickle.loads(Path(kept).read_bytes())
    write = _package_writer(Path(cards))
    results: dict[str, list[tuple[float, float, int]]] = {"floor": [], "packaging": []}
    contents = set()
    file = Path(output)
    write(file)  # what is imported late is here from now on
    steps: Mapping[str, Callable[[], None]] = {
        "floor": lambda: _write_plainly(schema, tables, file, int(compression)),
        "packaging": lambda: write(file),
    }
    for _ in range(int(rounds)):
        for name, run in steps.items():
            file.unlink()
            start = _clock()
            run()
            results[name].append((*_since(start), file.stat().st_size))
        contents.add(file.read_bytes())
    return {**results, "same": len(contents) == 1}


def stages(cards: str, output: str, ledger: str) -> dict[str, Any]:
    """A build step by step, as :mod:`ladderdeck.building.build` makes it, with the seconds that each step takes."""
    from .stages import measure_stages

    return measure_stages(Path(cards), Path(output), Path(ledger))


def identity(known: str, *reworded: str) -> dict[str, Any]:
    """Matching: a library of known notes that come again, and packs of which every note is worded anew."""
    from .known import measure_identity

    return measure_identity(int(known), [int(count) for count in reworded])


def write(notes: str, folder: str) -> dict[str, Any]:
    """Generate packs."""
    from .packs import write_packs

    return {"notes": write_packs(Path(folder), int(notes))}


def _short(texts: Sequence[str]) -> list[str]:
    plain = [_TAG.sub(" ", text) for text in texts if text]
    plain = [html.escape(html.unescape(text))[:_SHORT] for text in sorted(plain, key=len, reverse=True)]
    return [*plain, "", "", ""][:3]


def _deflated(content: bytes, number: int) -> int:
    import zlib

    packer = zlib.compressobj(number, zlib.DEFLATED, -15)
    return len(packer.compress(content)) + len(packer.flush())


def _write_plainly(schema: Sequence[str], tables: Mapping[str, Sequence[Any]], output: Path, compression: int) -> None:
    database = output.with_suffix(".floor")
    database.unlink(missing_ok=True)
    connection = sqlite3.connect(database)
    for statement in ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", *schema):
        connection.execute(statement)
    for name, content in tables.items():
        if content:
            connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(content[0]))})", content)
    connection.commit()
    connection.close()
    with zipfile.ZipFile(output, "w") as archive:
        how = zipfile.ZIP_DEFLATED if compression else zipfile.ZIP_STORED
        archive.write(database, "collection.anki2", how, compression or None)
        archive.writestr("media", "{}", how, compression or None)
    database.unlink()


def _package_writer(cards: Path) -> Callable[[Path], None]:
    from .stages import content_of

    content = content_of(cards)
    return lambda file: content.form.write(content.content, file)


TASKS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "rows": rows,
    "level": level,
    "raw": raw,
    "cards": cards,
    "floor": floor,
    "packaging": packaging,
    "stages": stages,
    "identity": identity,
    "write": write,
}


if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
