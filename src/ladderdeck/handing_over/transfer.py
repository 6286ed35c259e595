"""HTTP for a single file, as values: what a request asks for, what it is answered with, and what has arrived so far."""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote

CONTENT_TYPE = "application/apkg"
"""What AnkiDroid registers itself for; a phone that does not know it goes by the name, which ends in .apkg."""

Span = tuple[int, int]
"""Bytes of the file: the first one, and the one behind the last, counted from 0."""

_NOTHING: Span = (0, 0)
_REQUEST_LINE = re.compile(r"([A-Z]{1,20}) ([!-~]{1,2000}) HTTP/1\.[01]")
_HEADER_LINE = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")
_RANGE = re.compile(r"bytes=[ \t]*(\d{0,18})-(\d{0,18})", re.IGNORECASE)
_REASONS = {
    200: "OK",
    206: "Partial Content",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    416: "Range Not Satisfiable",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}
_LOOKERS = re.compile(
    r"(?:telegram|slack|twitter|discord|google|bing|apple|viber|line)bot|^whatsapp|facebookexternalhit"
    r"|(?:uri|url|link)[ -]?preview",
    re.IGNORECASE,
)
"""Programs that fetch an address because it stands in a message, not because a person has opened it. By name:
there are phones called Cubot, and a chat's own browser is a person's."""


@dataclass(frozen=True)
class Offer:
    """The one file that is served: its bytes, its name, the only path that leads to it, and its version for a client
    that goes on with a download (an ETag, with its quotes)."""

    data: bytes
    name: str
    path: str
    version: str


@dataclass(frozen=True)
class Request:
    """What a client sent: method, target as written, and headers by lower-case name (of a repeated one the first)."""

    method: str
    target: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Reply:
    """What is answered: everything but the file's bytes, and which of those follow (None for none at all)."""

    status: int
    head: bytes
    span: Span | None = None


def offer_of(data: bytes, name: str, secret: str) -> Offer:
    """The offer of a file's content under its ``name``; ``secret`` is what nobody can guess in its path."""
    version = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    return Offer(data, name, f"/{secret}/{ascii_name(name)}", version)


def ascii_name(name: str) -> str:
    """A file name of letters, digits, dots, dashes and underscores that still ends in .apkg, as AnkiDroid wants it."""
    stem = name.removesuffix(".apkg")
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode()
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '-', plain).strip('.-')[:40] or 'deck'}.apkg"


def parse_request(head: bytes) -> Request | None:
    """The request in the bytes up to and with the empty line; None for what is no HTTP/1 request."""
    lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    first = _REQUEST_LINE.fullmatch(lines[0])
    if first is None:
        return None
    headers: dict[str, str] = {}
    for line in lines[1:]:
        field = _HEADER_LINE.fullmatch(line)
        if field is None:
            return None
        headers.setdefault(field[1].lower(), field[2])
    return Request(first[1], first[2], MappingProxyType(headers))


def reply_to(request: Request | None, offer: Offer) -> Reply:
    """The answer to a request: the file or a part of it on its own path, and a plain refusal everywhere else."""
    if request is None:
        return refusal(400)
    bare = request.method == "HEAD"
    if request.method not in ("GET", "HEAD"):
        return refusal(405, {"Allow": "GET, HEAD"})
    path = request.target.partition("?")[0]
    if not hmac.compare_digest(path.encode(), offer.path.encode()):
        return refusal(404, bare=bare)
    size = len(offer.data)
    span = None if bare else _asked_span(request, offer)
    if span == _NOTHING and size:
        return refusal(416, {"Content-Range": f"bytes */{size}"})
    start, end = span or (0, size)
    headers = {
        "Content-Type": CONTENT_TYPE,
        "Content-Length": str(end - start),
        "Content-Disposition": f"attachment; filename=\"{ascii_name(offer.name)}\"; filename*=UTF-8''{_quoted(offer.name)}",
        "Accept-Ranges": "bytes",
        "ETag": offer.version,
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
    }
    if span is None:
        return Reply(200, _head(200, headers), None if bare else (0, size))
    return Reply(206, _head(206, {**headers, "Content-Range": f"bytes {start}-{end - 1}/{size}"}), span)


def refusal(status: int, headers: Mapping[str, str] = MappingProxyType({}), *, bare: bool = False) -> Reply:
    """An answer without the file, with a line that says why; ``bare`` leaves the line out, as HEAD wants it."""
    text = f"{status} {_REASONS[status]}\n".encode()
    length = {"Content-Type": "text/plain", "Content-Length": str(len(text))}
    return Reply(status, _head(status, {**headers, **length}) + (b"" if bare else text))


def by_a_person(request: Request) -> bool:
    """Whether a request looks like somebody's download, and not like a browser or a chat that peeks at the address."""
    purposes = [request.headers.get(name, "") for name in ("purpose", "sec-purpose", "x-purpose", "x-moz")]
    if any(word in purpose.lower() for purpose in purposes for word in ("prefetch", "preview")):
        return False
    return not _LOOKERS.search(request.headers.get("user-agent", ""))


def with_span(spans: tuple[Span, ...], new: Span) -> tuple[Span, ...]:
    """``spans``, which are sorted and do not touch each other, and one more of them."""
    merged: list[Span] = []
    for start, end in sorted((*spans, new)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def _asked_span(request: Request, offer: Offer) -> Span | None:
    """The part of the file that a request asks for: None for all of it, _NOTHING for one that the file does not have.

    Several parts at once are answered with the whole file, and so is one of a version that is not this one.
    """
    found = _RANGE.fullmatch(request.headers.get("range", ""))
    if found is None or found[0].endswith("=-") or not (found[1] or found[2]):
        return None
    if request.headers.get("if-range", offer.version) != offer.version:
        return None
    size = len(offer.data)
    if not found[1]:
        return (max(0, size - int(found[2])), size) if int(found[2]) else _NOTHING
    start, end = int(found[1]), min(size, int(found[2] or size) + 1)
    if found[2] and int(found[2]) < start:
        return None  # no range at all, says RFC 9110: it is as if the header were not there
    return (start, end) if start < size else _NOTHING


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    common = {"X-Content-Type-Options": "nosniff", "Connection": "close"}
    lines = [f"HTTP/1.1 {status} {_REASONS[status]}", *(f"{n}: {v}" for n, v in {**headers, **common}.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


def _quoted(name: str) -> str:
    return quote(name.encode("utf-8", "replace"), safe="")
