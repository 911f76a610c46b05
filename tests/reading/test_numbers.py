"""Numeric features, each measured by hand."""

import pytest

from spamnb.core.native import Tokenizer, read
from spamnb.reading.settings import Settings

TOKENIZER = Tokenizer(Settings())
HTML = "Content-Type: text/html; charset=utf-8\n\n"


def numbers(text):
    return TOKENIZER.features(read(text.encode())).numbers


def body(text):
    return numbers("Subject: x\nContent-Type: text/plain; charset=utf-8\n\n" + text)


def test_all_of_a_message():
    text = "From: a@a.example\nTo: b@b.example\nDate: Mon, 2 Nov 2026 09:30:00 +0100\n\nABc 12!!\n"
    assert numbers(text) == {
        "size": 30,  # 8 bytes are 3 doublings; the end of the last line counts nothing
        "capitals": 666,  # 2 of 3 letters
        "digits": 250,  # 2 of 8 characters
        "exclamations": 2,
        "html": 0,
        "links": 0,
        "recipients": 1,
        "hour": 9,
    }


@pytest.mark.parametrize(
    ("text", "share"),
    [
        *(("abcd", 0), ("ABCD", 1000), ("Abcd", 250), ("A b c!", 333), ("A1234567890", 1000)),
        *(("ÀBcd été", 285), ("СРОЧНО купите", 500), ("Купите срочно NOW", 266)),  # 2 of 7, 4 of 15
        *(("123", None), ("!!!", None), (" ", None), ("1 2 3", None)),
    ],
)
def test_capitals_per_mille_of_the_letters(text, share):
    assert body(text).get("capitals") == share


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("Subject: x\n\nhttp://a.example and https://b.example", 2),
        (HTML + "<a href=http://a.example>x</a><a href='b.html'>y</a>", 2),
        (HTML + "<img src=http://a.example/i.png>x", 0),
        ("Subject: x\n\n" + "http://a.example " * 5000, 100),
    ],
)
def test_links_up_to_a_hundred(text, links):
    assert numbers(text)["links"] == links


@pytest.mark.parametrize(
    ("headers", "count"),
    [
        ("To: a@a.example, b@b.example\nCc: c@c.example", 3),
        ("To: undisclosed-recipients:;", 0),
        ("To: " + "a@a.example," * 5000, 100),
        ("Bcc: a@a.example", None),
    ],
)
def test_recipients_up_to_a_hundred(headers, count):
    assert numbers(headers + "\n\ntext").get("recipients") == count


@pytest.mark.parametrize(
    ("date", "hour"),
    [
        ("Mon, 2 Nov 2026 00:00:00 +0100", 0),
        ("Mon, 2 Nov 2026 23:59:59 -0800 (PST)", 23),
        ("Mon, 2 Nov 2026 9:30:00 +0000", 9),
        ("2026-11-02T15:00:00Z", 15),
        *(("Mon, 2 Nov 2026 24:00:00 +0100", None), ("Mon, 2 Nov 2026 99:00:00 +0100", None)),
        *((date, None) for date in ("Mon, 2 Nov 2026", "2 Nov 2023", "2 Nov 2011 GMT", "12", "", "never")),
    ],
)
def test_the_hour_on_the_clock_of_the_sender(date, hour):
    assert numbers(f"Date: {date}\n\ntext").get("hour") == hour
