"""The message reader on mail as it should be, as it is, and as nobody should send it."""

import base64

import pytest

from spamnb.core.native import (
    MAX_HEADER_BYTES,
    MAX_LEAVES,
    MAX_NESTING,
    MAX_PARTS,
    MAX_TEXT_BYTES,
    hash_of_message,
    read,
)


def lines(*of: str) -> bytes:
    return "\n".join(of).encode()


def texts(raw: bytes) -> list[tuple[str, str | None]]:
    return [(part.content_type, part.text) for part in read(raw).leaves]


MULTIPART = "Content-Type: multipart/mixed; boundary=b"


@pytest.mark.parametrize("raw", [b"", b"two\n\nparagraphs: here", b"http://a.example/", b"From me to you"])
def test_without_a_header_block_all_is_body(raw: bytes) -> None:
    read_message = read(raw)
    assert (read_message.has_headers, read_message.headers) == (False, [])
    (part,) = read_message.leaves
    assert (part.content_type, part.text, part.size, part.headers) == ("", raw.decode(), len(raw), [])


@pytest.mark.parametrize(
    ("raw", "headers", "text"),
    [
        (b"Subject: hi\r\nTo: a\r\n\r\nbody\r\nmore\r\n", [("subject", "hi"), ("to", "a")], "body\nmore"),
        (b"Subject: hi\rTo: a\r\rbody\r", [("subject", "hi"), ("to", "a")], "body"),
        (b"From a@b\n>From a@b\nSubject: hi\n\nbody", [("subject", "hi")], "body"),
        (b"Subject: hi", [("subject", "hi")], ""),
        (b"\nbody", [], "body"),
        (b"Subject: hi\nbody at once\n\nmore", [("subject", "hi")], "body at once\n\nmore"),
    ],
)
def test_header_block(raw: bytes, headers: list[tuple[str, str]], text: str) -> None:
    read_message = read(raw)
    assert read_message.has_headers
    assert read_message.headers == headers
    assert [(part.content_type, part.text) for part in read_message.leaves] == [("text/plain", text)]


@pytest.mark.parametrize(
    ("value", "content_type"),
    [
        ("TEXT/HTML; charset=x", "text/html"),
        *((value, "text/plain") for value in ("text", "", "a/b/c", "multipart/mixed")),
        ('multipart/mixed; boundary="never used"', "text/plain"),
    ],
)
def test_content_type(value: str, content_type: str) -> None:
    assert texts(lines(f"Content-Type: {value}", "", "body")) == [(content_type, "body")]


@pytest.mark.parametrize(
    ("encoding", "body", "text"),
    [
        ('"BASE64" ', b"Y2Fm\nw6k", "café"),
        ("base64", b"Y2Fmw6k=\n-- \na footer", "café\n-- \na footer"),
        ("quoted-printable", b"caf=C3=A9 =\nau lait=", "café au lait"),
        ("x-uuencode", b"begin 644 a", "begin 644 a"),
    ],
)
def test_transfer_encoding(encoding: str, body: bytes, text: str) -> None:
    head = f"Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: {encoding}\n\n"
    (part,) = read(head.encode() + body).leaves
    assert (part.text, part.size) == (text, len(body.rstrip(b"\n")))


TEXTS = ["text/calendar", "application/xhtml+xml", "message/delivery-status", "text/rfc822-headers"]


@pytest.mark.parametrize("content_type", [*TEXTS, "application/octet-stream", "image/png"])
def test_only_texts_are_decoded(content_type: str) -> None:
    (part,) = read(lines(f"Content-Type: {content_type}", "", "abc")).leaves
    assert (part.text == "abc", part.size) == (content_type != "image/png", 3)


def test_multipart() -> None:
    body = "preamble|--b|Content-Type: text/html||<p>one||--b  ||two|--b--|epilogue|--b||not a part"
    raw = lines("Subject: hi", MULTIPART, "", *body.split("|"))
    parts = [("text/html", "<p>one\n"), ("text/plain", "two")]
    assert texts(raw) == parts
    assert texts(raw.replace(b"\n", b"\r\n")) == parts
    assert [part.headers for part in read(raw).leaves] == [[("content-type", "text/html")], []]
    assert [part.size for part in read(raw).leaves] == [7, 3]


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        # never closed, cut off at each place
        ("--b||one", ["one"]),
        # only closed: what is before it is all there is
        ("text|--b--", ["text"]),
        # a part without a blank line after its headers, or without any
        ("--b|A: 1|--b||two|--b--", ["", "two"]),
        # look-alikes
        ("--b||--bc|--b-| --b|x--b|--b--", ["--bc\n--b-\n --b\nx--b"]),
        # an inner multipart that is never closed ends with its outer one
        ("--b|Content-Type: multipart/x; boundary=c||--c||in|--b||out", ["in", "out"]),
        ("--b|Content-Type: multipart/x; boundary=b||--b||one|--b--", ["", "one"]),
        # an inner boundary that starts with the outer one
        ("--b|Content-Type: multipart/x; boundary=b--||--b--||in|--b----|--b||out", ["in", "out"]),
    ],
)
def test_broken_multiparts(body: str, parts: list[str]) -> None:
    assert [part.text for part in read(lines(MULTIPART, "", *body.split("|"))).leaves] == parts


def test_an_embedded_message() -> None:
    inner = ["From x@y", "Subject: =?utf-8?Q?=C3=A9?=", "Content-Type: multipart/mixed; boundary=c"]
    start = [MULTIPART, "", "--b", "Content-Type: message/rfc822", ""]
    parts = read(lines(*start, *inner, *"|--c||in|--c--|--b||out|--b--".split("|"))).leaves
    kinds = [("message/rfc822", None), ("text/plain", "in"), ("text/plain", "out")]
    assert [(part.content_type, part.text) for part in parts] == kinds
    assert parts[0].headers == [("subject", "é"), ("content-type", "multipart/mixed; boundary=c")]


def test_an_encoded_embedded_message_is_a_text() -> None:
    inner = base64.encodebytes(b"Subject: in\n\nbody")
    raw = b"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n" + inner
    assert texts(raw) == [("message/rfc822", "Subject: in\n\nbody")]


def test_a_digest_holds_messages() -> None:
    raw = lines(*"Content-Type: multipart/digest; boundary=b||--b||Subject: in||body|--b--".split("|"))
    assert texts(raw) == [("message/rfc822", None), ("text/plain", "body")]


def nested(depth: int) -> bytes:
    levels = [b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(depth)]
    return b"".join(levels) + b"\nhello"


def test_nesting() -> None:
    assert texts(nested(MAX_NESTING)) == [("text/plain", "hello")]
    ((content_type, text),) = texts(nested(MAX_NESTING + 1))
    assert (content_type, (text or "")[-5:]) == ("text/plain", "hello")


def test_caps() -> None:
    leaves = b"--b\n\npart\n" * MAX_PARTS + b"--b\n\nthe last part\n"
    many = read(MULTIPART.encode() + b"\n\n" + leaves + b"--b--\n").leaves
    assert len(many) == MAX_LEAVES
    assert (many[-1].text or "").endswith("\nthe last part\n--b--")  # the rest is one text

    long = b"Subject: hi\n\n" + "é\n".encode() * MAX_TEXT_BYTES
    text = read(long).leaves[0].text or ""
    assert MAX_TEXT_BYTES - 3 <= len(text.encode()) <= MAX_TEXT_BYTES
    assert "\ufffd" not in text

    wide = read(b"A: " + b"x" * 2 * MAX_HEADER_BYTES + b"\n\nbody")
    assert len(wide.headers[0][1]) < MAX_HEADER_BYTES
    assert wide.leaves[0].text == "body"

    two = read(MULTIPART.encode() + b"\n\n--b\n\n" + b"x\n" * MAX_TEXT_BYTES + b"\n--b\n\ntwo\n--b--")
    assert two.leaves[1].text == "two"
    assert sum(len(leaf.text or "") for leaf in two.leaves) <= MAX_TEXT_BYTES


MAIL = b"Received: by a\nSubject: hi\n folded\nMessage-ID: <1@a>\n\nbody\n\nmore\n"


@pytest.mark.parametrize(
    "same",
    [
        MAIL.replace(b"\n", b"\r\n"),
        b"From a@b Mon Jan  1 00:00:00 2024\n" + MAIL,
        MAIL + b"\n",
        b"Return-Path: <a@b>\nDelivered-To: c\nEnvelope-To: b\n\tfor c\n" + MAIL,
        MAIL.replace(b"Message", b"X-Spam-Status: No, score=1\n\ttests=none\nMessage"),
        MAIL.replace(
            b"Message", b"X-Spamnb: ham\nX-Bogosity: Ham\nX-IMAPbase: 1 2\nX-Mozilla-Status2: 0\nMessage"
        ),
        MAIL.replace(
            b"\n\nbody",
            b"\nStatus: RO\nX-Status: A\nX-Keywords:\nX-UID: 5\nLines: 3\nContent-Length: 9\n\nbody",
        ),
    ],
)
def test_digest_survives_delivery(same: bytes) -> None:
    assert hash_of_message(read(same)) == hash_of_message(read(MAIL))


@pytest.mark.parametrize(
    "other",
    [
        MAIL.replace(b"body", b"Body"),
        MAIL.replace(b"body\n\n", b"body\n"),
        MAIL.replace(b"\n\nbody", b"\n\nStatus: RO\nbody"),
        MAIL.replace(b"Message-ID", b"X-Mailer: x\nMessage-ID"),
        MAIL.partition(b"\n\n")[2],
    ],
)
def test_digest_tells_apart(other: bytes) -> None:
    assert hash_of_message(read(other)) != hash_of_message(read(MAIL))
