"""The protocol of SpamAssassin's spamd, as spamc and the others that call it speak it.

One request a connection: a command with its version, headers, and for most a message; then one answer.
"""

from __future__ import annotations

import zlib
from time import perf_counter
from typing import TYPE_CHECKING

from spamnb.counts.outcomes import FORGOTTEN, LEARNED, MOVED
from spamnb.errors import SpamnbError
from spamnb.serve.answers import answer
from spamnb.serve.log import escaped
from spamnb.serve.metrics import FAILED, PROTOCOL, REFUSED, TIMEOUT
from spamnb.verdict import HAM, SPAM

if TYPE_CHECKING:
    from collections.abc import Generator

    from spamnb.serve.conversation import Conversation, Incoming
    from spamnb.serve.judge import Judge
    from spamnb.serve.lessons import School
    from spamnb.serve.log import Log
    from spamnb.serve.options import Options

JUDGING = (b"CHECK", b"SYMBOLS", b"REPORT", b"REPORT_IFSPAM", b"PROCESS", b"HEADERS")
COMMANDS = (*JUDGING, b"TELL", b"PING", b"SKIP")
MOST_HEADERS = 255
LONGEST_LINE = 8192


class Refusal(Exception):
    """A request that gets an error for an answer: its code from sysexits, what the client hears, and why."""

    def __init__(self, kind: str, code: int, said: str, reason: str = "") -> None:
        super().__init__(said)
        self.kind = kind
        self.code = code
        self.reason = reason or said


def bad_header(why: str) -> Refusal:
    return Refusal(PROTOCOL, 76, f"Bad header line: {why}")


def unavailable(why: str) -> Refusal:
    return Refusal(REFUSED, 69, f"Service Unavailable: {why}")


def late(seconds: float) -> Refusal:
    return Refusal(TIMEOUT, 79, f"Timeout: ({seconds:g} second timeout reading input from client)")


def failed(why: str) -> Refusal:
    """A client may try again, whatever it was: no error of ours is a reason to send a mail back."""
    return Refusal(FAILED, SpamnbError.exit_code, "Temporary failure: see the log of the server", why)


class Request:
    """The head of a request: command, version and headers."""

    def __init__(self, line: bytes) -> None:
        command, _, version = line.partition(b" SPAMC/")
        if command not in COMMANDS or not version.replace(b".", b"", 1).isdigit():
            raise bad_header(escaped(line.decode("utf-8", "surrogateescape"), keep=" "))
        self.command = command
        self.version = float(version)
        self.length: int | None = None
        self.user = ""
        self.compressed = False
        self.label = ""  # what to learn the message as
        self.set = self.remove = False  # learn it, or forget it

    @property
    def has_headers(self) -> bool:
        """As old as 1.0 there were none; a PING has its end of them since 1.5."""
        return self.command == b"TELL" or self.version >= (1.1 if self.command in JUDGING else 1.5)

    def add(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        if not colon:
            raise bad_header("(header not in 'Name: value' format)")
        known = HEADERS.get(name.strip().lower())
        if known:
            known(self, value.strip())

    def _content_length(self, value: bytes) -> None:
        if not value.isdigit() or len(value) > 18:
            raise bad_header("(Content-Length contains non-numeric bytes)")
        self.length = int(value)

    def _user(self, value: bytes) -> None:
        if any(byte < 0x20 or byte == 0x7F for byte in value):
            raise bad_header("(User header contains control chars)")
        self.user = value.decode("utf-8", "surrogateescape")

    def _compress(self, value: bytes) -> None:
        if value.lower() != b"zlib":
            kind = escaped(value.decode("utf-8", "surrogateescape"))
            raise bad_header(f"(compression type not supported: {kind})")
        self.compressed = True

    def _message_class(self, value: bytes) -> None:
        self.label = value.decode("latin-1").lower()
        if self.label not in (SPAM, HAM):
            raise bad_header("(Message-class header contains invalid class)")

    def _set(self, value: bytes) -> None:
        self.set = b"local" in value.lower()  # the model; what is remote does not concern us

    def _remove(self, value: bytes) -> None:
        self.remove = b"local" in value.lower()

    def check(self) -> None:
        """That the headers make sense together."""
        if self.set and self.remove:
            raise bad_header("Unable to set local and remove local in the same operation.")
        if self.set and not self.label:
            raise bad_header("(Message-class header contains invalid class)")
        if self.compressed and self.length is None:
            raise unavailable("Compress requires Content-length header")


HEADERS = {
    b"content-length": Request._content_length,
    b"user": Request._user,
    b"compress": Request._compress,
    b"message-class": Request._message_class,
    b"set": Request._set,
    b"remove": Request._remove,
}


class Spamd:
    """Answers requests: judges, and learns where that is allowed."""

    def __init__(self, judge: Judge, school: School, log: Log, options: Options) -> None:
        self.judge = judge
        self.school = school
        self.log = log
        self.options = options

    def talk(self, incoming: Incoming) -> Conversation:
        try:
            return (yield from self._answer(incoming))
        except Refusal as refusal:
            return self._refused(refusal)
        except TimeoutError:
            return self._refused(late(self.options.timeout))
        except SpamnbError as error:
            return self._refused(failed(str(error)))
        except Exception as error:  # whatever a message does, it gets an answer
            self.log.unexpected(error)
            return self._refused(failed("this message could not be answered"))

    def _refused(self, refusal: Refusal) -> bytes:
        self.judge.counters.count(refusal.kind)
        self.log.refused(refusal.reason)
        return f"SPAMD/1.0 {refusal.code} {refusal}\r\n".encode("ascii")

    def _answer(self, incoming: Incoming) -> Conversation:
        request = yield from self._request(incoming)
        if request.command in (b"PING", b"SKIP"):
            incoming.complete = not incoming
            return b"SPAMD/1.5 0 PONG\r\n" if request.command == b"PING" else b""
        request.check()
        if request.command == b"TELL" and not self.options.allow_tell:
            raise unavailable("TELL commands are not enabled, set the --allow-tell switch.")
        raw = yield from self._message(request, incoming)
        start = perf_counter()
        if request.command == b"TELL":
            return (yield from self._tell(request, raw, start))
        verdict, features = self.judge.classify(raw, request.user)
        said = answer(request.command, request.version, verdict, features, raw, self.options.header_style)
        self.log.judged(verdict, raw, request.user, perf_counter() - start, request.command.decode())
        return said

    def _request(self, incoming: Incoming) -> Generator[None, None, Request]:
        line = yield from incoming.line(LONGEST_LINE)
        if line is None:
            raise bad_header("(line too long)" if incoming else "(closed before headers)")
        request = Request(line)
        if not request.has_headers:
            return request
        for _ in range(MOST_HEADERS + 1):
            line = yield from incoming.line(LONGEST_LINE)
            if line is None:
                raise bad_header("(EOF during headers)" if incoming.ended else "(line too long)")
            if not line:
                return request
            request.add(line)
        raise bad_header("(too many headers)")

    def _message(self, request: Request, incoming: Incoming) -> Generator[None, None, bytes]:
        most, length = self.options.max_size, request.length
        if length is not None and length > most:
            raise unavailable(f"the message has {length} bytes, and at most {most} are taken")
        raw = yield from incoming.up_to(most + 1 if length is None else length)
        got = len(raw)
        if length is not None and not raw.endswith(b"\n") and not request.compressed:
            got += incoming.rest_of_line()
        if length is not None and got != length:
            raise bad_header(f"(Content-Length mismatch: Expected {length} bytes, got {got} bytes)")
        if request.compressed:
            raw = inflated(raw, most)
        if len(raw) > most:
            raise unavailable(f"the message has more than the {most} bytes that are taken")
        incoming.complete = not incoming
        incoming.clear()
        return raw

    def _tell(self, request: Request, raw: bytes, start: float) -> Conversation:
        done = b""
        if request.set or request.remove:
            label = request.label if request.set else None
            lesson = self.school.begin(self.judge.path(request.user), raw, label)
            yield lesson
            outcome = self.school.end(lesson)
            self.judge.counters.count(outcome)
            self.log.learned(outcome, label, raw, request.user, perf_counter() - start)
            if outcome in (LEARNED, MOVED, FORGOTTEN):
                done = b"DidSet: local\r\n" if request.set else b"DidRemove: local\r\n"
        return b"SPAMD/1.1 0 EX_OK\r\n" + done + b"\r\n\r\n"


def inflated(packed: bytes, most: int) -> bytes:
    """A message unpacked, one byte more than `most` at the most."""
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(packed, most + 1)
    except zlib.error as error:
        raise unavailable(f"zlib: {error}") from None
    if not stream.eof and len(raw) <= most:
        raise unavailable("zlib: failed to find end of zlib stream")
    return raw
