"""Text to words, rule by rule: this text gives these words."""

import unicodedata

import pytest
from helpers.textbook import grams_of

from spamnb.core.native import MAX_WORDS, spaced_words
from spamnb.errors import UsageError
from spamnb.reading.normalizing import is_emoji, normalized
from spamnb.reading.settings import Settings, Words

WORDS = Words()


def of(text, **choices):
    return Settings(**choices).words().of(text)


def table(*rows):
    return pytest.mark.parametrize(("text", "words"), [(text, words.split()) for text, words in rows])


@table(
    # case is folded
    ("ÜBER Écoles ПРИВЕТ", "über écoles привет"),
    # digits are part of words
    ("4 U 2day", "4 u 2day"),
    ("10:30 24/7 50% #1", "10 30 24 7 50 1"),
    # joiners stay in words
    ("don't", "don't"),
    ("$100 US$5", "$100 us$5"),
    ("free! free!!! !!!", "free! free!!! !!!"),
    ("low-cost e-mail", "low-cost e-mail"),
    # all else separates
    ("a.b,c;d:e/f\\g?h", "a b c d e f g h"),
    ("(one) [two] {three} <four>", "one two three four"),
    ('"quoted" “quoted” «quoted» „quoted“', "quoted quoted quoted quoted"),
    ("one\ttwo\nthree\r\nfour\0five\x1bsix\x7fseven", "one two three four five six seven"),
    ("no\u00a0break wide\u3000space line\u2028end", "no break wide space line end"),
    (" \n . , ", ""),
    # joiners as printers set them
    ("don’t", "don't"),
    ("low\u2011cost low\u2010cost", "low-cost low-cost"),
    # an apostrophe around a word is a quote
    ("'free' offer", "free offer"),
    ("''twice'' '''' '", "twice"),
    # forms of a letter are that letter
    ("𝐅𝐑𝐄𝐄 𝓶𝓸𝓷𝓮𝔂 𝖓𝖔𝖜 𝟙𝟚", "free money now 12"),
    ("ﬁnance oﬀer aﬄuent", "finance offer affluent"),
    ("ꜰʀᴇᴇ ᴠɪᴀɢʀᴀ", "free viagra"),
    ("Viagra™ Viagra® Viagra℠", "viagra viagra viagra"),
    # look alikes in a word with latin letters are latin
    ("vіаgrа", "viagra"),  # Cyrillic і and а
    ("Сasino Вank Αpple Ηello Οffer", "casino bank apple hello offer"),
    # words of one script stay
    ("Россия сахар ось", "россия сахар ось"),
    ("Sie kaufen слова und λόγος", "sie kaufen слова und λογοσ"),
    # a compound of a latin and a russian word stays
    ("SMS-сообщение", "sms-сообщение"),
    # emoji are words and runs are measured
    ("Win🎁now", "win 🎁 now"),
    ("👍🏽", "👍"),  # in any colour
    ("🇩🇪🇫🇷", "🇩🇪 🇫🇷"),
    ("a → b ─ c", "a b c"),
    # pairs of characters
    ("免费软件", "免费 费软 软件"),
    ("日本語を話す", "日本 本語 語を を話 話す"),
    ("안녕하세요 여러분", "안녕 녕하 하세 세요 여러 러분"),
    # syllables, roughly
    ("ภาษาไทย เปิดแฟ้ม น้ำมัน", "ภา ษา ไทย เปิด แฟ้ม น้ํา มัน"),
    ("มากๆ ราคา ๑๒๓ บาท", "มาก ๆ รา คา ๑๒๓ บาท"),
    ("ភាសាខ្មែរ", "ភា សា ខ្មែរ"),
    ("မြန်မာဘာသာ ဒုက္ခ", "မြန် မာ ဘာ သာ ဒုက္ခ"),
    # pairs mixed with other words
    ("iPhone手机买", "iphone 手机 机买"),
    # syllables of other scripts are whole
    ("tiếng Việt ქართული አማርኛ", "tiếng việt ქართული አማርኛ"),
    # sentences
    ("Où est l'œuvre ? Elle coûte 5 €, « déjà vendue ».", "où est l'œuvre elle coûte 5 déjà vendue"),
    ("Объявление: срочно продаём ещё 3 квартиры!", "объявление срочно продаем еще 3 квартиры!"),
    ("مرحبا، كيف حالك؟", "مرحبا كيف حالك"),
)
def test_words_of_a_text(text, words):
    assert of(text) == words


@pytest.mark.parametrize(
    "forms",
    [
        *("free ＦＲＥＥ ℱ𝓇ℯℯ", "ガイド ｶﾞｲﾄﾞ カ\u3099イト\u3099"),
        *("istanbul ISTANBUL İSTANBUL I\u0307stanbul ıstanbul", "kız KIZ", "ı I i İ"),
        *("straße STRASSE STRAẞE", "ştiinţă știință ŞTIINŢĂ ȘTIINȚĂ", "ещё ЕЩЁ еще", "за\u0301мок замок"),
        "tiếng tie\u0302\u0301ng tiê\u0301ng TIẾNG",
        *("άνοιγμα ΆΝΟΙΓΜΑ ΑΝΟΙΓΜΑ", "Μαΐου ΜΑΪΟΥ ΜΑΙΟΥ", "λόγος ΛΟΓΟΣ", "τοῦ του", "ᾳ ᾼ α"),
        *("مرحبا مـــرحـبا ﻣﺮﺣﺒﺎ مَرْحَبًا م\ufe77رحبا م\ufe76رحبا", "على ﻋﻠﻰ علی علي", "كتاب کتاب ﻛﺘﺎﺏ"),
        *("שלום שָׁלוֹם שׁלום", "בראשית בְּרֵאשִׁ֖ית", "בית־ספר בית-ספר", "צ׳ק צ'ק", "װאָס וואס", "ײַ יי"),
        *("น้ำ น้ํา", "한국 \u1112\u1161\u11ab\u1100\u116e\u11a8"),
        *("viagra v̷i̷a̷g̷r̷a̷ v̴̢̛̲i̷̛̬a̸̧͑g̵͓̀r̴a̷ vi" + "\u0301\u0308" * 60 + "agra", "ẹkọ ẹ̀kọ́", "1 1️⃣"),
    ],
)
def test_forms_of_a_word_are_one(forms):
    first, *others = [of(form) for form in forms.split()]
    assert others == [first] * len(others)


@pytest.mark.parametrize(
    ("one", "other"),
    [("résumé", "resume"), ("май", "маи"), ("أن", "ان"), ("गी", "गि"), ("が", "か"), ("ไม่", "ไม")],
)
def test_other_words_stay_others(one, other):
    assert of(one) != of(other)


def test_a_non_joiner_is_a_space_in_persian():
    assert of("می\u200cخواهم") == of("می\u200c\u200cخواهم\u200c") == of("می خواهم")


INVISIBLE = (
    "\u00ad\u200b\u200c\u200d\u200e\u200f\u202e\u202c\u2060\u2066\ufeff\u034f\u061c\u180e\u3164\ufe0f"
    "\U000e0100\U000e0041"
)


@pytest.mark.parametrize("char", INVISIBLE, ids=unicodedata.name)
def test_characters_not_seen_do_not_break_a_word(char):
    assert of(f"via{char}gra") == of(f"{char}viagra{char}") == ["viagra"]
    assert of(f"вре{char}мя") == ["время"]
    assert of(char) == of(f" {char}{char} ") == []


@pytest.mark.parametrize(
    ("word", "short"),
    [("a" * 32, "a" * 32), ("a" * 33, "aaaaaa~6"), ("ж" * 33, "жжжжжж~6"), ("x" * 1_000_000, "xxxxxx~20")],
)
def test_long_words_have_a_short_form(word, short):
    assert of(word) == [short]


def test_ngrams():
    words = Settings(ngrams=3, stop_words=["of"]).words()
    assert grams_of(words, "a b of c d") == "a|b|c|d|a b|b c|c d|a b c|b c d".split("|")
    assert words.of("a b of c") == ["a", "b", "c"]


STOPPED = {
    "english": ("The invoice for all of your garden chairs", "invoice garden chairs"),
    "german": ("Das ist die Rechnung für den Kunden", "rechnung kunden"),
    "russian": ("Это квитанция для вас и всех друзей", "квитанция друзей"),
    "greek": ("τοῦ δέ λόγου", "λογου"),
}


@pytest.mark.parametrize("language", STOPPED)
def test_stop_words(language):
    text, words = STOPPED[language]
    assert of(text, stop_language=language) == words.split()


def test_an_unknown_language():
    with pytest.raises(UsageError, match="'klingon'; use one of: arabic, bulgarian"):
        Settings(stop_language="klingon")
    with pytest.raises(UsageError, match="'klingon'; use one of: arabic, armenian"):
        Settings(stem="klingon").words()


@pytest.mark.parametrize(
    ("language", "text", "stems"),
    [
        ("english", "Running runs, connected connections runs", "run run connect connect run"),
        ("german", "Häuser Häusern, Rechnungen Rechnung", "haus haus rechnung rechnung"),
        ("russian", "Квартиры квартира квартиру", "квартир квартир квартир"),
    ],
)
def test_stemming(language, text, stems):
    assert of(text, stem=language) == stems.split()


def test_stop_words_are_taken_out_before_stemming():
    assert of("Having offers", stem="english", stop_words=["having"]) == ["offer"]
    assert of("Bazı KIZLAR BAZI", stem="turkish", stop_words=["bazı"]) == ["kiz"]


@pytest.mark.parametrize("text", ["a " * 50_000, "中中 " * 50_000])
def test_words_have_a_limit(text):
    assert len(WORDS.of(text)) == MAX_WORDS


WITHOUT_SPACES = (range(0xE00, 0xF00), range(0x1000, 0x10A0), range(0x1780, 0x1800), range(0x2E80, 0x40000))


@pytest.mark.parametrize("context", ["x{}y", "и{}и"])
def test_the_core_reads_each_letter_as_python_normalizes_it(context):
    replaced = set("\xa0‘’“”–—…•©®ı")  # by words.pyx, before
    for code in range(0x80, 0x10000):
        char = chr(code)
        if char in replaced or is_emoji(char) or 0xD800 <= code < 0xE000:
            continue
        run = context.format(char)
        words = [word.strip("'").lower() for word in normalized(run).replace("ʼ", "'").split()]
        is_cut = any(ord(char) in script for script in WITHOUT_SPACES for char in "".join(words))
        assert is_cut or spaced_words(run).decode().split() == words, hex(code)
