"""A text in many languages, charsets and forms, some of them false: always the words of its UTF-8 form."""

from __future__ import annotations

import quopri
from base64 import encodebytes
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from unicodedata import normalize

import pytest

from spamnb.core.native import Tokenizer, read
from spamnb.reading.settings import Settings

LONG, MAX_SUBJECT = 400, 180

CYRILLIC, CENTRAL = ["windows-1251", "iso-8859-5"], ["windows-1250", "iso-8859-2"]
BALTIC, WESTERN = ["windows-1257", "iso-8859-4", "iso-8859-13"], ["windows-1252"]
CHARSETS = {
    "ru": [*CYRILLIC, "koi8-r", "ibm866"],
    "uk": ["windows-1251", "koi8-u"],
    "be": ["windows-1251"],
    **dict.fromkeys(("bg", "sr", "mk"), CYRILLIC),
    "el": ["windows-1253", "iso-8859-7"],
    "he": ["windows-1255", "iso-8859-8"],
    "ar": ["windows-1256", "iso-8859-6"],
    "fa": ["windows-1256"],
    "th": ["tis-620"],
    "zh-Hans": ["gb2312", "gb18030"],
    "zh-Hant": ["big5"],
    "ja": ["shift_jis", "euc-jp", "iso-2022-jp"],
    "ko": ["euc-kr", "iso-2022-kr"],
    "tr": ["windows-1254", "iso-8859-9"],
    "vi": ["windows-1258"],
    **dict.fromkeys(("pl", "cs", "sk", "hu", "sl", "hr", "ro"), CENTRAL),
    **dict.fromkeys(("lt", "lv"), BALTIC),
    "et": [*BALTIC, "iso-8859-15"],
    **dict.fromkeys(("de", "es", "pt", "it", "nl", "sv", "da", "nb", "is", "ca"), WESTERN),
    **{key: [*WESTERN, "iso-8859-15"] for key in ("fr", "fi")},
}
UNICODE = ["utf-8", "utf-8-sig", "utf-16"]  # the last two with a byte order mark
OLD_SPELLING = str.maketrans("ȘșȚțی", "ŞşŢţي")  # where a charset lacks the letter
TONES = "\u0300\u0301\u0303\u0309\u0323"  # of Vietnamese, which windows-1258 has behind the letter

FOOTER = b"footer of the list\n"
TOKENIZER = Tokenizer(Settings())


class Sample:
    """A text that is to be sent in a charset; characters that the charset lacks are left out."""

    def __init__(self, charset: str, text: str) -> None:
        self.charset = charset
        self.text = "".join([char for char in text if fitting(char, charset)])
        self.data: bytes = "".join([fitting(char, charset) for char in self.text]).encode(codec(charset))
        self.name: str = charset.removesuffix("-sig")


def codec(charset: str) -> str:
    return charset.replace("windows-", "cp")


@cache
def fitting(char: str, charset: str) -> str:
    """Return a character as it is written in a charset; "" if it is not."""
    for form in (tone_behind(char),) if charset == "windows-1258" else (char, char.translate(OLD_SPELLING)):
        try:
            form.encode(codec(charset))
        except UnicodeEncodeError:
            continue
        return form
    return ""


def tone_behind(letter: str) -> str:
    parts = normalize("NFD", letter)
    tone = "".join([mark for mark in parts if mark in TONES])
    return normalize("NFC", "".join([part for part in parts if part not in TONES])) + tone


def mail(body: bytes, content_type: str = "", encoding: str = "", subject: bytes = b"") -> bytes:
    head = [b"From: ann@a.example"]
    if subject:
        head.append(b"Subject: " + subject)
    if content_type:
        head += [b"MIME-Version: 1.0", b"Content-Type: " + content_type.encode()]
    if encoding:
        head.append(b"Content-Transfer-Encoding: " + encoding.encode())
    return b"\n".join([*head, b"", body, b""])


def plain(charset: str) -> str:
    return f"text/plain; charset={charset}"


def page(start: str, text: bytes) -> bytes:
    return start.encode() + b"<body><p>" + text + b"</p></body></html>"


def alternative(plain_type: str, text: bytes, html_type: str, order: int) -> bytes:
    parts = [
        f"Content-Type: {plain_type}\n\n".encode() + text,
        f"Content-Type: {html_type}\n\n".encode() + page("<html>", text),
    ]
    body = b"\n".join([b"--b\n" + part for part in parts[::order]])
    return mail(body + b"\n--b--", "multipart/alternative; boundary=b")


META = '<html><head><meta http-equiv="Content-Type" content="text/html; charset={}"></head>'
SHORT_META = '<html><head><meta charset="{}"></head>'
XML = '<?xml version="1.0" encoding="{}"?><html xmlns="http://www.w3.org/1999/xhtml">'
BARE, BASE64, QUOTED = "text/plain", "base64", "quoted-printable"

Forms = dict[str, Callable[[Sample], bytes]]
DECLARED: Forms = {"base64": lambda s: mail(encodebytes(s.data), plain(s.name), BASE64)}
ENCODED: Forms = {
    "base64, no charset": lambda s: mail(encodebytes(s.data), BARE, BASE64),
    "base64 as 7bit": lambda s: mail(encodebytes(s.data), plain(s.name), "7bit"),
}
DECLARED_LINES: Forms = {
    "8bit": lambda s: mail(s.data, plain(s.name), "8bit"),
    "quoted-printable": lambda s: mail(quopri.encodestring(s.data), plain(s.name), QUOTED),
}
LINES: Forms = {
    "quoted-printable, no charset": lambda s: mail(quopri.encodestring(s.data), BARE, QUOTED),
    "nothing": lambda s: mail(s.data),
    "us-ascii": lambda s: mail(s.data, plain("us-ascii"), "7bit"),
    "utf-8": lambda s: mail(s.data, plain("utf-8"), "8bit"),
    "iso-8859-1": lambda s: mail(s.data, plain("iso-8859-1"), "8bit"),
    "raw as base64": lambda s: mail(s.data, plain(s.name), BASE64),
    "raw as quoted-printable": lambda s: mail(s.data, plain(s.name), QUOTED),
}
WITHIN: Forms = {
    "footer below base64": lambda s: mail(encodebytes(s.data) + FOOTER, plain(s.name), BASE64),
    "footer above base64": lambda s: mail(FOOTER + encodebytes(s.data), plain(s.name), BASE64),
    "in <meta http-equiv>": lambda s: mail(page(META.format(s.name), s.data), "text/html", "8bit"),
    "in <meta charset>": lambda s: mail(page(SHORT_META.format(s.name), s.data), "text/html", "8bit"),
    "in <?xml>": lambda s: mail(page(XML.format(s.name), s.data), "text/html", "8bit"),
    "in the next part": lambda s: alternative(BARE, s.data, f"text/html; charset={s.name}", 1),
    "in the part before": lambda s: alternative(BARE, s.data, f"text/html; charset={s.name}", -1),
}
SUBJECT: Forms = {
    "subject, body declared": lambda s: mail(s.data, plain(s.name), "8bit", s.data),
    "subject, body too": lambda s: mail(s.data, subject=s.data),
    "subject only": lambda s: mail(FOOTER, subject=s.data),
}


def body_forms(charset: str, declared: bool) -> Forms:
    """Return the forms that the text of a message in a charset may have."""
    found = DECLARED if declared else ENCODED
    if charset != "utf-16":
        found = found | (DECLARED_LINES if declared else LINES)
    return found if declared or charset in UNICODE[1:] else found | WITHIN


def words(raw: bytes, tag: str = "") -> set[str]:
    """Return the words of a message that have a tag, or none."""
    tokens = TOKENIZER.features(read(raw)).texts.values()
    split = [token.rpartition(":") for token in tokens]
    return {word for before, colon, word in split if before + colon == tag}


def prose() -> dict[str, str]:
    """Return a text of each language by its code."""
    file = Path(__file__).with_name("prose.txt").read_text("utf-8")
    texts = [entry.strip().split("\n") for entry in file.split("\n\n")]
    return {title.split()[0]: " ".join(lines) for title, *lines in texts}


def read_all(sample: Sample, declared: bool) -> Iterator[tuple[str, set[str], set[str]]]:
    """Read a sample in all forms: yield each, the words of it and those that were read."""
    right = words(mail(sample.text.encode(), plain("utf-8"), "8bit"))
    for form, raw_of in body_forms(sample.charset, declared).items():
        footer = set(FOOTER.decode().split()) if form.startswith("footer") else set()
        yield form, right | footer, words(raw_of(sample))
    if sample.charset not in UNICODE[1:] and not declared:
        subject = Sample(sample.charset, sample.text[:MAX_SUBJECT])
        right = words(mail(subject.text.encode(), plain("utf-8"), "8bit"))
        for form, raw_of in SUBJECT.items():
            yield form, right, words(raw_of(subject), "subject:")


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "not declared"])
@pytest.mark.parametrize("language", CHARSETS)
def test_long_texts(language, declared):
    text = prose()[language][:LONG]
    for charset in (*CHARSETS[language], *UNICODE):
        for form, right, found in read_all(Sample(charset, text), declared):
            assert found == right, (charset, form)
