"""The protocol of SpamAssassin's spamd, as spamc and its other clients use it.

A connection has one request (command and protocol version, headers, mostly a message), then one answer.
"""

import zlib
from collections.abc import Generator
from time import perf_counter

from spamnb.bayes.verdict import REQUIRED, Verdict, score_text
from spamnb.delivery.log_line import escaped
from spamnb.files import printable
from spamnb.labels import HAM, SPAM
from spamnb.passthrough import header_end, passed_through
from spamnb.reading.features import Features
from spamnb.serve.conversation import Conversation, Incoming
from spamnb.serve.metrics import FAILED, PROTOCOL, REFUSED, TIMEOUT
from spamnb.serve.service import (
    LONGEST_LINE,
    Asked,
    Refusal,
    Service,
    read_headers,
    strongest_evidence,
    symbol,
)
from spamnb.store.changes import FORGOTTEN, LEARNED, MOVED

OK = b"SPAMD/1.1 0 EX_OK\r\n"
REFUSALS = {
    PROTOCOL: "76 Bad header line: {}",
    REFUSED: "69 Service Unavailable: {}",
    TIMEOUT: "79 Timeout: {}",
    FAILED: "75 Temporary failure: see the log of the server",  # no reason to send mail back
}


def answer_to(
    command: bytes,
    version: float,
    verdict: Verdict,
    features: Features,
    raw: bytes,
    header: tuple[str, str, str],
) -> bytes:
    """Answer as the client's version expects: from 1.2 on a length, from 1.3 on a score with a message."""
    yes, no = (b"Yes", b"No") if command == b"REPORT_IFSPAM" else (b"True", b"False")
    points = f"{verdict.points:.1f} / {REQUIRED:.1f}".encode()
    score = b"Spam: %s ; %s\r\n" % (yes if verdict.label == SPAM else no, points)
    if command == b"CHECK":
        return OK + score + b"\r\n"
    if command in (b"PROCESS", b"HEADERS"):
        message = passed_through(raw, verdict, *header)
        if command == b"HEADERS":
            message = head_of(message)
        if version < 1.2:
            return b"SPAMD/1.0 0 EX_OK\r\n" + message
        return b"".join((OK, length_header(message), score if version >= 1.3 else b"", b"\r\n", message))
    text = text_answer(command, verdict, features)
    if version < 1.3:
        return OK + score + b"\r\n" + text + (b"\r\n" if command == b"SYMBOLS" else b"")
    return OK + length_header(text) + score + b"\r\n" + text


def text_answer(command: bytes, verdict: Verdict, features: Features) -> bytes:
    if command == b"SYMBOLS":
        return symbol(verdict.label).encode()
    if command == b"REPORT_IFSPAM" and verdict.label != SPAM:
        return b""
    return report(verdict, features).encode()


def length_header(message: bytes) -> bytes:
    return b"Content-length: %d\r\n" % len(message)


def head_of(message: bytes) -> bytes:
    """Header of a message, with the empty line that ends it."""
    end = header_end(message, 0)
    return message[: message.find(b"\n", end) + 1 or len(message)]


def report(verdict: Verdict, features: Features) -> str:
    """Text of the verdict and its strongest evidence, for people to read."""
    lines = [
        f"spamnb says {verdict.label}: {verdict.points:.1f} points, {REQUIRED:.1f} required",
        f"(score {score_text(verdict.score)}, probability {verdict.probability:.4f})",
        *([f"(the list of senders decided: {printable(verdict.reason)})"] if verdict.reason else []),
        "",
        *(f"{strength:6.2f}  {token}" for strength, token in strongest_evidence(verdict, features)),
    ]
    return "".join(f"{line}\n" for line in lines)


JUDGING = (b"CHECK", b"SYMBOLS", b"REPORT", b"REPORT_IFSPAM", b"PROCESS", b"HEADERS")
REPORTING = (b"REPORT", b"REPORT_IFSPAM")
COMMANDS = (*JUDGING, b"TELL", b"PING", b"SKIP")


def bad_header(why: str) -> Refusal:
    return Refusal(PROTOCOL, why)


class Request:
    """The head of a request: command, version and headers."""

    def __init__(self, line: bytes) -> None:
        command, _, version = line.partition(b" SPAMC/")
        if command not in COMMANDS or not version.replace(b".", b"", 1).isdigit():
            raise bad_header(escaped(line.decode("utf-8", "surrogateescape"), keep=" "))
        self.command = command
        self.version = float(version)
        self.length: int | None = None  # of the message; None if it ends when the client stops sending
        self.user = ""
        self.compressed = False
        self.label = ""  # what to learn the message as
        self.set = self.remove = False  # whether to learn the message, and whether to forget it
        self.remote = b""  # DidSet or DidRemove, of which `spamc -C` looks for `remote` in the answer

    @property
    def has_headers(self) -> bool:
        """Whether headers follow: always for TELL, from version 1.1 on to judge, else from 1.5 on."""
        return self.command == b"TELL" or self.version >= (1.1 if self.command in JUDGING else 1.5)

    def add_header(self, line: bytes) -> None:
        name, colon, value = line.partition(b":")
        if not colon:
            raise bad_header("(header not in 'Name: value' format)")
        if read := HEADERS.get(name.strip().lower()):
            read(self, value.strip())

    def _read_length(self, value: bytes) -> None:
        if not value.isdigit() or len(value) > 18:  # digits, more than any size has
            raise bad_header("(Content-Length contains non-numeric bytes)")
        self.length = int(value)

    def _read_user(self, value: bytes) -> None:
        if any(byte < 0x20 or byte == 0x7F for byte in value):
            raise bad_header("(User header contains control chars)")
        self.user = value.decode("utf-8", "surrogateescape")

    def _read_compression(self, value: bytes) -> None:
        if value.lower() != b"zlib":
            kind = escaped(value.decode("utf-8", "surrogateescape"))
            raise bad_header(f"(compression type not supported: {kind})")
        self.compressed = True

    def _read_label(self, value: bytes) -> None:
        self.label = value.decode("latin-1").lower()
        if self.label not in (SPAM, HAM):
            raise bad_header("(Message-class header contains invalid class)")

    def _read_set(self, value: bytes) -> None:
        self.set = self._names_us(value, b"DidSet")

    def _read_remove(self, value: bytes) -> None:
        self.remove = self._names_us(value, b"DidRemove")

    def _names_us(self, value: bytes, answer: bytes) -> bool:
        """Tell whether `local` is named, which is the model; of `remote` services there are none."""
        if b"remote" in value.lower():
            self.remote = answer
        return b"local" in value.lower()

    def check(self) -> None:
        """Check that the headers make sense together."""
        if self.set and self.remove:
            raise bad_header("Unable to set local and remove local in the same operation.")
        if self.set and not self.label:
            raise bad_header("(Message-class header contains invalid class)")
        if self.compressed and self.length is None:
            raise Refusal(REFUSED, "Compress requires Content-length header")


HEADERS = {
    b"content-length": Request._read_length,
    b"user": Request._read_user,
    b"compress": Request._read_compression,
    b"message-class": Request._read_label,
    b"set": Request._read_set,
    b"remove": Request._read_remove,
}


class Spamd(Service):
    def refusal_answer(self, refusal: Refusal) -> bytes:
        return f"SPAMD/1.0 {REFUSALS[refusal.kind].format(refusal)}\r\n".encode("ascii")

    def answer(self, incoming: Incoming, asked: Asked) -> Conversation:
        request = yield from self._read_request(incoming)
        if request.command in (b"PING", b"SKIP"):
            incoming.complete = not incoming
            return b"SPAMD/1.5 0 PONG\r\n" if request.command == b"PING" else b""
        request.check()
        request.user = asked.user = self.judge.user_of(request.user)
        if request.command == b"TELL":
            self.check_teaching()
        raw = asked.raw = yield from self._read_message(request, incoming)
        if request.command == b"TELL":
            return (yield from self._tell(request, raw, incoming.peer))
        start = perf_counter()
        judged = self.judge.classify(raw, request.user, request.command in REPORTING)
        reply = answer_to(
            request.command, request.version, judged.verdict, judged.features, raw, self.judge.header()
        )
        seconds, command = perf_counter() - start, request.command.decode()
        who = {"user": request.user, "model": judged.model}
        self.log.judged(judged.verdict, len(raw), judged.message, seconds, command, **who)
        return reply

    def _read_request(self, incoming: Incoming) -> Generator[None, None, Request]:
        line = yield from incoming.read_line(LONGEST_LINE)
        if line is None:
            raise bad_header("(line too long)" if incoming else "(closed before headers)")
        request = Request(line)
        if not request.has_headers:
            return request
        for line in (yield from read_headers(incoming)):
            request.add_header(line)
        return request

    def _read_message(self, request: Request, incoming: Incoming) -> Generator[None, None, bytes]:
        most, length = self.options.max_size, request.length
        if length is not None and length > most:
            raise Refusal(REFUSED, f"the message has {length} bytes, and at most {most} are taken")
        raw = yield from incoming.read_up_to(most + 1 if length is None else length)
        got = len(raw)
        if length is not None and not raw.endswith(b"\n") and not request.compressed:
            got += incoming.rest_of_line_size()  # as spamd counts, which reads whole lines
        if length is not None and got != length:
            raise bad_header(f"(Content-Length mismatch: Expected {length} bytes, got {got} bytes)")
        if request.compressed:
            raw = decompressed(raw, most)
        if len(raw) > most:
            raise Refusal(REFUSED, f"the message has more than the {most} bytes that are taken")
        incoming.complete = not incoming
        incoming.clear()
        return raw

    def _tell(self, request: Request, raw: bytes, peer: int | None) -> Conversation:
        done: dict[bytes, list[bytes]] = {}
        if request.set or request.remove:
            label = request.label if request.set else None
            outcome = yield from self.teach(raw, label, request.user, peer)
            if outcome in (LEARNED, MOVED, FORGOTTEN):
                done[b"DidSet" if request.set else b"DidRemove"] = [b"local"]
            if request.remote:
                done.setdefault(request.remote, []).append(b"remote")
        headers = [b"%s: %s\r\n" % (name, b",".join(where)) for name, where in done.items()]
        return b"".join((OK, *headers, b"\r\n\r\n"))


def decompressed(packed: bytes, most: int) -> bytes:
    """Decompress a message, up to one byte more than `most`."""
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(packed, most + 1)
    except zlib.error as error:
        raise Refusal(REFUSED, f"zlib: {error}") from None
    if not stream.eof and len(raw) <= most:
        raise Refusal(REFUSED, "zlib: failed to find end of zlib stream")
    return raw
