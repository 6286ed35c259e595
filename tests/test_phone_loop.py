"""The whole loop with a desktop, a phone and Anki's own sync server between them, on this machine's loopback."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from anki.collection import Collection
from anki.sync_pb2 import SyncAuth, SyncCollectionResponse
from anki_collection import (
    AGAIN,
    GOOD,
    check_database,
    counts,
    import_package,
    new_collection,
    notes_by_guid,
    only_card,
    review,
    sides,
)
from deck_builder import NOW, Deck, guids

RUNGS = ["What is a hash join?", "When does it spill to disk?", "Who reads the plan?", "为什么要看执行计划"]


class Server:
    """Anki's sync server in a process of its own."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        settings = {
            "SYNC_USER1": "user:word",
            "SYNC_HOST": "127.0.0.1",
            "SYNC_PORT": str(self.port),
            "SYNC_BASE": str(folder),
        }
        environment = {**os.environ, **settings, "RUST_LOG": "anki=info"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "anki.syncserver"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def wait(self) -> None:
        """Return when the server answers; it says so itself, or it has ended."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if b"listening" in line:
                return
        pytest.fail(f"the sync server ended with {self.process.wait()}")

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "server")
    try:
        server.wait()
        yield server
    finally:
        server.stop()


class Device:
    """A collection that syncs."""

    def __init__(self, folder: Path, server: Server, *, leads: bool) -> None:
        self.leads = leads
        self.collection: Collection = new_collection(folder)
        self.auth: SyncAuth = self.collection.sync_login("user", "word", f"http://127.0.0.1:{server.port}/")

    def sync(self) -> bool:
        """Sync; whether that was a full one, in which one side replaces the other: what the device that leads has is taken."""
        required = self.collection.sync_collection(self.auth, False).required
        if required in (SyncCollectionResponse.NO_CHANGES, SyncCollectionResponse.NORMAL_SYNC):
            return False
        assert required in (
            SyncCollectionResponse.FULL_UPLOAD,
            SyncCollectionResponse.FULL_DOWNLOAD,
            SyncCollectionResponse.FULL_SYNC,
        )
        self.collection.close_for_full_sync()
        self.collection.full_upload_or_download(auth=self.auth, server_usn=None, upload=self.leads)
        self.collection.reopen(after_full_sync=True)
        return True

    def learnt(self) -> dict[str, tuple]:
        """For each note what its card has learnt."""
        cards = {guid: only_card(self.collection, guid) for guid in notes_by_guid(self.collection)}
        return {guid: (c.id, c.ivl, c.reps, c.lapses, c.due, c.type, c.queue) for guid, c in cards.items()}

    def reviews(self) -> list[tuple]:
        return self.collection.db.all("select id, cid, ease, ivl from revlog order by id")


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    deck = Deck(tmp_path / "deck")
    deck.write("web", {"Joins": RUNGS})
    return deck


@pytest.fixture
def devices(server: Server, tmp_path: Path) -> Iterator[tuple[Device, Device]]:
    """A desktop and a phone that have synced once."""
    with contextlib.ExitStack() as stack:
        made = []
        for name in ("desktop", "phone"):
            device = Device(tmp_path / name, server, leads=name == "desktop")
            stack.callback(lambda device=device: device.collection.close())
            device.sync()
            made.append(device)
        yield made[0], made[1]


def test_an_edit_reaches_the_phone_and_its_reviews_stay(deck: Deck, devices: tuple[Device, Device]) -> None:
    desktop, phone = devices
    known = guids(deck.build())
    assert counts(import_package(desktop.collection, deck.package))["new"] == len(notes_by_guid(desktop.collection))
    desktop.sync()
    phone.sync()
    assert notes_by_guid(phone.collection).keys() == notes_by_guid(desktop.collection).keys()

    for text, rating in zip(RUNGS, (GOOD, AGAIN, GOOD, GOOD), strict=True):
        review(phone.collection, known[text], rating)
    review(phone.collection, known[RUNGS[0]])
    phone.sync()
    desktop.sync()
    learnt, reviews = phone.learnt(), phone.reviews()
    assert len(reviews) == 5
    assert (desktop.learnt(), desktop.reviews()) == (learnt, reviews)

    edited = ["Hash joins: what are they, and what do they cost?", RUNGS[1], RUNGS[2] + "?!", "执行计划为什么要看"]
    deck.write("web", {"Joining": edited})
    outcome = deck.build(NOW + 60)
    assert guids(outcome) == dict(zip(edited, (known[text] for text in RUNGS), strict=True))
    log = import_package(desktop.collection, deck.package)
    assert counts(log).keys() == {"updated"}
    assert not desktop.sync()
    assert not phone.sync()

    assert (phone.learnt(), phone.reviews()) == (learnt, reviews)
    for text in edited:
        front, _ = sides(phone.collection, guids(outcome)[text])
        assert text in front
        assert "Joining" in front
    for device in devices:
        assert check_database(device.collection)[1]


def test_builds_one_after_the_other_all_reach_the_phone(deck: Deck, devices: tuple[Device, Device]) -> None:
    """With one SOURCE_DATE_EPOCH for all of them."""
    desktop, phone = devices
    for sign in ("one", "two", "three"):
        deck.write("web", {"Joins": RUNGS}, signs={"Joins": [f"has the number {sign}"]})
        guid = guids(deck.build())[RUNGS[0]]
        import_package(desktop.collection, deck.package)
        desktop.sync()
        phone.sync()
        assert f"number {sign}" in sides(phone.collection, guid)[1]


def test_a_retired_card_says_so_on_the_phone_and_a_returned_one_does_not(
    deck: Deck, devices: tuple[Device, Device]
) -> None:
    desktop, phone = devices
    guid = guids(deck.build())[RUNGS[3]]
    retired = []
    for step, rungs in enumerate((RUNGS, RUNGS[:3], RUNGS)):
        deck.write("web", {"Joins": rungs})
        deck.build(NOW + step)
        import_package(desktop.collection, deck.package)
        desktop.sync()
        phone.sync()
        if step == 0:
            review(phone.collection, guid)
            learnt = phone.learnt()[guid]
        assert phone.learnt()[guid] == learnt
        retired.append(
            guid in {phone.collection.get_note(i).guid for i in phone.collection.find_notes("tag:ladder::retired")}
        )
    assert retired == [False, True, False]


def test_both_devices_may_import_different_builds(deck: Deck, devices: tuple[Device, Device]) -> None:
    """Once the deck is on both: note ids come from the guids, so that the devices mean the same notes."""
    desktop, phone = devices
    deck.build()
    import_package(desktop.collection, deck.package)
    desktop.sync()
    phone.sync()
    review(phone.collection, guids(deck.build())[RUNGS[0]])
    deck.write("web", {"Joins": [*RUNGS, "And then?"]}, signs={"Joins": ["has the number one"]})
    deck.build(NOW + 10)
    import_package(desktop.collection, deck.package)
    deck.write("web", {"Joins": [*RUNGS, "And then?"]}, signs={"Joins": ["has the number two"]})
    deck.build(NOW + 20)
    import_package(phone.collection, deck.package)
    for device in (desktop, phone, desktop):
        assert not device.sync()
    on_desktop, on_phone = (notes_by_guid(device.collection) for device in devices)
    assert on_desktop.keys() == on_phone.keys() == deck.ledger().notes.keys()
    assert phone.learnt() == desktop.learnt()
    for guid, note in on_phone.items():
        assert note.fields == on_desktop[guid].fields
        assert "number one" not in note["Signs"]
    for device in devices:
        assert check_database(device.collection)[1]
