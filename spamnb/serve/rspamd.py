"""The protocol of rspamd, as rspamc and other clients use it: HTTP, with answers in JSON.

A web page in a browser on this machine could send such requests, too. So requests with a header Origin are
refused, and those to host names except localhost: an attacker may have let these point to this machine.
"""

from __future__ import annotations

import hmac
from ipaddress import ip_address
from time import perf_counter
from typing import Any

from spamnb.bayes.verdict import REQUIRED, Verdict, score_text
from spamnb.delivery.log_line import escaped
from spamnb.errors import NoInput, UsageError
from spamnb.files import printable
from spamnb.labels import HAM, SPAM
from spamnb.passthrough import header_fields, header_names
from spamnb.reading.envelope import envelope_of
from spamnb.serve.clients import Connection
from spamnb.serve.http_requests import (
    HttpRefusal,
    HttpRequest,
    RequestReader,
    json_response,
    response,
)
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


def read_password(path: str) -> str:
    """Read the password that clients must send: the first line of a file."""
    try:
        with open(path) as file:
            password = file.readline().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NoInput(f"--http-password {path}: {error}") from error
    if not password:
        raise UsageError(f"--http-password {path}: no password in the first line of this file")
    return password


class Rspamd(Service[HttpRequest]):
    password = ""  # for clients of a port; at a Unix socket the kernel reports the user

    def refusal_answer(self, refusal: Refusal) -> bytes:
        why = "see the log of the server" if refusal.kind == FAILED else str(refusal)
        return json_response({"error": why}, getattr(refusal, "status", STATUSES[refusal.kind]))

    async def read(self, connection: Connection, asked: Asked) -> HttpRequest:
        reader = RequestReader(connection, self.options.max_size)
        request = await reader.read_head()
        self._check(request, connection.peer)
        if request.path in LESSONS:
            self.check_learning_allowed()
        asked.user = self.judge.user_of(request.first_of("deliver-to", "rcpt", "user").strip("<>"))
        asked.raw = await reader.read_body()
        return request

    async def answer(self, request: HttpRequest, asked: Asked) -> bytes:
        if request.path not in WITH_MESSAGE:
            counters = self.judge.counters.text(self.judge.shared.path) if request.path == METRICS else ""
            return response(counters, PROMETHEUS) if counters else response("pong\r\n", PLAIN)
        if request.path not in LESSONS:
            return self._judge(asked.raw, asked.user)
        if not asked.raw:
            raise HttpRefusal(400, "Empty body is not permitted")
        await self.learn(asked, LESSONS[request.path])
        return json_response({"success": True})

    def _check(self, request: HttpRequest, peer: int | None) -> None:
        """Raise HttpRefusal if the client or the request is not allowed."""
        if "origin" in request.headers:
            raise HttpRefusal(403, "requests from web pages are refused")
        is_open = peer is not None or self.password or self.options.allow_network
        if not is_open and not is_here(request.headers.get("host", "")):
            raise HttpRefusal(421, "host refused; use localhost or an IP address, or see --allow-network")
        if "compression" in request.headers:
            raise HttpRefusal(415, "compressed messages are not accepted; send them uncompressed")
        if request.path not in PATHS:
            raise HttpRefusal(404, f"not found: {escaped(request.path)}")
        if self.password and peer is None and request.path != "/ping":
            given = request.first_of("password").encode(errors="surrogateescape")
            if not hmac.compare_digest(given, self.password.encode()):
                raise HttpRefusal(401)
        if request.path in WITH_MESSAGE and request.method != "POST":
            raise HttpRefusal(405)

    def _judge(self, raw: bytes, user: str) -> bytes:
        start = perf_counter()
        judged = self.judge.classify(raw, user, with_evidence=True, is_taken=False)
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
        more = {"user": user, "model": judged.path}
        self.log.judged(verdict, len(raw), judged.message, seconds, "checkv2", **more)
        return json_response(answer | {"time_real": round(seconds, 6)})


def is_here(host: str) -> bool:
    """Return whether a Host header is localhost, an IP address or empty: not a name that others control."""
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    try:
        return name.lower() in ("", LOCALHOST) or bool(ip_address(name))
    except ValueError:
        return False


def description(verdict: Verdict) -> str:
    decided = f", {printable(verdict.reason)}" if verdict.reason else ""
    return f"score {score_text(verdict.score)}, probability {verdict.probability:.4f}{decided}"


def milter_block(verdict: Verdict, style: str, header: str) -> dict[str, Any]:
    """Return headers for a mail server to remove (0: all of that name), and headers to add at the top."""
    fields = (field.partition(":") for field in header_fields(verdict, style, header))
    return {
        "remove_headers": {name.decode(): 0 for name in header_names(style, header)},
        "add_headers": {name: {"value": value.strip(), "order": 0} for name, _, value in fields},
    }
