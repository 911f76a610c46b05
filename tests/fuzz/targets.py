"""What is fuzzed: a check, and the bytes that a search starts from."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from fuzz import file_checks, imap_checks, mail_checks
from fuzz.attached import FILES
from fuzz.families import BOX, ENVELOPE, FAMILIES
from fuzz.file_checks import JOURNAL, SPAM, sound_model
from helpers.paths import GOLDEN, SPAMASSASSIN

from spamnb.core.native import known_codecs, read
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import messages

MADE = 1000  # bytes of a message that is made
FEW, MANY = 60, 1000  # messages of a corpus, and of a folder that somebody names

REQUESTS = [
    b"PING SPAMC/1.5\r\n\r\n",
    b"SYMBOLS SPAMC/1.2\r\n\r\n" + SPAM,
    b"REPORT_IFSPAM SPAMC/1.5\r\nUser: ann\r\nContent-length: %d\r\n\r\n" % len(SPAM) + SPAM,
    b"REPORT SPAMC/1.3\r\nCompress: zlib\r\nContent-length: %d\r\n\r\n" % len(zlib.compress(SPAM))
    + zlib.compress(SPAM),
    b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local, remote\r\n\r\n" + SPAM,
]
HOST = b" HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /checkv2" + HOST
HTTP_REQUESTS = [
    b"GET /ping HTTP/1.0\r\n\r\n",
    b"GET /metrics?x=y" + HOST + b"Password: x\r\n\r\n",
    POST + b"User: ann\r\nRcpt: <bob@b.example>\r\nContent-Length: %d\r\n\r\n" % len(SPAM) + SPAM,
    POST + b"Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n%x;a=b\r\n" % len(SPAM)
    + SPAM + b"\r\n0\r\nA: b\r\n\r\n",
    b"POST /learnspam" + HOST + b"Content-Length: 1\r\n\r\nx",
]  # fmt: skip
ADDRESSES = [
    *(b"Ann <ann@a.example>", b'"Ann, B" <ann@a.example> (c)', b"ann@a.example (<b@c.example>)", b"a: b@c;"),
    *(b"=?utf-8?q?=3Ca=40b=3E?= <c@d.example>", b'"a"@[192.0.2.1]', b"a@b, c@d", "jö@köln.example".encode()),
]


class Target(NamedTuple):
    check: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    largest: int = 1024  # bytes: the smaller, the more are tried


def mail() -> Iterator[bytes]:
    """Real messages, made ones, and those of a folder that FUZZ_SEEDS may name."""
    for path in sorted(GOLDEN.glob("*.eml")):
        yield path.read_bytes()
    for kind, family in FAMILIES.items():
        yield from (make(MADE) for make in family.values() if kind != BOX)
    for path in sorted(SPAMASSASSIN.glob("*.mbox.xz")):
        yield from found(str(path), FEW)
    if named := os.environ.get("FUZZ_SEEDS"):
        yield from found(named, MANY)


def found(path: str, most: int) -> Iterator[bytes]:
    return islice((one.data for one in messages([path]) if isinstance(one, RawMessage)), most)


def bodies() -> Iterator[bytes]:
    """What follows the header block, in charsets and encodings of all kinds."""
    for raw in mail():
        yield raw.partition(b"\n\n")[2][:MADE]
    for number, name in enumerate(known_codecs()):
        yield bytes([number]) + "Schöne Grüße, привет, 你好, こんにちは, 안녕".encode(name, "replace")


def pages() -> Iterator[bytes]:
    for raw in mail():
        for part in read(raw).leaves:
            if part.content_type == "text/html" and part.text:
                yield part.text.encode()


def mailboxes() -> Iterator[bytes]:
    yield from (make(MADE) for make in FAMILIES[BOX].values())
    for number, raw in enumerate(mail()):
        envelope = ENVELOPE + b"Content-Length: %d\n" % len(raw) if number % 2 else ENVELOPE
        yield envelope + raw + b"\n\n" + ENVELOPE + raw + b"\n"


def models() -> Iterator[bytes]:
    path = sound_model()
    whole = Path(path).read_bytes() + JOURNAL + Path(path + ".journal").read_bytes()
    yield from (b"\x00" + whole, b"\xff" + whole)


def in_pieces(requests: list[bytes]) -> list[bytes]:
    return [piece + request for request in requests for piece in (b"\x06", b"\xff")]


TARGETS = {
    "message": Target(mail_checks.message, mail),
    "charset": Target(mail_checks.charset, bodies),
    "words": Target(mail_checks.words, mail),
    "markup": Target(mail_checks.markup, pages),
    "attachment": Target(mail_checks.attachment, lambda: [make(MADE)[0] for make in FILES.values()], 4096),
    "mailbox": Target(mail_checks.mailbox, mailboxes),
    "address": Target(mail_checks.address, lambda: ADDRESSES, 256),
    "model": Target(file_checks.model, models, 8192),
    "spamd": Target(file_checks.spamd, lambda: in_pieces(REQUESTS)),
    "rspamd": Target(file_checks.rspamd, lambda: in_pieces(HTTP_REQUESTS)),
    "imap": Target(imap_checks.imap, lambda: imap_checks.SESSIONS, 4096),
}
