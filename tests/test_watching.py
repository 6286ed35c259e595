"""`build --watch` and `preview --serve`: real processes, real saves, a real browser. Nothing sleeps: a test waits for a line."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest
from browser import open_browser
from command import CHECKOUT
from deck_builder import Deck, pack_text
from playwright.sync_api import expect

from ladderdeck.building.watching import Look, difference, look, with_own
from ladderdeck.packaging.templates import default_folder
from ladderdeck.previewing import preview_server
from ladderdeck.previewing.preview import live_data, live_page
from ladderdeck.previewing.preview_server import PreviewServer

RUNGS = ["What is a hash join?", "When does it spill to disk?", "Who reads the plan?"]
TIME = r"\d\d:\d\d:\d\d  "
PATIENCE = 60


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    made = Deck(tmp_path)
    made.write("web", {"Joins": RUNGS})
    return made


class Terminal:
    """A command in a terminal of its own, in a deck's folder."""

    def __init__(self, deck: Deck, *arguments: str, **environment: str) -> None:
        values = {**os.environ, "TMPDIR": str(deck.folder), "COLUMNS": "200", **environment}
        program = [str(CHECKOUT / "build.py"), *arguments]
        self.child = pexpect.spawn(
            sys.executable, program, cwd=str(deck.folder), env=values, encoding="utf-8", timeout=PATIENCE
        )
        self.child.setwinsize(50, 200)

    def line(self, pattern: str) -> str:
        """The next line that holds ``pattern``."""
        self.child.expect(rf"[^\r\n]*{pattern}[^\r\n]*\r\n")
        return self.child.match[0].strip()

    def end(self) -> list[str]:
        """Press Ctrl-C; the lines that are still printed."""
        self.child.sendintr()
        self.child.expect(pexpect.EOF)
        self.child.close()
        assert self.child.exitstatus == 130, self.child.before
        return [line for line in self.child.before.replace("^C", "").split("\r\n") if line]


@pytest.fixture
def run(deck: Deck) -> Iterator:
    """Starts commands, and ends those that a failing test has left."""
    started: list[Terminal] = []

    def start(*arguments: str, **environment: str) -> Terminal:
        started.append(Terminal(deck, *arguments, **environment))
        return started[-1]

    yield start
    for terminal in started:
        terminal.child.close(force=True)


def save_by_rename(file: Path, text: str) -> None:
    """Save as vim does: a new file takes the old one's place."""
    fresh = file.with_name(f".{file.name}.swp")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(file)


# build --watch


def test_every_kind_of_save_is_built_and_said_in_one_line(deck: Deck, run) -> None:
    file = deck.cards / "web.md"
    terminal = run("--watch")
    assert terminal.line("notes in 1 deck").startswith("dist/ladders.apkg: 5 notes")
    terminal.line("Watching cards: .*Ctrl-C")

    file.write_text(pack_text("web", {"Joins": [*RUNGS, "How is a GIN index built?"]}), encoding="utf-8")
    assert re.fullmatch(f"{TIME}cards/web.md: 1 new, .*", terminal.line("web.md"))
    save_by_rename(file, pack_text("web", {"Joins": [*RUNGS, "How is a GIN index built up?"]}))
    assert re.fullmatch(f"{TIME}cards/web.md: 1 reworded, .*", terminal.line("web.md"))

    good = deck.package.read_bytes(), deck.ledger_file.read_bytes()
    file.write_text("---\nname: web\nlayer: base\n---\n", encoding="utf-8")
    assert "error: " in terminal.line("cards/web.md:")
    assert re.fullmatch(f"{TIME}cards/web.md: 1 error; dist/ladders.apkg stays as it is", terminal.line(TIME))
    assert (deck.package.read_bytes(), deck.ledger_file.read_bytes()) == good

    shutil.move(deck.cards, deck.folder / "away")
    assert "no such file" in terminal.line("error: ")
    assert "stays as it is" in terminal.line(TIME)
    shutil.move(deck.folder / "away", deck.cards)
    terminal.line(f"{TIME}cards/")
    file.write_text(pack_text("web", {"Joins": RUNGS}), encoding="utf-8")
    assert "1 retired" in terminal.line(f"{TIME}cards/web.md")

    (deck.cards / "deck.yaml").write_text("name: Mine\n", encoding="utf-8")
    assert "renamed-deck" in terminal.line("warning: ")
    assert "no note has changed, but decks" in terminal.line(f"{TIME}cards/deck.yaml")
    answers = deck.cards / "answers"
    answers.mkdir()
    (answers / "joins.md").write_text(
        f"---\npack: web\ntopic: Joins\n---\n\n## {RUNGS[0]}\n\n- builds a table, then probes it\n", encoding="utf-8"
    )
    assert "updated" in terminal.line(f"{TIME}cards/answers/joins.md")
    (deck.cards / "drills.yaml").write_text("", encoding="utf-8")
    terminal.line(f"{TIME}cards/drills.yaml")
    for number in range(30):
        deck.write(f"pack{number}", {"Joins": [f"{text} {number}" for text in RUNGS]})
    assert re.search(r"cards/pack0.md, cards/pack1.md and \d+ more: ", terminal.line(f"{TIME}cards/pack"))
    assert terminal.end() == ["Stopped. No file is half-written."]
    assert not [path for path in deck.folder.rglob("*.tmp") if path.name.startswith(".")]


def test_what_is_saved_during_a_build_is_built_next(deck: Deck, run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first build waits for a lock that is held here; the file is saved meanwhile, when reading is over or not."""
    from ladderdeck.keeping.files import only_one

    monkeypatch.setattr(tempfile, "tempdir", str(deck.folder))  # where the program has its locks, too
    terminal = run("--watch")
    terminal.line("Watching")
    with only_one([deck.package]):
        file = deck.cards / "web.md"
        file.write_text(pack_text("web", {"Joins": [*RUNGS, "How is a GIN index built?"]}), encoding="utf-8")
        save_by_rename(deck.cards / "more.md", pack_text("more", {"Scans": RUNGS}))
    terminal.line(f"{TIME}cards/")
    (deck.cards / "last.md").write_text(pack_text("last", {"Views": RUNGS}), encoding="utf-8")
    terminal.line("last.md")
    terminal.end()
    assert {entry.pack for entry in deck.ledger().notes.values()} == {"web", "more", "last"}
    assert "How is a GIN index built?" in {entry.text for entry in deck.ledger().notes.values()}


def test_its_own_files_and_other_files_make_no_round(deck: Deck, run) -> None:
    """What a build writes, a foreign file, a hidden one: the next line is about the pack that was saved after them."""
    terminal = run(".", "--watch", "-o", "cards/web.apkg")
    terminal.line("Watching")
    for name in ("cards/notes.txt", "cards/.web.md.swp", "page.html", "cards/node_modules/x.md", "cards/web.md~"):
        (deck.folder / name).parent.mkdir(exist_ok=True)
        (deck.folder / name).write_text("x", encoding="utf-8")
    deck.write("more", {"Scans": RUNGS})
    assert re.match(f"{TIME}cards/more.md: 5 new", terminal.line(TIME))
    terminal.end()


def test_one_pack_is_watched_without_the_folder_around_it(deck: Deck, run) -> None:
    terminal = run("cards/web.md", "--watch", "--quiet")
    terminal.line("Watching cards/web.md")
    deck.write("other", {"Scans": RUNGS})
    save_by_rename(deck.cards / "web.md", "no pack")
    assert "error: " in terminal.line("web.md")
    assert terminal.end()[-1] == "Stopped. No file is half-written."


@pytest.mark.parametrize(
    "arguments", [["--watch", "--json"], ["preview", "--port", "8000"], ["preview", "--serve", "-o", "x"]]
)
def test_what_does_not_go_together_is_refused(deck: Deck, run, arguments: list[str]) -> None:
    terminal = run(*arguments)
    terminal.line("Error: ")
    terminal.child.expect(pexpect.EOF)
    terminal.child.close()
    assert terminal.child.exitstatus == 2


# Looking


def test_a_look_sees_what_a_deck_is_made_of_and_no_more(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(deck.folder)
    templates = deck.folder / "look"
    shutil.copytree(default_folder(), templates)
    for name in ("answers/a.md", "answers/fig.png", "drills.yaml", "deck.yaml", "ledger.json"):
        (deck.cards / name).parent.mkdir(exist_ok=True)
        (deck.cards / name).write_text("", encoding="utf-8")
    for name in ("a.txt", ".hidden.md", ".git/x.md", "b.html", "answers/a.md~"):
        (deck.cards / name).parent.mkdir(exist_ok=True)
        (deck.cards / name).write_text("", encoding="utf-8")
    expected = {"web.md", "answers/a.md", "answers/fig.png", "drills.yaml", "deck.yaml", "ledger.json"}
    for given in (deck.cards, deck.cards / "web.md"):
        seen = look([given], templates)
        assert {f.relative_to(deck.folder / "look").parts[-1] for f in seen.files if f.is_relative_to(templates)} >= {
            "style.css"
        }
        cards = {f.resolve() for f in seen.files if not f.is_relative_to(templates)}
        assert {f.relative_to(deck.cards).as_posix() for f in cards} == expected
        assert seen.own is not None
    missing = look([deck.folder / "nowhere"], deck.folder / "nowhere")
    assert missing.files == {}


def test_a_folder_that_was_made_anew_is_another(deck: Deck) -> None:
    first = look([deck.cards], deck.folder)
    shutil.move(deck.cards, deck.folder / "old")
    shutil.copytree(deck.folder / "old", deck.cards)
    assert look([deck.cards], deck.folder).folders != first.folders


A, B, C = Path("a"), Path("b"), Path("ledger.json")


def test_the_difference_of_two_looks() -> None:
    before = Look({A: (1, 1, 1), B: (1, 1, 1)}, {})
    assert difference(before, before) == ()
    assert difference(before, Look({A: (2, 1, 1), C: (1, 1, 1)}, {})) == (A, B, C)
    after = Look({A: (2, 1, 1), C: (5, 5, 5)}, {}, C)
    taken = with_own(Look({A: (1, 1, 1)}, {}, C), after)
    assert difference(taken, after) == (A,), "the ledger counts as seen, a pack does not"
    assert with_own(Look({C: (1, 1, 1)}, {}, C), Look({}, {}, C)).files == {}


# preview --serve


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


def test_the_open_page_follows_and_keeps_its_place(deck: Deck, run, browser) -> None:
    topics = {
        f"Topic {letter}": [f"{letter}{number}: why does it take so long? " * 8 for number in range(8)]
        for letter in "ABCDEF"
    }
    file = deck.write("web", topics)
    terminal = run("preview", "--serve")
    address = terminal.line("Preview: http").removeprefix("Preview: ")
    terminal.line("Watching cards")
    page = browser.new_page(viewport={"width": 1000, "height": 600})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    page.wait_for_selector("html[data-round='1']")
    page.locator("#kind").select_option("rung")
    page.locator("#topic").select_option(label="Topic D")
    page.locator("#text").fill("why")
    page.locator("#row-3").click()
    assert page.locator("#number").inner_text() == "4 of 8"
    back = page.frame_locator("iframe").nth(1)
    back.locator("html").evaluate("root => { root.style.minHeight = '3000px'; scrollTo(0, 120) }")
    page.locator("#list").evaluate("list => { list.scrollTop = 100 }")

    def round_follows(number: int) -> None:
        page.wait_for_selector(f"html[data-round='{number}']")

    # A rung before the open one: the card is another place further, and its frame is left alone.
    topics = {**topics, "Topic D": ["D: why is this one new?", *topics["Topic D"]]}
    save_by_rename(file, pack_text("web", topics))
    assert "cards, " in terminal.line(f"{TIME}cards/web.md")
    round_follows(2)
    assert page.locator("#number").inner_text() == "5 of 9"
    assert "D3" in page.frame_locator("iframe").nth(0).locator(".question").inner_text()
    assert page.locator("#list").evaluate("list => list.scrollTop") == 100

    # The open card itself.
    topics["Topic D"][4] = topics["Topic D"][4].replace("D3", "D-three")
    save_by_rename(file, pack_text("web", topics))
    terminal.line(f"{TIME}cards/web.md")
    round_follows(3)
    assert page.locator("#number").inner_text() == "5 of 9"
    page.frame_locator("iframe").nth(0).locator(".question", has_text="D-three").wait_for()
    expect(page.locator("iframe").nth(1)).to_have_attribute("srcdoc", re.compile(r"scrollTo\(0,"))

    # A mistake: the page says so, and shows the last good state.
    file.write_text("---\nname: web\n---\n", encoding="utf-8")
    assert "the page stays as it is" in terminal.line(TIME)
    round_follows(4)
    assert "no pack is in this folder" in page.locator("#failed").inner_text()
    assert page.locator("#number").inner_text() == "5 of 9"
    save_by_rename(file, pack_text("web", topics))
    terminal.line(f"{TIME}cards/web.md")
    round_follows(5)
    assert page.locator("#failed").is_hidden()
    assert [page.locator(id).input_value() for id in ("#kind", "#text")] == ["rung", "why"]

    assert terminal.end() == ["Stopped. No file is half-written."]
    page.locator("#lost").wait_for(state="visible")
    assert errors == []
    assert not (deck.folder / "dist").exists(), "nothing is written"
    page.close()


def test_a_port_that_is_taken_is_said_and_the_usual_one_gives_way(deck: Deck, run) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        terminal = run("preview", "--serve", "--port", str(port))
        assert f"The port {port} cannot be used" in terminal.line("Error: ")
        terminal.child.expect(pexpect.EOF)
        terminal.child.close()
        assert terminal.child.exitstatus == 1


@pytest.fixture
def server() -> Iterator[PreviewServer]:
    with PreviewServer(live_page(), 0) as opened:
        opened.publish(live_data(None, []))
        yield opened


def ask(server: PreviewServer, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    return connection.getresponse()


@pytest.mark.parametrize(
    ("path", "method", "host", "status"),
    [
        ("/", "GET", "", 200),
        ("/", "HEAD", "", 200),
        ("/", "GET", "localhost:{}", 200),
        ("/data", "GET", "", 200),
        ("/data", "GET", "evil.example:{}", 421),
        ("/", "GET", "evil.example", 421),
        ("/news", "GET", "127.0.0.1", 421),
        ("/", "GET", "127.0.0.1:1", 421),
        ("/../etc/passwd", "GET", "", 404),
        ("/cards/web.md", "GET", "", 404),
        ("/data/", "GET", "", 404),
        ("http://evil.example/", "GET", "", 421),
        ("/", "POST", "", 501),
        ("/", "OPTIONS", "", 501),
    ],
)
def test_it_answers_to_its_own_name_and_for_its_own_pages_only(
    server: PreviewServer, path: str, method: str, host: str, status: int
) -> None:
    headers = {"Host": host.format(server.port)} if host else {}
    answer = ask(server, path, method, **headers)
    assert answer.status == status
    assert answer.getheader("X-Frame-Options") == "DENY"
    assert answer.getheader("Access-Control-Allow-Origin") is None
    assert server._http.server_address[0] == "127.0.0.1"


def test_news_come_at_once_and_when_there_are_some_and_end(server: PreviewServer) -> None:
    answer = ask(server, "/news")
    assert answer.getheader("Content-Type") == "text/event-stream"
    assert answer.fp.readline() == b"data: 1\n"
    server.publish(live_data(None, []))
    assert [answer.fp.readline() for _ in range(2)] == [b"\n", b"data: 2\n"]
    assert json.loads(ask(server, "/data").read()) == {"data": None, "failed": []}
    server.__exit__(None, None, None)
    assert answer.fp.read() == b"\n"


def test_too_many_connections_are_turned_away_and_then_there_is_room_again(
    server: PreviewServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_ones = [ask(server, "/news") for _ in range(preview_server.MOST_CONNECTIONS)]
    for one in open_ones:
        assert one.fp.readline() == b"data: 1\n"
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        ask(server, "/")
    for one in open_ones:
        one.close()
    for _ in range(3):
        # Who has gone is noticed when there are news for them.
        server.publish(live_data(None, []))
    for _ in range(10_000):
        try:
            assert ask(server, "/").status == 200
            break
        except (ConnectionError, http.client.HTTPException):
            server.publish(live_data(None, []))
    else:
        pytest.fail("no place became free")


def test_a_request_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview_server._Handler, "timeout", 0.05)
    with PreviewServer("", 0) as server, socket.create_connection(("127.0.0.1", server.port), PATIENCE) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert slow.recv(1) == b""
    with PreviewServer("", 0) as server, socket.create_connection(("127.0.0.1", server.port), PATIENCE) as wide:
        wide.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000)
        assert b"431" in wide.recv(100)
