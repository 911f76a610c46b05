"""Attachments that Python reads: PDF, ZIP and Office files, QR codes in pictures.

The core recognizes the format of an attachment, and reads texts and HTML pages itself. This module is loaded
only for other formats; there is a module for each.
"""

from __future__ import annotations

from spamnb.reading.attachments.contents import Allowance, Content


class Attachments:
    """Reads the attachments of one message, within limits for the whole message."""

    def __init__(self) -> None:
        self.allowance = Allowance()

    def read(self, kind: str, data: bytes) -> Content:
        """Read an attachment, whose `kind` is such as "pdf", within the limits for the whole message."""
        if kind == "pdf":
            from spamnb.reading.attachments.pdf import read_pdf as read
        elif kind == "zip":
            from spamnb.reading.attachments.archives import read_zip as read
        else:
            from spamnb.reading.attachments.qr_codes import read_picture as read
        return self.allowance.cut(read(data, self.allowance))
