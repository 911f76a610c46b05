"""The protocol of SpamAssassin's spamd, as spamc and its other clients use it.

A connection has one request (command and protocol version, headers, mostly a message), then one answer.
"""

import zlib
from collections.abc import Generator
from time import perf_counter

from spamnb.bayes.verdict import REQUIRED, Verdict
from spamnb.delivery.log_line import escaped
from spamnb.errors import SpamnbError
from spamnb.files import printable
from spamnb.labels import HAM, SPAM
from spamnb.passthrough import header_end, passed_through
from spamnb.reading.features import Features
from spamnb.serve.conversation import Conversation, Incoming
from spamnb.serve.judge import Judge
from spamnb.serve.learning import LearningQueue
from spamnb.serve.log import Log
from spamnb.serve.metrics import FAILED, PROTOCOL, REFUSED, TIMEOUT
from spamnb.serve.options import Options
from spamnb.store.changes import FORGOTTEN, LEARNED, MOVED

OK = b"SPAMD/1.1 0 EX_OK\r\n"
REPORTED_TOKENS = 15
LONGEST_TOKEN = 60  # characters shown in a report


def answer(
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
        return symbol(verdict).encode()
    if command == b"REPORT_IFSPAM" and verdict.label != SPAM:
        return b""
    return report(verdict, features).encode()


def length_header(message: bytes) -> bytes:
    return b"Content-length: %d\r\n" % len(message)


def head_of(message: bytes) -> bytes:
    """Header of a message, with the empty line that ends it."""
    end = header_end(message, 0)
    return message[: message.find(b"\n", end) + 1 or len(message)]


def symbol(verdict: Verdict) -> str:
    """Name of the verdict in the style of SpamAssassin's tests: SPAMNB_HAM, SPAMNB_SPAM, SPAMNB_UNSURE."""
    return "SPAMNB_" + "".join(c if c.isascii() and c.isalnum() else "_" for c in verdict.label).upper()


def report(verdict: Verdict, features: Features) -> str:
    """Text of the verdict and its strongest evidence, for people to read."""
    named = [(item.strength, features.text_of(item.feature)) for item in verdict.evidence]
    strongest = sorted(named, key=lambda item: (-item[0], item[1]))[:REPORTED_TOKENS]
    lines = [
        f"spamnb says {verdict.label}: {verdict.points:.1f} points, {REQUIRED:.1f} required",
        f"(score {verdict.score:.4f}, probability {verdict.probability:.4f})",
        *([f"(the list of senders decided: {printable(verdict.reason)})"] if verdict.reason else []),
        "",
        *(f"{strength:6.2f}  {printable(token[:LONGEST_TOKEN])}" for strength, token in strongest),
    ]
    return "".join(f"{line}\n" for line in lines)


JUDGING = (b"CHECK", b"SYMBOLS", b"REPORT", b"REPORT_IFSPAM", b"PROCESS", b"HEADERS")
REPORTING = (b"REPORT", b"REPORT_IFSPAM")
COMMANDS = (*JUDGING, b"TELL", b"PING", b"SKIP")
MOST_HEADERS = 255
LONGEST_LINE = 8192  # bytes
EX_PROTOCOL, EX_UNAVAILABLE, EX_TIMEOUT = 76, 69, 79  # codes that spamd answers with


class Refusal(Exception):
    """Error as an answer: its kind for the metrics, code and text for the client, and reason for the log."""

    def __init__(self, kind: str, code: int, text: str, reason: str = "") -> None:
        super().__init__(text)
        self.kind = kind
        self.code = code
        self.reason = reason or text


def bad_header(why: str) -> Refusal:
    return Refusal(PROTOCOL, EX_PROTOCOL, f"Bad header line: {why}")


def unavailable(why: str) -> Refusal:
    return Refusal(REFUSED, EX_UNAVAILABLE, f"Service Unavailable: {why}")


def timed_out(seconds: float) -> Refusal:
    return Refusal(TIMEOUT, EX_TIMEOUT, f"Timeout: ({seconds:g} second timeout reading input from client)")


def failed(why: str) -> Refusal:
    """Refuse for now, whatever went wrong: no error of ours is a reason to send mail back."""
    return Refusal(FAILED, SpamnbError.exit_code, "Temporary failure: see the log of the server", why)


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
            raise unavailable("Compress requires Content-length header")


HEADERS = {
    b"content-length": Request._read_length,
    b"user": Request._read_user,
    b"compress": Request._read_compression,
    b"message-class": Request._read_label,
    b"set": Request._read_set,
    b"remove": Request._read_remove,
}


class Spamd:
    """Answers requests: judges, and learns where that is allowed."""

    def __init__(self, judge: Judge, learning: LearningQueue, log: Log, options: Options) -> None:
        self.judge = judge
        self.learning = learning
        self.log = log
        self.options = options

    def handle(self, incoming: Incoming) -> Conversation:
        try:
            return (yield from self._answer(incoming))
        except Refusal as refusal:
            return self._refuse(refusal)
        except TimeoutError:
            return self._refuse(timed_out(self.options.timeout))
        except SpamnbError as error:
            return self._refuse(failed(str(error)))
        except Exception as error:  # whatever a message does, it gets an answer
            self.log.unexpected(error)
            return self._refuse(failed("this message could not be answered"))

    def _refuse(self, refusal: Refusal) -> bytes:
        self.judge.counters.count(refusal.kind)
        self.log.refused(refusal.reason)
        return f"SPAMD/1.0 {refusal.code} {refusal}\r\n".encode("ascii")

    def _answer(self, incoming: Incoming) -> Conversation:
        request = yield from self._read_request(incoming)
        if request.command in (b"PING", b"SKIP"):
            incoming.complete = not incoming
            return b"SPAMD/1.5 0 PONG\r\n" if request.command == b"PING" else b""
        request.check()
        if request.command == b"TELL" and not self.options.allow_tell:
            raise unavailable("TELL commands are not enabled, set the --allow-tell switch.")
        raw = yield from self._read_message(request, incoming)
        start = perf_counter()
        if request.command == b"TELL":
            return (yield from self._tell(request, raw, start, incoming.peer))
        judged = self.judge.classify(raw, request.user, request.command in REPORTING)
        reply = answer(
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
        for _ in range(MOST_HEADERS + 1):
            line = yield from incoming.read_line(LONGEST_LINE)
            if line is None:
                raise bad_header("(EOF during headers)" if incoming.ended else "(line too long)")
            if not line:
                return request
            request.add_header(line)
        raise bad_header("(too many headers)")

    def _read_message(self, request: Request, incoming: Incoming) -> Generator[None, None, bytes]:
        most, length = self.options.max_size, request.length
        if length is not None and length > most:
            raise unavailable(f"the message has {length} bytes, and at most {most} are taken")
        raw = yield from incoming.read_up_to(most + 1 if length is None else length)
        got = len(raw)
        if length is not None and not raw.endswith(b"\n") and not request.compressed:
            got += incoming.rest_of_line_size()  # as spamd counts, which reads whole lines
        if length is not None and got != length:
            raise bad_header(f"(Content-Length mismatch: Expected {length} bytes, got {got} bytes)")
        if request.compressed:
            raw = decompressed(raw, most)
        if len(raw) > most:
            raise unavailable(f"the message has more than the {most} bytes that are taken")
        incoming.complete = not incoming
        incoming.clear()
        return raw

    def _tell(self, request: Request, raw: bytes, start: float, peer: int | None) -> Conversation:
        done: dict[bytes, list[bytes]] = {}
        if request.set or request.remove:
            label = request.label if request.set else None
            model = self.judge.model_to_teach(request.user)
            if model is None:
                raise unavailable("this user has no model, see --create-user-models and --teach-shared.")
            if not (self.options.allow_tell_all or self.judge.may_teach(peer, request.user, model)):
                raise unavailable("this model is another user's, see --allow-tell-all.")
            shared = self.judge.shared.path
            own = shared if model != shared else None
            task = self.learning.add(model, raw, label, self.options.create_user_models, own)
            yield task.result_reader
            outcome = self.learning.finish(task)
            self.judge.counters.count(outcome)
            seconds = perf_counter() - start
            self.log.learned(outcome, label, raw, seconds, user=request.user, model=model)
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
        raise unavailable(f"zlib: {error}") from None
    if not stream.eof and len(raw) <= most:
        raise unavailable("zlib: failed to find end of zlib stream")
    return raw
