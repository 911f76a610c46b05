"""Files with the text of a spam: PDF, Word, an HTML page with a file, a QR code."""

from __future__ import annotations

import base64
import html
import io
import zipfile
import zlib


def pdf(words: list[str]) -> bytes:
    """Return a PDF with a page of text, ten words per line, compressed as usual."""
    lines = [" ".join(words[at : at + 10]) for at in range(0, len(words), 10)]
    escaped = [line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in lines]
    shown = " T* ".join([f"({line}) Tj" for line in escaped])
    page = zlib.compress(f"BT /F1 9 Tf 12 TL 40 800 Td {shown} ET".encode("cp1252", "replace"))
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(page), page),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    )
    out, offsets = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    table = b"".join([b"%010d 00000 n \n" % offset for offset in offsets])
    end = b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(out)
    return out + b"xref\n0 6\n0000000000 65535 f \n" + table + end


def docx(words: list[str]) -> bytes:
    """Return a Word document with the text as one paragraph."""
    text = html.escape(" ".join(words), quote=False)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        document = f"<w:document><w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body></w:document>"
        archive.writestr("word/document.xml", document)
    return file.getvalue()


def smuggling_page(words: list[str]) -> str:
    """Return an HTML page whose script builds a file with the text."""
    hidden = base64.b64encode(" ".join(words).encode()).decode()
    return (
        f"<script>var file = new Blob([atob('{hidden}')]); var link = document.createElement('a');"
        "link.href = URL.createObjectURL(file); link.download = 'a.html'; link.click()</script>"
    )


def qr_code(text: str) -> bytes:
    """Return a picture of a QR code."""
    import zxingcpp
    from PIL import Image

    code = zxingcpp.create_barcode(text, zxingcpp.BarcodeFormat.QRCode)
    file = io.BytesIO()
    Image.fromarray(code.to_image(scale=4)).save(file, "PNG")
    return file.getvalue()
