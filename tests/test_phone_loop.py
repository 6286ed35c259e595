"""The loop that a person lives in, with Anki's own sync server: build, import, sync, review on the phone, edit, again."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from anki.collection import Collection
from anki_collection import GOOD, counts, import_package, new_collection, notes_by_guid, only_card, review
from deck_builder import Deck, guids

FULL_DOWNLOAD, FULL_UPLOAD = 3, 4
PATIENCE = 30.0
"""Seconds within which the server must answer; it takes a fraction of one."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a sync server on this machine alone, with the user `u` and the password `p`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "server").mkdir()
    own = {"SYNC_USER1": "u:p", "SYNC_HOST": "127.0.0.1", "SYNC_PORT": str(port), "SYNC_BASE": str(tmp_path / "server")}
    with (tmp_path / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "anki.syncserver"], env={**os.environ, **own}, stdout=log, stderr=log
        )
        try:
            wait_for(port, process)
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()
            process.wait(PATIENCE)


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    """Until the server takes connections; each attempt itself takes the time that the server needs."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, "the sync server ended by itself"
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        # A moment for the server; if it ends instead, that is noticed at once.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
    pytest.fail("the sync server does not answer")


def sync(collection: Collection, server: str, *, upload: bool = False) -> None:
    """Sync as a client does; where a full sync is asked for, in the given direction."""
    auth = collection.sync_login("u", "p", server)
    output = collection.sync_collection(auth, False)
    if output.required in (FULL_DOWNLOAD, FULL_UPLOAD) or output.required == 2:
        collection.close_for_full_sync()
        collection.full_upload_or_download(auth=auth, server_usn=None, upload=upload)
        collection.reopen(after_full_sync=True)


def learnt(collection: Collection, guid: str) -> tuple:
    card = only_card(collection, guid)
    return card.reps, card.ivl, card.due, card.type


def test_an_edit_reaches_the_phone_and_the_reviews_stay(tmp_path: Path, server: str) -> None:
    deck = Deck(tmp_path / "deck")
    deck.write("web", {"Caching": ["why cache", "what to evict", "two caches disagree"]})
    built = deck.build()
    guid = guids(built)["what to evict"]
    desktop, phone = new_collection(tmp_path / "desktop"), new_collection(tmp_path / "phone")
    try:
        assert counts(import_package(desktop, deck.package)) == {"new": len(built.notes)}
        sync(desktop, server, upload=True)
        sync(phone, server, upload=False)
        assert notes_by_guid(phone).keys() == {note.guid for note in built.notes}

        for _ in range(3):
            review(phone, guid, GOOD)
        on_phone = learnt(phone, guid)
        sync(phone, server)
        sync(desktop, server)
        assert learnt(desktop, guid) == on_phone
        reviews = desktop.db.scalar("select count() from revlog")
        assert reviews == 3

        deck.write(
            "web", {"Caching": ["why cache at all", "what to evict, and when", "two caches disagree", "what next"]}
        )
        rebuilt = deck.build(now=deck.request().now + 60)
        assert guids(rebuilt)["what to evict, and when"] == guid
        log = counts(import_package(desktop, deck.package))
        assert log["new"] == 1
        sync(desktop, server)
        sync(phone, server)

        assert "what to evict, and when" in notes_by_guid(phone)[guid]["Question"]
        assert learnt(phone, guid) == on_phone
        assert phone.db.scalar("select count() from revlog") == reviews
        assert notes_by_guid(phone).keys() == {note.guid for note in rebuilt.notes}
    finally:
        desktop.close()
        phone.close()


def test_two_devices_that_import_two_builds_agree_after_a_sync(tmp_path: Path, server: str) -> None:
    """Ids that depend on the note alone: both devices give a note the same one, whatever build it came with."""
    deck = Deck(tmp_path / "deck")
    desktop, phone = new_collection(tmp_path / "desktop"), new_collection(tmp_path / "phone")
    try:
        deck.write("web", {"Caching": ["why cache", "what to evict"]})
        deck.build()
        import_package(desktop, deck.package)
        sync(desktop, server, upload=True)
        sync(phone, server, upload=False)

        deck.write("web", {"Caching": ["why cache", "what to evict", "two caches disagree"]})
        deck.build(now=deck.request().now + 60)
        import_package(desktop, deck.package)
        deck.write("web", {"Caching": ["first of all", "why cache", "what to evict", "two caches disagree"]})
        last = deck.build(now=deck.request().now + 120)
        import_package(phone, deck.package)
        for collection in (desktop, phone, desktop):
            sync(collection, server)
        both = [{guid: note.id for guid, note in notes_by_guid(c).items()} for c in (desktop, phone)]
        assert both[0] == both[1]
        assert both[0].keys() == {note.guid for note in last.notes}
    finally:
        desktop.close()
        phone.close()
