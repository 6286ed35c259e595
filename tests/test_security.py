"""What a hostile file can try, each tried through the command that a person would run. SECURITY.md is the list."""

from __future__ import annotations

import io
import os
import pickle
import re
import sqlite3
import tempfile
import zipfile
from pathlib import Path

import pytest
from anki_collection import import_package, new_collection, notes_by_guid
from command import here, ladderdeck, tree
from deck_builder import Deck, pack_text

RUNGS = {"Joins": ["How does a hash join work?", "When does it spill?"]}
HEAD = pack_text("web", RUNGS)
EXPLOSION = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
ANSWER = "---\npack: web\ntopic: Joins\n---\n\n# Ladder\n\n## How does a hash join work?\n\n- ★ it builds a table\n\n"
DRILL = """pack: web
drills:
  - id: one
    topic: Joins
    question: How much is {n}?
    given: {n: {values: [1, 2, 3, 4, 5, 6]}}
    steps: |
      STEP
    tolerance: 10%
    bounds: [1, 10]
    formula: x
    mistakes: [{text: added one, gives: x + 1}]
    source: own
"""


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    deck = Deck(tmp_path / "deck")
    deck.write("web", RUNGS, file="web/web.md")
    return deck


def put(deck: Deck, name: str, text: str) -> None:
    file = deck.cards / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")


REFUSED = {
    "YAML aliases that explode, in drills": ("web/drills.yaml", EXPLOSION + DRILL),
    "YAML that calls Python": (
        "web/drills.yaml",
        DRILL.replace("own", '!!python/object/apply:os.system ["touch made"]'),
    ),
    "YAML that calls Python, in settings": ("deck.yaml", 'name: !!python/object/apply:os.system ["touch made"]\n'),
    "YAML 20,000 deep": ("deck.yaml", "name: " + "[" * 20_000 + "\n"),
    "a power tower": ("web/drills.yaml", DRILL.replace("STEP", "x = n ^ 9 ^ 9 ^ 9 ^ 9")),
    "a power tower in an answer": ("web/answers/a.md", ANSWER + "```calc\nx = 9 ^ 9 ^ 9 ^ 9 ^ 9\n```\n"),
    "brackets 20,000 deep": ("web/drills.yaml", DRILL.replace("STEP", f"x = {'(' * 20_000}n{')' * 20_000}")),
    "brackets 20,000 deep in an answer": ("web/answers/a.md", f"{ANSWER}```calc\nx = {'(' * 20_000}1\n```\n"),
    "Python in a calculation": ("web/drills.yaml", DRILL.replace("STEP", "x = __import__('os').system('touch made')")),
    "an attribute in a calculation": ("web/drills.yaml", DRILL.replace("STEP", "x = n.__class__")),
    "a hundred thousand values": ("web/drills.yaml", DRILL.replace("[1, 2, 3, 4, 5, 6]", "[" + "1, " * 100_000 + "2]")),
    "a range without an end": (
        "web/drills.yaml",
        DRILL.replace("values: [1, 2, 3, 4, 5, 6]", "from: 1, to: 1000000000000, step: 1").replace("STEP", "x = n"),
    ),
    "a picture outside of the folder": ("web/answers/a.md", ANSWER + "![x](../../../secret.png)\n"),
    "a picture by an absolute path": ("web/answers/a.md", ANSWER + "![x](/etc/passwd)\n"),
    "a picture by a drive's path": ("web/answers/a.md", ANSWER + "![x](C:\\secret.png)\n"),
    "a picture with NUL in its name": ("web/answers/a.md", ANSWER + "![x](a%00.png)\n"),
    "a picture that is somewhere in the network": ("web/answers/a.md", ANSWER + "![x](https://example.org/x.png)\n"),
    "a control character": ("web/web.md", HEAD.replace("hash", "ha\x1b]0;owned\x07sh")),
    "a name that is a path": ("web/web.md", HEAD.replace("name: web", "name: ../../web")),
}
"""What is tried: the file, and what stands in it."""


@pytest.mark.parametrize("attack", REFUSED)
def test_it_is_refused_with_its_place_and_nothing_is_written(deck: Deck, attack: str) -> None:
    (deck.folder / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    name, text = REFUSED[attack]
    put(deck, name, text)
    before = tree(deck.folder)
    run = here("build", "--no-cache", cwd=deck.folder)
    assert run.code == 1
    assert re.match(rf"cards/{re.escape(name)}:\d+:\d+: error: ", run.err), run.err[:300]
    assert tree(deck.folder) == before
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", run.out + run.err)


SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
HARMLESS = {
    "YAML aliases that explode, in a pack": ("web/web.md", HEAD.replace("layer:", EXPLOSION + "layer:", 1)),
    "YAML aliases that explode, in settings": ("deck.yaml", EXPLOSION + "name: Deck\n"),
    "YAML aliases that explode, in an answer": ("web/answers/a.md", ANSWER.replace("---\n", "---\n" + EXPLOSION, 1)),
    "a script in a rung": ("web/web.md", HEAD.replace("hash join", "<script>alert(1)</script>")),
    "a handler in a title": ("web/web.md", HEAD.replace("### Joins", "### <img src=x onerror=alert(1)>")),
    "an end of the data": ("web/web.md", HEAD.replace("hash join", "</script><!--</div>")),
    "Anki's own fields": ("web/web.md", HEAD.replace("hash join", "{{FrontSide}} {{c1::x}} {{#Data}}")),
    "a sound": ("web/web.md", HEAD.replace("hash join", "[sound:http://example.org/x.mp3] [anki:play:q:0]")),
    "a script in an answer": (
        "web/answers/a.md",
        ANSWER + "<script>alert(1)</script><iframe src=//example.org></iframe>\n",
    ),
    "a link that is a script": (
        "web/answers/a.md",
        ANSWER + "[x](javascript:alert(1)) [y](data:text/html,x) [z](vbscript:x)\n",
    ),
    "a style": ("web/answers/a.md", ANSWER + '<div style="position:fixed" onclick="x()">cover</div>\n'),
    "a picture by a file address": ("web/answers/a.md", ANSWER + "![x](file:///etc/passwd)\n"),
    "LaTeX that reads a file": (
        "web/answers/a.md",
        ANSWER + "[latex]\\input{/etc/passwd}[/latex] $\\href{javascript:alert(1)}{x}$\n",
    ),
}
"""What becomes plain text, or nothing: the build goes on, and the card shows what stands in the file."""

ACTIVE = re.compile(
    r"<(?!/?(?:div|p|ul|ol|li|span|code|pre|b|i|em|strong|a|img|table|thead|tbody|tr|th|td|br|button|h\d|math|svg|path|sup|sub|hr)\b)\w"
    r"|<[^>]*\s(?:on(?!click=\"ladderTick)\w+|style|srcdoc)\s*=|(?:href|src)=\"(?!https?://|ladder-)[^\"]*:"
    r"|\[sound:|\[anki:|\[latex\]",
    re.IGNORECASE,
)
"""Elements, attributes, addresses and words of Anki that do something on a phone."""


@pytest.mark.parametrize("attack", HARMLESS)
def test_it_does_nothing_on_the_phone(deck: Deck, tmp_path: Path, attack: str) -> None:
    name, text = HARMLESS[attack]
    put(deck, name, text)
    assert here("build", "--no-cache", cwd=deck.folder).code == 0
    collection = new_collection(tmp_path)
    import_package(collection, deck.package)
    for note in notes_by_guid(collection).values():
        for field in note.fields:
            assert not ACTIVE.search(field), field
    collection.close()


def test_a_picture_that_is_a_script_is_only_ever_a_picture(deck: Deck) -> None:
    """Scripts in an SVG do not run where it is shown by `<img>`."""
    put(deck, "web/answers/evil.svg", SVG)
    put(deck, "web/answers/a.md", ANSWER + "![x](evil.svg)\n")
    assert here("build", "-o", "dist/deck.json", cwd=deck.folder).code == 0
    text = (deck.folder / "dist" / "deck.json").read_text(encoding="utf-8")
    assert re.search(r'<img src=\\"ladder-[0-9a-f]{16}\.svg\\"', text)
    assert "<object" not in text and "<embed" not in text


def test_links_lead_nowhere_else(deck: Deck, tmp_path: Path) -> None:
    """A picture, a folder of answers and a package that are links to somewhere else."""
    outside = tmp_path / "outside"
    (outside / "answers").mkdir(parents=True)
    (outside / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (outside / "kept.txt").write_text("mine", encoding="utf-8")
    put(deck, "web/answers/a.md", ANSWER + "![x](x.png)\n")
    (deck.cards / "web" / "answers" / "x.png").symlink_to(outside / "secret.png")
    run = here("build", cwd=deck.folder)
    assert (run.code, "[picture-outside]" in run.err) == (1, True)
    (deck.cards / "web" / "answers" / "x.png").unlink()
    put(deck, "web/answers/a.md", ANSWER)
    deck.package.parent.mkdir()
    deck.package.symlink_to(outside / "kept.txt")
    assert here("build", cwd=deck.folder).code == 1
    assert (outside / "kept.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.skipif(os.name == "nt", reason="Windows allows no such name")
def test_the_name_of_a_file_commands_no_terminal(deck: Deck) -> None:
    put(deck, "a\x1b]0;owned\x07\x9b31m\u202eb.md", HEAD.replace("layer: detail", "layer: deep"))
    run = ladderdeck("check", cwd=deck.folder)
    assert run.code == 1
    assert "cards/a\\x1b]0;owned\\x07\\x9b31m\\u202eb.md:" in run.out + run.err
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", run.out + run.err)


def test_a_ledger_that_someone_wrote_is_never_run(deck: Deck) -> None:
    here("build", cwd=deck.folder)
    for content in (
        pickle.dumps(deck),
        b"[" * 100_000,
        b'{"format": 1\n,"note x": {"text": "\\u001b]0;x"}\n}\n',
        b"\xff\xfe",
    ):
        deck.ledger_file.write_bytes(content)
        before = tree(deck.folder)
        run = here("build", cwd=deck.folder)
        assert (run.code, run.err.startswith("cards/ledger.json:")) == (1, True)
        assert tree(deck.folder) == before


def hostile_packages() -> dict[str, bytes]:
    """Archives and databases that look like a package until they are read."""

    def package(name: str, database: bytes) -> bytes:
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, database)
        return data.getvalue()

    def database(*statements: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "database")
            connection = sqlite3.connect(file)
            with connection:
                for statement in statements:
                    connection.execute(statement)
            connection.close()
            return file.read_bytes()

    tables = (
        "CREATE TABLE col (models, decks)",
        "INSERT INTO col VALUES ('{}', '{}')",
        "CREATE TABLE cards (nid, did, ord)",
    )
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x AS id, x AS guid, x AS mid, x AS mod, x AS tags, x AS flds FROM n"
    bomb = package("collection.anki2", b"")
    large = bytearray(package("collection.anki2", b"x" * 1000))
    place = large.rindex(b"PK\x01\x02") + 24
    large[place : place + 4] = (0xF0000000).to_bytes(4, "little")
    return {
        "nothing in it": bomb,
        "a database that claims four gigabytes": bytes(large),
        "a path that leaves the folder": package("../collection.anki2", b"x"),
        "no database": package("collection.anki2", b"x" * 5000),
        "a view that never ends": package("collection.anki2", database(*tables, f"CREATE VIEW notes AS {endless}")),
        "JSON that is too deep": package(
            "collection.anki2", database(tables[0], f"INSERT INTO col VALUES ('{'[' * 100_000}', '{{}}')")
        ),
        "no archive": b"PK\x03\x04" + b"\0" * 100,
    }


PACKAGES = hostile_packages()


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_that_someone_else_put_there(deck: Deck, name: str) -> None:
    """`push` takes none of them, and a build reads none without bounds: it replaces it, or leaves it as it is."""
    deck.package.parent.mkdir()
    deck.package.write_bytes(PACKAGES[name])
    assert here("push", "--dry-run", cwd=deck.folder).code == 1
    before = tree(deck.folder)
    run = here("build", cwd=deck.folder)
    assert (run.code == 1) == (tree(deck.folder) == before)
    assert sorted(path.name for path in deck.folder.iterdir()) == ["cards", "dist"]
