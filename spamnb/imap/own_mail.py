"""Recognising digests, which list new mail in Junk: spamnb writes a keyed hash of the text into a header.

The user's secret key is stored beside the models, because the state of an account may be lost.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from hmac import compare_digest

from spamnb.errors import CannotCreate
from spamnb.files import data_folder, make_folder, open_own

HEADER = b"X-Spamnb-Digest: "
KEY_SIZE = 32  # bytes


def signed(raw: bytes) -> bytes:
    """Return the digest `raw` with a header that proves that spamnb wrote it; create a missing secret key."""
    path = os.path.join(data_folder(), "spamnb", "digest.key")
    try:
        make_folder(os.path.dirname(path))
        with open(open_own(path, os.O_RDWR | os.O_CREAT), "r+b") as file:
            if len(key := file.read(KEY_SIZE)) < KEY_SIZE:
                file.seek(0)
                file.write(key := os.urandom(KEY_SIZE))
    except OSError as error:
        raise CannotCreate(f"{path}: {error.strerror}") from error
    return HEADER + blake2b(raw, key=key).hexdigest().encode() + b"\r\n" + raw


def is_own(raw: bytes) -> bool:
    """Return whether a message is a digest that this user's spamnb wrote."""
    try:
        return raw.startswith(HEADER) and compare_digest(raw, signed(raw.partition(b"\r\n")[2]))
    except CannotCreate:
        return False
