"""Messages attached to a message: as they came, whatever program attached them; and no bytes break it."""

from base64 import encodebytes

import pytest
from helpers.forwards import forward
from helpers.samples import ham, spam
from hypothesis import given
from hypothesis import strategies as st

from spamnb.core.native import hash_of_message, read
from spamnb.mailboxes.attached import MAX_ATTACHED, attached

HEAD = b"From: ann@example.org\nContent-Type: multipart/mixed; boundary=%s\n\n"
TEXT = b"--b\nContent-Type: text/plain\n\nsee below\n"
PART = b"--b\nContent-Type: %s\n\n%s\n"
NESTED = HEAD % b"q" + b"--q\nContent-Type: message/rfc822\n\n" + spam(1) + b"\n--q--"
INNER = PART.replace(b"b", b"bc", 1)


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (forward(spam(1), ham(2)), [spam(1), ham(2)]),
        (forward(spam(1), ham(2)).replace(b"\n", b"\r\n"), [spam(1), ham(2)]),
        (HEAD % b"b" + PART % (b"message/rfc822", NESTED), [NESTED]),
        (forward(), []),
        (HEAD % b"b" + TEXT + PART % (b"message/rfc822", spam(1)) + b"--b--\nfrom a list\n", [spam(1)]),
        (HEAD % b'"b"; x=y' + TEXT + PART % (b"MESSAGE/RFC822; name=x", spam(1)), [spam(1)]),
        (HEAD % b"b" + PART % (b"message/rfc822", b"--bc\n" + spam(1)), [b"--bc\n" + spam(1)]),
        (
            HEAD % b"b" + PART % (b"multipart/digest; boundary=bc", INNER % (b"message/rfc822", spam(1))),
            [spam(1)],
        ),
        (
            HEAD % b"b" + b'--b\nContent-Type: application/octet-stream; name="x.eml"\n'
            b"Content-Transfer-Encoding: base64\n\n" + encodebytes(spam(1)) + b"--b--\n",
            [spam(1)],
        ),
        (b"Content-Type: message/rfc822\n\n" + spam(1), [spam(1)]),
        (HEAD % b"" + PART % (b"message/rfc822", spam(1)), []),
        (HEAD % b"b", []),
        (spam(1), []),
    ],
)
def test_what_is_attached(raw, found):
    assert [*map(hash_of_message, map(read, attached(raw)))] == [*map(hash_of_message, map(read, found))]


def test_there_is_a_limit():
    part = PART % (b"message/rfc822", b"Subject: x\n\ny")
    assert len(attached(HEAD % b"b" + part * 20_000)) == MAX_ATTACHED


@given(st.lists(st.sampled_from([HEAD % b"b", TEXT, PART, INNER, b"\n", b"--b", b"--", b"\0", b"\r"])))
def test_nothing_breaks_it(pieces):
    attached(b"".join(pieces))
