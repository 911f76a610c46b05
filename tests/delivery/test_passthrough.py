"""The message comes out as it went in: every byte but our own header, and no forged one."""

import gzip
import random

import pytest
from generated import examples_times
from hypothesis import example, given
from hypothesis import strategies as st

from spamnb.bayes.verdict import Verdict
from spamnb.delivery.passthrough import passed_through

VERDICT = Verdict("spam", 1.5, 0.9, {"ham": 0.1, "spam": 0.9}, [])
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


def lines_of(data: bytes) -> list[bytes]:
    return (
        data.split(b"\n")
        if not data
        else [line + b"\n" for line in data.split(b"\n")[:-1]]
        + [rest for rest in [data.rpartition(b"\n")[2]] if rest]
    )


def without_forged(raw: bytes) -> bytes:
    """The message less every header of our name: line by line, as slowly as it is plain."""
    kept, in_header, dropping = [], True, False
    for line in lines_of(raw):
        if line in (b"\n", b"\r\n"):
            in_header = False
        if in_header and line[:1] not in (b" ", b"\t"):
            name, colon, _ = line.partition(b":")
            dropping = bool(colon) and name.rstrip(b" \t").lower() == b"x-spamnb"
        if not (in_header and dropping):
            kept.append(line)
    return b"".join(kept)


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


@pytest.mark.parametrize("name", ODD)
@pytest.mark.slow
def test_every_byte_but_our_header(spamnb, name):
    done = spamnb.afresh("classify", "-p", stdin=ODD[name]).succeeds()
    check(ODD[name], done.out)


@given(st.binary(max_size=300))
@example(b"From \n\n")
@example(b"\rX-Spamnb: ham\n\n")
def test_any_bytes(raw):
    check(raw, passed_through(raw, VERDICT))


PIECES = [
    b"\n", b"\r\n", b"\r", b" ", b"\t", b":", b"X-Spamnb", b"x-spamnb:", b"X-Spamnb : ham", b"Subject: x",
    b"From ", b">From ", b"\0", b"\xff", b"a", b"-Extra:",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_any_mixture_of_what_matters(raw):
    check(raw, passed_through(raw, VERDICT))


@given(st.binary(max_size=200))
@examples_times(0.15)
def test_any_bytes_through_the_program(spamnb, raw):
    check(raw, spamnb("classify", "-p", stdin=raw).succeeds().out)


@pytest.mark.parametrize("message", ["ham", "spam", "unsure"])
def test_the_header_is_the_verdict(spamnb, mail, message):
    raw = mail.messages[message]
    said = spamnb("classify", "--json", stdin=raw).succeeds().json
    expected = f"X-Spamnb: {message}; score={said['score']:.4f}; probability={said['probability']:.4f}\n"
    assert spamnb("classify", "-p", stdin=raw).succeeds().out == expected.encode() + raw


def test_line_ends_follow_the_message(spamnb):
    out = spamnb("classify", "-p", stdin=b"Subject: x\r\n\r\nbody\r\n").succeeds().out
    assert out.count(b"\n") == out.count(b"\r\n") == 4


def test_a_second_pass_changes_nothing_more(spamnb, mail):
    """And a forged verdict does not move the score."""
    once = spamnb("classify", "-p", stdin=mail.messages["spam"]).out
    assert spamnb("classify", "-p", stdin=once).out == once
    forged = mail.messages["spam"].replace(b"Subject:", FORGED + b"\nSubject:", 1)
    assert spamnb("classify", "-p", stdin=forged).out == once


def test_with_the_exit_code(spamnb, mail):
    for code, message in enumerate(("spam", "ham", "unsure")):
        done = spamnb("classify", "-p", "-e", stdin=mail.messages[message]).succeeds(code)
        assert done.out.endswith(mail.messages[message])


def test_of_a_file(spamnb, mail, tmp_path):
    path = tmp_path / "message"
    path.write_bytes(mail.messages["spam"])
    from_file = spamnb("classify", "-p", path).succeeds()
    assert from_file == spamnb("classify", "-p", stdin=mail.messages["spam"])


def test_of_a_file_with_an_envelope(spamnb, mail, tmp_path):
    """One message saved by a mail program: its envelope line and `>From ` are bytes of it, too."""
    raw = ENVELOPE + b"\n" + mail.messages["spam"] + b">From here\n"
    path = tmp_path / "message"
    path.write_bytes(raw)
    check(raw, spamnb("classify", "-p", path).succeeds().out)


def test_of_a_compressed_file(spamnb, mail, tmp_path):
    """Its bytes are no message, and a message out of it would not be its bytes."""
    path = tmp_path / "message.gz"
    path.write_bytes(gzip.compress(mail.messages["spam"]))
    spamnb("classify", "-p", path).fails(64, "message.gz", "unpack")


def test_of_a_mailbox(spamnb, mail, tmp_path):
    path = tmp_path / "box"
    path.write_bytes((ENVELOPE + b"\n" + mail.messages["spam"] + b"\n") * 2)
    spamnb("classify", "-p", path).fails(64, "box", "one message")


def test_a_label_of_other_letters_stays_one_header_line(spamnb, mail, tmp_path):
    model = str(tmp_path / "model")
    labels = ("--label", f"café; x={mail.ham}", "--label", f"b={mail.work}", "--label", f"c={mail.spam}")
    spamnb("train", "--jobs", "1", "--model", model, *labels).succeeds()
    out = spamnb("classify", "-p", "--model", model, stdin=mail.messages["ham"]).succeeds().out
    assert out.endswith(b"\n" + mail.messages["ham"])
    assert out.partition(b"\n")[0].isascii()


ERRORS = {
    "no model": ("classify -p --model /nosuch", 75),
    "no file": ("classify -p /nosuch", 66),
    "a damaged model": ("classify -p --model /dev/null", 65),
    "a folder as the model": ("classify -p --model /", None),
    "an unknown option": ("classify -p --bogus", 64),
    "no standard input": ("classify -p <&-", 74),
}


@pytest.mark.parametrize("name", ERRORS)
@pytest.mark.slow
def test_an_error_gives_no_output(spamnb, name, mail):
    line, code = ERRORS[name]
    done = spamnb.shell(f'"$0" {line}', mail.messages["spam"])
    assert done.out == b""
    assert done.code >= 64
    assert code in (done.code, None)


def test_several_messages_are_refused(spamnb, mail):
    spamnb("classify", "-p", mail.ham).fails(64, "one message")
    spamnb("classify", "-p", f"{mail.ham}/01", f"{mail.ham}/02").fails(64, "one message")


def test_a_file_that_is_cut_short_is_not_passed_on(spamnb, tmp_path):
    """Half a message must not stand for the whole."""
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(b"Subject: x\n\n" + random.Random(1).randbytes(5000))[:-2000])
    spamnb("classify", "-p", path).fails(65, "cut.gz", "compression")
