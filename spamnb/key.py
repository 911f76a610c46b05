"""Keys of models that keep no words: they replace fingerprints and digests by keyed ones.

Anybody can work out the fingerprint of a word, and look for it in a model. So such a model has instead the
fingerprint's BLAKE2b by a key, which lies in another file: who has only the model cannot try words out.
"""

import os
from _blake2 import blake2b  # hashlib's, without loading hashlib

from spamnb.errors import ModelError
from spamnb.files import open_beside
from spamnb.grams import COUNTER_BITS, COUNTERS, part_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

KEY_SIZE = 32  # bytes
DIGEST_SIZE = 8  # bytes of a fingerprint or a digest
HASH_BITS = COUNTER_BITS - 1
LOW_BITS = HASH_BITS // 2  # a counter, but for its part, is cut into two halves
LOW, HIGH = (1 << LOW_BITS) - 1, (1 << HASH_BITS - LOW_BITS) - 1
ROUNDS = 4  # of which nobody who has not the key can tell a permutation from one by chance (Luby and Rackoff)
WHAT_TO_DO = "put it there, or its path in $SPAMNB_KEY; if it is lost, start again with --fresh --keyed"


class Key:
    """Makes keyed fingerprints and digests of plain ones; all have 64 bits."""

    __slots__ = ("_all_counters", "_messages", "_secret", "_tokens", "id")

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        # Stored in the model, to recognise its key by; it gives away nothing of the key.
        self.id = blake2b(key=secret, digest_size=DIGEST_SIZE, person=b"key").hexdigest()
        self._tokens = blake2b(key=secret, digest_size=DIGEST_SIZE, person=b"token")
        self._messages = blake2b(key=secret, digest_size=DIGEST_SIZE, person=b"message")
        self._all_counters: list[int] = []  # once they were asked for

    def __reduce__(self) -> "tuple[type[Key], tuple[bytes]]":
        """Pickle the secret only, for processes that are not forked: a hash cannot be pickled."""
        return Key, (self._secret,)

    def fingerprints(self, plain: "Iterable[int]") -> list[int]:
        """Return the keyed fingerprints of tokens and pairs."""
        return _keyed(self._tokens, plain)

    def digests(self, plain: "Iterable[int]") -> list[int]:
        """Return the keyed digests of messages."""
        return _keyed(self._messages, plain)

    def counters(self, plain: "Iterable[int]") -> list[int]:
        """Return the keyed counters of grams: in another order, and still each its own."""
        tables = [self._round(number) for number in range(ROUNDS)]
        found = []
        for counter in plain:
            low, high = counter & LOW, counter >> LOW_BITS & HIGH
            for of_high, of_low in (tables[:2], tables[2:]):
                high ^= of_high[low] & HIGH
                low ^= of_low[high] & LOW
            found.append(part_of(counter) << HASH_BITS | high << LOW_BITS | low)
        return found

    def _round(self, number: int) -> memoryview:
        """Return, for each value of half a counter, 16 bits by which a round changes the other half."""
        blocks = [
            blake2b(bytes((number, block)), key=self._secret, person=b"counter").digest()
            for block in range(2 * (HIGH + 1) // 64)
        ]
        return memoryview(b"".join(blocks)).cast("H")

    def all_counters(self) -> list[int]:
        """Return the keyed counter of every plain one, in order."""
        self._all_counters = self._all_counters or self.counters(range(COUNTERS))
        return self._all_counters


def _keyed(keyed_hash: blake2b, plain: "Iterable[int]") -> list[int]:
    """Hash integers by copies of a keyed hash: 1.0 µs each; a new hash with the key for each takes 1.4."""
    found = []
    for value in plain:
        copy = keyed_hash.copy()
        copy.update(value.to_bytes(DIGEST_SIZE, "little"))
        found.append(int.from_bytes(copy.digest(), "little"))
    return found


def key_path(model: str) -> str:
    """Return where the key of a model lies: beside it, or, say on another disk, where $SPAMNB_KEY tells."""
    return os.environ.get("SPAMNB_KEY") or model + ".key"


def read_model_key(model: str, key_id: str) -> Key:
    """Read the key that a model was made with."""
    path = key_path(model)
    try:
        key = read_key(model, path)
    except FileNotFoundError:
        raise ModelError(model, f"its key is missing: {path}; {WHAT_TO_DO}") from None
    except OSError as error:
        raise ModelError(model, f"its key cannot be read: {path}: {error.strerror}") from error
    if key.id != key_id:
        raise ModelError(model, f"made with another key than {path}; {WHAT_TO_DO}")
    return key


def read_key(model: str, path: str) -> Key:
    """Read the key file of a model, which may be a link, but not a stranger's file."""
    handle = open_beside(model, os.path.realpath(path), os.O_RDONLY)
    try:
        secret = os.read(handle, KEY_SIZE + 1)
    finally:
        os.close(handle)
    if len(secret) != KEY_SIZE:
        raise ModelError(
            path,
            f"not a key, which has {KEY_SIZE} bytes; "
            "restore it from a backup, or remove it if no model needs it",
        )
    return Key(secret)
