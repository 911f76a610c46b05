"""The script that a word or a message is in."""

import sys
from unicodedata import name, normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.arrays import Texts
from spamnb.mailboxes.chunks import RawMessage, ReadMessages
from spamnb.mailboxes.skipped import Unreadable
from spamnb.reading.script_names import SCRIPTS, scripts_of_messages, scripts_of_words
from spamnb.reading.settings import Settings
from spamnb.reading.tokenizer import Tokenizer
from spamnb.training.batches import batch_of

# How Unicode calls letters, where that is not the name of the script.
OTHER_NAMES = {"CJK": "Han", "BOPOMOFO": "Han", "KANGXI": "Han", "MYANMAR": "Burmese"}
OTHER_NAMES |= dict.fromkeys(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"), "Japanese")


def scripts(*words):
    found = scripts_of_words(Texts.of([word.encode() for word in words]))
    return [SCRIPTS[number] for number in found]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("Latin", "buy Ärger ærlig été việt ĳ x2 łódź"),
        ("Cyrillic", "купить sms-сообщение україна"),
        ("Greek", "αγορά ὀξύς"),
        ("Han", "汉字 买 x买 𠀀𠀁 々"),
        ("Japanese", "かな カナ 買う 々の"),
        ("Hangul", "한국 한"),
        ("Hebrew", "שלום"),
        ("Arabic", "سلام گپ"),
        ("Thai", "ไทย"),
        ("Devanagari", "हिन्दी"),
        ("", "2026 $100 $free 😀 ★ subject:купить url:example.org html:b"),
    ],
)
def test_words(script, words):
    assert scripts(*words.split()) == [script] * len(words.split())


def test_letters_have_the_script_that_unicode_names():
    """All but a few of phonetics and of old books."""
    expected = {}
    for letter in map(chr, range(0xC0, sys.maxunicode)):
        first = name(letter, "").partition(" ")[0]
        script = OTHER_NAMES.get(first, first.capitalize())
        if script in SCRIPTS and letter.isalpha() and normalize("NFKC", letter) == letter:
            expected[letter] = script
    wrong = [hex(ord(a)) for a, b in zip(expected, scripts(*expected), strict=True) if expected[a] != b]
    assert len(wrong) < len(expected) / 1000, wrong


@given(st.lists(st.text(max_size=5) | st.just("")))
def test_each_word_by_itself(words):
    words = [word.encode("utf-8", "replace").decode() for word in words]
    assert scripts(*words) == [script for word in words for script in scripts(word)]


def test_bytes_that_are_no_text():
    """In a model that somebody made up."""
    data = np.frombuffer(bytes(range(256)), np.uint8)
    assert len(scripts_of_words(Texts(np.arange(1, 257), data))) == 256
    assert scripts_of_words(Texts.empty(3)).tolist() == [0, 0, 0]


MAIL = {
    "hello, this is plain": "Latin",
    "": "Latin",
    "2026 😀": "Latin",
    "привет, это письмо from Ann": "Cyrillic",
    "one two three, письмо": "Latin",
    "one письмо": "Latin",
    "这是一封中文的邮件 buy now": "Han",
    "新着商品のお知らせです": "Japanese",
    "优の良品 这是一封中文的邮件，请您查收": "Han",
    "안녕하세요 반갑습니다": "Hangul",
}


@pytest.mark.parametrize("together", [True, False])
def test_messages(together):
    """However mail is cut into batches."""
    head = "Subject: письмо\nContent-Type: text/plain; charset=utf-8\n\n"
    raws: list[RawMessage | Unreadable] = [RawMessage("mail", None, (head + text).encode()) for text in MAIL]
    found: list[str] = []
    for some in [raws] if together else [[raw] for raw in raws]:
        batch = batch_of(ReadMessages(some, 0), None, Tokenizer(Settings()))
        found += [SCRIPTS[number] for number in scripts_of_messages(batch.rows, batch.texts)]
    assert dict(zip(MAIL, found, strict=True)) == MAIL
