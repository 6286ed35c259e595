"""`serve` as its clients see it: real sockets, friendly ones and others. Nothing here waits by the clock."""

from __future__ import annotations

import asyncio
import gc
import http.client
import os
import queue
import socket
import threading
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from ladderdeck.handing_over.handover import Event, Limits, hand_over, listen
from ladderdeck.handing_over.transfer import offer_of

DATA = os.urandom(300_000)
BIG = os.urandom(8_000_000)
ASK = b"GET /secret/ladders.apkg HTTP/1.1\r\n\r\n"
PATIENT = Limits(total=60, grace=60, head=60, stall=60, farewell=60)
"""Nothing runs out: what a test sees is not the clock's doing."""


class Served:
    """A server in a thread of its own."""

    def __init__(self, data: bytes, limits: Limits, first: bytes) -> None:
        self.offer = offer_of(data, "ladders.apkg", "secret")
        self.listener = listen("127.0.0.1", 0)
        self.address = self.listener.getsockname()
        self.events: queue.Queue = queue.Queue()
        self.downloads: int | None = None
        self.complaints: list = []
        self.thread = threading.Thread(target=self._run, args=(limits,))
        self.started = threading.Event()
        # Is taken in the server's first moments, however short its time and however busy the machine.
        self.early = self.connect()
        self.early.sendall(first)
        self.thread.start()
        assert self.started.wait(30)

    def _run(self, limits: Limits) -> None:
        async def main() -> None:
            self.loop, self.task = asyncio.get_running_loop(), asyncio.current_task()
            self.loop.set_exception_handler(lambda _, context: self.complaints.append(context))
            self.started.set()
            self.downloads = await hand_over(self.offer, self.listener, limits, lambda *what: self.events.put(what))

        with suppress(asyncio.CancelledError):
            asyncio.run(main())

    def stop(self) -> None:
        if self.thread.is_alive():
            self.loop.call_soon_threadsafe(self.task.cancel)
        self.join()

    def join(self) -> int | None:
        self.thread.join(30)
        assert not self.thread.is_alive(), "the server does not stop"
        assert self.complaints == [], "\n".join(repr(c) for c in self.complaints[:3])
        return self.downloads

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=30)

    def get(self, path="/secret/ladders.apkg", method="GET", **headers):
        connection = http.client.HTTPConnection(*self.address, timeout=30)
        try:
            connection.request(method, path, headers={n.replace("_", "-"): v for n, v in headers.items()})
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()

    def event(self):
        return self.events.get(timeout=30)[0]


@contextmanager
def serving(data: bytes = DATA, limits: Limits = PATIENT, first: bytes = b""):
    """A server, which is stopped; ``first`` is sent to it before it begins."""
    before = open_handles()
    served = Served(data, limits, first)
    if not first:
        served.early.close()
    try:
        yield served
    finally:
        served.stop()
        served.early.close()
    gc.collect()
    assert open_handles() == before, "sockets were left open"


def open_handles() -> set[str]:
    """The sockets of this process."""
    found = set()
    for handle in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.add(str(handle.readlink()))
    return {name for name in found if name.startswith("socket:")}


def everything(connection: socket.socket) -> bytes:
    """What a server sends until it closes; a reset ends it too."""
    parts = []
    try:
        while part := connection.recv(65536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def test_a_phone_downloads_and_the_server_stops():
    with serving(limits=replace(PATIENT, grace=0)) as served:
        response, body = served.get()
        assert response.status == 200
        assert response.headers["Content-Type"] == "application/apkg"
        assert body == DATA
        assert [served.event(), served.event()] == [Event.STARTED, Event.DOWNLOADED]
        assert served.join() == 1


def test_it_is_there_for_a_second_download_and_counts_it():
    with serving() as served:
        for _ in range(2):
            assert served.get()[1] == DATA
        assert [served.event() for _ in range(3)] == [Event.STARTED, Event.DOWNLOADED, Event.DOWNLOADED]


def test_the_time_runs_out():
    with serving(limits=replace(PATIENT, total=0)) as served:
        assert served.join() == 0


def test_a_download_in_parts_is_one_download():
    with serving(limits=replace(PATIENT, grace=0)) as served:
        first, probe = served.get(Range="bytes=0-0")
        assert (first.status, probe) == (206, DATA[:1])
        assert served.get(Range="bytes=200000-")[1] == DATA[200_000:]
        assert served.get(Range="bytes=0-199999")[1] == DATA[:200_000]
        assert served.join() == 1


@pytest.mark.parametrize("peek", [{"method": "HEAD"}, {"User_Agent": "WhatsApp/2"}, {"Sec_Purpose": "prefetch"}])
def test_a_peek_is_answered_and_ends_nothing(peek):
    with serving(limits=replace(PATIENT, grace=0)) as served:
        assert served.get(**peek)[0].status == 200
        assert served.events.empty()
        assert served.get()[1] == DATA
        assert served.join() == 1


def test_who_breaks_off_has_not_downloaded():
    with serving(BIG, replace(PATIENT, grace=0)) as served:
        with served.connect() as connection:
            connection.sendall(ASK)
            assert connection.recv(1000)
            assert served.event() is Event.STARTED
        assert served.get()[1] == BIG
        assert served.join() == 1


def test_it_stays_if_told_to():
    with serving(limits=replace(PATIENT, grace=0, stay=True)) as served:
        assert served.get()[1] == DATA
        assert served.get()[1] == DATA


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", b"404"),
        (b"GET /%2e%2e/secret/ladders.apkg HTTP/1.1\r\n\r\n", b"404"),
        (b"POST /secret/ladders.apkg HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", b"405"),
        (b"CONNECT example.org:443 HTTP/1.1\r\n\r\n", b"405"),
        (b"\x16\x03\x01\x00\xa5\x01\r\n\r\n", b"400"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * 100_000 + b"\r\n\r\n", b"431"),
        (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", b"431"),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5_000 + b"\r\n", b"431"),
        (b"a" * 20_000, b"431"),
    ],
)
def test_bad_requests_get_a_plain_refusal(request_, status):
    with serving() as served, served.connect() as connection:
        connection.sendall(request_)
        connection.shutdown(socket.SHUT_WR)
        reply = everything(connection)
        assert reply.startswith(b"HTTP/1.1 " + status)
        assert DATA[:20] not in reply


def test_of_pipelined_requests_only_the_first_is_answered():
    with serving() as served, served.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n" + b"GET /secret/ladders.apkg HTTP/1.1\r\n\r\n" * 50)
        connection.shutdown(socket.SHUT_WR)
        reply = everything(connection)
        assert reply.count(b"HTTP/1.1") == 1
        assert served.events.empty()


def test_a_body_without_end_is_cut():
    with serving() as served, served.connect() as connection, pytest.raises(OSError):
        connection.sendall(b"POST / HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\n")
        for _ in range(1000):
            connection.sendall(b"x" * 100_000)


def test_a_client_that_says_nothing_is_cut():
    with serving(limits=replace(PATIENT, head=0.05)) as served, served.connect() as connection:
        connection.sendall(b"GET / HT")
        assert everything(connection) == b""


def test_a_client_that_takes_nothing_is_cut_and_does_not_count():
    # Were it not cut, the server would wait for it a minute at the end of its time.
    with serving(BIG, replace(PATIENT, total=0.3, stall=0.05), ASK) as served:
        assert served.join() == 0
        assert served.event() is Event.STARTED
        assert served.events.empty()


def test_a_download_that_is_never_closed_does_not_count():
    """All bytes are on their way; whether they arrived nobody knows."""
    with serving(b"small", replace(PATIENT, total=0.3, stall=0.05), ASK) as served:
        assert served.join() == 0
        assert served.event() is Event.STARTED
        assert served.events.empty()


def test_who_keeps_the_connection_open_holds_nothing_up():
    with serving(limits=replace(PATIENT, farewell=0.05)) as served, served.connect() as connection:
        connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert everything(connection).startswith(b"HTTP/1.1 404")


def test_hanging_clients_do_not_hold_the_stop():
    with serving(BIG) as served:
        silent = [served.connect() for _ in range(3)]
        greedy = served.connect()
        greedy.sendall(b"GET /secret/ladders.apkg HTTP/1.1\r\n\r\n")
        assert served.event() is Event.STARTED
        served.stop()
        for connection in (*silent, greedy):
            connection.close()


def test_at_the_end_of_the_time_a_hanging_guest_gets_a_grace_and_no_more():
    with serving(BIG, replace(PATIENT, total=0.3, grace=0.1), ASK) as served:
        assert served.join() == 0
        assert served.event() is Event.STARTED


def test_a_phone_gets_through_a_thousand_connections():
    with serving() as served:
        flood = []
        for _ in range(1000):
            flood.append(served.connect())
            if len(flood) == 100:
                for connection in flood[:50]:
                    connection.close()
                flood = flood[50:]
        assert served.get()[1] == DATA
        # By now the server has seen them all: besides our own ends there are its listener, its loop's, and few others.
        assert len(open_handles()) <= len(flood) + PATIENT.connections + 8
        for connection in flood:
            connection.close()


def test_strangers_give_way_and_guests_do_not():
    with serving(BIG, replace(PATIENT, connections=3)) as served:
        guests = [served.connect() for _ in range(2)]
        for guest in guests:
            guest.sendall(b"GET /secret/ladders.apkg HTTP/1.1\r\n\r\n")
            assert guest.recv(100).startswith(b"HTTP/1.1 200")
        stranger = served.connect()
        stranger.sendall(b"GET / HT")
        third = served.connect()
        assert everything(stranger) == b""
        third.sendall(b"GET /secret/ladders.apkg HTTP/1.1\r\n\r\n")
        assert third.recv(100).startswith(b"HTTP/1.1 200")
        refused = served.connect()
        assert everything(refused).startswith(b"HTTP/1.1 503")
        for connection in (*guests, stranger, third, refused):
            connection.close()


def test_only_the_given_address_is_bound():
    with serving() as served:
        assert served.listener.getsockname()[0] == "127.0.0.1"
        with pytest.raises(OSError), socket.create_connection(("127.0.0.2", served.address[1]), timeout=30):
            pass
