"""Spam that comes again with other names, links and words, after it was marked once."""

import random
import re
import shutil

import pytest

MAILING = """Dear Anna,

your parcel from the harbour depot could not be handed over because the customs form lacks your signature.
Please settle the outstanding storage charge of 3.40 within two working days, otherwise our courier must
return the goods to their sender. Open http://parcels.example/a1 and confirm street, town and postcode there.
We wish you a pleasant week and remain at your service, the dispatch team of Norddepot.
"""
ROUTE = "Received: from mx{0}.relay.example by mail.example.net\nFrom: {1} <a{0}@shop{0}.example>\n"
REASON = "many of its phrases are known from spam"


def mailing(number: int, name: str, share: float) -> bytes:
    """Write the mailing to somebody else by another route, a share of its words changed."""
    draw = random.Random(number)
    words = [f"zq{draw.randrange(10**6)}x" if draw.random() < share else word for word in MAILING.split(" ")]
    text = re.sub("Anna", name, " ".join(words)).replace("/a1", f"/b{number}").replace("3.40", f"{number}.15")
    return (ROUTE.format(number, name) + f"Subject: parcel {number}\n\n{text}").encode()


@pytest.fixture
def taught(spamnb, tmp_path):
    """A model that missed the mailing, and then was given it once."""
    path = tmp_path / "model.msgpack"
    shutil.copy(spamnb.model, path)
    first = mailing(1, "Anna", 0.0)
    assert not spamnb("classify", "--model", path, stdin=first).succeeds().out.startswith(b"spam")
    spamnb("train", "--model", path, "--spam", "-", stdin=first).succeeds()
    return path


@pytest.mark.parametrize("share", [0.0, 0.05, 0.15])
def test_marked_once_its_variants_are_spam(spamnb, taught, share):
    for number in (3, 4, 5):
        raw = mailing(number, "Bruno", share)
        assert spamnb("classify", "--model", taught, stdin=raw).succeeds().out.startswith(b"spam\t")
        shown = spamnb("inspect", "--model", taught, "-", stdin=raw).succeeds().out.decode()
        assert REASON in shown
        assert "text of learned spam" in shown


def test_a_reply_that_quotes_it_is_not_dragged_along(spamnb, taught, mail):
    head, _, text = mail.messages["ham"].partition(b"\n\n")
    quoted = b"".join(b"> %b\n" % line for line in MAILING.encode().splitlines())
    raw = head + b"\n\n" + text + b"\nIs this real?\n\n" + quoted
    assert not spamnb("classify", "--model", taught, stdin=raw).succeeds().out.startswith(b"spam\t")
    shown = spamnb("inspect", "--model", taught, "-", stdin=raw).succeeds().out.decode()
    assert REASON not in shown
    assert "quotation of learned spam" in shown


def test_forgotten_it_is_not_known_any_more(spamnb, taught):
    spamnb("forget", "--model", taught, "-", stdin=mailing(1, "Anna", 0.0)).succeeds()
    shown = spamnb("inspect", "--model", taught, "-", stdin=mailing(3, "Bruno", 0.05)).succeeds().out.decode()
    assert REASON not in shown
