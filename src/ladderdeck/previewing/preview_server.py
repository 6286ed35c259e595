"""Serves the preview to this machine's browser, and tells it when there is something new to show.

It answers to 127.0.0.1 only, and only to requests that name it so: another site's page that has its own name lead here
(DNS rebinding) sends that name, and is refused. There are three addresses: the page, its data, and the news.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

HOST = "127.0.0.1"
DEFAULT_PORT = 8642
MOST_CONNECTIONS = 32
"""Connections that are answered at a time: a browser holds one for each open tab."""
REQUEST_SECONDS = 10.0
"""Seconds in which a request must arrive."""
SIGN_OF_LIFE = 15.0
"""Seconds without news after which a browser hears that the server is still there."""

_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Connection": "close",
}


class PreviewServer:
    """Holds what is shown, and serves it from threads of its own between ``with`` and its end.

    ``page`` is the HTML page; ``publish`` replaces the data, of which each change has a number. Raises OSError where the
    port is taken.
    """

    def __init__(self, page: str, port: int) -> None:
        self._page = page.encode("utf-8", "replace")
        self._data = b"{}"
        self._number = 0
        self._news = threading.Condition()
        self._is_open = True
        self._http = _Http(self, port)
        self.port: int = self._http.server_address[1]
        self.address = f"http://{HOST}:{self.port}/"

    def __enter__(self) -> PreviewServer:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._news:
            self._is_open = False
            self._news.notify_all()
        self._http.shutdown()
        self._http.server_close()

    def publish(self, data: str) -> None:
        """Show this from now on: JSON, as the page's script reads it."""
        content = data.encode("utf-8", "replace")
        with self._news:
            self._data = content
            self._number += 1
            self._news.notify_all()

    def content(self, path: str) -> tuple[str, bytes] | None:
        """The type and the content of what is at ``path``; None where nothing is."""
        if path == "/":
            return "text/html; charset=utf-8", self._page
        if path == "/data":
            with self._news:
                return "application/json", self._data
        return None

    def next_number(self, seen: int) -> int | None:
        """The number of the data, as soon as it is another than ``seen`` or a sign of life is due; None at the end."""
        with self._news:
            self._news.wait_for(lambda: self._number != seen or not self._is_open, SIGN_OF_LIFE)
            return self._number if self._is_open else None


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    # Elsewhere it lets a port be used again right after a restart; on Windows it would let two programs share one.
    allow_reuse_address = os.name == "posix"

    def __init__(self, preview: PreviewServer, port: int) -> None:
        self.preview = preview
        self.places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__((HOST, port), _Handler)

    def process_request(self, request: object, client_address: object) -> None:
        """Answer in a thread of its own, or not at all where there are too many."""
        if not self.places.acquire(blocking=False):
            self.shutdown_request(request)  # type: ignore[arg-type]
            return
        super().process_request(request, client_address)  # type: ignore[arg-type]

    def process_request_thread(self, request: object, client_address: object) -> None:
        """Answer one request, and make its place free again."""
        try:
            super().process_request_thread(request, client_address)  # type: ignore[arg-type]
        finally:
            self.places.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that has gone away."""


class _Handler(BaseHTTPRequestHandler):
    timeout = REQUEST_SECONDS
    server_version, sys_version = "ladderdeck", ""
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_GET(self) -> None:
        """Answer with the page, its data or the news."""
        self._answer(self._send)

    def do_HEAD(self) -> None:
        """Answer as for GET, without the content."""
        self._answer(self._send_head)

    def _answer(self, send: Callable[[str, bytes], None]) -> None:
        port = self.server.preview.port
        if self.headers.get_all("Host") not in ([f"{HOST}:{port}"], [f"localhost:{port}"]):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST, "This server answers to its own address only")
        elif self.path == "/news" and self.command == "GET":
            self._send_news()
        elif (found := self.server.preview.content(self.path)) is not None:
            send(*found)
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _send_head(self, kind: str, content: bytes) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()

    def _send(self, kind: str, content: bytes) -> None:
        self._send_head(kind, content)
        self.wfile.write(content)

    def _send_news(self) -> None:
        """The number of the data as server-sent events, at once and whenever it changes."""
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        seen = -1
        while (number := self.server.preview.next_number(seen)) is not None:
            self.wfile.write(b": still here\n\n" if number == seen else b"data: %d\n\n" % number)
            seen = number

    def end_headers(self) -> None:
        """End the head of every answer with what keeps other sites out."""
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.close_connection = True
        super().end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Keep the terminal for what the user does."""
