"""Serves one file to a phone in the same network, and nothing else, however clients behave.

One thread does it all. Every wait has an end, every buffer a bound, and no client can keep the server from stopping: who
knows the secret path is a guest, everybody else a stranger, whose place the next one takes when places are short.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from .transfer import Offer, Request, Span, by_a_person, parse_request, refusal, reply_to, with_span

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
    return socket.create_server((host, port), family=family, backlog=32)


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
    server = await asyncio.start_server(table.meet, sock=listener, limit=limits.head_bytes)
    try:
        await table.until_done()
    finally:
        server.close()
        await table.clear()
    return table.downloads


class _Table:
    """All who are connected, and what has been delivered to whom."""

    def __init__(self, offer: Offer, limits: Limits, tell: Tell) -> None:
        self.offer, self.limits, self.tell = offer, limits, tell
        self.downloads = 0
        self._strangers: dict[asyncio.Task[None], None] = {}  # in the order in which they came
        self._guests: set[asyncio.Task[None]] = set()
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
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._changed.wait(), until - clock())

    async def clear(self) -> None:
        """Cut all connections."""
        tasks = [*self._strangers, *self._guests]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # lets the transports close their sockets

    def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a connection, in the place of the longest waiting stranger if need be; refuse it where all are guests."""
        if len(self._strangers) + len(self._guests) >= self.limits.connections:
            if not self._strangers:
                writer.write(refusal(503).head)
                writer.transport.abort()
                return
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.cancel()
        task = asyncio.get_running_loop().create_task(self._talk(reader, writer))
        self._strangers[task] = None
        # Not in the task itself: one that is cancelled before its first step never runs.
        task.add_done_callback(lambda done: self._leave(done, writer))

    def _leave(self, task: asyncio.Task[None], writer: asyncio.StreamWriter) -> None:
        if task in self._guests:
            self._quiet_since = asyncio.get_running_loop().time()
        self._strangers.pop(task, None)
        self._guests.discard(task)
        writer.transport.abort()
        self._changed.set()
        error = None if task.cancelled() else task.exception()
        # A client that is gone, or too slow, is no error; anything else is one of this program.
        if error is not None and not isinstance(error, (OSError, EOFError, asyncio.TimeoutError)):
            raise error

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request and its answer; then the connection ends, whatever else was sent."""
        request: Request | None = None
        try:
            head = await asyncio.wait_for(reader.readuntil(_END_OF_HEAD), self.limits.head)
        except asyncio.LimitOverrunError:
            reply = refusal(431)
        else:
            request = parse_request(head)
            reply = reply_to(request, self.offer)
        writer.write(reply.head)
        if reply.span is None or request is None:
            await self._farewell(reader, writer, self.limits.farewell)
            return
        peer = str(writer.get_extra_info("peername")[0])
        self._welcome(peer, counts=by_a_person(request))
        await self._send(writer, reply.span)
        await self._farewell(reader, writer, self.limits.stall)
        if by_a_person(request):
            self._count(peer, reply.span)

    def _welcome(self, peer: str, *, counts: bool) -> None:
        """The client knows the secret: from now on nobody takes its place."""
        task = asyncio.current_task()
        if task is not None:
            self._strangers.pop(task, None)
            self._guests.add(task)
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
            await asyncio.wait_for(writer.drain(), self.limits.stall)

    async def _farewell(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, patience: float) -> None:
        """Wait until the client has taken all and closed its side: what it left unread would cost it the answer.

        Raises OSError or asyncio.TimeoutError if it does not.
        """
        writer.write_eof()

        async def drain() -> None:
            taken = 0
            while data := await reader.read(_CHUNK):
                taken += len(data)
                if taken > 4 * _CHUNK:
                    raise OSError("the client does not stop sending")

        await asyncio.wait_for(drain(), patience)

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
