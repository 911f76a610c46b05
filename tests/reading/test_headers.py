"""Header fields, encoded words, parameters and charsets: this gives, this does not."""

import string

import pytest

from spamnb.core.native import MAX_FIELDS, codec, found_text, known_codecs, read, readable, without_tag


@pytest.mark.parametrize(
    ("block", "fields", "rest"),
    [
        (b"SUBJECT:hi\nTo: a", [("subject", "hi"), ("to", "a")], b""),
        (b"Subject: one\n two\n\tthree", [("subject", "one two\tthree")], b""),
        (b"X_odd.name!: v", [("x_odd.name!", "v")], b""),
        (b"A: 1\nSubject : old style", [("a", "1"), ("subject", "old style")], b""),
        (b"A: 1\n>From joe Mon Jan  1\nB: 2", [("a", "1"), ("b", "2")], b""),
        (b"A: 1\nno header\nB: 2", [("a", "1")], b"no header\nB: 2"),
        (b" starts folded\nA: 1", [], b" starts folded\nA: 1"),
        (b"A: 1\nSubject\n : folded early", [("a", "1"), ("subject", "folded early")], b""),
        (b"A: 1\n--b", [("a", "1")], b"--b"),
        (b"--b: 1\n -- 2", [("--b", "1 -- 2")], b""),
        # \x85 is white space to str.strip, and half of a character here
        (b"A: \xe2\x80\x85", [("a", "\xe2\x80\x85")], b""),
    ],
)
def test_fields(block: bytes, fields: list[tuple[str, str]], rest: bytes) -> None:
    found = read(block)
    assert (found.fields or [], found.leaves[0].text) == (fields, rest.decode())


def test_fields_are_capped() -> None:
    message = read(b"\n".join([b"a: b"] * (MAX_FIELDS + 5)) + b"\n\nbody")
    assert len(message.headers) == MAX_FIELDS
    assert message.leaves[0].text == "body"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=?utf-8?Q?caf=C3=A9_au_lait?=", "café au lait"),
        ("=?iso-8859-1?B?Y2Fm6Q==?=", "café"),
        ("=?utf-8?Q?a?= =?utf-8?Q?b?=", "ab"),
        ('"=?utf-8?Q?a?=" <a@b>', '"a" <a@b>'),
        # one character in two words, of one coding and of both
        ("=?utf-8?B?ww==?= =?utf-8?B?qQ==?=", "é"),
        ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"),
        # sloppy ones
        ("=?utf-8?B?Y2Fmw6k?=", "café"),
        ("=?no-such-charset?Q?caf=C3=A9?=", "café"),
        ("=?iso-8859-1?Q?caf\xe9?=", "café"),
        ("caf\xc3\xa9 =?utf-8?Q?=C3=A9?=", "café é"),
        # not encoded words
        ("=?utf-8?X?a?=", "=?utf-8?X?a?="),
        ("=?utf-8?Q?never ends", "=?utf-8?Q?never ends"),
    ],
)
def test_encoded_words(value: str, text: str) -> None:
    assert readable(value) == text


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ('a; FILENAME="b" ; x=y', "b"),
        ("a;filename = b (a comment)", "b"),
        ('a; filename="b;x=c"; x=y', "b;x=c"),
        ('a; x="b;filename=c"; filename=d', "d"),
        (r'a; filename="say \"hi\".txt"; x=y', 'say "hi".txt'),
        (r'a; x="say \"; filename=b"; filename=c', "c"),
        (r'a; filename="C:\new\file.txt"', r"C:\new\file.txt"),
        ('a; filename="open; x=y', "open"),
        ('a; x="open; filename=b', "b"),
        ("a; filename=1; filename=2", "1"),
        ('a; filename="=?utf-8?Q?caf=C3=A9?="', "café"),
        ("a; filename*=utf-8'en'caf%C3%A9=1", "café=1"),
        ("a; filename*=iso-8859-1''caf%E9; filename=cafe", "café"),
        ("a; filename*0*=utf-8''caf%C3; filename*1*=%A9; filename*2=%41", "café%41"),
    ],
)
def test_parameters(value: str, name: str) -> None:
    (leaf,) = read(f"Content-Disposition: {value}\n\nbody".encode()).leaves
    assert leaf.filename == name


def test_a_boundary_is_not_decoded() -> None:
    for boundary in ("=?utf-8?Q?b?=", "a;b=c"):
        raw = f'Content-Type: multipart/mixed; boundary="{boundary}"\n\n--{boundary}\n\nin\n--{boundary}--'
        assert [leaf.text for leaf in read(raw.encode()).leaves] == ["in"]


@pytest.mark.parametrize(
    ("data", "declared", "text"),
    [
        (b"caf\xe9 \x80", "us-ascii", "café €"),
        (b"\x93hi\x94", "iso-8859-1", "“hi”"),
        (b"caf\xe9", "utf-8", "café"),
        (b"\xff", "iso-8859-8", "\ufffd"),
        (b"+AGE-b", "utf-7", "ab"),
        (b"h\0i\0", "utf-16le", "hi"),
        (b"\x1b$BF|K\\\x1b(B", "iso-2022-jp", "日本"),
        (b"\x8cc", "euc-kr", "똠"),
    ],
)
def test_decode(data: bytes, declared: str, text: str) -> None:
    assert found_text(data, declared)[0] == text


def test_codecs_that_are_no_charsets_are_never_looked_up() -> None:
    for name in "idna punycode unicode_escape undefined base64 rot13 zlib uu mbcs aliases".split():
        assert codec(name) == ""


@pytest.mark.parametrize("name", known_codecs())
def test_every_known_codec_decodes_anything(name: str) -> None:
    everything = bytes(range(256)) * 2
    for data in (everything, everything[1:], b"\xd8\x00\x00\xd8\xff", b"~{\x1b$B\x0e+/v", b"\x1b.J\x1bNa"):
        found_text(data, name)[0].encode()
    if not name.startswith(("utf_16", "utf_32")):
        words = string.ascii_letters + string.digits + string.whitespace + "<>@.:/"
        assert found_text(words.encode(), name)[0] == words


TAGGED = ["[spam] hello", "[SPAM]hello", "***SPAM*** hello", "*****SPAM***** hello", "{Spam?} hello"]
UNTAGGED = [
    *("[spam-l] hello", "[Spamassassin-talk] hello"),  # mailing lists
    *("[spam hello", "spam hello", "Re: [spam] hello", "[] hello", "***", "", "[ viagra ] hello"),
]
TAGS = {
    **dict.fromkeys([*TAGGED, "[Suspected Spam] hello", "[spam] [SPAM] hello"], "hello"),
    "[spam]": "",
    **{subject: subject for subject in UNTAGGED},
}


@pytest.mark.parametrize("subject", TAGS)
def test_a_filter_s_tag_is_no_subject(subject):
    assert without_tag(subject) == TAGS[subject]
    headers = read(f"Subject: {subject}\nTo: a\n\nbody\n".encode()).headers
    kept = TAGS[subject] != "" or subject == ""
    assert headers == [*([("subject", TAGS[subject])] if kept else []), ("to", "a")]
