"""The protocol of SpamAssassin's spamd, as spamc and other clients use it.

A connection has one request (command and protocol version, headers, usually a message), then one answer.
"""

import zlib
from time import perf_counter

from spamnb.bayes.verdict import REQUIRED, Verdict, score_text
from spamnb.core.native import FeatureSet
from spamnb.delivery.log_line import escaped
from spamnb.files import printable
from spamnb.labels import HAM, SPAM
from spamnb.passthrough import header_end, passed_through
from spamnb.serve.clients import Connection
from spamnb.serve.metrics import FAILED, PROTOCOL, REFUSED, TIMEOUT
from spamnb.serve.service import Asked, Refusal, Service, strongest_evidence, symbol
from spamnb.store.changes import FORGOTTEN, LEARNED, MOVED

MAX_HEADERS = 255
MAX_LINE_LENGTH = 8192  # bytes
OK = b"SPAMD/1.1 0 EX_OK\r\n"
REFUSALS = {
    PROTOCOL: "76 Bad header line: {}",
    REFUSED: "69 Service Unavailable: {}",
    TIMEOUT: "79 Timeout: {}",
    FAILED: "75 Temporary failure: see the log of the server",  # temporary, so that no mail is returned
}


def answer_to(
    command: bytes,
    version: float,
    verdict: Verdict,
    features: FeatureSet,
    raw: bytes,
    header: tuple[str, str, str],
) -> bytes:
    """Return the answer to a command that judges, in the format of the client's protocol version."""
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


def text_answer(command: bytes, verdict: Verdict, features: FeatureSet) -> bytes:
    if command == b"SYMBOLS":
        return symbol(verdict.label).encode()
    if command == b"REPORT_IFSPAM" and verdict.label != SPAM:
        return b""
    return report(verdict, features).encode()


def length_header(message: bytes) -> bytes:
    return b"Content-length: %d\r\n" % len(message)


def head_of(message: bytes) -> bytes:
    """Return the headers of a message, with the empty line that ends them."""
    end = header_end(message, 0)
    return message[: message.find(b"\n", end) + 1 or len(message)]


def report(verdict: Verdict, features: FeatureSet) -> str:
    """Return a text about a verdict and the strongest evidence, for people to read."""
    lines = [
        f"spamnb says {verdict.label}: {verdict.points:.1f} points, {REQUIRED:.1f} required",
        f"(score {score_text(verdict.score)}, probability {verdict.probability:.4f})",
        *([f"(its sender decided: {printable(verdict.reason)})"] if verdict.reason else []),
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
    """The first line of a request (command and version), and its headers."""

    def __init__(self, line: bytes) -> None:
        command, _, version = line.partition(b" SPAMC/")
        if command not in COMMANDS or not version.replace(b".", b"", 1).isdigit():
            raise bad_header(escaped(line.decode("utf-8", "surrogateescape"), keep=" "))
        self.command = command
        self.version = float(version)
        self.length: int | None = None  # of the message; None if it ends when the client stops sending
        self.user = ""
        self.compressed = False
        self.label = ""  # to learn the message under
        self.set = self.remove = False  # whether to learn the message, and whether to forget it
        self.remote = b""  # DidSet or DidRemove; `spamc -C` expects it in the answer

    @property
    def has_headers(self) -> bool:
        """Whether headers follow: always for TELL; to judge from protocol 1.1 on, for others from 1.5 on."""
        return self.command == b"TELL" or self.version >= (1.1 if self.command in JUDGING else 1.5)

    def add_header(self, line: bytes) -> None:
        written, colon, value = line.partition(b":")
        if not colon:
            raise bad_header("(header not in 'Name: value' format)")
        name, value = written.strip().lower(), value.strip()
        text = value.decode("utf-8", "surrogateescape")
        if name == b"content-length":
            if not value.isdigit() or len(value) > 18:  # more digits than any size has
                raise bad_header("(Content-Length contains non-numeric bytes)")
            self.length = int(value)
        elif name == b"user":
            if any(byte < 0x20 or byte == 0x7F for byte in value):
                raise bad_header("(User header contains control chars)")
            self.user = text
        elif name == b"compress":
            if value.lower() != b"zlib":
                raise bad_header(f"(compression type not supported: {escaped(text)})")
            self.compressed = True
        elif name == b"message-class":
            self.label = text.lower()
            if self.label not in (SPAM, HAM):
                raise bad_header("(Message-class header contains invalid class)")
        elif name in (b"set", b"remove"):
            # `local` is the model; `remote` is a database of others, which only the answer names.
            is_set, is_local = name == b"set", b"local" in value.lower()
            self.set, self.remove = (is_local, self.remove) if is_set else (self.set, is_local)
            if b"remote" in value.lower():
                self.remote = b"DidSet" if is_set else b"DidRemove"

    def check(self) -> None:
        """Raise Refusal if headers contradict each other, or if a header needed by another is missing."""
        if self.set and self.remove:
            raise bad_header("Unable to set local and remove local in the same operation.")
        if self.set and not self.label:
            raise bad_header("(Message-class header contains invalid class)")
        if self.compressed and self.length is None:
            raise Refusal(REFUSED, "Compress requires Content-length header")


class Spamd(Service[Request]):
    def refusal_answer(self, refusal: Refusal) -> bytes:
        return f"SPAMD/1.0 {REFUSALS[refusal.kind].format(refusal)}\r\n".encode("ascii")

    async def read(self, connection: Connection, asked: Asked) -> Request:
        line = await connection.read_line(MAX_LINE_LENGTH)
        if line is None:
            raise bad_header("(line too long)" if connection.data else "(closed before headers)")
        request = Request(line)
        if request.has_headers:
            await self._read_headers(request, connection)
        if request.command not in (b"PING", b"SKIP"):
            request.check()
            asked.user = self.judge.user_of(request.user)
            if request.command == b"TELL":
                self.check_learning_allowed()
            asked.raw = await self._read_message(request, connection)
        connection.complete = not connection.data
        return request

    async def _read_headers(self, request: Request, connection: Connection) -> None:
        for _ in range(MAX_HEADERS + 1):
            line = await connection.read_line(MAX_LINE_LENGTH)
            if line is None:
                raise bad_header("(EOF during headers)" if connection.ended else "(line too long)")
            if not line:
                return
            request.add_header(line)
        raise bad_header("(too many headers)")

    async def _read_message(self, request: Request, connection: Connection) -> bytes:
        most, length = self.options.max_size, request.length
        if length is not None and length > most:
            raise Refusal(REFUSED, f"the message has {length} bytes, at most {most} are allowed")
        raw = await connection.read_up_to(most + 1 if length is None else length)
        got = len(raw)
        if length is not None and not raw.endswith(b"\n") and not request.compressed:
            got += len(b"".join(connection.data.partition(b"\n")[:2]))  # like spamd, which reads whole lines
        if length is not None and got != length:
            raise bad_header(f"(Content-Length mismatch: Expected {length} bytes, got {got} bytes)")
        if request.compressed:
            raw = decompressed(raw, most)
        if len(raw) > most:
            raise Refusal(REFUSED, f"the message has more than {most} bytes")
        return raw

    async def answer(self, request: Request, asked: Asked) -> bytes:
        if request.command in (b"PING", b"SKIP"):
            return b"SPAMD/1.5 0 PONG\r\n" if request.command == b"PING" else b""
        if request.command == b"TELL":
            return await self._tell(request, asked)
        start = perf_counter()
        judged = self.judge.classify(asked.raw, asked.user, request.command in REPORTING)
        verdict, header = judged.verdict, self.judge.header()
        reply = answer_to(request.command, request.version, verdict, judged.features, asked.raw, header)
        seconds, command = perf_counter() - start, request.command.decode()
        more = {"user": asked.user, "model": judged.path}
        self.log.judged(verdict, len(asked.raw), judged.message, seconds, command, **more)
        return reply

    async def _tell(self, request: Request, asked: Asked) -> bytes:
        done: dict[bytes, list[bytes]] = {}
        if request.set or request.remove:
            outcome = await self.learn(asked, request.label if request.set else None)
            if outcome in (LEARNED, MOVED, FORGOTTEN):
                done[b"DidSet" if request.set else b"DidRemove"] = [b"local"]
            if request.remote:
                done.setdefault(request.remote, []).append(b"remote")
        headers = [b"%s: %s\r\n" % (name, b",".join(where)) for name, where in done.items()]
        return b"".join((OK, *headers, b"\r\n\r\n"))


def decompressed(packed: bytes, most: int) -> bytes:
    """Decompress a message, but only up to `most` + 1 bytes; raise Refusal if it is damaged."""
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(packed, most + 1)
    except zlib.error as error:
        raise Refusal(REFUSED, f"zlib: {error}") from None
    if not stream.eof and len(raw) <= most:
        raise Refusal(REFUSED, "zlib: failed to find end of zlib stream")
    return raw
