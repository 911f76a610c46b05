"""The key of a model that keeps no words, and what it makes of fingerprints and digests.

Anybody can work out the fingerprint of a word, and look for it in a model. So in such a model stands in its
place its BLAKE2b by a key, which lies in another file: who has only the model cannot try words out.
"""

from __future__ import annotations

import os
from _blake2 import blake2b  # hashlib's, without loading hashlib

from spamnb.errors import ModelError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SIZE = 32  # bytes of a key
NUMBER = 8  # bytes of a fingerprint or a digest
WHAT_TO_DO = "put its own there, or its place in $SPAMNB_KEY; if it is lost, begin anew with --fresh --keyed"


class Key:
    """Hides numbers of 64 bits behind others."""

    __slots__ = ("_messages", "_secret", "_tokens", "id")

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        # By this a model knows its key again; it tells nothing about what the key hides, nor do the others.
        self.id = blake2b(key=secret, digest_size=NUMBER, person=b"key").hexdigest()
        self._tokens = blake2b(key=secret, digest_size=NUMBER, person=b"token")
        self._messages = blake2b(key=secret, digest_size=NUMBER, person=b"message")

    def __reduce__(self) -> tuple[type[Key], tuple[bytes]]:
        """For processes that are not forked."""
        return Key, (self._secret,)

    def fingerprints(self, numbers: Iterable[int]) -> list[int]:
        """Hide the fingerprints of tokens and pairs."""
        return _hidden(self._tokens, numbers)

    def digests(self, numbers: Iterable[int]) -> list[int]:
        """Hide the digests of messages."""
        return _hidden(self._messages, numbers)


def _hidden(start: blake2b, numbers: Iterable[int]) -> list[int]:
    """A copy of what has taken the key in needs 1.0 µs a number; the key taken in each time, 1.4."""
    found = []
    for number in numbers:
        one = start.copy()
        one.update(number.to_bytes(NUMBER, "little"))
        found.append(int.from_bytes(one.digest(), "little"))
    return found


def key_path(model: str) -> str:
    """Where the key of a model lies: beside it, or, say on another disk, where $SPAMNB_KEY tells."""
    return os.environ.get("SPAMNB_KEY") or model + ".key"


def key_known_as(model: str, known_as: str) -> Key:
    """The key that a model was made with."""
    path = key_path(model)
    try:
        key = read_key(path)
    except FileNotFoundError:
        raise ModelError(model, f"its key is not there: {path}; {WHAT_TO_DO}") from None
    except OSError as error:
        raise ModelError(model, f"its key cannot be read: {path}: {error.strerror}") from error
    if key.id != known_as:
        raise ModelError(model, f"made with another key than {path}; {WHAT_TO_DO}")
    return key


def read_key(path: str) -> Key:
    # Not to wait for a writer, should it be a pipe: users may put anything in place of theirs.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        secret = os.read(handle, SIZE + 1)
    finally:
        os.close(handle)
    if len(secret) != SIZE:
        raise ModelError(
            path,
            f"not a key, which has {SIZE} bytes; restore it from a backup, or remove it if no model needs it",
        )
    return Key(secret)
