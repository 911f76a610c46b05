"""Links in QR codes of pictures, read if the packages of the extra `qr` are installed."""

from __future__ import annotations

from spamnb.reading.attachments.contents import Allowance, Content

MAX_SIDE = 512  # pixels: what is larger is searched made smaller; a search takes 0.1 s at the most then
MAX_CODES = 10  # of a picture
MAX_CODE = 2000  # characters
MAX_SCANS = 25  # of a JPEG: each takes as long as a picture; progressive ones have ten, and a thumbnail
MAX_CHUNKS = 2000  # of a PNG; most have 8 KB each
FORMATS = ("PNG", "JPEG")

try:
    import zxingcpp
    from PIL import Image
except ImportError:
    can_read = False
else:
    can_read = True
    QR_CODE = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode)


def read_picture(data: bytes, allowance: Allowance) -> Content:
    """Read the QR codes of a picture, and return their links."""
    content = Content()
    allowance.pictures -= 1
    if not can_read or allowance.pictures < 0:
        return content
    from io import BytesIO
    from warnings import catch_warnings, simplefilter

    try:
        with catch_warnings():
            simplefilter("ignore")  # about pictures that are too large
            with Image.open(BytesIO(cheaper(data)), formats=FORMATS) as picture:
                pixels = picture.width * picture.height
                if pixels > allowance.pixels:
                    return content
                allowance.pixels -= pixels
                grey = picture.convert("L")
            grey.thumbnail((MAX_SIDE, MAX_SIDE))
            if grey.width * grey.height > allowance.searched:
                return content
            allowance.searched -= grey.width * grey.height
            view = memoryview(grey.tobytes()).cast("B", (grey.height, grey.width))
            found = zxingcpp.read_barcodes(view, QR_CODE)
    except Exception:  # a damaged picture: decoders raise what they like
        return content
    for code in found[:MAX_CODES]:
        content.links.append(code.text[:MAX_CODE].strip())
    return content


def cheaper(data: bytes) -> bytes:
    """Return a picture without parts that are slow to decode; b"" for a picture crafted to be slow."""
    if data.startswith(b"\xff\xd8\xff") and data.count(b"\xff\xda") > MAX_SCANS:
        return b""
    if not data.startswith(b"\x89PNG"):
        return data
    pieces, at = [data[:8]], 8
    for _ in range(MAX_CHUNKS):  # comments and profiles, in small letters, are packed: each up to a megabyte
        end = at + 12 + int.from_bytes(data[at : at + 4], "big")
        if data[at + 4 : at + 5].isupper():
            pieces.append(data[at:end])
        at = end
        if at >= len(data):
            return b"".join(pieces)
    return b""
