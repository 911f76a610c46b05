"""Requests and responses of HTTP/1.1, as far as one request a connection needs: a length, or chunks."""

from __future__ import annotations

import json
from collections.abc import Generator
from http import HTTPStatus
from typing import Any, NamedTuple

from spamnb.delivery.log_line import escaped
from spamnb.serve.conversation import Incoming
from spamnb.serve.metrics import PROTOCOL, REFUSED
from spamnb.serve.service import LONGEST_LINE, Refusal, read_headers

MOST_CHUNKS = 1 << 16  # each takes some microseconds; clients send 4 KB or more in one
LONGEST_SIZE = 16  # hexadecimal digits of a chunk's size
HEXADECIMAL = frozenset(b"0123456789abcdefABCDEF")
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
CONTROLS = frozenset((*range(9), *range(10, 32), 127))  # all but the tab
ONCE = ("content-length", "transfer-encoding")  # headers of which two would be read in two ways


class HttpRefusal(Refusal):
    """Refusal with a status of its own."""

    def __init__(self, status: int, why: str = "") -> None:
        super().__init__(PROTOCOL if status == HTTPStatus.BAD_REQUEST else REFUSED, why or phrase(status))
        self.status = status


def bad_request(why: str) -> HttpRefusal:
    return HttpRefusal(400, why)


def too_large(most: int) -> HttpRefusal:
    return HttpRefusal(413, f"the message has more than the {most} bytes that are taken")


class HttpRequest(NamedTuple):
    """The head of a request; of a header that comes twice, the first counts."""

    method: str
    path: str
    headers: dict[str, str]

    def first_of(self, *names: str) -> str:
        """Value of the first of these headers that is there and not empty."""
        return next((self.headers[name] for name in names if self.headers.get(name)), "")

    @property
    def length(self) -> int | None:
        """Bytes of the body; None if it comes in chunks."""
        coding, length = self.headers.get("transfer-encoding"), self.headers.get("content-length")
        if coding is not None:
            if length is not None or coding.lower() != "chunked":
                raise bad_request("Transfer-Encoding is chunked, without Content-Length, or none")
            return None
        if length is None:
            return 0
        if not (length.isascii() and length.isdigit() and len(length) <= 18):
            raise bad_request("Content-Length is not a number")
        return int(length)


def read_request(incoming: Incoming) -> Generator[None, None, HttpRequest]:
    line = yield from incoming.read_line(LONGEST_LINE)
    words = text_of(line or b"").split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise bad_request(f"no request of HTTP: {escaped(' '.join(words)[:LONGEST_LINE], keep=' ')}")
    headers: dict[str, str] = {}
    for line in (yield from read_headers(incoming)):
        name, colon, value = text_of(line).partition(":")
        name = name.lower()
        if not colon or not name or name.strip() != name or CONTROLS.intersection(line):
            raise bad_request("a header that is none")
        if name in ONCE and name in headers:
            raise bad_request(f"two headers {name}")
        headers.setdefault(name, value.strip())
    return HttpRequest(words[0], words[1].partition("?")[0], headers)


def read_body(
    request: HttpRequest, incoming: Incoming, most: int
) -> Generator[int | bytes | None, None, bytes]:
    length = request.length
    if length is not None and length > most:
        raise too_large(most)
    if request.headers.get("expect", "").lower() == "100-continue":
        yield CONTINUE
    if length is None:
        body = yield from _read_chunks(incoming, most)
    elif len(body := (yield from incoming.read_up_to(length))) < length:
        raise bad_request(f"the body has {len(body)} bytes of {length}")
    incoming.complete = not incoming
    incoming.clear()
    return body


def _read_chunks(incoming: Incoming, most: int) -> Generator[None, None, bytes]:
    """Read chunks, and drop the lines between them: so what is held counts as it does with a length."""
    start = incoming.taken
    for _ in range(MOST_CHUNKS):
        size_at = incoming.taken
        size = chunk_size((yield from incoming.read_line(LONGEST_LINE)))
        incoming.drop_since(size_at)
        if not size:
            with memoryview(incoming.data) as view:
                body = bytes(view[start : incoming.taken])
            yield from read_headers(incoming)  # trailers, which nobody needs
            return body
        if incoming.taken + size > start + most:
            raise too_large(most)
        yield from incoming.read_up_to(size)
        end_at = incoming.taken
        if (yield from incoming.read_line(len(b"\r"))) != b"":
            raise bad_request("a chunk without its end")
        incoming.drop_since(end_at)
    raise bad_request("too many chunks")


def chunk_size(line: bytes | None) -> int:
    digits = (line or b"").partition(b";")[0].rstrip()
    if not 0 < len(digits) <= LONGEST_SIZE or not HEXADECIMAL.issuperset(digits):
        raise bad_request("a chunk without its size")
    return int(digits, 16)


def text_of(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


def phrase(status: int) -> str:
    return HTTPStatus(status).phrase


def response(content: str, kind: str, status: int = 200) -> bytes:
    body = content.encode()
    lines = (f"HTTP/1.1 {status} {phrase(status)}", "Connection: close", f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, f"Content-Type: {kind}", "Cache-Control: no-store", "", "")).encode() + body


def json_response(content: dict[str, Any], status: int = 200) -> bytes:
    return response(json.dumps(content), "application/json", status)
