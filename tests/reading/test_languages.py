"""A text in many languages, charsets and forms, some of them false: always the words of its UTF-8 form."""

from __future__ import annotations

import quopri
from base64 import encodebytes
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize

import pytest

from spamnb.reading.message import read
from spamnb.reading.settings import Settings
from spamnb.reading.tokenizer import Tokenizer

LONG, LONGEST_SUBJECT = 400, 180
LEAST = {80: 0.97, 20: 0.85}  # share of shorter texts that are read rightly though nothing true is declared
STARTS = {80: 6, 20: 12}  # texts of each language
EVERY = 11  # of the forms of short texts, one in so many is read
MOST_SHOWN = 20

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

    def __init__(self, language: str, charset: str, text: str) -> None:
        self.language = language
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


# Messages


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
    "base64, us-ascii": lambda s: mail(encodebytes(s.data), plain("us-ascii"), BASE64),
    "base64 as 7bit": lambda s: mail(encodebytes(s.data), plain(s.name), "7bit"),
    "base64 as 7bit, no charset": lambda s: mail(encodebytes(s.data), BARE, "7bit"),
}
DECLARED_LINES: Forms = {
    "8bit": lambda s: mail(s.data, plain(s.name), "8bit"),
    "quoted-printable": lambda s: mail(quopri.encodestring(s.data), plain(s.name), QUOTED),
}
LINES: Forms = {
    "quoted-printable, no charset": lambda s: mail(quopri.encodestring(s.data), BARE, QUOTED),
    "nothing": lambda s: mail(s.data),
    "no charset": lambda s: mail(s.data, BARE, "8bit"),
    "us-ascii": lambda s: mail(s.data, plain("us-ascii"), "7bit"),
    "utf-8": lambda s: mail(s.data, plain("utf-8"), "8bit"),
    "iso-8859-1": lambda s: mail(s.data, plain("iso-8859-1"), "8bit"),
    "raw as base64": lambda s: mail(s.data, plain(s.name), BASE64),
    "raw as base64, no charset": lambda s: mail(s.data, BARE, BASE64),
    "raw as quoted-printable": lambda s: mail(s.data, plain(s.name), QUOTED),
    "raw as quoted-printable, no charset": lambda s: mail(s.data, BARE, QUOTED),
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


# What is read


def words(raw: bytes, tag: str = "") -> set[str]:
    """Return the words of a message that have a tag, or none."""
    tokens = TOKENIZER.features(read(raw)).texts.values()
    split = [token.rpartition(":") for token in tokens]
    return {word for before, colon, word in split if before + colon == tag}


@cache
def prose() -> dict[str, str]:
    """Return a text of each language by its code."""
    file = Path(__file__).with_name("prose.txt").read_text("utf-8")
    texts = [entry.strip().split("\n") for entry in file.split("\n\n")]
    return {title.split()[0]: " ".join(lines) for title, *lines in texts}


def samples(language: str, size: int, charsets: list[str]) -> list[Sample]:
    """Return texts of a size, spread over the prose, that start at a word and are not all ASCII."""
    text = prose()[language]
    starts = [at for at in range(1, len(text) - size + 1) if text[at - 1] in " ，。、" and text[at] != " "]
    starts = [at for at in (0, *starts) if not text[at : at + size].isascii()]
    most = STARTS.get(size, 1)
    chosen = starts[:: max(1, len(starts) // most)][:most]
    return [Sample(language, charset, text[at : at + size]) for charset in charsets for at in chosen]


class Case(NamedTuple):
    """A sample in a form, and how it was read."""

    sample: Sample
    form: str
    missing: set[str]
    wrong: set[str]

    def __str__(self) -> str:
        sample = self.sample
        return (
            f"{sample.language} {sample.charset}, {self.form}: {sample.text[:30]!r}"
            f" lacks {sorted(self.missing)[:4]}, has {sorted(self.wrong)[:4]}"
        )


def read_all(found: Iterable[Sample], declared: bool, every: int = 1) -> list[Case]:
    """Read samples in all forms, or in one of every so many."""
    chosen = []
    for sample in found:
        in_body = body_forms(sample.charset, declared)
        chosen += [(sample, form, raw_of, "") for form, raw_of in in_body.items()]
        if sample.charset not in UNICODE[1:] and not declared:
            subject = Sample(sample.language, sample.charset, sample.text[:LONGEST_SUBJECT])
            chosen += [(subject, form, raw_of, "subject:") for form, raw_of in SUBJECT.items()]
    cases = []
    for sample, form, raw_of, tag in chosen[::every]:
        right, got = words_of(sample.text), words(raw_of(sample), tag)
        if form.startswith("footer"):
            right = right | set(FOOTER.decode().split())
        cases.append(Case(sample, form, right - got, got - right))
    return cases


@cache
def words_of(text: str) -> set[str]:
    return words(mail(text.encode(), plain("utf-8"), "8bit"))


def report(cases: list[Case]) -> tuple[float, str]:
    """Return the share that was read rightly, and a text that shows what was not."""
    wrong = [case for case in cases if case.missing or case.wrong]
    by_form = Counter(case.form for case in wrong).most_common()
    lines = [f"{len(wrong)} of {len(cases)}: {by_form}", *map(str, wrong[:: len(wrong) // MOST_SHOWN + 1])]
    return 1 - len(wrong) / len(cases), "\n".join(lines)


def short_texts(size: int) -> list[Sample]:
    return [sample for language in CHARSETS for sample in samples(language, size, CHARSETS[language])]


def test_each_language_has_a_long_text():
    assert set(prose()) == set(CHARSETS)
    assert min(map(len, prose().values())) >= LONG
    assert min(len(words_of(text)) for text in prose().values()) > 50


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "not declared"])
@pytest.mark.parametrize("language", CHARSETS)
def test_long_texts(language, declared):
    right, shown = report(read_all(samples(language, LONG, [*CHARSETS[language], *UNICODE]), declared))
    assert right == 1, shown


@pytest.mark.parametrize("size", LEAST)
def test_short_texts_not_as_declared(size):
    right, shown = report(read_all(short_texts(size), False, EVERY))
    assert right >= LEAST[size], shown
