"""Mail of people one knows is never lost, and nobody gets in by their names."""

import os
from types import SimpleNamespace

import pytest
from helpers.forged_senders import BOSS, FORGED_HEADS, FORGED_VALUES
from helpers.forged_senders import SUBMITTED as LOCAL
from helpers.mailboxes import ENVELOPE, put
from helpers.samples import ham, spam
from hypothesis import given
from hypothesis import strategies as st

from spamnb.bayes.verdict import Verdict
from spamnb.core.native import read
from spamnb.reading.envelope import envelope_of
from spamnb.reading.route import SUBMITTED, route_of
from spamnb.senders.people import People
from spamnb.store.stored_model import StoredModel

HOP = b"Received: from %s (unknown [%s])\n\tby mx.example.org (Postfix) with ESMTPS id 1\n"
USUAL, OTHER = HOP % (b"x", b"192.0.2.7"), HOP % (b"x", b"198.51.100.7")
RESULTS = b"Authentication-Results: %s; %s header.from=%s\n"
VERIFIED = RESULTS % (b"mx.example.org", b"dmarc=pass", b"casino.example")
SENT = (
    b"From: Me <me@example.org>\nTo: Ann <ANN@b\xc3\xbccher.example>, you@example.org\n"
    b"Cc: win@casino.example\n"
    b"Message-ID: <1.me@example.org>\nSubject: hello\n\nhello\n"
)


@pytest.fixture(scope="module")
def known(spamnb, tmp_path_factory):
    """A model whose owner wrote to a few, and has one of them as a contact."""
    folder = tmp_path_factory.mktemp("known")
    place = SimpleNamespace(
        model=folder / "model",
        people=folder / "known.txt",
        sent=put(folder / "Sent", ENVELOPE + SENT + b"\n"),
    )
    mail = {
        "ham": [
            (VERIFIED.replace(b"casino.example", b"example.org") if n < 3 else b"")
            + HOP % (b"h", b"10.0.%d.1" % n)
            + ham(n)
            for n in range(20)
        ],
        "spam": [OTHER + spam(n) for n in range(20)],
    }
    mail["ham"] += [hop + b"From: win@casino.example\nSubject: minutes\n\nagenda\n" for hop in (USUAL, OTHER)]
    boxes = [
        put(folder / name, b"".join(ENVELOPE + raw + b"\n" for raw in some)) for name, some in mail.items()
    ]
    train = ("train", "--jobs", "1", "--model", place.model, "--ham-loss", "5%", *boxes)
    for added in 7, 0:
        done = spamnb(*train, "--sent", place.sent).succeeds()
        assert done.lines[-1] == f"{place.people}: {added} known senders added, 7 lines in all"
    place.classify = lambda raw, **more: (
        spamnb("classify", "--json", "--cutoff", "0", "--model", place.model, stdin=raw, **more)
        .succeeds()
        .json
    )
    return place


def test_people_need_a_model(known, spamnb, tmp_path):
    spamnb("train", "--sent", known.sent, "--model", tmp_path / "none").fails(75, "no model yet")
    assert os.listdir(tmp_path) == []
    (tmp_path / "model").write_bytes(known.model.read_bytes())
    (tmp_path / "known.txt").mkdir()
    spamnb("train", "--sent", known.sent, "--model", tmp_path / "model").fails(66, "known.txt: ")


def test_what_is_noted(known):
    assert set(known.people.read_text().splitlines()) == {
        "ann@xn--bcher-kva.example",
        "you@example.org",
        "win@casino.example",
        "win@casino.example 192.0.2.",
        "win@casino.example 198.51.100.",  # of no use: spam comes from there, too
        "own me@example.org",
        "<1.me@example.org>",
    }
    assert known.people.stat().st_mode & 0o777 == known.model.stat().st_mode & 0o777


ANSWER = b"In-Reply-To: <1.me@example.org>\n"
STRANGER = spam(99).replace(b"win@", b"new@")
CASES = {
    # head: whether its spam is spared
    USUAL: True,
    OTHER: False,
    VERIFIED + OTHER: True,
    RESULTS % (b"mx.evil.example", b"dmarc=pass", b"casino.example") + OTHER: False,  # by a server not ours
    RESULTS % (b"mx.example.org", b"dmarc=pass", b"evil.example") + OTHER: False,
    RESULTS % (b"mx.example.org", b"dmarc=fail", b"casino.example") + USUAL: False,
    OTHER + USUAL: False,  # below what the own server wrote
    HOP % (b"[192.0.2.7]", b"198.51.100.7"): False,
    HOP % (b"x (y [192.0.2.7]) by z with ESMTPSA (", b"198.51.100.7"): False,
    b"Received: from weird by mx.example.org with SMTP\n" + USUAL: False,
    b"Received: from mx.example.org by mx.example.org with LMTP\n" + USUAL: True,
    (HOP % (b"x", b"198.51.100.7")).replace(b"ESMTPS", b"ESMTPSA"): True,  # with a password of ours
    LOCAL: True,
    b"Received: by 10.1.2.3 with SMTP id 1\n" + LOCAL: False,  # by somebody it does not name
    b"": False,
}


def spared(people, raw):
    verdict = Verdict("spam", 9.0, 1.0, {"ham": 0.0, "spam": 1.0}, ())
    people.protect(verdict, envelope_of(read(raw)), StoredModel.open(people.model))
    assert (verdict.label, verdict.is_spam) == (("unsure", None) if verdict.reason else ("spam", True))
    return verdict.reason


@pytest.mark.parametrize("head", CASES)
def test_only_their_own_mail_is_spared(known, head):
    people = People(str(known.model))
    assert spared(people, head + spam(99)) == ("known=win@casino.example" if CASES[head] else "")
    assert spared(people, head + STRANGER) == ""


def test_a_delivery_spares_them(known):
    for head, verdict, reason in ((USUAL, "unsure", "known=win@casino.example"), (OTHER, "spam", None)):
        said = known.classify(head + spam(99))
        assert (said["verdict"], said["reason"]) == (verdict, reason)


def test_who_answers_is_known_if_it_is_they(known):
    for head, is_spared in ((VERIFIED, True), (b"", False), (ANSWER.replace(b"1", b"2"), False)):
        for answers in (ANSWER, b"References: <0@example.org>\n\t<1.me@example.org>\n"):
            said = known.classify(head + OTHER + (answers if b"2.me" not in head else b"") + STRANGER)
            assert said["verdict"] == ("unsure" if is_spared else "spam"), head


def test_nobody_is_known_by_ones_own_address(known):
    own = LOCAL + spam(99).replace(b"win@casino.example", b"me@example.org", 1)
    assert known.classify(own)["verdict"] == "spam"
    assert known.classify(ANSWER + own)["verdict"] == "spam"


@pytest.mark.parametrize("raw", [b"From: %s\nX: y\n\n.", *FORGED_HEADS])
def test_forged_heads(known, tmp_path, raw):
    people = People(str(known.model), put(tmp_path / "c.vcf", f"EMAIL:{BOSS}".encode()))
    assert spared(people, LOCAL + raw.replace(b"%s", BOSS.encode())) == (
        f"known={BOSS}" if b"X: y" in raw else ""
    )


@pytest.mark.parametrize("value", FORGED_VALUES)
def test_forged_names(known, tmp_path, value):
    people = People(str(known.model), put(tmp_path / "c.vcf", f"EMAIL:{BOSS}".encode()))
    assert spared(people, LOCAL + b"From: " + value.encode() + b"\n\n.") == ""


PIECES = [USUAL, VERIFIED, ANSWER, b"win@casino.example", b"1.me@example.org", b"[192.0.2.7]", b"[::%x]"]
PIECES += [b"Received: ", b"From: ", b"from ", b" by ", b" with ", b"<", b";", b"(", b'"']
PIECES += [b"\xff", b"\xc3\xa9", b"\0", b"\r", b"\n"]


@given(st.lists(st.sampled_from(PIECES)).map(b"".join))
def test_no_bytes_break_it(known, head):
    spared(People(str(known.model)), head + spam(99))


CARDS = (
    b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Win\r\nitem1.EMAIL;type=INTERNET;\r\n type=pref:Win@Casi\r\n"
    b" no.example\r\n"
    b"NOTE:new@casino.example\r\nPHOTO;ENCODING=b:QUJD\r\n QUJD\r\nEND:VCARD\r\n"
)


def test_contacts_are_known(known, spamnb, tmp_path):
    """A file, or a folder of files, which may change; one that is not there is a mistake."""
    config = tmp_path / "spamnb" / "spamnb.toml"
    folder = tmp_path / "cards"
    folder.mkdir()
    put(folder / "readme", b"EMAIL:new@casino.example")
    one = put(folder / "one.vcf", CARDS)
    own = str(tmp_path / "model")  # without known.txt beside it
    os.symlink(known.model, own)
    os.rename(known.people, tmp_path / "away")
    env = spamnb.environment | {"XDG_CONFIG_HOME": str(tmp_path)}

    def verdict(raw):
        return known.classify(raw, env=env)["verdict"]

    try:
        assert verdict(VERIFIED + spam(99)) == "spam"
        for path in (one, str(folder)):
            put(config, f'known = "{path}"\n'.encode())
            assert [verdict(VERIFIED + raw) for raw in (spam(99), STRANGER)] == ["unsure", "spam"]
            assert verdict(OTHER + spam(99)) == "spam"
        lines = spamnb("classify", "--model", known.model, one, known.sent, env=env).succeeds().lines
        assert len(lines) == 2
        os.unlink(one)
        assert verdict(VERIFIED + spam(99)) == "spam"
        put(config, b'known = "nothing"\n')
        spamnb("config", env=env).fails(66, "spamnb.toml:1: known: ", "No such file")
    finally:
        os.rename(tmp_path / "away", known.people)


@pytest.mark.parametrize(
    ("fields", "route"),
    [
        (
            ["from h (IDENT:x@y [192.0.2.1] (may be forged)) by mx (8.14/8.14) with ESMTP id 1; Mon"],
            "192.0.2.",
        ),
        (
            ["from [192.0.2.1] (port=1 helo=x) by mx with esmtps (Exim 4.96) (envelope-from <a@b>) id 1"],
            "192.0.2.",
        ),
        (
            ["(qmail 1 invoked by uid 0); Mon", "from unknown (HELO x) (192.0.2.1) by mx with SMTP"],
            "192.0.2.",
        ),
        (["by 2002:a05:7300:1 with SMTP id 1", "from m ([2001:db8:1:2::3]) by mx with SMTPS"], "2001:db8:1:"),
        (["from localhost (localhost [127.0.0.1]) by mx with ESMTP", "from h (192.0.2.1) by mx"], "192.0.2."),
        (['from x (y [192.0.2.1]) by mx with SMTP for <"a by b with esmtpsa c"@example.org>'], "192.0.2."),
        (["from x by mx (Postfix, from userid 1000) with local"], SUBMITTED),
        (["from x"], ""),
        ([], ""),
        (["from a b by c with LMTP"] * 1000 + ["from h (192.0.2.1) by mx"], SUBMITTED),
    ],
)
def test_routes(fields, route):
    assert route_of(fields) == route
