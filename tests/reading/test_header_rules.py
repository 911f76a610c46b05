"""Headers, rule by rule: this header gives these tokens, this one none."""

import pytest

from spamnb.reading.header_rules import MOST_HEADER_WORDS, header_tokens, is_ignored
from spamnb.reading.settings import Settings
from spamnb.reading.words import Words

WORDS = Words()


def tokens(name, value, words=WORDS):
    """Of one header, without the one that says it is there."""
    first, *rest = header_tokens([(name, value)], words)
    assert first == f"header:{name}"
    return rest


def tagged(name, words):
    return [f"{name}:{word}" for word in words.split()]


# Ignored headers


NO_EVIDENCE = """
    x-spamnb x-spamnb-version x-spam-status x-spam-flag x-spam-level x-spam-score x-spam-checker-version
    x-spam-report x-bogosity x-spamprobe x-spambayes-classification x-crm114-status x-dspam-result
    x-dspam-signature x-rspamd-queue-id x-rspamd-server x-barracuda-spam-score x-ironport-av
    x-proofpoint-spam-details x-microsoft-antispam-prvs x-ms-exchange-organization-scl
    x-forefront-antispam-report x-virus-scanned x-amavis-alert x-gmail-labels
    x-apple-mail-remote-attachments x-mozilla-status x-mozilla-status2 x-mozilla-keys x-evolution-source
    status x-status x-keywords x-uid lines content-length delivered-to x-original-to x-folder
    authentication-results arc-seal x-spamd-result x-spamd-bar x-spam_score x-spam_bar x-spam_report
    x-mailscanner-spamcheck x-example-mailscanner-spamscore x-ms-exchange-antispam-report
    x-spamexperts-class x-mimecast-spam-score x-gmx-antispam x-spaminfo x-spamscore x-antispam
    x-classification x-uidl x-imapbase x-gm-thrid delivery-date envelope-to x-delivered-to
"""


@pytest.mark.parametrize("name", NO_EVIDENCE.split())
def test_verdicts_and_leftovers_are_ignored(name):
    assert is_ignored(name)
    assert list(header_tokens([(name, "Yes, score=9 <a@b.example>")], WORDS)) == []


@pytest.mark.parametrize(
    "name",
    [
        *("subject", "from", "to", "received", "x-mailer", "user-agent", "list-id", "list-unsubscribe"),
        *("precedence", "mime-version", "x-priority", "organization", "importance", "statusbar", "linesman"),
        *("status-report", "date-sent", "x-statistics", "keywords", "content-language"),
    ],
)
def test_evidence_is_not_ignored(name):
    assert not is_ignored(name)
    assert f"header:{name}" in header_tokens([(name, "some.example")], WORDS)


# Any header


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


def test_the_words_follow_the_settings():
    words = Settings(ngrams=2, stop_words=["of"], stem="english").words()
    assert tokens("x-a", "Kings of offers", words) == ["x-a:king", "x-a:offer"]


# International addresses


@pytest.mark.parametrize("value", ["用户@例子.中国", "<用户@例子。中国>"])
def test_an_international_address(value):
    assert tokens("from", value) == tagged("from", "用户 例子 中国 用户@例子.中国 @例子.中国")


# Subject


@pytest.mark.parametrize(
    ("n", "value", "grams"),
    [
        (1, "Re: FREE money!", "re|free|money!"),
        (2, "Re: FREE money!", "re|free|money!|re free|free money!"),
        (3, "免费 сlick", "免费|click|免费 click"),
        (1, "", ""),
    ],
)
def test_subject(n, value, grams):
    expected = [f"subject:{gram}" for gram in grams.split("|") if gram]
    assert tokens("subject", value, Settings(ngrams=n).words()) == expected


# Addresses


ADDRESSED = ["from", "to", "errors-to"]


@pytest.mark.parametrize("name", ADDRESSED)
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("ann@a.example", "ann a example ann@a.example @a.example"),
        ('"Ann B." <ann@a.example>', "ann b ann a example ann@a.example @a.example"),
        ("ann@a.example (Ann)", "ann a example ann ann@a.example @a.example"),
        (
            "ann@a.example, Bob <bob@b.example>",
            "ann a example bob bob b example ann@a.example @a.example bob@b.example @b.example",
        ),
        ("undisclosed-recipients:;", "undisclosed-recipients"),
    ],
)
def test_addresses(name, value, words):
    assert tokens(name, value) == tagged(name, words)


# Received


@pytest.mark.parametrize("name", ["received", "x-originating-ip"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("from mx.a.example by b.example", "mx.a.example .a.example b.example .b.example"),
        ("from [192.0.2.7]", "192.0.2.7 192.0. 192.0.2."),
        (
            "from x (mx.a.example [192.0.2.7]) by b.example with ESMTP id 1abc; Mon, 2 Nov 2026 1.2.3 +0100",
            "mx.a.example .a.example 192.0.2.7 192.0. 192.0.2. b.example .b.example",
        ),
        ("for <ann@a.example>", "a.example .a.example"),
        ("from mx.a.example. by b", "mx.a.example .a.example"),
        ("from x ([IPv6:2001:DB8::1]) by b", "2001:db8::1 2001:db8:"),
        ("from x ([2001:db8:0:0:0:0:0:1]) by b", "2001:db8:0:0:0:0:0:1 2001:db8:"),
        ("from [::ffff:192.0.2.7]", "192.0.2.7 192.0. 192.0.2."),
        ("from b.example:25", "b.example .b.example"),
    ],
)
def test_hosts(name, value, words):
    assert tokens(name, value) == tagged(name, words)


@pytest.mark.parametrize("value", ["...", "from .", "a..b", "from x.", "by ..", "999.1"])
def test_odd_hosts(value):
    assert not {"received:.", "received:..", "received:...", "received:"} & set(tokens("received", value))


# Identifiers


@pytest.mark.parametrize("name", ["message-id", "in-reply-to", "references", "resent-message-id"])
@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("<1.2.3@mail.a.example>", "@mail.a.example"),
        ("<random$stuff@A.Example>", "@a.example"),
        ("<no-host>", "none"),
        ("", "none"),
    ],
)
def test_of_an_identifier_only_its_host(name, value, word):
    assert tokens(name, value) == [f"{name}:{word}"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("message-id", "<1@a.example> (added by the server)"),
        ("in-reply-to", "<1@a.example> from Ann at Nov 2, 2026 10:00:00"),
        ("in-reply-to", "Your message of Mon, 2 Nov 2026 <1@a.example>."),
        ("references", "<0@a.example> <1@a.example>"),
    ],
)
def test_an_identifier_among_other_things(name, value):
    assert set(tokens(name, value)) == {f"{name}:@a.example"}


# Date


@pytest.mark.parametrize(
    ("value", "zone"),
    [
        ("Mon, 2 Nov 2026 10:00:00 +0100", "+0100"),
        ("Mon, 2 Nov 2026 10:00:00 -0800 (PST)", "-0800"),
        ("Mon, 2 Nov 2026 10:00:00 GMT", "gmt"),
        ("2 Nov 26 10:00 EST", "est"),
        # The year or the minute would tell old mail from new, not ham from spam.
        ("Mon, 2 Nov 2026 10:00:00", "none"),
        ("2026-11-02T10:00:00", "none"),
    ],
)
def test_of_a_date_only_its_zone(value, zone):
    assert [token.lower() for token in tokens("date", value)] == tagged("date", zone)


# Caps


def test_a_flood_of_addresses():
    value = ", ".join(f"Ann <ann{n}@a{n}.example>" for n in range(10_000))
    for name in [*ADDRESSED, "received", "subject", "x-other", "references", "date"]:
        assert len(tokens(name, value)) <= 3 * MOST_HEADER_WORDS


def test_tokens_are_short():
    long = "a" * 100_000
    for name in [*ADDRESSED, "received", "subject", "x-other", "references", "date"]:
        for value in (long, f"<{long}@{long}.example>", f"{long}.{long}", f"1.2.3.{long}"):
            assert all(len(token) <= 120 for token in tokens(name, value))
    assert all(len(token) <= 200 for token in header_tokens([("x-" + long, "some words")], WORDS))
