"""A message to its features: parts, pages, caps, and what holds for any bytes."""

import pytest
from helpers.textbook import counted, pairs_in

from spamnb.core.native import BODY, MAX_TOKENS, Tokenizer, read
from spamnb.core.native import HEAD as IN_HEAD
from spamnb.reading.settings import Settings

TOKENIZER = Tokenizer(Settings())
MULTIPART = "Content-Type: multipart/mixed; boundary=b\n\n--b\n"
PAGE = "Content-Type: text/html\n\n"


def features(raw, **choices):
    tokenizer = Tokenizer(Settings(**choices)) if choices else TOKENIZER
    return tokenizer.features(read(raw if isinstance(raw, bytes) else raw.encode()))


def tokens(raw, **choices):
    return counted(features(raw, **choices))


def page(html):
    """The tokens of a page, without the one that says it is one."""
    found = tokens(PAGE + html)
    del found["type:text/html"]
    return found


def test_words_of_texts_are_kept_apart_from_what_is_tagged():
    raw = MULTIPART.replace("\n\n", "\nSubject: Hello you\n\n", 1) + "\nOne, two\n--b\n\nTHREE\n--b--\n"
    found = features(raw)
    assert pairs_in(found) == {("one", "two"), ("subject:hello", "subject:you")}
    parts = {found.texts[number]: (times, part) for number, times, part in found.tokens}
    assert {token for token, (_, part) in parts.items() if part == IN_HEAD} == {
        *("header:subject", "subject:hello", "subject:you")
    }
    assert parts["type:text/plain"] == (2, BODY)
    assert parts["three"] == (1, BODY)


def test_without_headers_on_demand():
    raw = "Subject: Hello\nX-Mailer: z\nContent-Type: text/plain; charset=utf-8\n\nBody\n"
    assert tokens(raw, headers=False) == {"type:text/plain": 1, "charset:utf-8": 1, "body": 1}


def test_ngrams_are_of_one_subject_or_one_text():
    raw = "X-Other: c d\nSubject: a b\n" + MULTIPART + "\ne f g\n--b\n\nh\n--b--\n"
    found = {token for token in tokens(raw, ngrams=3) if " " in token}
    assert found == {"subject:a b", "e f", "f g", "e f g"}


def test_settings_reach_every_word():
    raw = (
        "Subject: Offers\nContent-Type: text/html\n\n"
        "<a href='http://a.example/offers'>Offers</a> THE <b hidden>Offers</b>"
    )
    found = tokens(raw, stem="english", stop_words=["the"])
    assert {"subject:offer", "offer", "url:/offer", "hidden:offer"} <= set(found)
    assert "the" not in found


def test_types_charsets_and_attachments():
    raw = (
        MULTIPART + "Content-Type: TEXT/Plain; charset=ISO-8859-1\n\nhi\n--b\n"
        'Content-Type: application/pdf; name="My Invoice_2026.PDF"\n\n%PDF-1.4\n--b\n'
        "Content-Type: application/x-msdownload\n"
        "Content-Disposition: attachment; filename=run.exe\n\nMZ\0\n--b--\n"
    )
    expected = (
        "type:text/plain charset:iso-8859-1 hi type:application/pdf file:my file:invoice_2026 file:.pdf "
        "type:application/x-msdownload file:run file:.exe"
    )
    assert tokens(raw, headers=False) == dict.fromkeys(expected.split(), 1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.tar.gz", "a tar .gz"),
        (".profile", ".profile"),
        ("invoice.pdf                         .exe", "invoice pdf .exe"),
        ("=?utf-8?q?photo=E2=80=AEgnp=2Eexe?=", "photognp .exe"),
    ],
)
def test_names_of_attachments(name, expected):
    raw = f'Content-Type: image/png; name="{name}"\n\nx'
    found = {token for token in tokens(raw, headers=False) if token.startswith("file:")}
    assert found == {f"file:{word}" for word in expected.split()}


def test_a_forwarded_message():
    raw = (
        MULTIPART + "\nsee below\n--b\nContent-Type: message/rfc822\n\n"
        "Subject: zebra\nX-Spam-Status: badverdict\n\ninner\n--b--\n"
    )
    found = tokens(raw)
    assert {"see", "below", "inner", "type:message/rfc822", "subject:zebra"} <= set(found)
    assert not [token for token in found if "badverdict" in token]
    assert "subject:zebra" not in tokens(raw, headers=False)


def test_tags():
    tags = {"html:p": 2, "html:b": 1, "html:br": 1}
    assert page("<p><b>one</b> two<br>three<P>") == {"one": 1, "two": 1, "three": 1, **tags}


HEAD = "Subject: x\n"
FLOODS = {
    "other words": HEAD + "\n" + " ".join(map(str, range(150_000))),
    "Chinese": HEAD + "Content-Type: text/plain; charset=utf-8\n\n" + "免费软件下载" * 50_000,
    "headers": "".join(f"X-{n}: a b c d e f g h i j\n" for n in range(9_000)) + "\nx",
    "tags": HEAD + PAGE + "<b>" * 300_000,
    "parts": MULTIPART + "\nx\n--b\n" * 50_000,
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_a_flood_stays_within_bounds(flood):
    assert sum(tokens(flood).values()) <= MAX_TOKENS


NUMBERED = " ".join(f"w{n}" for n in range(8_000))
EVIL_LINK = "<a href=http://evil.example/>x</a>"


@pytest.mark.parametrize(
    ("raw", "token", "choices"),
    [
        (PAGE + "".join(f"<x{n}>" * 50 for n in range(200)) + "<form>", "html:form", {}),
        (PAGE + "<img src=http://i.example/x>" * 600 + EVIL_LINK, "url:evil.example", {}),
        (PAGE + "<p hidden>" + "word " * 40_000 + "</p>" + EVIL_LINK, "url:evil.example", {}),
        (HEAD + "\n" + NUMBERED + " http://evil.example/", "url:evil.example", {"ngrams": 5}),
        (("X-A: " + "a " * 200 + "\n") * 501 + "Subject: evil\n\nbody", "subject:evil", {}),
        (("X-A: " + "a " * 200 + "\n") * 501 + "\nevilword", "evilword", {}),
        (MULTIPART + "\n" + "word " * 100_000 + "\n--b\n\nevilword\n--b--\n", "evilword", {"ngrams": 2}),
    ],
    ids=["tags", "pictures", "hidden words", "words", "subject", "headers", "a part"],
)
def test_a_flood_hides_nothing_else(raw, token, choices):
    assert token in tokens(raw, **choices)
