"""The stand-in for AnkiConnect, compared with the real backend: what the tests of `push` see is what Anki does."""

from __future__ import annotations

import pytest
from anki_collection import check_database, import_package, new_collection, notes_by_guid, only_card, review
from fake_anki_connect import FakeAnki
from package_samples import make, write

from ladderdeck.handing_over.anki_connect import Connection


@pytest.fixture
def package(tmp_path):
    return write(
        [make(number=n, deck=f"Ladders::{n % 2}", tags=("kind::x", f"n::{n}")) for n in range(4)], tmp_path / "a.apkg"
    )


@pytest.fixture
def collections(tmp_path):
    """One for the stand-in, one to be worked on directly."""
    pair = new_collection(tmp_path / "fake"), new_collection(tmp_path / "real")
    yield pair
    for collection in pair:
        collection.close()


def rows(collection):
    return {
        "notes": collection.db.all("select id, guid, mid, mod, tags, flds from notes order by id"),
        "cards": sorted(
            (card.nid, collection.decks.name(card.did), card.queue, card.type, card.due, card.ivl, card.reps)
            for card in map(collection.get_card, collection.find_cards(""))
        ),
        "decks": sorted(deck.name for deck in collection.decks.all_names_and_ids()),
    }


def test_import_move_and_suspend_leave_what_the_backend_leaves(collections, package):
    fake, real = collections
    anki = FakeAnki(fake)
    with anki.running() as address:
        connection = Connection(address)
        assert connection.call("importPackage", path=str(package)) is True
        import_package(real, package)
        assert rows(fake) == rows(real)

        for query in ("", "tag:n::1", "deck:Ladders::0", '"note:Ladderdeck *"', "is:suspended", "deck:filtered"):
            cards = connection.call("findCards", query=query)
            assert {fake.get_card(c).note().guid for c in cards} == {
                real.get_card(c).note().guid for c in real.find_cards(query)
            }

        cards = connection.call("findCards", query="deck:Ladders::0")
        connection.call("changeDeck", cards=cards, deck="Ladders::New")
        real.set_deck(real.find_cards("deck:Ladders::0"), real.decks.id("Ladders::New"))
        assert connection.call("suspend", cards=cards[:1]) is True
        assert connection.call("suspend", cards=cards[:1]) is False
        guid = fake.get_card(cards[0]).note().guid
        real.sched.suspend_cards([only_card(real, guid).id])
        assert rows(fake) == rows(real)
        assert connection.call("areSuspended", cards=cards) == [True, False]
        assert connection.call("getDecks", cards=cards) == {"Ladders::New": cards}

        connection.call("unsuspend", cards=cards[:1])
        real.sched.unsuspend_cards([only_card(real, guid).id])
        assert rows(fake) == rows(real)
    assert check_database(fake)[1]


def test_an_import_again_keeps_history_as_in_the_backend(collections, package, tmp_path):
    fake, real = collections
    anki = FakeAnki(fake)
    newer = write([make(number=0, modified=1_700_000_500, tags=("kind::y",))], tmp_path / "b.apkg")
    with anki.running() as address:
        for file in (package, newer):
            Connection(address).call("importPackage", path=str(file))
            import_package(real, file)
            if file == package:
                review(fake, "rung-0")
                before = fake.db.all("select * from cards order by id")
    assert notes_by_guid(fake)["rung-0"].tags == notes_by_guid(real)["rung-0"].tags == ["kind::y"]
    assert fake.db.all("select * from cards order by id") == before
    assert fake.db.scalar("select count() from revlog") == 1


def test_notes_are_told_as_they_are(collections, package):
    fake, _ = collections
    with FakeAnki(fake).running() as address:
        connection = Connection(address)
        connection.call("importPackage", path=str(package))
        note = notes_by_guid(fake)["rung-2"]
        info, nothing = connection.call("notesInfo", notes=[note.id, 5])
        assert nothing == {}
        assert info["modelName"] == note.note_type()["name"]
        assert {name: value["value"] for name, value in info["fields"].items()} == dict(note.items())
        assert info["tags"] == note.tags
        assert info["mod"] == note.mod
        assert info["cards"] == [card.id for card in note.cards()]
        assert connection.call("notesModTime", notes=[note.id]) == [{"noteId": note.id, "mod": note.mod}]
