"""Headers, rule by rule: this header gives these tokens, this one none."""

import pytest

from spamnb.core.native import MAX_HEADER_WORDS, header_tokens
from spamnb.reading.settings import Settings, Words

WORDS = Words()


def tokens(name, value, words=WORDS):
    """Of one header, without the one that says it is there."""
    first, *rest = header_tokens([(name, value)], words)
    assert first == f"header:{name}"
    return rest


def tagged(name, words):
    return [f"{name}:{word}" for word in words.split()]


NO_EVIDENCE = """
    x-spamnb x-spam-status x-spam_score x-spamd-bar x-bogosity x-dspam-result x-rspamd-server
    x-barracuda-spam-score x-ironport-av x-proofpoint-spam-details x-ms-exchange-organization-scl
    x-forefront-antispam-report x-virus-scanned x-amavis-alert x-gmail-labels x-mozilla-status2
    status x-status x-keywords x-uid lines content-length delivered-to x-original-to authentication-results
    arc-seal x-example-mailscanner-spamscore x-antispam x-imapbase x-gm-thrid delivery-date envelope-to
"""
EVIDENCE = """
    subject from to received x-mailer list-unsubscribe mime-version x-priority statusbar linesman
    status-report date-sent x-statistics keywords content-language
"""


def test_verdicts_and_leftovers_are_ignored():
    for name in NO_EVIDENCE.split():
        assert list(header_tokens([(name, "Yes, score=9 <a@b.example>")], WORDS)) == []
    for name in EVIDENCE.split():
        assert f"header:{name}" in header_tokens([(name, "some.example")], WORDS)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("x-mailer", "The Bat! (v2.00) Personal", "the bat! v2 00 personal"),
        ("list-id", "<list.a.example>", "list a example"),
        ("organization", "Größe ＡＧ", "grösse ag"),
        ("x-empty", "", ""),
    ],
)
def test_words_are_tagged_with_the_header(name, value, words):
    assert tokens(name, value) == tagged(name, words)


@pytest.mark.parametrize(
    ("n", "value", "grams"),
    [
        (2, "Re: FREE money!", "re|free|money!|re free|free money!"),
        (3, "免费 сlick", "免费|click|免费 click"),
    ],
)
def test_subject(n, value, grams):
    expected = [f"subject:{gram}" for gram in grams.split("|")]
    assert tokens("subject", value, Settings(ngrams=n).words()) == expected


ADDRESSED = ["from", "to", "errors-to"]


@pytest.mark.parametrize("name", ADDRESSED)
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ('"Ann B." <ann@a.example>', "ann b ann a example ann@a.example @a.example"),
        ("ann@a.example (Ann)", "ann a example ann ann@a.example @a.example"),
        (
            "ann@a.example, Bob <bob@b.example>",
            "ann a example bob bob b example ann@a.example @a.example bob@b.example @b.example",
        ),
        ("<用户@例子。中国>", "用户 例子 中国 用户@例子.中国 @例子.中国"),
        ("undisclosed-recipients:;", "undisclosed-recipients"),
    ],
)
def test_addresses(name, value, words):
    assert tokens(name, value) == tagged(name, words)


@pytest.mark.parametrize("name", ["received", "x-originating-ip"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (
            "from x (mx.a.example [192.0.2.7]) by b.example with ESMTP id 1abc; Mon, 2 Nov 2026 1.2.3 +0100",
            "mx.a.example .a.example 192.0.2.7 192.0. 192.0.2. b.example .b.example",
        ),
        ("for <ann@a.example>", "a.example .a.example"),
        ("from mx.a.example. by b:25", "mx.a.example .a.example"),
        ("from x ([IPv6:2001:DB8::1]) by b", "2001:db8::1 2001:db8:"),
        ("from [::ffff:192.0.2.7]", "192.0.2.7 192.0. 192.0.2."),
    ],
)
def test_hosts(name, value, words):
    assert tokens(name, value) == tagged(name, words)


@pytest.mark.parametrize("name", ["message-id", "in-reply-to", "references"])
@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("<random$stuff@A.Example>", "@a.example"),
        ("Your message of Mon, 2 Nov 2026 <1@a.example>.", "@a.example"),
        ("<no-host>", "none"),
        ("", "none"),
    ],
)
def test_of_an_identifier_only_its_host(name, value, word):
    assert set(tokens(name, value)) == {f"{name}:{word}"}


@pytest.mark.parametrize(
    ("value", "zone"),
    [
        ("Mon, 2 Nov 2026 10:00:00 +0100", "+0100"),
        ("Mon, 2 Nov 2026 10:00:00 GMT", "gmt"),
        # The year or the minute would tell old mail from new, not ham from spam.
        ("Mon, 2 Nov 2026 10:00:00", "none"),
    ],
)
def test_of_a_date_only_its_zone(value, zone):
    assert [token.lower() for token in tokens("date", value)] == tagged("date", zone)


def test_a_flood_of_addresses():
    value = ", ".join(f"Ann <ann{n}@a{n}.example>" for n in range(10_000))
    for name in [*ADDRESSED, "received", "subject", "x-other", "references", "date"]:
        assert len(tokens(name, value)) <= 3 * MAX_HEADER_WORDS


def test_tokens_are_short():
    long = "a" * 100_000
    for name in [*ADDRESSED, "received", "subject", "x-other", "references", "date"]:
        for value in (long, f"<{long}@{long}.example>", f"{long}.{long}", f"1.2.3.{long}"):
            assert all(len(token) <= 120 for token in tokens(name, value))
    assert all(len(token) <= 200 for token in header_tokens([("x-" + long, "some words")], WORDS))
