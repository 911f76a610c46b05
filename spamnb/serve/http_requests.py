"""HTTP requests and responses: one request per connection, parsed by h11."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, NamedTuple

import h11

from spamnb.serve.clients import Connection
from spamnb.serve.metrics import PROTOCOL, REFUSED
from spamnb.serve.service import Refusal

MAX_HEAD_LENGTH = 1 << 16  # bytes
MAX_PIECES = 1 << 16  # of a body: each takes some microseconds; clients send 4 KB or more per piece


class HttpRefusal(Refusal):
    """A refusal with an HTTP status."""

    def __init__(self, status: int, why: str = "") -> None:
        super().__init__(PROTOCOL if status == HTTPStatus.BAD_REQUEST else REFUSED, why or phrase(status))
        self.status = status


def too_large(most: int) -> HttpRefusal:
    return HttpRefusal(413, f"the message has more than {most} bytes")


class HttpRequest(NamedTuple):
    """The first line and the headers of a request; if a header is repeated, its first value is used."""

    method: str
    path: str
    headers: dict[str, str]

    def first_of(self, *names: str) -> str:
        """Return the value of the first header in `names` that has a value; "" if none of them has one."""
        return next((self.headers[name] for name in names if self.headers.get(name)), "")


class RequestReader:
    """Reads one request, with a body of at most `most` bytes."""

    def __init__(self, connection: Connection, most: int) -> None:
        self.connection = connection
        self.most = most
        self.parser = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_LENGTH)

    async def _next_event(self) -> h11.Event | None:
        """Return the next event of the HTTP parser; None when there are no more events."""
        try:
            while (event := self.parser.next_event()) is h11.NEED_DATA:
                if self.parser.they_are_waiting_for_100_continue:
                    going_on = h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
                    await self.connection.write(self.parser.send(going_on) or b"")
                self.parser.receive_data(await self.connection.receive())
        except h11.RemoteProtocolError as error:
            raise HttpRefusal(400, str(error)) from None
        return event if isinstance(event, h11.Event) else None

    async def read_head(self) -> HttpRequest:
        event = await self._next_event()
        if not isinstance(event, h11.Request):
            raise HttpRefusal(400, "the client sent no request")
        headers: dict[str, str] = {}
        for name, value in event.headers:
            headers.setdefault(text_of(name), text_of(value))
        if int(headers.get("content-length", "0")) > self.most:
            raise too_large(self.most)
        return HttpRequest(text_of(event.method), text_of(event.target).partition("?")[0], headers)

    async def read_body(self) -> bytes:
        body = bytearray()
        for _ in range(MAX_PIECES):
            event = await self._next_event()
            if not isinstance(event, h11.Data):
                self.connection.complete = not self.parser.trailing_data[0]
                return bytes(body)
            body += event.data
            if len(body) > self.most:
                raise too_large(self.most)
            self.connection.hold(len(body))
        raise HttpRefusal(400, "the body of the request comes in too many pieces")


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
