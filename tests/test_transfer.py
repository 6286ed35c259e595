"""HTTP for one file, as values: requests in, answers out."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ladderdeck.handing_over.transfer import (
    Offer,
    ascii_name,
    by_a_person,
    offer_of,
    parse_request,
    reply_to,
    with_span,
)

DATA = bytes(range(100))
OFFER = offer_of(DATA, "ladders.apkg", "secret")


def ask(target="/secret/ladders.apkg", method="GET", offer: Offer = OFFER, **headers: str):
    lines = [f"{method} {target} HTTP/1.1", "Host: phone", *(f"{n.replace('_', '-')}: {v}" for n, v in headers.items())]
    return reply_to(parse_request(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")), offer)


def header(reply, name: str) -> str:
    lines = reply.head.decode("ascii").split("\r\n\r\n")[0].split("\r\n")[1:]
    values = [value for line in lines for key, _, value in [line.partition(": ")] if key.lower() == name.lower()]
    return values[0] if values else ""


def test_the_file_comes_with_what_a_phone_needs():
    reply = ask()
    assert (reply.status, reply.span) == (200, (0, 100))
    assert header(reply, "content-type") == "application/apkg"
    assert header(reply, "content-length") == "100"
    assert header(reply, "content-disposition").startswith('attachment; filename="ladders.apkg"')
    assert header(reply, "connection") == "close"
    assert header(reply, "cache-control") == "no-store"
    assert reply.head.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("target", "method", "status"),
    [
        ("/secret/ladders.apkg?from=chat", "GET", 200),
        ("/secret/ladders.apkg", "HEAD", 200),
        ("/", "GET", 404),
        ("/secret", "GET", 404),
        ("/secret/", "GET", 404),
        ("/secret/ladders.apkg/", "GET", 404),
        ("/SECRET/ladders.apkg", "GET", 404),
        ("/secret/ladders.apk", "GET", 404),
        ("/secret/../secret/ladders.apkg", "GET", 404),
        ("/../../etc/passwd", "GET", 404),
        ("/secret/%2e%2e/%2e%2e/etc/passwd", "GET", 404),
        ("/secret%2fladders.apkg", "GET", 404),
        ("//secret/ladders.apkg", "GET", 404),
        ("http://phone/secret/ladders.apkg", "GET", 404),
        ("*", "GET", 404),
        ("/nowhere", "HEAD", 404),
        ("/secret/ladders.apkg", "POST", 405),
        ("/secret/ladders.apkg", "DELETE", 405),
        ("/secret/ladders.apkg", "OPTIONS", 405),
        ("/nowhere", "PUT", 405),
    ],
)
def test_only_the_one_path_and_two_methods_lead_to_the_file(target, method, status):
    reply = ask(target, method)
    assert reply.status == status
    assert (reply.span is not None) == (status == 200 and method == "GET")
    if method == "HEAD":
        assert reply.head.endswith(b"\r\n\r\n")
    if status == 405:
        assert header(reply, "allow") == "GET, HEAD"


@pytest.mark.parametrize(
    ("range_", "status", "span"),
    [
        ("bytes=0-", 206, (0, 100)),
        ("bytes=0-0", 206, (0, 1)),
        ("bytes=10-19", 206, (10, 20)),
        ("bytes=90-1000", 206, (90, 100)),
        ("bytes=-7", 206, (93, 100)),
        ("bytes=-700", 206, (0, 100)),
        ("BYTES=5-5", 206, (5, 6)),
        ("bytes=100-", 416, None),
        ("bytes=-0", 416, None),
        ("bytes=999999999999999999-", 416, None),
        ("bytes=7-3", 200, (0, 100)),
        ("bytes=-", 200, (0, 100)),
        ("bytes=0-1,5-6", 200, (0, 100)),
        ("lines=0-1", 200, (0, 100)),
        ("bytes=a-b", 200, (0, 100)),
        ("bytes=99999999999999999999999-", 200, (0, 100)),
    ],
)
def test_a_single_range_is_answered_with_that_part(range_, status, span):
    reply = ask(Range=range_)
    assert (reply.status, reply.span) == (status, span)
    if status == 206:
        assert header(reply, "content-range") == f"bytes {span[0]}-{span[1] - 1}/100"
        assert header(reply, "content-length") == str(span[1] - span[0])
    if status == 416:
        assert header(reply, "content-range") == "bytes */100"


def test_a_download_goes_on_only_with_the_same_version():
    version = header(ask(), "etag")
    assert version.startswith('"') and version != offer_of(b"other", "ladders.apkg", "secret").version
    assert ask(Range="bytes=5-", If_Range=version).status == 206
    assert ask(Range="bytes=5-", If_Range='"older"').status == 200


@pytest.mark.parametrize(
    "head",
    [
        b"\r\n\r\n",
        b"GET /secret/ladders.apkg\r\n\r\n",
        b"GET  /secret/ladders.apkg HTTP/1.1\r\n\r\n",
        b"get /secret/ladders.apkg HTTP/1.1\r\n\r\n",
        b"GET /secret/ladders.apkg HTTP/2.0\r\n\r\n",
        b"GET /secret/ladders.apkg HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /secret/ladders.apkg HTTP/1.1\r\nA: 1\r\n folded\r\n\r\n",
        b"GET /secret/\xff HTTP/1.1\r\n\r\n",
        b"GET /secret/ladders.apkg\x00 HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",  # a browser that tries TLS first
        b"PRI * HTTP/2.0\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused(head):
    assert reply_to(parse_request(head), OFFER).status == 400


@given(st.binary(max_size=300))
def test_no_bytes_upset_the_parser_or_find_the_file(data):
    reply = reply_to(parse_request(data + b"\r\n\r\n"), OFFER)
    assert reply.span is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ladders.apkg", "ladders.apkg"),
        ("我的 卡片.apkg", "deck.apkg"),
        ("Über größe.apkg", "Uber-groe.apkg"),
        ('a"b\r\nSet-Cookie: x.apkg', "a-b-Set-Cookie-x.apkg"),
        ("../../x.apkg", "x.apkg"),
        ("x" * 300 + ".apkg", "x" * 40 + ".apkg"),
        ("noend", "noend.apkg"),
    ],
)
def test_a_name_is_fit_for_a_path_and_a_header(name, expected):
    assert ascii_name(name) == expected
    offer = offer_of(DATA, name, "s")
    assert offer.path == f"/s/{expected}"
    assert ask(offer.path, offer=offer).status == 200
    assert header(ask(offer.path, offer=offer), "content-disposition").count("\n") == 0


def test_a_chinese_name_is_kept_in_the_header():
    offer = offer_of(DATA, "卡片.apkg", "s")
    assert header(ask(offer.path, offer=offer), "content-disposition").endswith(
        "filename*=UTF-8''%E5%8D%A1%E7%89%87.apkg"
    )


@pytest.mark.parametrize(
    ("headers", "counts"),
    [
        ({"User-Agent": "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140 Mobile Safari/537.36"}, True),
        ({"User-Agent": "AndroidDownloadManager/15"}, True),
        ({"User-Agent": "Mozilla/5.0 (Linux; Android 13; CUBOT NOTE 50) Chrome/130 Mobile Safari/537.36"}, True),
        ({"User-Agent": "Mozilla/5.0 (Linux; Android 14) Chrome/130 Mobile Safari/537.36 Telegram-Android/11"}, True),
        ({"User-Agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"}, False),
        ({"User-Agent": "Mozilla/5.0 Windows SkypeUriPreview Preview/0.5"}, False),
        ({}, True),
        ({"User-Agent": "WhatsApp/2.23"}, False),
        ({"User-Agent": "TelegramBot (like TwitterBot)"}, False),
        ({"User-Agent": "facebookexternalhit/1.1"}, False),
        ({"Sec-Purpose": "prefetch;prerender"}, False),
        ({"X-Purpose": "preview"}, False),
    ],
)
def test_who_only_peeks_does_not_count(headers, counts):
    lines = ["GET / HTTP/1.1", *(f"{n}: {v}" for n, v in headers.items())]
    assert by_a_person(parse_request(("\r\n".join(lines) + "\r\n\r\n").encode())) is counts


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), max_size=12))
def test_spans_add_up_to_the_bytes_that_are_in_them(parts):
    spans = ()
    for start, length in parts:
        spans = with_span(spans, (start, start + length))
    inside = {n for start, length in parts for n in range(start, start + length)}
    assert {n for start, end in spans for n in range(start, end)} == inside
    pairs = itertools.pairwise(spans)
    assert all(left[1] < right[0] for left, right in pairs)
