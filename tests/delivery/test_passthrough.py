"""The message comes out as it went in: every byte but our own header, and no forged one."""

import gzip
import random
import re
from email import message_from_bytes
from email.policy import default

import pytest
from helpers.mailboxes import put
from helpers.passthrough import ENVELOPE, FORGED, ODD, check
from hypothesis import given
from hypothesis import strategies as st

from spamnb.bayes.verdict import Verdict
from spamnb.core.native import hash_of_message, read
from spamnb.passthrough import passed_through

VERDICT = Verdict("spam", 1.5, 0.9, {"ham": 0.1, "spam": 0.9}, [])


@pytest.mark.parametrize("name", ODD)
def test_every_byte_but_our_header(spamnb, name):
    done = spamnb("classify", "-p", stdin=ODD[name]).succeeds()
    check(ODD[name], done.out)


PIECES = [
    b"\n", b"\r\n", b"\r", b" ", b"\t", b":", b"X-Spamnb", b"x-spamnb:", b"X-Spamnb : ham", b"Subject: x",
    b"From ", b">From ", b"\0", b"\xff", b"a", b"-Extra:",
]  # fmt: skip


@given(st.binary(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join))
def test_any_mixture_of_what_matters(raw):
    check(raw, passed_through(raw, VERDICT))


HIDDEN = ["forged, behind a bare CR", "forged, bare CRs all around"]


@pytest.mark.parametrize("name", [*HIDDEN, "forged, before a bare CR"])
def test_a_forged_header_behind_a_bare_carriage_return_is_removed(name):
    """Python's own reader is one of those to whom it ends a line. All other fields stay for it."""
    out = passed_through(ODD[name], VERDICT)
    seen, before = message_from_bytes(out), message_from_bytes(ODD[name])
    assert seen.get_all("X-Spamnb") == ["spam; score=1.5000; probability=0.9000"]
    assert seen.items()[1:] == [item for item in before.items() if item[0].lower() != "x-spamnb"]
    assert b"\r" not in out.replace(b"\r\n", b"") or name == HIDDEN[1]
    assert passed_through(out, VERDICT) == out


@pytest.mark.parametrize(
    ("subject", "tagged"),
    [
        (b"Subject: x\n", b"Subject: [spam] x\n"),
        (b"subject:x\n", b"subject: [spam] x\n"),
        (b"Cc: b\nSUBJECT : x\n y\n", b"Cc: b\nSUBJECT : [spam] x\n y\n"),
        (b"Subject:\n x\n", b"Subject: [spam]\n x\n"),
        (b"Subject: =?utf-8?q?x?=\n", b"Subject: [spam] =?utf-8?q?x?=\n"),
        (b"Subject: [spam] x\n", b"Subject: [spam] x\n"),
        (b"Subject: x\nSubject: y\n", b"Subject: [spam] x\nSubject: y\n"),
        (b"X-Subject: x\n", b"Subject: [spam]\nX-Subject: x\n"),
        (b"", b"Subject: [spam]\n"),
    ],
)
def test_a_tag_before_the_subject(subject, tagged):
    """Whoever reads the message takes no notice of it."""
    raw = b"%sTo: a\n\nSubject: b\n" % subject
    out = passed_through(raw, VERDICT, subject_tag="[spam]").partition(b"\n")[2]
    assert out == b"%sTo: a\n\nSubject: b\n" % tagged
    assert hash_of_message(read(raw)) == hash_of_message(read(out))
    assert passed_through(out, VERDICT, subject_tag="[spam]").partition(b"\n")[2] == out


@pytest.mark.parametrize(
    "reasons", [["says “viagra”, in 30 spam", "links to x.example"], ["says “казино”" * 9]]
)
def test_reasons_are_readable_and_never_the_senders(reasons):
    verdict = Verdict("spam", 1.0, 0.7, {"ham": 0.3, "spam": 0.7}, ())
    verdict.why = reasons
    raw = b"Subject: x\nX-Spamnb-Reason: forged\n more\n\nbody\n"
    assert b"forged" not in passed_through(raw, VERDICT, "bogofilter")
    once = passed_through(raw, verdict)
    assert passed_through(once, verdict) == once
    assert (once.isascii(), max(map(len, once.split(b"\n"))) < 998) == (True, True)
    read = message_from_bytes(once, policy=default)
    assert read.get_all("X-Spamnb-Reason") == ["; ".join(reasons).replace("“", '"').replace("”", '"')]
    with_name = message_from_bytes(passed_through(raw, verdict, header="X-Spam-Is"))
    assert len(with_name.get_all("X-Spam-Is-Reason", [])) == 1


def test_three_reasons_are_given_if_asked_for(spamnb, mail, tmp_path):
    raw = mail.messages["spam"]
    asked = spamnb.afresh("classify", "-p", "--reasons", stdin=raw).succeeds().out
    assert asked == spamnb("classify", "--reasons", "-p", "--header-style=spamnb", stdin=raw).succeeds().out
    (reason,) = re.findall(rb"^X-Spamnb-Reason: (.+)$", asked, re.MULTILINE)
    assert 1 <= reason.count(b"; ") <= 2
    assert b"casino" in reason
    put(tmp_path / "spamnb" / "spamnb.toml", b"reasons = true\n")
    put(tmp_path / "spamnb" / "block.txt", b"casino.example\n")
    env = spamnb.environment | {"XDG_CONFIG_HOME": str(tmp_path)}
    configured = spamnb("classify", "-p", stdin=raw, env=env).succeeds().out
    assert b"\nX-Spamnb-Reason: its sender is on your list of blocked senders; " in configured
    assert b"Reason" not in spamnb("classify", "-p", stdin=raw).succeeds().out
    spamnb("classify", "--reasons", stdin=raw).fails(64, "--reasons", "-p")


@pytest.mark.parametrize("message", ["ham", "spam", "unsure"])
def test_the_header_is_the_verdict(spamnb, mail, message):
    raw = mail.messages[message]
    said = spamnb("classify", "--json", stdin=raw).succeeds().json
    expected = f"X-Spamnb: {message}; score={said['score']:.4f}; probability={said['probability']:.4f}\n"
    assert spamnb("classify", "-p", stdin=raw).succeeds().out == expected.encode() + raw


def test_a_second_pass_changes_nothing_more(spamnb, mail):
    """And a forged verdict does not move the score."""
    once = spamnb("classify", "-p", stdin=mail.messages["spam"]).out
    assert spamnb("classify", "-p", stdin=once).out == once
    forged = mail.messages["spam"].replace(b"Subject:", FORGED + b"\nSubject:", 1)
    assert spamnb("classify", "-p", stdin=forged).out == once


def test_of_a_file_with_an_envelope(spamnb, mail, tmp_path):
    """One message saved by a mail program: its envelope line and `>From ` are bytes of it, too."""
    raw = ENVELOPE + b"\n" + mail.messages["spam"] + b">From here\n"
    path = tmp_path / "message"
    path.write_bytes(raw)
    check(raw, spamnb("classify", "-p", path).succeeds().out)


NOT_ONE_MESSAGE = {
    # Its bytes are no message, and a message out of it would not be its bytes.
    "message.gz": (gzip.compress(b"Subject: x\n\nbody\n"), 64, "unpack"),
    "box": ((ENVELOPE + b"\nSubject: x\n\nbody\n\n") * 2, 64, "one message"),
    # Half a message must not stand for the whole.
    "cut.gz": (gzip.compress(b"Subject: x\n\n" + random.Random(1).randbytes(999))[:-500], 65, "compression"),
}


@pytest.mark.parametrize("name", NOT_ONE_MESSAGE)
def test_what_is_not_one_message_is_refused(spamnb, mail, tmp_path, name):
    content, code, why = NOT_ONE_MESSAGE[name]
    (tmp_path / name).write_bytes(content)
    spamnb("classify", "-p", tmp_path / name).fails(code, name, why)
    spamnb("classify", "-p", mail.ham).fails(64, "one message")
    spamnb("classify", "-p", f"{mail.ham}/01", f"{mail.ham}/02").fails(64, "one message")


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
