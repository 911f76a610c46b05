"""The protocol of rspamd, as rspamc and its other clients use it: HTTP, and answers in JSON.

A web page in the browser of this machine could send such requests, too. What has an Origin is refused, and
what asks for another host: the name of a page may have been made to lead here once it was loaded.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from ipaddress import ip_address
from time import perf_counter
from typing import Any, NamedTuple

import h11

from spamnb.bayes.verdict import REQUIRED, Verdict, score_text
from spamnb.delivery.log_line import escaped
from spamnb.files import printable
from spamnb.labels import HAM, SPAM
from spamnb.mailboxes.streams import decompressor_for
from spamnb.passthrough import header_fields, header_names
from spamnb.reading.envelope import envelope_of
from spamnb.serve.clients import Connection
from spamnb.serve.metrics import FAILED, PROTOCOL, REFUSED, TIMEOUT
from spamnb.serve.service import Asked, Refusal, Service, strongest_evidence, symbol
from spamnb.serve.sockets import LOCALHOST

STATUSES = {PROTOCOL: 400, REFUSED: 403, TIMEOUT: 408, FAILED: 500}
METRICS = "/metrics"
LESSONS = {"/learnspam": SPAM, "/learnham": HAM}
WITH_MESSAGE = ("/checkv2", *LESSONS)
PATHS = ("/ping", METRICS, *WITH_MESSAGE)
PLAIN, PROMETHEUS = "text/plain", "text/plain; version=0.0.4; charset=utf-8"
REJECT, ADD_HEADER, NO_ACTION = "reject", "add header", "no action"
LONGEST_HEAD = 1 << 16  # bytes
MOST_PIECES = 1 << 16  # of a body: each takes some microseconds; clients send 4 KB or more in one


class HttpRefusal(Refusal):
    """Refusal with a status of its own."""

    def __init__(self, status: int, why: str = "") -> None:
        super().__init__(PROTOCOL if status == HTTPStatus.BAD_REQUEST else REFUSED, why or phrase(status))
        self.status = status


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


class RequestReader:
    """Reads one request, whose body may have so many bytes."""

    def __init__(self, connection: Connection, most: int) -> None:
        self.connection = connection
        self.most = most
        self.parser = h11.Connection(h11.SERVER, max_incomplete_event_size=LONGEST_HEAD)

    async def _next_event(self) -> h11.Event | None:
        """Return the next event; None when there are no more."""
        try:
            while (event := self.parser.next_event()) is h11.NEED_DATA:
                if self.parser.they_are_waiting_for_100_continue:
                    told = h11.InformationalResponse(status_code=100, headers=[], reason=b"Continue")
                    await self.connection.write(self.parser.send(told) or b"")
                self.parser.receive_data(await self.connection.receive())
        except h11.RemoteProtocolError as error:
            raise HttpRefusal(400, str(error)) from None
        return event if isinstance(event, h11.Event) else None

    async def read_head(self) -> HttpRequest:
        event = await self._next_event()
        if not isinstance(event, h11.Request):
            raise HttpRefusal(400, "no request")
        headers: dict[str, str] = {}
        for name, value in event.headers:
            headers.setdefault(text_of(name), text_of(value))
        if int(headers.get("content-length", "0")) > self.most:
            raise too_large(self.most)
        return HttpRequest(text_of(event.method), text_of(event.target).partition("?")[0], headers)

    async def read_body(self) -> bytes:
        body = bytearray()
        for _ in range(MOST_PIECES):
            event = await self._next_event()
            if not isinstance(event, h11.Data):
                self.connection.complete = not self.parser.trailing_data[0]
                return bytes(body)
            body += event.data
            if len(body) > self.most:
                raise too_large(self.most)
            self.connection.hold(len(body))
        raise HttpRefusal(400, "too many chunks")


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


class Rspamd(Service[HttpRequest]):
    def refusal_answer(self, refusal: Refusal) -> bytes:
        why = "see the log of the server" if refusal.kind == FAILED else str(refusal)
        return json_response({"error": why}, getattr(refusal, "status", STATUSES[refusal.kind]))

    async def read(self, connection: Connection, asked: Asked) -> HttpRequest:
        reader = RequestReader(connection, self.options.max_size)
        request = await reader.read_head()
        self._check(request, connection.peer)
        if request.path in LESSONS:
            self.check_teaching()
        asked.user = self.judge.user_of(request.first_of("deliver-to", "rcpt", "user").strip("<>"))
        raw = await reader.read_body()
        if "compression" in request.headers:
            raw = decompressed_message(raw, self.options.max_size)
        asked.raw = raw
        return request

    async def answer(self, request: HttpRequest, asked: Asked) -> bytes:
        if request.path == METRICS:
            return response(self.judge.counters.text(), PROMETHEUS)
        if request.path == "/ping":
            return response("pong\r\n", PLAIN)
        if request.path not in LESSONS:
            return self._judge(asked.raw, asked.user)
        if not asked.raw:
            raise HttpRefusal(400, "Empty body is not permitted")
        await self.teach(asked, LESSONS[request.path])
        return json_response({"success": True})

    def _check(self, request: HttpRequest, peer: int | None) -> None:
        """Refuse who may not ask, and what cannot be asked here."""
        if "origin" in request.headers:
            raise HttpRefusal(403, "web pages may not ask")
        if peer is None and not is_here(request.headers.get("host", "")):
            raise HttpRefusal(421, "ask localhost or an address of this machine")
        if request.path not in PATHS:
            raise HttpRefusal(404, f"not found: {escaped(request.path)}")
        if request.path in WITH_MESSAGE and request.method != "POST":
            raise HttpRefusal(405)

    def _judge(self, raw: bytes, user: str) -> bytes:
        start = perf_counter()
        judged = self.judge.classify(raw, user, with_evidence=True)
        verdict, style_and_name = judged.verdict, self.judge.header()[:2]
        name, points = symbol(verdict.label), verdict.points
        evidence = strongest_evidence(verdict, judged.features)
        answer = {
            "is_skipped": False,
            "score": points,
            "required_score": REQUIRED,
            "action": (REJECT if self.options.reject else ADD_HEADER) if verdict.label == SPAM else NO_ACTION,
            "symbols": {
                name: {
                    "name": name,
                    "score": points,
                    "metric_score": points,
                    "description": description(verdict),
                    "options": [f"{token} {strength:.2f}" for strength, token in evidence],
                }
            },
            "messages": {},
            "message-id": printable(envelope_of(judged.message).message_id.strip().strip("<>")) or "undef",
            "milter": milter_block(verdict, *style_and_name),
        }
        seconds = perf_counter() - start
        who = {"user": user, "model": judged.model}
        self.log.judged(verdict, len(raw), judged.message, seconds, "checkv2", **who)
        return json_response(answer | {"time_real": round(seconds, 6)})


def is_here(host: str) -> bool:
    """Tell whether a Host header has an address, or localhost: no name that another site can lead here."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    try:
        return name.lower() in ("", LOCALHOST) or bool(ip_address(name))
    except ValueError:
        return False


def decompressed_message(packed: bytes, most: int) -> bytes:
    """Decompress a message, of one frame: a thousand empty ones would take the time of a large message."""
    try:
        new = decompressor_for(packed[:10])
        decompressor = new() if new else None
        raw = decompressor.decompress(packed, most + 1) if decompressor else packed
    except Exception as error:  # each library has its own
        raise HttpRefusal(400, f"damaged compression: {error}") from None
    if len(raw) > most:
        raise too_large(most)
    if decompressor and (not decompressor.eof or decompressor.unused_data):
        raise HttpRefusal(400, "damaged compression: it ends too early, or something follows")
    return raw


def description(verdict: Verdict) -> str:
    decided = f", {printable(verdict.reason)}" if verdict.reason else ""
    return f"score {score_text(verdict.score)}, probability {verdict.probability:.4f}{decided}"


def milter_block(verdict: Verdict, style: str, header: str) -> dict[str, Any]:
    """Headers to remove, all of a name (0), and to add in front, as a mail server is told to."""
    fields = (field.partition(":") for field in header_fields(verdict, style, header))
    return {
        "remove_headers": {name.decode(): 0 for name in header_names(style, header)},
        "add_headers": {name: {"value": value.strip(), "order": 0} for name, _, value in fields},
    }
