"""`serve` as a person runs it: what it prints on which terminal, and how it ends."""

from __future__ import annotations

import contextlib
import functools
import http.client
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import segno
from click.testing import CliRunner
from command import CHECKOUT
from deck_builder import Deck
from package_samples import make, write

import ladderdeck.cli.serve as module
from ladderdeck.cli import cli
from ladderdeck.handing_over.handover import Limits, listen, own_address
from ladderdeck.handing_over.qr_code import qr_lines

URL = "http://192.168.178.23:51234/AbCdEfGhIjKlMnOpQrStUv/ladders.apkg"
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def modules(text: str, border: int = 4) -> list[list[bool]]:
    return [
        [bool(m) for m in row]
        for row in segno.make(text, error="l", boost_error=False, micro=False).matrix_iter(border=border)
    ]


def from_half_blocks(lines, *, filled_is_dark: bool) -> list[list[bool]]:
    rows = []
    for line in lines:
        cells = [" ▄▀█".index(c) for c in ESCAPE.sub("", line)]
        rows += [[bool(c & 2) == filled_is_dark for c in cells], [bool(c & 1) == filled_is_dark for c in cells]]
    return rows


@pytest.mark.parametrize("colour", [True, False])
def test_a_code_of_half_blocks_shows_each_module(colour):
    lines = qr_lines(URL, columns=80, encoding="utf-8", colour=colour)
    expected = modules(URL)
    assert from_half_blocks(lines, filled_is_dark=colour)[: len(expected)] == expected
    assert all(line.startswith("\x1b[38;5;16;48;5;231m") and line.endswith("\x1b[0m") for line in lines) == colour


def test_a_code_of_blanks_shows_each_module():
    lines = qr_lines(URL, columns=100, encoding="ascii", colour=True)
    cells = [re.findall(r"\x1b\[48;5;(16|231)m  ", line) for line in lines]
    assert [[cell == "16" for cell in row] for row in cells] == modules(URL)
    assert "".join(lines).isascii()


@pytest.mark.parametrize(
    ("columns", "encoding", "colour", "shown"),
    [
        (41, "utf-8", True, True),
        (40, "utf-8", True, False),
        (80, "ascii", False, False),
        (80, "cp936", True, False),
        (82, "cp936", True, True),
        (80, "cp437", True, True),
        (80, "no-such-encoding", False, False),
    ],
)
def test_a_code_that_does_not_fit_is_left_out(columns, encoding, colour, shown):
    assert bool(qr_lines(URL, columns=columns, encoding=encoding, colour=colour)) is shown


def test_this_machine_has_an_address_or_no_network():
    try:
        address = own_address()
    except OSError:
        return
    with listen(address, 0) as listener:
        assert listener.getsockname()[0] == address


class Terminal:
    """A command in a pseudo-terminal of its own."""

    def __init__(self, *arguments: str, cwd: Path, **environment: str) -> None:
        self.master, slave = pty.openpty()
        command = [sys.executable, str(CHECKOUT / "build.py"), *arguments]
        plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
        self.process = subprocess.Popen(
            command, cwd=cwd, env={**plain, "COLUMNS": "100", **environment}, stdin=slave, stdout=slave, stderr=slave
        )
        os.close(slave)
        self.text = ""

    def read_until(self, marker: str | None) -> str:
        """All that was printed, up to the marker or the end."""
        while marker is None or marker not in self.text:
            try:
                data = os.read(self.master, 65536)
            except OSError:  # Linux says so when the other side has ended
                data = b""
            if not data:
                assert marker is None, self.text
                break
            self.text += data.decode("utf-8", "replace")
        return self.text

    def end(self) -> int:
        self.read_until(None)
        os.close(self.master)
        return self.process.wait(30)


@pytest.fixture
def package(tmp_path):
    return write([make()], tmp_path / "a.apkg")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_on_a_terminal_it_shows_address_and_code_and_ends_with_ctrl_c(tmp_path, package, encoding):
    terminal = Terminal(
        "serve", "-o", "a.apkg", "--host", "127.0.0.1", cwd=tmp_path, PYTHONIOENCODING=encoding, PYTHONUTF8="0"
    )
    try:
        text = terminal.read_until("Ctrl-C ends this.")
        address = re.search(r"http://127\.0\.0\.1:\d+/[\w-]{22}/a\.apkg", text)[0]
        assert ("\x1b[48;5;16m  " in text) == (encoding == "ascii")
        if encoding == "utf-8":
            lines = [line.strip("\r") for line in text.split("\n") if line.startswith("\x1b[38;5;16")]
            expected = modules(address)
            assert from_half_blocks(lines, filled_is_dark=True)[: len(expected)] == expected
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.end() == 130
    finally:
        terminal.process.kill()
        terminal.process.wait()
    assert terminal.text.rstrip().endswith("Stopped.")
    assert "Traceback" not in terminal.text


def fetch(address: str) -> bytes:
    parts = urlsplit(address)
    with contextlib.closing(http.client.HTTPConnection(parts.netloc, timeout=30)) as connection:
        connection.request("GET", parts.path)
        return connection.getresponse().read()


def test_in_a_pipe_it_prints_plain_text_and_ends_after_the_download(tmp_path, package, monkeypatch):
    """In this process, so that the grace can be none: a thread plays the phone as soon as the address is known."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "Limits", functools.partial(Limits, grace=0))
    fetched: list[bytes] = []
    introduce = module._introduce

    def and_a_phone(offer, listener, *rest):
        introduce(offer, listener, *rest)
        address = "http://{}:{}".format(*listener.getsockname()[:2]) + offer.path
        phone = threading.Thread(target=lambda: fetched.append(fetch(address)))
        phone.start()
        threads.append(phone)

    threads: list[threading.Thread] = []
    monkeypatch.setattr(module, "_introduce", and_a_phone)
    run = CliRunner().invoke(cli, ["serve", "-o", "a.apkg", "--host", "127.0.0.1"])
    threads[0].join(30)
    assert run.exit_code == 0, run.output
    assert fetched == [package.read_bytes()]
    assert "\x1b" not in run.output
    assert "127.0.0.1 has downloaded the package." in run.output
    assert "Done." in run.output


def test_a_build_meanwhile_changes_nothing(tmp_path, package, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = package.read_bytes()
    seen = []

    async def look(offer, listener, limits, tell):
        package.write_bytes(b"another build")
        listener.close()
        seen.append(offer.data)
        return 1

    monkeypatch.setattr(module, "hand_over", look)
    assert CliRunner().invoke(cli, ["serve", "-o", "a.apkg", "--host", "127.0.0.1"]).exit_code == 0
    assert seen == [before]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ((), 1, "build it first: "),
        (("-o", "text.apkg"), 1, "[not-a-package]"),
        (("-o", "folder"), 2, "is a directory"),
        (("nowhere", "-o", "a.apkg"), 1, "there is no such file or folder"),
        (("-o", "a.apkg", "--host", "0.0.0.0"), 2, "not all of them"),
        (("-o", "a.apkg", "--host", "::"), 2, "not all of them"),
        (("-o", "a.apkg", "--host", "198.51.100.1"), 1, "[cannot-serve]"),
        (("-o", "a.apkg", "--host", "no such host"), 1, "[cannot-serve]"),
        (("-o", "a.apkg", "--host", "x" * 300), 1, "[cannot-serve]"),
        (("-o", "a.apkg", "--port", "99999"), 2, "99999"),
        (("-o", "a.apkg", "--minutes", "0"), 2, "Invalid value"),
        (("-o", "a.apkg", "--minutes", "nan"), 2, "Invalid value"),
        (("-o", "a.apkg", "--host", "127.0.0.1", "--minutes", "0.0001"), 1, "nobody has downloaded"),
        (("--help",), 0, "Example: "),
    ],
)
def test_wrong_usage_and_obstacles(tmp_path, package, monkeypatch, arguments, code, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.apkg").write_text("hello")
    run = CliRunner().invoke(cli, ["serve", *arguments])
    assert run.exit_code == code, run.output
    assert text in run.output
    assert "Traceback" not in run.output


def test_a_package_behind_its_packs_is_called_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    deck = Deck(tmp_path)
    pack = deck.write("web", {"Joins": ["What is a hash join?", "When does it spill?"]})

    def serve(*more: str) -> str:
        return CliRunner().invoke(cli, ["serve", "--host", "127.0.0.1", "--minutes", "0.0001", *more]).output

    assert CliRunner().invoke(cli, []).exit_code == 0
    assert "stale-package" not in serve()
    deck.write("web", {"Joins": ["What is a hash join?", "When does it spill to disk?"]})
    before = deck.on_disk()
    behind = serve()
    assert "the packs have changed since this package was built" in behind
    assert "http://127.0.0.1" in behind, "it is served all the same"
    assert "the packs have changed" in serve("cards")
    pack.write_text("---\nname: web\n---\n", encoding="utf-8")
    assert "the packs have mistakes now" in serve()
    deck.write("web", {"Joins": ["What is a hash join?", "When does it spill to disk?"]})
    assert deck.on_disk() == before, "nothing is built or written"
