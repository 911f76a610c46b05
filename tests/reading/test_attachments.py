"""Attachments: what is read of each kind by its content, and that hostile ones cost little."""

import base64
import io
import zipfile

import pytest
from fuzz.attached import pdf, stream

from spamnb.core.native import Tokenizer, read
from spamnb.reading.attachments.contents import MAX_MEMBERS
from spamnb.reading.settings import Settings


def mail(data, content_type="application/octet-stream"):
    head = f"Content-Type: {content_type}\nContent-Transfer-Encoding: base64\n\n"
    return head.encode() + base64.encodebytes(data)


def tokens(data, content_type="application/octet-stream"):
    features = Tokenizer(Settings(headers=False)).features(read(mail(data, content_type)))
    return set(features.texts.values())


def archive(files):
    with io.BytesIO() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as zipped:
            for name, content in files.items():
                zipped.writestr(name, content)
        return file.getvalue()


PAGE = b"<!DOCTYPE html>\n<p>Cheap <b>wat</b>ches</p><a href='http://shop.example/buy'>x</a>"
TEXT = "Cheap wätches"
PDF = pdf(
    stream(b"BT /F1 9 Tf (Cheap \\(wat\\143hes\\)) Tj T* [(gen) 20 (uine) -300 <706C616E7473>] TJ ET"),
    b"<</A<</S/URI/URI(http://shop.example/buy)>>>>",
)
# A font with codes of its own: the words of a PDF by most word processors.
MAPPED = pdf(
    b"<</Font<</F7 2 0 R>>>>",
    b"<</Type/Font/Encoding/Identity-H/ToUnicode 3 0 R>>",
    stream(
        b"1 beginbfchar\n<0003> <0020>\nendbfchar 1 beginbfrange <0010> <0012> <0061> "
        b"<0020> <0021> [<0434> <0430>] endbfrange"
    ),
    stream(b"BT /F7 1 Tf <001000110012000300200021> Tj ET"),
)
PACKED = pdf(stream(b"7 0 8 27 <</URI(http://shop.example/)>>   <</JS(x)>>", b"/Type/ObjStm/First 9"))
DOCX = archive({
    "[Content_Types].xml": "<Types/>",
    "word/document.xml": "<w:p><w:t>Cheap wat</w:t><w:t>ches &amp; plants</w:t></w:p><w:p>more</w:p>",
    "word/_rels/document.xml.rels": '<R Target="http://shop.example/buy?a&amp;b" TargetMode="External"/>',
    "word/vbaProject.bin": "macro",
})  # fmt: skip


@pytest.mark.parametrize(
    ("data", "found", "absent"),
    [
        (TEXT.encode(), "cheap wätches", "wät"),
        (TEXT.encode("utf-16"), "cheap wätches", ""),
        (PAGE, "cheap watches html:b url:shop.example", "wat"),
        (PDF, "cheap watches genuine plants url:shop.example", "gen"),
        (MAPPED, "abc да", ""),
        (PACKED, "url:shop.example", "js"),
        (DOCX, "cheap watches plants more url:shop.example", "w wat file:.xml"),
        (archive({"run/Invoice.PDF.exe": "x"}), "file:run file:invoice file:.exe", "x"),
        (b"junk \xff\n" + PDF, "cheap watches", "junk"),
        (b"MZ\0\x01", "type:application/octet-stream", "mz"),
        (b"-----BEGIN PGP SIGNATURE-----\nabcd", "type:application/octet-stream", "abcd"),
    ],
)  # fmt: skip
def test_what_is_read(data, found, absent):
    tokens_found = tokens(data)
    assert tokens_found.issuperset(found.split())
    assert tokens_found.isdisjoint(absent.split())


@pytest.mark.parametrize("declared", ["text/plain", "image/png", "application/pdf; name=a.txt"])
@pytest.mark.parametrize("data", [PDF, DOCX], ids=["pdf", "docx"])
def test_whatever_it_is_declared_as(data, declared):
    assert {"cheap", "watches", "url:shop.example"} <= tokens(data, declared)


def test_a_page_under_a_name_is_read_as_one():
    assert "html:b" in tokens(PAGE, "text/plain; name=invoice.html")
    assert "html:b" not in tokens(PAGE, "text/plain")  # mail readers show its source


def many_members(count=65_535):
    """An archive of empty files."""
    local = b"PK\x03\x04".ljust(26, b"\0") + b"\x05\0\0\0a.exe"
    entry = b"PK\x01\x02".ljust(28, b"\0") + b"\x05\0".ljust(18, b"\0") + b"a.exe"
    size = (count * len(entry)).to_bytes(4, "little")
    return local * count + entry * count + b"PK\x05\x06" + bytes(8) + size + bytes(6)


def test_names_are_bounded():
    (part,) = read(mail(many_members())).leaves
    assert part.content
    assert part.content.names == ["a.exe"] * MAX_MEMBERS


class TestQrCodes:
    @staticmethod
    def picture(text, form="PNG", size=None):
        zxingcpp = pytest.importorskip("zxingcpp", reason="the extra `qr` is not installed")
        image = pytest.importorskip("PIL.Image", reason="the extra `qr` is not installed")
        code = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode).to_image(scale=4)
        pixels = memoryview(code)
        height, width = pixels.shape or ()
        drawn = image.frombytes("L", (width, height), pixels.tobytes())
        with io.BytesIO() as file:
            (drawn.resize(size) if size else drawn).save(file, form)
            return file.getvalue()

    @pytest.mark.parametrize("form", ["PNG", "JPEG"])
    def test_a_link(self, form):
        found = tokens(self.picture("https://shop.example/pay", form), "application/octet-stream")
        assert {"url:shop.example", "url:/pay"} <= found

    def test_what_is_too_large_is_left(self):
        assert "url:shop.example" not in tokens(
            self.picture("https://shop.example/", size=(3000, 3000)), "image/png"
        )

    def test_a_few_pictures_of_a_message(self):
        part = mail(self.picture("https://shop.example/pay"), "image/png").decode()
        raw = "Content-Type: multipart/mixed; boundary=b\n\n" + f"--b\n{part}" * 50
        assert sum(bool(part.content and part.content.links) for part in read(raw.encode()).leaves) == 8
