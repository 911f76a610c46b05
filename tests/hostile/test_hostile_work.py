"""What reading one message costs is bounded, whatever it holds; and nothing in it hides the text beside it.

Work is counted, not timed: tests/fuzz/mail_checks.py says what must hold.
"""

import base64

import pytest
from fuzz.attached import FILES, attached, chunk, documents, many_names, png
from fuzz.file_checks import SPAM, sound_model
from fuzz.mail_checks import check_work

from spamnb.core.native import Tokenizer, read
from spamnb.model import Model
from spamnb.reading.attachments.contents import Allowance
from spamnb.reading.settings import Settings

MB = 1 << 20
SEEN = {"buy", "casino", "url:casino.example"}
HEAD, _, TEXT = SPAM.partition(b"\n\n")
PAGE = b"\nMIME-Version: 1.0\nContent-Type: text/html\n\n"
PARTS = b"\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=b\n\n"
PART = b"\n--b\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\n"
LAST = PART + base64.encodebytes(b"<p>" + TEXT) + b"--b--\n"


def left_by(files):
    """What the attachments of a message leave of what is allowed."""
    allowance = read(attached(files)).allowance
    assert allowance
    return allowance


def words_of(raw):
    return set(Tokenizer(Settings(headers=False)).features(read(raw)).texts.values())


@pytest.mark.parametrize("size", [32 << 10, MB])
@pytest.mark.parametrize("name", FILES)
def test_attachments(name, size):
    raw = attached(FILES[name](size), SPAM)
    check_work(raw)
    assert words_of(raw) >= SEEN
    assert Model.open(sound_model()).classify(raw).score > 0


def test_an_archive_whose_members_overlap_is_not_read():
    document = many_names(b"<w:t>free pills</w:t>", documents(1))
    assert "pills" not in words_of(attached([document]))  # [Content_Types].xml has the same bytes


def in_page(before, after=b""):
    return HEAD + PAGE + before + b"<p>" + TEXT + after


PADDING = {
    "a comment": in_page(b"<!--" + b"a" * MB + b"-->"),
    "a script": in_page(b"<script>" + b"a " * (MB // 2) + b"</script>"),
    "a style sheet": in_page(b"<style>" + b"p .x{color:red}" * (MB // 15) + b"</style>"),
    "style sheets": in_page(b"<style>p{color:red}</style>" * (MB // 27)),
    "an attribute": in_page(b"<p title='" + b"a " * (MB // 2) + b"'>"),
    "hidden text": in_page(b"<div hidden>" + b"good " * (MB // 5) + b"</div>"),
    "tags": in_page(b"<b>" * (MB // 3)),
    "an encoded comment": HEAD
    + b"\nContent-Transfer-Encoding: base64"
    + PAGE
    + base64.encodebytes(b"<!--" + b"a" * MB + b"--><p>" + TEXT),
    "pieces of base64": HEAD + PARTS + PART[1:] + b"QQ==\n" * 9000 + LAST.partition(b"\n\n")[2],
    "a preamble": HEAD + PARTS + b"lines of words\n" * (MB // 15) + LAST,
    "lines like boundaries": HEAD + PARTS + b"--c\n--bb\n" * (MB // 9) + LAST,
    "a long text": HEAD + PARTS + b"--b\n\n" + b"good words\n" * (MB // 2) + LAST,
    "a long page": HEAD + PARTS + PART[1:] + base64.encodebytes(b"<b>good</b> words\n" * (MB // 4)) + LAST,
    "small parts": HEAD + PARTS + b"--b\nContent-Type: text/plain\n\nx\n" * 10_000 + LAST,
    "empty messages": HEAD + PARTS + b"--b\nContent-Type: message/rfc822\n\nA: b\n\n" * 10_000 + LAST,
    "many headers": b"A: b\n" * 20_000 + HEAD + PARTS + LAST,
    "a long header": b"A: " + b"b" * (MB // 2) + b"\n" + HEAD + PARTS + LAST,
    "parameters": HEAD + PARTS.replace(b"; b", b"".join(b"; a%d=b" % n for n in range(200)) + b"; b") + LAST,
}  # fmt: skip

UNSURE = {"pieces of base64", "a long text", "a long page", "small parts", "many headers"}


@pytest.mark.parametrize("name", PADDING)
def test_padding_hides_no_text(name):
    raw = PADDING[name]
    check_work(raw)
    assert words_of(raw) >= SEEN
    # What can be seen before the text has its share of the evidence.
    assert Model.open(sound_model()).classify(raw).label == ("unsure" if name in UNSURE else "spam")


def test_hidden_text_of_a_page_is_known_whatever_pages_are_beside_it():
    css = b"<style>" + b"".join(b".a%d b," % n for n in range(300)) + b"b{color:red}</style>" + b"<b>" * 900
    page = PART.replace(b"\nContent-Transfer-Encoding: base64", b"")
    found = words_of(
        HEAD + PARTS + (page + css) * 300 + page + b"<p style='display:none'>hello</p>bye\n--b--"
    )
    assert "hidden:hello" in found
    assert "hello" not in found


class TestPictures:
    """What makes decoders take long is not decoded."""

    @staticmethod
    def cost(picture):
        pytest.importorskip("zxingcpp", reason="the extra `qr` is not installed")
        left = left_by([picture])
        return Allowance().pixels - left.pixels, Allowance().searched - left.searched

    def test_pixels_are_of_a_message(self):
        blank = png(1000, 1000, b"\xff" * 10**6)
        decoded, searched = self.cost(blank)
        assert (decoded, searched) == (10**6, 512 * 512)
        left = left_by([blank] * 8)
        assert min(left.pixels, left.searched) >= 0

    def test_a_jpeg_of_many_scans(self):
        image = pytest.importorskip("PIL.Image", reason="the extra `qr` is not installed")
        from io import BytesIO

        with BytesIO() as file:
            image.new("L", (90, 90), 128).save(file, "JPEG", progressive=True)
            data = file.getvalue()
        last = data.rindex(b"\xff\xda")
        assert self.cost(data)[0] == 8100
        assert self.cost(data[:last] + data[last:-2] * 1000 + data[-2:])[0] == 0

    def test_a_png_of_many_chunks(self):
        assert self.cost(png(9, 9, b"\xff" * 81, chunk(b"zTXt", b"a\0\0") * 9))[0] == 81
        assert self.cost(png(9, 9, b"\xff" * 81, chunk(b"ABcD", b"") * 9000))[0] == 0
