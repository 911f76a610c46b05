"""Unusual and hostile messages, and a check that passing one through changes only the verdict's header."""

import re

from spamnb.core.native import header_start

OURS = b"X-Spamnb: "
ENVELOPE = b"From ann@example.org Mon Nov 15 01:02:03 2026"
FORGED = b"X-Spamnb: ham; score=-9.0000; probability=0.0000"
ODD = {
    "nothing": b"",
    "a carriage return": b"\r",
    "a word": b"hello",
    "a sentence with a colon": b"Dear friend: buy now\n",
    "no headers, blank lines": b"one\n\ntwo\n\nX-Spamnb: ham\n\nthree\n",
    "body only, forged": b"\nX-Spamnb: ham\n\nbody\n",
    "plain": b"Subject: x\n\nbody\n",
    "CRLF": b"Subject: x\r\nTo: a@example.org\r\n\r\nbody\r\n",
    "CR": b"Subject: x\rTo: a@example.org\r\rbody\r",
    "no final newline": b"Subject: x\n\nbody",
    "NULs": b"Subject: \0x\0\n\n\0\0body\0\n",
    "8-bit headers": b"Subject: caf\xe9 \xff\xfe\nTo: \x80\n\nbody \xe9\n",
    "folded": b"Subject: one\n two\n\tthree\n\nbody\n",
    "not a header among headers": b"Subject: x\nwhat is this\nTo: a\n\nbody\n",
    "envelope": ENVELOPE + b"\nSubject: x\n\nbody\n",
    "envelope, no headers": ENVELOPE + b"\nhello there\n",
    "envelope, folded first": ENVELOPE + b"\n folded\nSubject: x\n\nbody\n",
    "From in the body": b"Subject: x\n\n" + ENVELOPE + b"\n>From here\n",
    "a sentence from From": b"From here on: it is body\nand more\n",
    "forged first": FORGED + b"\nSubject: x\n\nbody\n",
    "forged last": b"Subject: x\n" + FORGED + b"\n\nbody\n",
    "forged behind an envelope": ENVELOPE + b"\n" + FORGED + b"\nSubject: x\n\nbody\n",
    "forged twice": FORGED + b"\n" + FORGED + b"\nSubject: x\n" + FORGED + b"\n\nbody\n",
    "forged, small letters": b"Subject: x\nx-spamnb: ham\n\nbody\n",
    "forged, folded": b"Subject: x\nX-Spamnb: ham;\n score=1;\n\tmore\nTo: a\n\nbody\n",
    "forged, space before the colon": b"Subject: x\nX-Spamnb : ham\nX-Spamnb\t: ham\n\nbody\n",
    "forged, behind a bare CR": b"Subject: a\rX-Spamnb: ham\nTo: a\n\nbody\n",
    "forged, bare CRs all around": b"A: b\rX-Spamnb: ham\r c\rD: e\rx-spamnb:\n\nbody\n",
    "forged, only CR": FORGED + b"\rSubject: a\r" + FORGED + b"\rTo: b\r\r" + FORGED + b"\rbody\r",
    "forged, before a bare CR": b"X-Spamnb: ham\rSubject: a\nTo: b\n\nbody\n",
    "forged, behind CRs and a forged one": b"\r\r\nX-Spamnb: x\r" + FORGED + b"\n\nbody\n",
    "forged, behind a CRLF among LFs": b"Subject: a\n\r\n" + FORGED + b"\n\nbody\n",
    "forged, body of CRLF": b"hello\r\n" + FORGED + b"\nTo: a\n\nbody\n",
    "forged, CR in its name": b"Subject: a\nX-Spa\rmnb: ham\nTo: a\n\nbody\n",
    "forged, joined by what is removed": b"X-Spa\rX-Spamnb: a\rmnb: ham\nTo: a\n\nbody\n",
    "forged, NUL behind its name": b"Subject: a\nX-Spamnb\0: ham\nTo: a\n\nbody\n",
    "forged, behind a NUL": b"Subject: a\0" + FORGED + b"\nTo: a\n\nbody\n",
    "forged, a NUL before the empty line": b"Subject: \0a\n\n" + FORGED + b"\n\nbody\n",
    "forged, in the envelope": b"From x\r" + FORGED + b"\nSubject: a\n\nbody\n",
    "forged, envelope, body of CRLF": ENVELOPE + b"\r\nhello\r\n" + FORGED + b"\r\nbody\r\n",
    "forged, colon on the next line": b"Subject: a\nX-Spamnb\n : ham\nTo: a\n\nbody\n",
    "a longer name": b"X-Spamnb-Extra: kept\nSubject: x\nX-Spamnbs: kept\n\nbody\n",
    "our name in a value": b"Subject: X-Spamnb: ham\n X-Spamnb: ham\n\nbody\n",
    "our name in the body": b"Subject: x\n\n" + FORGED + b"\n\n" + FORGED + b"\n",
    "a huge line": b"Subject: x\n\n" + b"a" * 3_000_000,
    "many headers": b"A: b\n" * 50_000 + FORGED + b"\n\nbody\n",
    "many forged": (FORGED + b"\n b\n") * 20_000 + b"\nbody\n",
}

# What some program takes for a header of ours, and others do not.
FORGERIES = [raw.partition(b"\nbody\n")[0] for name, raw in ODD.items() if name.startswith("forged, ")]


def without_forged(raw: bytes, names: tuple[bytes, ...] = (b"X-Spamnb",)) -> bytes:
    """Return a message without headers of these names, by simple code; not for NULs and bare CRs."""
    head, kept, dropping = raw[: head_size(raw)], [], False
    for line in re.findall(rb"[^\n]*\n|[^\n]+", head):
        dropping = is_ours(line, names) or (dropping and line.startswith((b" ", b"\t")))
        kept += [] if dropping else [line]
    return b"".join(kept) + raw[len(head) :]


def head_size(raw: bytes) -> int:
    """Return the size of the header, up to the last empty line at which a program may end it."""
    is_crlf = raw.count(b"\n") == raw.count(b"\r\n") > 0 and not raw.startswith(b"From ")
    end = re.search(rb"(?:\A|(?<=\n))\r\n" if is_crlf else rb"(?:\A|(?<=\n))\n", raw)
    size = end.start() if end else len(raw)
    return size if is_crlf or b"\0" not in raw[:size] else len(raw)


def is_ours(line: bytes, names: tuple[bytes, ...]) -> bool:
    """Return whether some program takes a line for one of these headers: blanks or a line end before `:`."""
    return any(re.match(rb"(?i)%s[ \t]*(?::|\r*\n?\Z)" % re.escape(name), line) for name in names)


def is_forged(raw: bytes, names: tuple[bytes, ...]) -> bool:
    """Return whether a program that keeps a bare CR, ends a line there, or ignores it sees such a header.

    A NUL ends a line, or a name.
    """
    head = raw[: head_size(raw)].replace(b"\0", b"\n")
    read = (head, head.replace(b"\r", b"\n"), head.replace(b"\r", b""))
    return any(is_ours(line, names) for text in read for line in text.split(b"\n"))


def check_rest(raw: bytes, rest: bytes, names: tuple[bytes, ...] = (b"X-Spamnb",)) -> None:
    """Check that `rest` is `raw` without forged headers, and that no program sees one in `rest`."""
    if b"\r" in raw.replace(b"\r\n", b"") or b"\0" in raw:
        assert not is_forged(rest, names)
        assert rest == raw or is_forged(raw, names)
        at = -1
        for byte in rest:
            at = raw.find(byte, at + 1)
            assert at >= 0
    else:
        assert rest == without_forged(raw, names)


def check(raw: bytes, out: bytes, ours: bytes = OURS, names: tuple[bytes, ...] = (b"X-Spamnb",)) -> None:
    """Check that the verdict is below the envelope line, the rest as in `check_rest`, and body still body."""
    size = raw.find(b"\n") + 1 if raw.startswith(b"From ") else 0
    at = out.index(ours)
    end = out.index(b"\n", at + len(ours) - 1) + 1
    assert at == size or b"\r" in raw[:size]
    rest = out[end:]
    is_empty = raw[size:] == b"\n" and rest == b"\n\n"  # fdm gives nothing a line
    if header_start(raw[size : size + 2000]) < 0 or is_empty:
        assert rest.startswith((b"\n", b"\r\n"))
        newline = rest[: rest.index(b"\n") + 1]
        check_rest(raw[:size] + newline + raw[size:], out[:at] + rest, names)
    else:
        assert not rest.startswith((b" ", b"\t"))  # would fold into ours
        check_rest(raw, out[:at] + rest, names)


def check_behind_envelope(raw: bytes, out: bytes) -> None:
    """Do `check` for mail that the filter got with an envelope line in front, as from procmail.

    After that line, which ends with LF, more lines count as header, so that more may be removed.
    """
    check(ENVELOPE + b"\n" + raw, ENVELOPE + b"\n" + out)
