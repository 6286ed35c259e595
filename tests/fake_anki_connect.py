"""A stand-in for Anki with AnkiConnect: speaks its protocol, and answers from a real collection.

Each action does in the collection what the add-on does there, through the same importer. Only failures are canned: a key that
is asked for, a permission that is refused, an older version, a profile that is closed. `test_fake_anki_connect.py` compares
it with the backend.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from anki.collection import Collection
from anki.errors import NotFoundError
from anki.importing import AnkiPackageImporter
from anki.sync_pb2 import SyncAuth, SyncCollectionResponse
from anki.utils import int_time


@dataclass
class FakeAnki:
    """A running Anki. Set what differs from the usual before it is asked."""

    collection: Collection | None
    key: str | None = None
    permission: str = "granted"
    version: int = 6
    unknown: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()  # keys that an older `notesInfo` does not have
    auth: SyncAuth | None = None
    errors: dict[str, str] = field(default_factory=dict)  # actions that fail, with AnkiConnect's text
    raw: bytes | None = None  # another program's answer to everything
    status: int = 200
    calls: list[dict[str, Any]] = field(default_factory=list)
    before: Callable[[str], None] = lambda action: None  # is called before each action

    @contextlib.contextmanager
    def running(self):
        """Yields the address at which it answers."""
        server = HTTPServer(("127.0.0.1", 0), _handler(self))
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()

    def called(self) -> list[str]:
        """The names of the actions, in order."""
        return [call["action"] for call in self.calls]

    def answer(self, request: dict[str, Any]) -> Any:
        self.calls.append(request)
        action, version = request.get("action", ""), request.get("version", 4)
        try:
            self.before(action)
            result = self._method(action, request.get("key"))(**request.get("params", {}))
        except Exception as error:
            return {"result": None, "error": str(error)}
        # The versions before 5 had no envelope, whatever version was asked for.
        return result if version <= 4 or self.version <= 4 else {"result": result, "error": None}

    def _method(self, action: str, key: str | None) -> Callable[..., Any]:
        if action != "requestPermission" and key != self.key:
            raise Exception("valid api key must be provided")  # noqa: TRY002
        method = getattr(self, f"do_{action}", None)
        if method is None or action in self.unknown:
            raise Exception("unsupported action")  # noqa: TRY002
        if action in self.errors:
            raise Exception(self.errors[action])  # noqa: TRY002
        return method

    @property
    def col(self) -> Collection:
        if self.collection is None:
            raise Exception("collection is not available")  # noqa: TRY002
        return self.collection

    def do_requestPermission(self):
        if self.permission != "granted":
            return {"permission": self.permission}
        return {"permission": "granted", "requireApikey": bool(self.key), "version": self.version}

    def do_version(self):
        return self.version

    def do_getActiveProfile(self):
        return "User 1"

    def do_deckNames(self):
        return [deck.name for deck in self.col.decks.all_names_and_ids()]

    def do_importPackage(self, path):
        AnkiPackageImporter(self.col, path).run()
        self.col.models._clear_cache()
        return True

    def do_findCards(self, query):
        return [int(card) for card in self.col.find_cards(query)]

    def do_notesInfo(self, notes):
        return [self._note(id) for id in notes]

    def _note(self, id):
        try:
            note = self.col.get_note(id)
        except NotFoundError:
            return {}
        info = {
            "noteId": note.id,
            "profile": "User 1",
            "tags": note.tags,
            "fields": {name: {"value": value, "order": order} for order, (name, value) in enumerate(note.items())},
            "modelName": note.note_type()["name"],
            "mod": note.mod,
            "cards": list(note.card_ids()),
        }
        return {name: value for name, value in info.items() if name not in self.without}

    def do_notesModTime(self, notes):
        times = {id: self.col.db.scalar("select mod from notes where id = ?", id) for id in notes}
        return [{"noteId": id, "mod": mod} if mod is not None else {} for id, mod in times.items()]

    def do_getDecks(self, cards):
        decks: dict[str, list[int]] = {}
        for card in cards:
            decks.setdefault(self.col.decks.name(self.col.get_card(card).did), []).append(card)
        return decks

    def do_areSuspended(self, cards):
        return [self.col.get_card(card).queue == -1 for card in cards]

    def do_changeDeck(self, cards, deck):
        # AnkiConnect writes the row itself, and does not ask the backend.
        target = self.col.decks.id(deck)
        for card in cards:
            self.col.db.execute(
                "update cards set did = ?, mod = ?, usn = ? where id = ?", target, int_time(), self.col.usn(), card
            )

    def do_suspend(self, cards):
        waking = [card for card in cards if self.col.get_card(card).queue != -1]
        if waking:
            self.col.sched.suspend_cards(waking)
        return bool(waking)

    def do_unsuspend(self, cards):
        self.col.sched.unsuspend_cards(cards)

    def do_sync(self):
        if self.auth is None:
            raise Exception("sync: auth not configured")  # noqa: TRY002
        required = self.col.sync_collection(self.auth, False).required
        if required not in (SyncCollectionResponse.NO_CHANGES, SyncCollectionResponse.NORMAL_SYNC):
            text = f"Sync status {required} not one of [0, 1] - see SyncCollectionResponse.ChangesRequired"
            raise Exception(text)  # noqa: TRY002


def _handler(anki: FakeAnki):
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if anki.raw is None and anki.status == 200:
                data = json.dumps(anki.answer(json.loads(body))).encode()
            else:
                data = anki.raw or b""
            self.send_response(anki.status)
            self.send_header("Content-Type", "text/json")
            self.send_header("Content-Length", str(len(data)))
            if anki.status == 302:
                self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST

        def log_message(self, *_):
            pass

    return Handler
