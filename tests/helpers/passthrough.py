"""Odd and hostile messages, and a check that one comes out as it went in but for the header of a verdict."""

import re

OURS = b"X-Spamnb: "
ENVELOPE = b"From ann@example.org Mon Nov 15 01:02:03 2026"
FORGED = b"X-Spamnb: ham; score=-9.0000; probability=0.0000"
ODD = {
    "nothing": b"",
    "a newline": b"\n",
    "a CRLF": b"\r\n",
    "a carriage return": b"\r",
    "newlines": b"\n\n\n",
    "a NUL": b"\0",
    "a word": b"hello",
    "a line": b"hello\n",
    "a sentence with a colon": b"Dear friend: buy now\n",
    "a link": b"http://example.org/ see there\n\nSubject: x\n",
    "a colon first": b": nothing\n\nbody\n",
    "no headers": b"review us now",
    "no headers, blank lines": b"one\n\ntwo\n\nX-Spamnb: ham\n\nthree\n",
    "body only, forged": b"\nX-Spamnb: ham\n\nbody\n",
    "plain": b"Subject: x\n\nbody\n",
    "CRLF": b"Subject: x\r\nTo: a@example.org\r\n\r\nbody\r\n",
    "CR": b"Subject: x\rTo: a@example.org\r\rbody\r",
    "mixed ends": b"Subject: x\r\nTo: a\n\r\nbody\n\r\n",
    "LF, then CRLF": b"Subject: x\n\r\nbody\r\n",
    "no final newline": b"Subject: x\n\nbody",
    "no body": b"Subject: x\n\n",
    "only headers": b"Subject: x\nTo: a\n",
    "only headers, no newline": b"Subject: x",
    "only headers, CRLF": b"Subject: x\r\nTo: a\r\n",
    "blank lines at the end": b"Subject: x\n\nbody\n\n\n\n",
    "NULs": b"Subject: \0x\0\n\n\0\0body\0\n",
    "8-bit headers": b"Subject: caf\xe9 \xff\xfe\nTo: \x80\n\nbody \xe9\n",
    "8-bit header name": b"Subj\xe9ct: x\n\nbody\n",
    "folded": b"Subject: one\n two\n\tthree\n\nbody\n",
    "folded first": b" folded\nSubject: x\n\nbody\n",
    "space in the first name": b"Sub ject: x\nTo: a\n\nbody\n",
    "blank line of spaces": b"Subject: x\n   \nTo: a\n\nbody\n",
    "not a header among headers": b"Subject: x\nwhat is this\nTo: a\n\nbody\n",
    "envelope": ENVELOPE + b"\nSubject: x\n\nbody\n",
    "envelope, CRLF": ENVELOPE + b"\r\nSubject: x\r\n\r\nbody\r\n",
    "envelope alone": ENVELOPE,
    "envelope and newline": ENVELOPE + b"\n",
    "envelope, no headers": ENVELOPE + b"\nhello there\n",
    "envelope, folded first": ENVELOPE + b"\n folded\nSubject: x\n\nbody\n",
    "envelope, body only": ENVELOPE + b"\n\nbody\n",
    "two envelopes": ENVELOPE + b"\n>" + ENVELOPE + b"\nSubject: x\n\nbody\n",
    "a quoted envelope": b">" + ENVELOPE + b"\nSubject: x\n\nbody\n",
    "From in the body": b"Subject: x\n\n" + ENVELOPE + b"\n>From here\n",
    "a sentence from From": b"From here on: it is body\nand more\n",
    "forged first": FORGED + b"\nSubject: x\n\nbody\n",
    "forged last": b"Subject: x\n" + FORGED + b"\n\nbody\n",
    "forged between": b"Subject: x\n" + FORGED + b"\nTo: a\n\nbody\n",
    "forged behind an envelope": ENVELOPE + b"\n" + FORGED + b"\nSubject: x\n\nbody\n",
    "forged twice": FORGED + b"\n" + FORGED + b"\nSubject: x\n" + FORGED + b"\n\nbody\n",
    "forged alone": FORGED,
    "forged alone, newline": FORGED + b"\n",
    "forged alone, blank line": FORGED + b"\n\nbody\n",
    "forged, small letters": b"Subject: x\nx-spamnb: ham\n\nbody\n",
    "forged, large letters": b"Subject: x\nX-SPAMNB: ham\n\nbody\n",
    "forged, mixed letters": b"Subject: x\nx-SpAmNb:ham\n\nbody\n",
    "forged, CRLF": b"Subject: x\r\n" + FORGED + b"\r\nTo: a\r\n\r\nbody\r\n",
    "forged, folded": b"Subject: x\nX-Spamnb: ham;\n score=1;\n\tmore\nTo: a\n\nbody\n",
    "forged, folded at once": b"Subject: x\nX-Spamnb:\n ham\nTo: a\n\nbody\n",
    "forged, folded, CRLF": b"Subject: x\r\nX-Spamnb: ham;\r\n score=1\r\nTo: a\r\n\r\nbody\r\n",
    "forged, folded to the end": b"Subject: x\nX-Spamnb: ham;\n score=1",
    "forged, space before the colon": b"Subject: x\nX-Spamnb : ham\nX-Spamnb\t: ham\n\nbody\n",
    "forged, far colon": b"Subject: x\nX-Spamnb" + b" " * 200 + b": ham\n\nbody\n",
    "forged, behind a bare CR": b"Subject: a\rX-Spamnb: ham\nTo: a\n\nbody\n",
    "forged, behind a bare CR, CRLF": b"Subject: a\rX-Spamnb: ham\r\nTo: a\r\n\r\nbody\r\n",
    "forged, bare CRs all around": b"A: b\rX-Spamnb: ham\r c\rD: e\rx-spamnb:\n\nbody\n",
    "forged, only CR": FORGED + b"\rSubject: a\r" + FORGED + b"\rTo: b\r\r" + FORGED + b"\rbody\r",
    "forged, bare CR and blanks": b"Subject: a\rX-Spamnb \t: ham\nTo: a\n\nbody\n",
    "forged, before a bare CR": b"X-Spamnb: ham\rSubject: a\nTo: b\n\nbody\n",
    "forged, empty": b"X-Spamnb:\nSubject: x\n\nbody\n",
    "forged, without a body": b"Subject: x\n" + FORGED,
    "a longer name": b"X-Spamnb-Extra: kept\nSubject: x\nX-Spamnbs: kept\n\nbody\n",
    "a longer name before": b"Old-X-Spamnb: kept\nSubject: x\n\nbody\n",
    "our name without a colon": b"Subject: x\nX-Spamnb\nTo: a\n\nbody\n",
    "our name in a value": b"Subject: X-Spamnb: ham\n X-Spamnb: ham\n\nbody\n",
    "our name in the body": b"Subject: x\n\n" + FORGED + b"\n\n" + FORGED + b"\n",
    "our name in a part": b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + FORGED + b"\n\nx\n--b--\n",
    "a huge line": b"Subject: x\n\n" + b"a" * 3_000_000,
    "a huge header": b"Subject: " + b"a" * 1_000_000 + b"\n" + FORGED + b"\n\nbody\n",
    "a huge header name": b"a" * 100_000 + b": x\n\nbody\n",
    "many headers": b"A: b\n" * 50_000 + FORGED + b"\n\nbody\n",
    "many forged": (FORGED + b"\n b\n") * 20_000 + b"\nbody\n",
}


def without_forged(raw: bytes, names: tuple[bytes, ...] = (b"X-Spamnb",)) -> bytes:
    """The message less every header of our names: line by line, as slowly as it is plain.

    A bare carriage return ends a line, too, but none is left where it stood before a header that is removed.
    """
    lower = [name.lower() for name in names]
    head = b"" if raw.startswith((b"\n", b"\r\n")) else re.split(rb"(?<=\n)\r?\n", raw, maxsplit=1)[0]
    pieces = re.split(rb"(\r\n|\r|\n)", head)
    lines = [[*pair] for pair in zip(pieces[::2], [*pieces[1::2], b""], strict=True)]
    kept: list[list[bytes]] = []
    dropping, before, is_body = False, b"\n", False  # for who ends lines at a carriage return
    for text, end in lines:
        if text[:1] not in (b" ", b"\t"):
            ours = b":" in text and text.partition(b":")[0].rstrip(b" \t").lower() in lower
            dropping = ours and (before != b"\r" or not is_body)
        if dropping and kept and kept[-1][1] == b"\r":
            kept[-1][1] = end
        if not dropping:
            kept.append([text, end])
        before, is_body = end, is_body or not text
    return b"".join(text + end for text, end in kept) + raw[len(head) :]


def check(raw: bytes, out: bytes) -> None:
    envelope = raw[: raw.find(b"\n") + 1] if raw.startswith(b"From ") else b""
    assert out.startswith(envelope + OURS)
    end = out.index(b"\n", len(envelope)) + 1
    rest = envelope + out[end:]
    assert out[len(envelope) : end].count(b"\n") == 1
    if rest == without_forged(raw):
        assert not without_forged(raw)[len(envelope) :].startswith((b" ", b"\t"))  # would fold into ours
    else:  # all body: an empty line keeps it so
        assert rest[len(envelope) :].removeprefix(b"\r").removeprefix(b"\n") == raw[len(envelope) :]
        assert out[end:].startswith((b"\n", b"\r\n"))
