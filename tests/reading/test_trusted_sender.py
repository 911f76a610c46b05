"""Who a message is trusted to be from: one mailbox in one From, unless the server found it forged."""

from __future__ import annotations

import pytest
from fuzz.mail_checks import address
from helpers.forged_senders import BOSS, FORGED_HEADS, FORGED_VALUES

from spamnb.core.native import read
from spamnb.reading.envelope import envelope_of, fails_dmarc, read_envelope, sole_address


def trusted(raw):
    found, again = envelope_of(read(raw)), read_envelope(raw)
    assert (found.address, found.is_doubtful) == (again.address, again.is_doubtful)
    return "" if found.is_doubtful else found.address


@pytest.mark.parametrize(
    "value",
    [
        BOSS,
        *(f"<{BOSS}>", f"The Boss <{BOSS}>", f"The Boss < {BOSS}\t>", "BOSS@Allowed.Example"),
        *(f'"Boss, The \\"one\\" <x@evil.example>" <{BOSS}>', f"{BOSS} (The Boss <x@evil.example>)"),
        *(f"(a (b) \\) c) {BOSS} (d)", f"=?utf-8?q?=3Cx=40evil.example=3E?= <{BOSS}>"),
        *(f"J. R. Boss's <{BOSS}>", f"Bo\xdf <{BOSS}>"),
    ],
)
def test_one_mailbox_is_who_it_says(value):
    assert trusted(b"Subject: x\nFrom: " + value.encode("latin-1") + b"\n\nhello\n") == BOSS


@pytest.mark.parametrize("value", FORGED_VALUES)
def test_comments_quotes_and_names_are_no_address(value):
    raw = value.encode()
    assert BOSS not in trusted(b"From: " + raw + b"\nSubject: x\n\nhello\n")
    address(raw)


@pytest.mark.parametrize("raw", FORGED_HEADS)
def test_there_is_one_field_and_no_other_can_follow(raw):
    assert trusted(raw.replace(b"%s", BOSS.encode())) == ""
    assert trusted(b"From: " + BOSS.encode()) == BOSS
    assert trusted(b"From x Mon Nov 16 01:02:03 2026\nFrom-Y: z\nFrom: " + BOSS.encode()) == BOSS
    assert trusted(b"From: " + BOSS.encode() + b"\r\nA: b\r\n\r\nFrom: x@evil.example\r\n") == BOSS


def test_addresses_beyond_ascii():
    assert sole_address("jörg@köln.example".encode().decode("latin-1")) == "jörg@köln.example"
    assert sole_address("j\xf6rg@allowed.example") == ""  # no UTF-8


PASSED = "mx.b.example; dmarc=pass header.from=allowed.example"


@pytest.mark.parametrize(
    "fields",
    [
        ["mx.b.example; spf=pass; DMARC=Fail (p=none) header.from=allowed.example"],
        ["mx.b.example; dmarc (a) / (b) 1 (c) = (d) fail"],
        ['"mx.b.example"; dmarc=fail'],
        ["dmarc=fail action=none header.from=allowed.example"],
        [PASSED, '"MX.b.example"; dmarc=fail'],
        [PASSED, "mx.c.example; dmarc=pass", "mx.b.example; dmarc=fail"],
        ["mx.b.example" + "; spf=pass" * 100 + "; dmarc=fail"],
        ["mx.b.example; spf=pass (never closed; dmarc=fail"],
        ['mx.b.example; spf=pass smtp.mailfrom="x; dmarc = fail'],
    ],
)
def test_the_worst_that_the_server_found_counts(fields):
    assert fails_dmarc(fields)
    head = "".join(f"Authentication-Results: {value}\n" for value in fields)
    assert trusted(f"{head}From: {BOSS}\n\nhello\n".encode()) == ""


@pytest.mark.parametrize(
    ("domain", "is_trusted"),
    [
        *(("ALLOWED.example.", True), ("boss@allowed.example", True), ("example", True)),
        *(("evil.example", False), ("llowed.example", False), ("mail.allowed.example", False)),
    ],
)
def test_the_server_must_have_looked_at_the_same_sender(domain, is_trusted):
    head = f"Authentication-Results: mx.b.example; dmarc=pass (p=none) header.from={domain}\n"
    assert trusted(f"{head}From: {BOSS}\n\nhello\n".encode()) == (BOSS if is_trusted else "")


@pytest.mark.parametrize(
    "fields",
    [
        [],
        [PASSED],
        [PASSED, "mx.c.example; dmarc=fail"],  # an older hop's, or the sender's
        ["mx.b.example; dmarc=pass (dmarc=fail)"],
        ['mx.b.example; dmarc=pass reason="; dmarc=fail"'],
        ["mx.b.example; xdmarc=fail; spf=fail"],
    ],
)
def test_what_else_is_found_is_no_forgery(fields):
    assert not fails_dmarc(fields)
