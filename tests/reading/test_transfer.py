"""Transfer encodings, decoded by what is there: each threshold on both sides."""

import hashlib
import random
from base64 import b64encode, encodebytes

import pytest

from spamnb.core.native import decode_transfer_encoding

PLAIN, BASE64, QUOTED = "8bit", "base64", "quoted-printable"
BOTH, BOTH_REVERSED = f"{BASE64} and {PLAIN}", f"{PLAIN} and {BASE64}"
UNDECLARED, CERTAIN = 60, 120  # letters of base64 that is not declared: at least; hardly ever by chance


def encoded(text: bytes) -> bytes:
    return encodebytes(text).rstrip(b"\n")


CHINESE = "今天天气很好，我们一起去公园玩吧。".encode("gb18030") * 4
ENGLISH = b"The quick brown fox jumps over the lazy dog, and then again"
BINARY = random.Random(2).randbytes(300)
FOOTER = b"-- \nTo unsubscribe, mail list-request@example.org"
RAW_FOOTER = "-- \nPour se désabonner, c'est ici".encode("latin-1")
SUMS = b"\n".join(hashlib.sha256(bytes([n])).hexdigest().encode() for n in range(3))
PEM = b"-----BEGIN CERTIFICATE-----\n%b\n-----END CERTIFICATE-----" % encoded(BINARY)
PGP = b"Hello\n-----BEGIN PGP SIGNATURE-----\n\n%b\n=AbCd\n-----END PGP SIGNATURE-----" % encoded(BINARY)
PHOTO = b"BEGIN:VCARD\nPHOTO;ENCODING=b;TYPE=JPEG:\n %b\nEND:VCARD" % encoded(BINARY).replace(b"\n", b"\n ")
UUENCODED = b"begin 644 a\nM5&AI<R!I<R!A('1E<W0@;V8@=75E;F-O9&EN9RX@5&AI<R!I<R!A('1E\n`\nend"
LINK = b"see\nhttp://www.example.org/" + b"a1b2c3d4/" * 12 + b"\nbye"
CAMEL_CASE = b"AbstractSingletonProxyFactoryBeanProviderOfManyThingsThatNobodyEverAskedForOrNeededAtAll"
NEITHER = [PEM, PGP, PHOTO, UUENCODED, LINK, b"Dear all,\nthe minutes are below.\nBest wishes", ENGLISH]


def found(body: bytes, declared: str) -> tuple[bytes, str]:
    data, encoding, _ = decode_transfer_encoding(body, declared)
    return data, encoding


@pytest.mark.parametrize(
    ("body", "text", "encoding"),
    [
        (b"", b"", BASE64),
        *((body, text, BASE64) for body, text in [(b"Q", b""), (b"QUI", b"AB"), (b"QUI=", b"AB")]),
        *((word, word, PLAIN) for word in (b"Hi", b"test", b"word", b"hello", b"Hello", b"Best\nregards")),
        (b"xOO6ww==", "你好".encode("gb18030"), BASE64),
        *((body, body, PLAIN) for body in NEITHER),
        # with other characters in it
        (encoded(ENGLISH)[:30] + b"!*" + encoded(ENGLISH)[30:], ENGLISH, BASE64),
        # a footer
        (encoded(CHINESE) + b"\n" + FOOTER, CHINESE + b"\n" + FOOTER, BOTH),
        (FOOTER + b"\n\n" + encoded(CHINESE), FOOTER + b"\n\n" + CHINESE, BOTH_REVERSED),
        # several blocks
        (encoded(ENGLISH) + b"\n" + encoded(ENGLISH), ENGLISH * 2, BASE64),
        (b"QUI=\n" * 1000, b"AB" * 1000, BASE64),
    ],
)
def test_declared_base64(body: bytes, text: bytes, encoding: str) -> None:
    assert found(body, "base64") == (text, encoding)


LONG_ENOUGH = ENGLISH[: UNDECLARED // 4 * 3]


@pytest.mark.parametrize(
    ("body", "text", "encoding"),
    [
        (b64encode(LONG_ENOUGH), LONG_ENOUGH, BASE64),
        (encoded(CHINESE), CHINESE, BASE64),
        (ENGLISH + b"\n" + encoded(CHINESE), ENGLISH + b"\n" + CHINESE, BOTH_REVERSED),
        (encoded(CHINESE) + b"\n" + FOOTER, CHINESE + b"\n" + FOOTER, BOTH),
        *((body, body, PLAIN) for body in (*NEITHER, b64encode(LONG_ENOUGH)[:-1], SUMS)),
        *((body, body, PLAIN) for body in (CAMEL_CASE, b"a" * CERTAIN)),
        (encoded(CHINESE) + b"\n" + RAW_FOOTER, encoded(CHINESE) + b"\n" + RAW_FOOTER, PLAIN),
    ],
)
def test_undeclared_base64(body: bytes, text: bytes, encoding: str) -> None:
    assert found(body, "") == (text, encoding)


@pytest.mark.parametrize(
    ("body", "text", "encoding"),
    [
        (b"caf=C3=A9 =\nau lait=", "café au lait".encode(), QUOTED),
        (b'<td width=3D20 border=3D"0">caf=E9 =\n</td>', b'<td width=20 border="0">caf\xe9 </td>', QUOTED),
        (b"=E9t=E9 " * 4 + b"?a=12", b"\xe9t\xe9 " * 4 + b"?a\x12", QUOTED),
        *(
            (body, body, PLAIN)
            for body in (
                *(b"?a=12&b=20", b"x=10; y=20; z=30", b"E=mc2 and a=b, c==d", b"=======\ntitle\n======="),
                b'<table width=20 border=10 bgcolor=ff0000><td width="50">',
                *(CHINESE, RAW_FOOTER, PHOTO),
                # each line with raw bytes is left as it is
                b"caf\xe9 =E9t=E9",
                b"na\xefve =\nword",
            )
        ),
        (b"\xc3\xa9 =\n=C3=A9 =\nword", b"\xc3\xa9 =\n\xc3\xa9 word", f"{PLAIN} and {QUOTED}"),
        (b"=E9t=E9\n?a=12&b=1b&c=13\n\xe9", b"\xe9t\xe9\n?a=12&b=1b&c=13\n\xe9", f"{QUOTED} and {PLAIN}"),
    ],
)
def test_declared_quoted_printable(body: bytes, text: bytes, encoding: str) -> None:
    assert found(body, "quoted") == (text, encoding)
