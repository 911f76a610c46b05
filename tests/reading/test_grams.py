"""Grams: runs of four bytes of what a reader sees, each in the counters of its part."""

import pytest
from helpers.samples import spam

from spamnb.core.native import BODY, HEAD, Tokenizer, counter_of, read
from spamnb.inspection.explanation import explain
from spamnb.model import Model
from spamnb.reading.settings import Settings


def counters(text, part):
    """Of each run of four bytes, as slowly as can be."""
    return {counter_of(int.from_bytes(text[at : at + 4], "little"), part) for at in range(len(text) - 3)}


def grams(raw, **choices):
    return set(Tokenizer(Settings(**choices)).features(read(raw)).grams)


TEXT = b"Subject: a good day\nX-Mailer: none\n\nBuy it, now\n"


def test_the_head_as_it_stands_and_the_text_as_words():
    head = counters(b"subject: a good day\nx-mailer: none\n", HEAD)
    assert grams(TEXT) == head | counters(b"buy it  now", BODY)
    assert grams(TEXT, headers=False) == counters(b"buy it  now", BODY)
    assert grams(TEXT, grams=False) == set()
    no_evidence = b"Delivered-To: you\nX-Spam-Status: Yes, 99\nX-UID: 17\nReceived: from a\n"
    assert grams(no_evidence + TEXT) == grams(TEXT)


def test_inspect_shows_the_stretches_they_cover_and_what_they_add(spamnb):
    why = explain(Model.open(spamnb.model), spam(99))
    stretches = [reason for reason in why.reasons if reason.is_gram]
    sums = [part for part in why.part_sums if part.name.startswith("byte runs")]
    assert [part.name for part in sums] == ["byte runs of the head", "byte runs of the body"]
    assert sum(part.adds for part in sums) == pytest.approx(sum(reason.adds for reason in stretches))
    assert sum(part.adds for part in why.part_sums) == pytest.approx(why.lead)
    assert any("viagra" in (reason.covers or ()) and "viagra" in reason.token for reason in stretches)
    shown = spamnb("inspect", "-", stdin=spam(99)).succeeds().out.decode()
    assert "byte runs of the body" in shown
    assert "2 × (" in shown
