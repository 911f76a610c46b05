"""Golden messages: all features of each, byte for byte."""

import pytest
from golden.regenerate import FOLDER, described

from spamnb.reading.message import read
from spamnb.reading.settings import Settings
from spamnb.reading.tokenizer import Tokenizer

MESSAGES = sorted(FOLDER.glob("*.eml"))


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_golden(path):
    expected = path.with_suffix(".tokens").read_bytes()
    assert described(path.read_bytes()).encode() == expected, (
        f"{path.stem}: other features than before. If that is meant, raise VERSION in "
        "spamnb/store/head.py (models must be trained again), run `make golden` and review the diff."
    )


def test_each_has_its_message():
    assert {path.stem for path in MESSAGES} == {path.stem for path in FOLDER.glob("*.tokens")}
    assert len(MESSAGES) >= 12


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_line_ends_change_nothing(path):
    unix = path.read_bytes().replace(b"\r\n", b"\n")
    assert described(unix.replace(b"\n", b"\r\n")) == described(unix)


def test_the_crlf_message_has_them():
    raw = (FOLDER / "crlf.eml").read_bytes()
    assert raw.count(b"\r\n") == raw.count(b"\n") > 5


# What the files must show, whatever else changes in them.
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (
            "plain",
            "subject:minutes from:@allotment.example tomatoes url:/minutes message-id:@allotment.example",
        ),
        ("html", "prices html:table url:shop.example hidden:orchard"),
        ("alternative", "type:text/plain type:text/html timetable html:p"),
        ("forward", "type:message/rfc822 greenhouse invoice"),
        ("attachment", "type:application/pdf file:.pdf file:budget type:image/png"),
        ("encoded-headers", "subject:größe from:jürgen to:иван cc:田中 reply-to:françois"),
        ("chinese", "发票 subject:优惠"),
        ("japanese", "会議 subject:会議"),
        ("korean", "회의 subject:안내"),
        ("russian", "квартиру subject:объявление"),
        ("spam", "viagra hidden:gardening url:number"),
        ("no-headers", "review us now"),
        ("mailing-list", "list-id:hens precedence:list subject:hens in-reply-to:@coop.example"),
        ("crlf", "subject:boiler thursday"),
    ],
)
def test_what_each_shows(name, shown):
    features = Tokenizer(Settings()).features(read((FOLDER / f"{name}.eml").read_bytes()))
    assert {word.casefold() for word in shown.split()} <= set(features.texts.values())
