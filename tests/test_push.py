"""`push`, into a real collection behind the protocol of AnkiConnect, and what can be in its way."""

from __future__ import annotations

import json
import socket
import threading
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from anki_collection import check_database, import_package, new_collection, notes_by_guid, only_card, review
from click.testing import CliRunner
from fake_anki_connect import FakeAnki
from package_samples import FULL, MODIFIED, make, write
from test_phone_loop import Server

from ladderdeck.cli import cli
from ladderdeck.handing_over.anki_connect import AnkiConnectError, Connection, check_address, greet
from ladderdeck.handing_over.push import Fate
from ladderdeck.handing_over.pushing import look_ahead, push
from ladderdeck.packaging.package_reading import read_package
from ladderdeck.values.model import Kind

RETIRED = ("kind::x", "ladder::retired")


@pytest.fixture
def collection(tmp_path):
    opened = new_collection(tmp_path / "anki")
    yield opened
    opened.close()


@pytest.fixture
def anki(collection):
    return FakeAnki(collection)


@pytest.fixture
def connection(anki):
    with anki.running() as address:
        yield Connection(address)


def pack(tmp_path: Path, *notes) -> tuple[Path, tuple]:
    file = write(notes, tmp_path / "a.apkg")
    return file, read_package(file.read_bytes())


def send(connection, packed, *, move=False, sync=False):
    return push(connection, *packed, move=move, sync=sync)


def by_guid(report):
    return {note.guid: fate for note, fate in report.fates}


def test_a_package_is_read_back_as_it_was_made(tmp_path):
    note = make(Kind.SIGN, 3, deck="Ladders::X", tags=("a::b", "c"))
    _, (stored,) = pack(tmp_path, note)
    assert (stored.guid, stored.note_type, stored.modified) == (note.guid, "Ladderdeck Sign", note.modified)
    assert (stored.tags, stored.deck) == (note.note.tags, "Ladders::X")
    assert dict(stored.fields) == dict(note.note.fields)


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x05\x06" + bytes(18), b"no zip at all" * 50, bytes(1000)])
def test_what_is_no_package_is_said_to_be_none(data):
    with pytest.raises(ValueError, match="package"):
        read_package(data)


def test_first_push_then_changes(tmp_path, connection, collection):
    first = send(connection, pack(tmp_path, *(make(number=n) for n in range(3))))
    assert first.profile == "User 1"
    assert by_guid(first) == dict.fromkeys(["rung-0", "rung-1", "rung-2"], Fate.NEW)
    review(collection, "rung-1")

    packed = pack(
        tmp_path,
        make(number=0),
        make(number=1, modified=MODIFIED + 9, fields={**FULL, "Question": "Why?"}),
        make(number=7),
    )
    second = send(connection, packed)
    assert by_guid(second) == {"rung-0": Fate.UNCHANGED, "rung-1": Fate.UPDATED, "rung-7": Fate.NEW}
    assert only_card(collection, "rung-1").reps == 1
    assert len(notes_by_guid(collection)) == 4, "a push deletes nothing"
    assert check_database(collection)[1]


def test_every_kind_with_every_field_arrives_unchanged(tmp_path, connection):
    odd = {**FULL, "Question": unicodedata.normalize("NFD", "Größe") + " a < b & \u200b😀 {{x}} &#91;sound:a.mp3]"}
    notes = [make(kind, n, fields=f, tags=("Öl", "c#")) for kind in Kind for n, f in enumerate((FULL, odd))]
    packed = pack(tmp_path, *notes)
    assert set(by_guid(send(connection, packed)).values()) == {Fate.NEW}
    assert set(by_guid(send(connection, packed)).values()) == {Fate.UNCHANGED}


def test_what_was_edited_in_anki_later_is_kept_and_said(tmp_path, connection, collection):
    send(connection, pack(tmp_path, make(number=0), make(number=1)))
    mine, tagged = (notes_by_guid(collection)[guid] for guid in ("rung-0", "rung-1"))
    mine["Answer"] = "my own words"
    tagged.add_tag("marked")
    collection.update_notes([mine, tagged])
    packed = pack(tmp_path, make(number=0, modified=MODIFIED + 5, tags=("new",)), make(number=1))
    assert by_guid(look_ahead(connection, packed[1])) == {"rung-0": Fate.KEPT, "rung-1": Fate.UNCHANGED}
    assert by_guid(send(connection, packed)) == {"rung-0": Fate.KEPT, "rung-1": Fate.UNCHANGED}
    assert notes_by_guid(collection)["rung-0"]["Answer"] == "my own words"


def test_a_dry_run_says_what_a_push_does_and_changes_nothing(tmp_path, anki, connection, collection):
    send(connection, pack(tmp_path, make(number=0), make(number=1), make(number=2, tags=RETIRED)))
    rows = collection.db.all("select * from notes, cards")
    packed = pack(
        tmp_path,
        make(number=0, modified=MODIFIED + 5, tags=RETIRED),
        make(number=1, deck="Ladders::Elsewhere"),
        make(number=2, modified=MODIFIED + 5),
        make(number=3),
    )
    anki.calls.clear()
    ahead = look_ahead(connection, packed[1])
    assert not {"importPackage", "changeDeck", "suspend", "unsuspend", "sync"} & set(anki.called())
    assert collection.db.all("select * from notes, cards") == rows
    report = send(connection, packed, move=True)
    assert by_guid(ahead) == by_guid(report)
    assert ahead.plan == report.plan
    assert report.plan.moved == 1 and len(report.plan.suspend) == 1 and not report.plan.wake
    assert not report.left


def test_cards_are_moved_suspended_and_woken_only_when_asked(tmp_path, connection, collection):
    send(connection, pack(tmp_path, *(make(number=n) for n in range(3))))
    review(collection, "rung-1")
    retired = pack(
        tmp_path,
        make(number=0, modified=MODIFIED + 1, tags=RETIRED),
        make(number=1, deck='Ladders::卡片 "x"'),
        make(number=2),
    )
    asked_not = send(connection, retired)
    assert asked_not.plan == asked_not.left
    assert (asked_not.plan.moved, len(asked_not.plan.suspend)) == (1, 1)
    assert only_card(collection, "rung-0").queue != -1

    done = send(connection, retired, move=True)
    assert done.plan and not done.left
    moved = only_card(collection, "rung-1")
    assert collection.decks.name(moved.did).startswith("Ladders::卡片")
    assert moved.reps == 1
    assert only_card(collection, "rung-0").queue == -1
    assert not send(connection, retired, move=True).plan, "there is nothing left to do"

    back = pack(tmp_path, make(number=0, modified=MODIFIED + 2))
    report = send(connection, back, move=True)
    assert by_guid(report) == {"rung-0": Fate.UPDATED}
    assert only_card(collection, "rung-0").queue != -1
    assert check_database(collection)[1]


@pytest.mark.parametrize("name", ['a"b', "a\tb", "a b\u3000", "Größe", "a\u200bb", "a:b", "İ", "x_y*z"])
def test_a_deck_whose_name_anki_tidies_is_not_another_one(tmp_path, connection, name):
    assert not send(connection, pack(tmp_path, make(deck=f"Ladders::{name}"))).plan
    assert not send(connection, pack(tmp_path, make(deck=f"LADDERS::{name}"))).plan


def test_what_a_learner_suspended_stays_suspended(tmp_path, connection, collection):
    packed = pack(tmp_path, make(number=0))
    send(connection, packed)
    collection.sched.suspend_cards([only_card(collection, "rung-0").id])
    assert not send(connection, packed, move=True).plan
    assert only_card(collection, "rung-0").queue == -1


def test_a_card_in_a_filtered_deck_stays_there(tmp_path, connection, collection):
    send(connection, pack(tmp_path, make(number=0), make(number=1)))
    deck = collection.sched.get_or_create_filtered_deck(0)
    deck.name = "Cram"
    deck.config.search_terms[0].search = "tag:kind::x"
    collection.sched.add_or_update_filtered_deck(deck)
    assert collection.decks.name(only_card(collection, "rung-0").did) == "Cram"
    report = send(connection, pack(tmp_path, make(number=0), make(number=1)), move=True)
    assert not report.plan
    assert collection.decks.name(only_card(collection, "rung-0").did) == "Cram"


def test_a_retired_card_that_the_package_no_longer_holds_is_suspended_and_strangers_are_not(
    tmp_path, connection, collection
):
    send(connection, pack(tmp_path, make(number=0, tags=RETIRED)))
    stranger = collection.new_note(collection.models.by_name("Basic"))
    stranger["Front"], stranger.tags = "mine", ["ladder::retired"]
    collection.add_note(stranger, 1)
    report = send(connection, pack(tmp_path, make(number=5)), move=True)
    assert report.plan.suspend == (only_card(collection, "rung-0").id,)
    assert stranger.cards()[0].queue != -1


def test_an_older_package_changes_nothing_and_that_is_foreseen(tmp_path, connection):
    send(connection, pack(tmp_path, make(number=0, modified=MODIFIED + 5, tags=("newer",))))
    for modified in (MODIFIED + 4, MODIFIED + 5):
        older = pack(tmp_path, make(number=0, modified=modified, tags=("older",)))
        assert by_guid(look_ahead(connection, older[1])) == {"rung-0": Fate.KEPT}
        assert by_guid(send(connection, older)) == {"rung-0": Fate.KEPT}


def test_a_note_whose_type_the_learner_changed_is_told(tmp_path, connection, collection):
    packed = pack(tmp_path, make(number=0), make(Kind.SIGN, 1))
    send(connection, packed)
    rung, sign = (collection.models.by_name(f"Ladderdeck {name}") for name in ("Rung", "Sign"))
    note = notes_by_guid(collection)["rung-0"]
    fields = {n: n for n in range(len(rung["flds"]))}
    collection.models.change(rung, [note.id], sign, fields, {0: 0})
    assert by_guid(look_ahead(connection, packed[1]))["rung-0"] is Fate.KEPT
    assert by_guid(send(connection, packed)) == {"rung-0": Fate.KEPT, "sign-1": Fate.UNCHANGED}


def test_what_is_gone_again_is_missed(tmp_path, anki, connection, collection):
    packed = pack(tmp_path, make(number=0), make(number=1))
    ids = {note.guid: note.id for note in packed[1]}

    def lose(action):
        if action == "notesInfo" and "importPackage" in anki.called():
            collection.remove_notes([ids["rung-0"]])

    anki.before = lose
    assert by_guid(send(connection, packed)) == {"rung-0": Fate.MISSING, "rung-1": Fate.NEW}


def test_a_field_that_the_learner_added_is_no_obstacle(tmp_path, connection, collection):
    send(connection, pack(tmp_path, make(number=0)))
    kind = collection.models.by_name("Ladderdeck Rung")
    collection.models.add_field(kind, collection.models.new_field("My notes"))
    collection.models.update_dict(kind)
    assert by_guid(send(connection, pack(tmp_path, make(number=0)))) == {"rung-0": Fate.UNCHANGED}


def test_older_versions_of_the_add_on_do(tmp_path, anki, connection, collection):
    anki.unknown, anki.without = frozenset({"requestPermission", "getActiveProfile"}), frozenset({"mod", "profile"})
    packed = pack(tmp_path, make(number=0))
    assert by_guid(send(connection, packed)) == {"rung-0": Fate.NEW}
    assert send(connection, packed).profile == ""
    anki.unknown |= {"notesModTime"}
    assert by_guid(look_ahead(connection, packed[1])) == {"rung-0": Fate.UNCHANGED}


def test_a_thousand_notes_go_in_portions(tmp_path, anki, connection):
    packed = pack(tmp_path, *(make(number=n) for n in range(1001)))
    assert set(by_guid(send(connection, packed)).values()) == {Fate.NEW}
    assert max(len(call["params"].get("notes", ())) for call in anki.calls) == 500


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"collection": None}, "no-profile"),
        ({"key": "secret"}, "key-required"),
        ({"permission": "denied"}, "permission-refused"),
        ({"status": 403}, "permission-refused"),
        ({"version": 5}, "old-add-on"),
        ({"version": 4}, "not-anki-connect"),
        ({"version": 4, "unknown": frozenset({"requestPermission"})}, "old-add-on"),
        ({"unknown": frozenset({"notesInfo"})}, "unknown-action"),
        ({"errors": {"notesInfo": "DBError: database is locked"}}, "no-profile"),
        ({"errors": {"importPackage": "No such file or directory"}}, "anki-error"),
        ({"raw": b"<html>It works!</html>"}, "not-anki-connect"),
        ({"raw": b"[]"}, "not-anki-connect"),
        ({"raw": b'{"hello": 1}'}, "not-anki-connect"),
        ({"raw": b"[" * 100_000}, "not-anki-connect"),
        ({"raw": b"\xff"}, "not-anki-connect"),
        ({"raw": b'{"result": null, "error": null}'}, "not-anki-connect"),
        ({"status": 404}, "not-anki-connect"),
        ({"status": 302}, "not-anki-connect"),
        ({"status": 500}, "not-anki-connect"),
    ],
)
def test_each_obstacle_has_its_own_words_and_nothing_is_imported(tmp_path, anki, connection, collection, change, code):
    for name, value in change.items():
        setattr(anki, name, value)
    with pytest.raises(AnkiConnectError) as caught:
        send(connection, pack(tmp_path, make(number=0)))
    assert caught.value.code == code
    assert caught.value.message and caught.value.hint
    assert "\n" not in caught.value.message + caught.value.hint
    assert collection.note_count() == 0


def test_a_key_opens_and_a_wrong_one_does_not(tmp_path, anki, connection):
    anki.key = "secret"
    assert by_guid(send(replace(connection, key="secret"), pack(tmp_path, make(number=0)))) == {"rung-0": Fate.NEW}
    with pytest.raises(AnkiConnectError, match="does not take this key"):
        greet(replace(connection, key="wrong"))


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(AnkiConnectError, match="Anki is not running") as caught:
        greet(Connection(f"http://127.0.0.1:{port}"))
    assert caught.value.code == "not-running"


@pytest.mark.parametrize(
    "reply", [b"", b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"]
)
def test_another_program_listens(reply):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            client, _ = server.accept()
            with client:
                client.recv(65536)
                client.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(AnkiConnectError) as caught:
            greet(Connection(f"http://127.0.0.1:{server.getsockname()[1]}"))
        thread.join()
    assert caught.value.code == "not-anki-connect"


def test_anki_that_does_not_answer():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        connection = Connection(f"http://127.0.0.1:{silent.getsockname()[1]}", patience=0.05)
        with pytest.raises(AnkiConnectError) as caught:
            greet(connection)
    assert caught.value.code == "timeout"


def test_a_proxy_is_not_asked(connection, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert greet(connection) == "User 1"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "127.0.0.1:8765",
        "https://x",
        "ftp://x",
        "http://",
        "http://x/path",
        "http://x:pp",
        "http://a@b",
        "file:///etc/passwd",
    ],
)
def test_an_address_must_be_one(address):
    with pytest.raises(ValueError):
        check_address(address)


def test_sync_against_ankis_own_server(tmp_path, anki, connection, collection):
    packed = pack(tmp_path, make(number=0))
    report = send(connection, packed, sync=True)
    assert report.trouble.code == "not-logged-in"
    assert by_guid(report) == {"rung-0": Fate.NEW}, "what came before is reported all the same"
    server = Server(tmp_path / "server")
    try:
        server.wait()
        anki.auth = auth = collection.sync_login("user", "word", f"http://127.0.0.1:{server.port}/")
        assert send(connection, packed, sync=True).trouble.code == "full-sync"
        collection.close_for_full_sync()
        collection.full_upload_or_download(auth=auth, server_usn=None, upload=True)
        collection.reopen(after_full_sync=True)
        assert send(connection, pack(tmp_path, make(number=1)), sync=True).trouble is None
        phone = new_collection(tmp_path / "phone")
        phone.sync_collection(auth, False)
        phone.close_for_full_sync()
        phone.full_upload_or_download(auth=auth, server_usn=None, upload=False)
        phone.reopen(after_full_sync=True)
        assert set(notes_by_guid(phone)) == {"rung-0", "rung-1"}
        phone.close()
    finally:
        server.stop()


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LADDERDECK_ANKICONNECT_KEY", raising=False)
    return lambda *arguments, **options: CliRunner().invoke(cli, ["push", *arguments], **options)


def test_the_command_tells_what_happened(tmp_path, run, connection, collection):
    write([make(number=0), make(number=1, deck="Ladders::Other")], tmp_path / "a.apkg")
    write([make(number=0)], tmp_path / "old.apkg")
    import_package(collection, tmp_path / "old.apkg")
    collection.set_deck([only_card(collection, "rung-0").id], collection.decks.id("Mine"))
    address = ("--address", connection.address)

    dry = run("-o", "a.apkg", "--dry-run", *address)
    assert dry.exit_code == 0, dry.output
    assert "would go into Anki, profile User 1" in dry.output
    assert "1 new, 1 unchanged" in dry.output
    assert "1 card to move: Mine  ⇒  Ladders::Serving" in dry.output
    assert "push --move does that" in dry.output
    assert collection.note_count() == 1

    done = run("-o", "a.apkg", "--move", *address)
    assert done.exit_code == 0, done.output
    assert "1 card moved: Mine  ⇒  Ladders::Serving" in done.output
    assert collection.note_count() == 2


def test_the_command_ends_with_1_and_says_why(tmp_path, run, anki, connection):
    write([make(number=0)], tmp_path / "a.apkg")
    address = ("--address", connection.address)
    anki.key = "secret"
    for options, key in (((), None), (("--key", "wrong"), None), ((), "wrong")):
        refused = run("-o", "a.apkg", *address, *options, env={"LADDERDECK_ANKICONNECT_KEY": key})
        assert refused.exit_code == 1
        assert "[key-required]" in refused.output
        assert "Nothing was imported." in refused.output
        assert "wrong" not in refused.output, "a key is a secret"
    taken = run("-o", "a.apkg", "--sync", *address, env={"LADDERDECK_ANKICONNECT_KEY": "secret"})
    assert "1 new" in taken.output
    assert taken.exit_code == 1 and "[not-logged-in]" in taken.output
    assert "Traceback" not in taken.output


def test_a_failure_after_the_import_hides_nothing_of_what_was_done(tmp_path, run, anki, connection, collection):
    write([make(number=0, deck="Ladders::Old")], tmp_path / "a.apkg")
    import_package(collection, tmp_path / "a.apkg")
    write([make(number=0)], tmp_path / "a.apkg")
    arguments = ("-o", "a.apkg", "--move", "--sync", "--address", connection.address)
    anki.errors = {"changeDeck": "the deck is on fire"}
    stuck = run(*arguments)
    assert stuck.exit_code == 1
    assert "1 unchanged" in stuck.output
    assert "could be dealt with: 1 card not moved: Ladders::Old" in stuck.output
    assert "Anki could not do `changeDeck`: the deck is on fire" in stuck.output
    assert "sync" not in anki.called()
    anki.errors = {}
    moved = run(*arguments)
    assert "1 card moved: Ladders::Old" in moved.output
    assert moved.exit_code == 1 and "[not-logged-in]" in moved.output

    def breaks(action):
        if action == "notesInfo" and anki.called().count("notesInfo") % 2 == 0:
            raise RuntimeError("gone")

    anki.calls.clear()
    anki.before = breaks
    blind = run(*arguments)
    assert blind.exit_code == 1
    assert "what arrived could not be read back" in blind.output


def test_the_learners_own_settings_survive(tmp_path, connection, collection):
    """The importer that add-ons get merges note types and takes presets; there must be nothing to merge or to take."""
    packed = pack(tmp_path, make(number=0))
    send(connection, packed)
    deck = collection.decks.by_name("Ladders::Serving")
    deck["conf"], deck["desc"] = collection.decks.add_config_returning_id("mine"), "my words"
    collection.decks.save(deck)
    default = collection.decks.get_config(1)
    default["new"]["perDay"] = 77
    collection.decks.update_config(default)
    review(collection, "rung-0")

    def own():
        now = collection.decks.by_name("Ladders::Serving")
        return (
            (now["conf"], now["desc"], collection.decks.get_config(1)["new"]["perDay"]),
            collection.db.scalar("select scm from col"),  # another value would ask for a full sync
            collection.db.all("select * from cards"),
            collection.db.all("select * from revlog"),
        )

    before = own()
    assert before[0][2] == 77
    send(connection, pack(tmp_path, make(number=0, modified=MODIFIED + 9, tags=("new",))), move=True)
    assert own() == before
    assert notes_by_guid(collection)["rung-0"].tags == ["new"]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ((), 1, "build it first: "),
        (("-o", "other.apkg"), 1, "-o other.apkg"),
        (("-o", "text.apkg"), 1, "[not-a-package]"),
        (("--address", "nowhere"), 2, "an address looks like"),
        (("--nonsense",), 2, "No such option"),
        (("-o", "folder"), 2, "is a directory"),
        (("--help",), 0, "Example: "),
    ],
)
def test_wrong_usage(tmp_path, run, arguments, code, text):
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.apkg").write_text("hello")
    result = run(*arguments)
    assert result.exit_code == code
    assert text in result.output


def test_the_path_is_absolute_and_relative_to_where_the_command_runs(tmp_path, run, anki, connection):
    (tmp_path / "dist 目录").mkdir()
    write([make(number=0)], tmp_path / "dist 目录" / "a.apkg")
    run("-o", str(Path("dist 目录", "a.apkg")), "--address", connection.address)
    (call,) = [call for call in anki.calls if call["action"] == "importPackage"]
    assert Path(call["params"]["path"]) == (tmp_path / "dist 目录" / "a.apkg").resolve()
    assert all(call["version"] == 6 and json.dumps(call) for call in anki.calls)
