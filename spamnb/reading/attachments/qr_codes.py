"""Links in QR codes of pictures, where the packages of the extra `qr` are installed."""

from __future__ import annotations

from spamnb.reading.attachments.contents import Content

MAX_PIXELS = 4_000_000  # of a picture
MAX_CODES = 10  # of a picture
LONGEST_CODE = 2000  # characters
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP")

try:
    import zxingcpp
    from PIL import Image, WebPImagePlugin  # without the plugin, Pillow looks for WebP in all of its forty
except ImportError:
    can_read = False
else:
    can_read = True
    assert WebPImagePlugin
    QR_CODE = zxingcpp.BarcodeFormats(zxingcpp.BarcodeFormat.QRCode)


def read_picture(data: bytes) -> Content:
    """Read the QR codes of a picture."""
    content = Content()
    from io import BytesIO
    from warnings import catch_warnings, simplefilter

    try:
        with catch_warnings():
            simplefilter("ignore")  # about pictures that are too large
            with Image.open(BytesIO(data), formats=FORMATS) as picture:
                if picture.width * picture.height > MAX_PIXELS:
                    return content
                grey = memoryview(picture.convert("L").tobytes()).cast("B", (picture.height, picture.width))
                found = zxingcpp.read_barcodes(grey, QR_CODE)
    except Exception:  # a damaged picture: decoders raise what they like
        return content
    for code in found[:MAX_CODES]:
        content.links.append(code.text[:LONGEST_CODE].strip())
    return content
