"""Serves one file to a phone in the same network, and nothing else, however clients behave.

One thread does it all. Every wait has an end, every buffer a bound, and no client can keep the server from stopping: who
knows the secret path is a guest, everybody else a stranger, whose place the next one takes when places are short.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from .transfer import Offer, Request, Span, by_a_person, parse_request, refusal, reply_to, with_span

_AT_ONE_GO = 32
"""Connections that the loop may take before it can drop any: small systems allow 256 open files."""

_WAITING = 1024
"""Connections that may wait outside, in the system's queue. Where that is full, a phone tries again after a second."""

_CHUNK = 64 * 1024
_END_OF_HEAD = b"\r\n\r\n"


@dataclass(frozen=True)
class Limits:
    """How long and how much: all times are seconds.

    ``total`` is for the whole; ``grace`` is how long the file can still be had after a download, since phones ask twice.
    ``head`` is for sending a request, ``stall`` for taking the next 64 KiB, ``farewell`` for closing after a refusal.
    ``connections`` may be open at once, a request's head has at most ``head_bytes``. With ``stay`` downloads end nothing.
    """

    total: float = 600
    grace: float = 20
    head: float = 5
    stall: float = 20
    farewell: float = 2
    connections: int = 16
    head_bytes: int = 8192
    stay: bool = False


class Event(Enum):
    """What is worth telling: a client has begun to fetch the file, and one has all of it."""

    STARTED = "started"
    DOWNLOADED = "downloaded"


Tell = Callable[[Event, str], None]
"""Is called with what happened and the client's address."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket on exactly this address, on any free port for 0. Raises OSError where that cannot be."""
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
    return socket.create_server((host, port), family=family, backlog=_WAITING)


def own_address() -> str:
    """The address of this machine in its network. No packet is sent: the system only says which way it would send one.

    Raises OSError where there is no network.
    """
    # The addresses are reserved for documentation, and belong to nobody.
    for family, elsewhere in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))
            return str(probe.getsockname()[0])
    raise OSError("there is no network")


async def hand_over(offer: Offer, listener: socket.socket, limits: Limits, tell: Tell) -> int:
    """Serve ``offer`` until it was downloaded or the time is up; how often it was downloaded completely.

    Closes ``listener``. Cancelling this ends it at once, with all connections.
    """
    table = _Table(offer, limits, tell)
    server = await asyncio.start_server(
        table.meet, sock=listener, limit=limits.head_bytes, backlog=_AT_ONE_GO, start_serving=False
    )
    try:
        await server.start_serving()
        listener.listen(_WAITING)  # the loop has set the queue to what it takes at one go
        await table.until_done()
    finally:
        server.close()
        listener.close()
        await table.clear()
    return table.downloads


class _Table:
    """All who are connected, and what has been delivered to whom."""

    def __init__(self, offer: Offer, limits: Limits, tell: Tell) -> None:
        self.offer, self.limits, self.tell = offer, limits, tell
        self.downloads = 0
        self._strangers: dict[asyncio.Task[None], asyncio.StreamWriter] = {}  # in the order in which they came
        self._guests: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._talks: set[asyncio.Task[None]] = set()  # all, also those that are being cut: the loop does not keep them
        self._delivered: dict[str, tuple[Span, ...]] = {}
        self._changed = asyncio.Event()
        self._quiet_since = 0.0

    async def until_done(self) -> None:
        """Return when the file was downloaded and nobody has asked again for a while, or when the time is up."""
        clock = asyncio.get_running_loop().time
        end = clock() + self.limits.total
        while True:
            until = end
            if self._guests and clock() >= end:
                until = end + self.limits.grace
            elif self.downloads and not self._guests and not self.limits.stay:
                until = min(end, self._quiet_since + self.limits.grace)
            if clock() >= until:
                return
            self._changed.clear()
            # Not wait_for: before Python 3.12 it loses a cancellation that comes together with a change.
            timer = asyncio.get_running_loop().call_at(until, self._changed.set)
            await self._changed.wait()
            timer.cancel()

    async def clear(self) -> None:
        """Cut all connections."""
        for writer in (*self._strangers.values(), *self._guests.values()):
            writer.transport.abort()
        await asyncio.gather(*self._talks, return_exceptions=True)

    def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a connection, in the place of the longest waiting stranger if need be; refuse it where all are guests."""
        if len(self._strangers) + len(self._guests) >= self.limits.connections:
            if not self._strangers:
                writer.write(refusal(503).head)
                writer.transport.abort()
                return
            self._strangers.pop(next(iter(self._strangers))).transport.abort()
        task = asyncio.get_running_loop().create_task(self._talk(reader, writer))
        self._talks.add(task)
        self._strangers[task] = writer
        task.add_done_callback(lambda done: self._leave(done, writer))

    def _leave(self, task: asyncio.Task[None], writer: asyncio.StreamWriter) -> None:
        if task in self._guests:
            self._quiet_since = asyncio.get_running_loop().time()
        self._talks.discard(task)
        self._strangers.pop(task, None)
        self._guests.pop(task, None)
        writer.transport.abort()
        self._changed.set()
        error = None if task.cancelled() else task.exception()
        # A client that is gone, or too slow, is no error; anything else is one of this program.
        if error is not None and not isinstance(error, (OSError, EOFError)):
            raise error

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request and its answer; then the connection ends, whatever else was sent."""
        request: Request | None = None
        try:
            with _patience(writer, self.limits.head):
                head = await reader.readuntil(_END_OF_HEAD)
        except asyncio.LimitOverrunError:
            reply = refusal(431)
        else:
            request = parse_request(head)
            reply = reply_to(request, self.offer)
        writer.write(reply.head)
        if reply.span is None or request is None:
            with _patience(writer, self.limits.farewell):
                await _farewell(reader, writer)
            return
        peer = str(writer.get_extra_info("peername")[0])
        self._welcome(writer, peer, counts=by_a_person(request))
        await self._send(writer, reply.span)
        with _patience(writer, self.limits.stall):
            await _farewell(reader, writer)
        if by_a_person(request):
            self._count(peer, reply.span)

    def _welcome(self, writer: asyncio.StreamWriter, peer: str, *, counts: bool) -> None:
        """The client knows the secret: from now on nobody takes its place."""
        task = asyncio.current_task()
        if task is not None:
            self._strangers.pop(task, None)
            self._guests[task] = writer
            self._changed.set()
        if counts and peer not in self._delivered:
            self._delivered[peer] = ()
            self.tell(Event.STARTED, peer)

    async def _send(self, writer: asyncio.StreamWriter, span: Span) -> None:
        """Write the bytes of the file, no faster than the client takes them."""
        # Small buffers, so that what has been written has nearly arrived, and a client that stalls is noticed.
        writer.transport.set_write_buffer_limits(high=_CHUNK)
        connection = writer.get_extra_info("socket")
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * _CHUNK)
        view = memoryview(self.offer.data)[slice(*span)]
        for start in range(0, len(view), _CHUNK):
            writer.write(view[start : start + _CHUNK])
            with _patience(writer, self.limits.stall):
                await writer.drain()

    def _count(self, peer: str, span: Span) -> None:
        """Note what has arrived; a download is complete when all parts of the file have, in whatever order."""
        whole = (0, len(self.offer.data))
        spans = with_span(self._delivered.get(peer, ()), span)
        if spans == (whole,):
            self.downloads += 1
            self._delivered[peer] = ()
            self.tell(Event.DOWNLOADED, peer)
        else:
            self._delivered[peer] = spans


@contextlib.contextmanager
def _patience(writer: asyncio.StreamWriter, seconds: float) -> Iterator[None]:
    """Cut the connection if what is done in here takes longer, which ends every wait for the client.

    Raises ConnectionAbortedError if it was cut, by this or by somebody else: a wait alone would end as if all were well.
    """
    timer = asyncio.get_running_loop().call_later(seconds, writer.transport.abort)
    try:
        yield
    finally:
        timer.cancel()
    if writer.transport.is_closing():
        raise ConnectionAbortedError


async def _farewell(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Wait until the client has taken all and closed its side: what it sent and nobody read would cost it the answer."""
    writer.write_eof()
    taken = 0
    while data := await reader.read(_CHUNK):
        taken += len(data)
        if taken > 4 * _CHUNK:
            raise ConnectionAbortedError
