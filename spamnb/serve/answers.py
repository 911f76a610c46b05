"""Answers of spamd about a judged message, as bytes."""

from spamnb.bayes.verdict import REQUIRED, Verdict
from spamnb.delivery.passthrough import header_end, passed_through
from spamnb.files import printable
from spamnb.labels import SPAM
from spamnb.reading.features import Features

OK = b"SPAMD/1.1 0 EX_OK\r\n"
REPORTED_TOKENS = 15
LONGEST_TOKEN = 60  # characters shown in a report


def answer(
    command: bytes, version: float, verdict: Verdict, features: Features, raw: bytes, style: str
) -> bytes:
    """Answer as the client's version expects: from 1.2 on a length, from 1.3 on a score with a message."""
    score = b"Spam: %s\r\n" % spam_header(
        verdict, (b"Yes", b"No") if command == b"REPORT_IFSPAM" else (b"True", b"False")
    )
    if command == b"CHECK":
        return OK + score + b"\r\n"
    if command in (b"PROCESS", b"HEADERS"):
        message = passed_through(raw, verdict, style)
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


def spam_header(verdict: Verdict, yes_no: tuple[bytes, bytes]) -> bytes:
    """Value of the Spam header: `True ; 12.3 / 5.0`."""
    is_spam = yes_no[0] if verdict.label == SPAM else yes_no[1]
    return is_spam + f" ; {verdict.points:.1f} / {REQUIRED:.1f}".encode()


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
        "",
        *(f"{strength:6.2f}  {printable(token[:LONGEST_TOKEN])}" for strength, token in strongest),
    ]
    return "".join(f"{line}\n" for line in lines)
