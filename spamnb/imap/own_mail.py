"""Recognising the digests that spamnb wrote: each begins with a keyed hash of its text, which nobody else can
make.

The key is kept beside the models, so that digests are recognised even if the state of an account is lost.
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
    """Return a digest with the header by which it is recognised."""
    try:
        make_folder(os.path.dirname(key_path()))
        with open(open_own(key_path(), os.O_RDWR | os.O_CREAT), "r+b") as file:
            if len(key := file.read(KEY_SIZE)) < KEY_SIZE:
                file.seek(0)
                file.write(key := os.urandom(KEY_SIZE))
    except OSError as error:
        raise CannotCreate(f"{key_path()}: {error.strerror}") from error
    return HEADER + keyed_hash(key, raw) + b"\r\n" + raw


def is_own(raw: bytes) -> bool:
    """Return whether a message is a digest that this user's spamnb wrote."""
    if not raw.startswith(HEADER):
        return False
    found, _, rest = raw.removeprefix(HEADER).partition(b"\r\n")
    try:
        with open(open_own(key_path(), os.O_RDONLY), "rb") as file:
            key = file.read(KEY_SIZE)
    except OSError:
        return False
    return len(key) == KEY_SIZE and compare_digest(found, keyed_hash(key, rest))


def keyed_hash(key: bytes, raw: bytes) -> bytes:
    return blake2b(raw, key=key, digest_size=16).hexdigest().encode()


def key_path() -> str:
    return os.path.join(data_folder(), "spamnb", "digest.key")
