"""A message of very many words, and words made to lie close together, cost the others nothing."""

import os
import random
from functools import cache

import numpy as np
import pytest
from helpers.textbook import rows_of

import spamnb as library
from spamnb.core.native import MAX_TOKENS
from spamnb.lock import TRAINING, Lock
from spamnb.store.stored_model import StoredModel
from spamnb.training.train import fold

# Bytes that one message can add to a model. Of each of its words: fingerprint, four counts, text, its end
# and two days; of each pair: fingerprint, two counts and a day; and half a byte of the index.
A_TOKEN, A_PAIR = 8 + 4 + 33 + 2 + 4, 8 + 2 + 2
MAX_GROWTH = MAX_TOKENS * (A_TOKEN + A_PAIR + 1)
MAX_BLOCK = 4000  # bytes of 64 words


@cache
def flood(seed: int) -> bytes:
    """Several times the words that are counted of a message, which no other message has."""
    numbers = random.Random(seed)
    return b"Subject: flood\n\n" + b" ".join(b"%x" % numbers.getrandbits(40) for _ in range(5 * MAX_TOKENS))


def size(model: str) -> int:
    return sum(os.path.getsize(path) for path in (model, model + ".journal") if os.path.exists(path))


def test_a_flood_of_words_adds_no_more_than_stated(spamnb, mail, own):
    before, known = size(own), StoredModel.open(own).vocabulary
    assert verdict(spamnb, own, mail.messages["ham"]) == b"ham"
    library.learn(own, flood(1), "spam")
    assert size(own) - before <= MAX_GROWTH
    with Lock(own, kind=TRAINING):  # learning so much has started a fold of its own
        fold(own)
    assert size(own) - before <= MAX_GROWTH
    assert MAX_TOKENS / 2 < StoredModel.open(own).vocabulary - known <= MAX_TOKENS
    assert verdict(spamnb, own, mail.messages["ham"]) == b"ham"


def verdict(spamnb, model: str, raw: bytes) -> bytes:
    return spamnb.afresh("classify", "--model", model, stdin=raw).succeeds().out.split()[0]


FACTOR = np.uint64(0x9E3779B97F4A7C15)  # as docs/model-file.md describes fingerprints


def words_in_one_stretch(bits: int, many: int) -> list[str]:
    """Words of eight letters whose fingerprints begin with so many zeros."""
    found: list[str] = []
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz234567", np.uint8)
    starts = np.arange(1 << 20)
    while len(found) < many:
        words = letters[(starts[:, None] + (len(found) << 20)) >> 5 * np.arange(8) & 31]
        numbers = words.view("<u8")[:, 0] * FACTOR
        numbers = (numbers ^ numbers >> np.uint64(32)) * FACTOR
        chosen = words[numbers >> np.uint64(64 - bits) == 0]
        found += [word.tobytes().decode() for word in chosen]
    return found[:many]


def reads() -> tuple[int, int]:
    """Bytes this process has read, and how often."""
    with open("/proc/self/io") as file:
        said = dict(line.split(": ") for line in file)
    return int(said["rchar"]), int(said["syscr"])


@pytest.mark.skipif(not os.path.exists("/proc/self/io"), reason="needs Linux's /proc")
def test_words_made_to_lie_together_are_found_as_fast_as_others(own):
    """Not by going through all of them."""
    crafted = words_in_one_stretch(10, 2000)
    message = b"Subject: crafted\n\n" + " ".join(crafted).encode()
    library.learn(own, message, "spam")
    fold(own)
    stored = StoredModel.open(own)
    asked = crafted[::8]
    bytes_before, calls_before = reads()
    assert len(rows_of(stored, asked)) == len(asked)
    bytes_after, calls_after = reads()
    assert (bytes_after - bytes_before) / len(asked) < MAX_BLOCK
    assert (calls_after - calls_before) / len(asked) < 2
