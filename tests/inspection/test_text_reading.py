"""How a text was read is told where it is not as declared."""

import base64

import pytest
from helpers.pages import parsed, words

from spamnb.inspection.explanation import explain
from spamnb.inspection.text_reading import text_readings
from spamnb.model import Model
from spamnb.reading.message import read
from spamnb.report.message_page import message_page

CHINESE = "这是一封中文的邮件，请您查收。我们公司提供发票，价格优惠，欢迎来电咨询。"
RUSSIAN = "Добрый день, встреча переносится на завтра, на десять часов утра."
FOOTER = b"\n_______________\nThe list: http://example.org/\n"


def letter(charset, encoding, body):
    """A message with this charset and encoding in its header, if there are any."""
    lines = [b"Subject: x", b"Content-Type: text/plain" + (b'; charset="%s"' % charset if charset else b"")]
    if encoding:
        lines.append(b"Content-Transfer-Encoding: " + encoding)
    return b"\n".join(lines) + b"\n\n" + body


PACKED = base64.encodebytes(4 * CHINESE.encode())
LIE = letter(b"", b"base64", CHINESE.encode("gb18030"))
TRUE = letter(b"gb2312", b"base64", base64.encodebytes(CHINESE.encode("gb2312")))
PLAIN = letter(b"", b"", b"plain")
NOTES = {
    LIE: "declared base64, read as 8bit: 72 bytes above 0x7f; charset gb18030, found by its bytes",
    letter(b"us-ascii", b"", RUSSIAN.encode("cp1251")): (
        "declared charset us-ascii, read as windows-1251: found by its bytes"
    ),
    letter(b"utf-8", b"", PACKED): "no encoding declared, read as base64: it is base64",
    letter(b"utf-8", b"Base64", PACKED + FOOTER): (
        "declared base64, read as base64 and 8bit: a part of it is base64"
    ),
    TRUE: "",
    letter(b"utf-8", b"8bit", RUSSIAN.encode()): "",
    PLAIN: "",
    b"no header at all": "",
}


@pytest.mark.parametrize("raw", NOTES)
def test_notes(raw):
    (found,) = text_readings(read(raw))
    assert found.note == NOTES[raw]


@pytest.mark.parametrize(
    ("raw", "encoding", "charset"),
    [
        (LIE, ("base64", "8bit", "72 bytes above 0x7f"), ("", "gb18030", "found by its bytes")),
        (TRUE, ("base64", "base64", ""), ("gb2312", "gb18030", "")),
        (PLAIN, ("", "7bit", ""), ("", "us-ascii", "")),
    ],
)
def test_json(spamnb, raw, encoding, charset):
    """All is told, also what is as declared."""
    names = ("declared", "used", "why")
    (found,) = spamnb("inspect", "--json", "-", stdin=raw).succeeds().json["texts"]
    expected = [dict(zip(names, each, strict=True)) for each in (encoding, charset)]
    assert found == {"type": "text/plain", "filename": "", "encoding": expected[0], "charset": expected[1]}


def test_on_a_terminal(spamnb):
    text = spamnb("inspect", "-", stdin=LIE).succeeds().out.decode()
    assert f"\ntext/plain: {NOTES[LIE]}\n{CHINESE}" in text
    text = spamnb("inspect", "-", stdin=TRUE).succeeds().out.decode()
    assert "text/plain:" not in text.partition("\nevidence")[0]


def test_on_a_page(spamnb):
    model = Model.open(spamnb.model)
    tree, usual = (parsed(message_page(explain(model, raw), "-")) for raw in (LIE, TRUE))
    assert [words(each) for each in tree.css(".part")] == [f"text/plain: {NOTES[LIE]}"]
    assert [words(each) for each in usual.css(".part")] == ["text/plain"]


def test_hostile_names(spamnb):
    """They are cut, and shown as text."""
    raw = letter(b"\x1b[31m<i>" + 99 * b"x", b"base64\x1b[1m<b>" + 99 * b"y", CHINESE.encode("gb18030"))
    text = spamnb("inspect", "-", stdin=raw).succeeds().out.decode()
    assert "\x1b" not in text
    shown = f"text/plain: declared base64�[1m<b>{27 * 'y'}, read as 8bit: 72 bytes above 0x7f; "
    shown += f"declared charset �[31m<i>{32 * 'x'}, read as gb18030: found by its bytes"
    assert f"\n{shown}\n" in text
    page = parsed(message_page(explain(Model.open(spamnb.model), raw), "-"))
    assert words(page.css_first(".part")) == shown
