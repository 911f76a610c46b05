"""Fingerprints of tokens: 64-bit integers, spread evenly, so that a model can be searched in place.

A token's bytes are taken eight at a time: the result so far is XORed with these eight, multiplied by an
odd factor, its upper half mixed into the lower, and multiplied again. For a short token that is as fast as
blake2b, for one of 31 bytes it takes 2.7 times as long; but numpy does the same for all words of a batch of
texts at once (reading.batch). Whoever wants tokens to collide can make them do so. That gains a sender
nothing: he could write the hammy word itself.
"""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from spamnb.key import Key

FACTOR = 0x9E3779B97F4A7C15
PAIR_FACTOR = 0xB5D3C96A1F84E27D
BLOCK_BYTES = 8  # a token's bytes are taken in blocks, each as one integer
BLOCK_BITS, HALF_BITS = 64, 32
MASK = (1 << BLOCK_BITS) - 1
MOST_REMEMBERED = 50_000  # tokens; four in five tokens of a message are among the last 50,000


def fingerprints_of(tokens: Iterable[str]) -> list[int]:
    """Return the plain fingerprint of each token."""
    found = []
    for token in tokens:
        data = token.encode()
        rest = int.from_bytes(data, "little")
        mixed = (rest & MASK) * FACTOR & MASK
        mixed = (mixed ^ mixed >> HALF_BITS) * FACTOR & MASK
        left = len(data)  # counted, not until `rest` is 0: NUL bytes at the end count, too
        while left > BLOCK_BYTES:
            left -= BLOCK_BYTES
            rest >>= BLOCK_BITS
            mixed = (mixed ^ rest & MASK) * FACTOR & MASK
            mixed = (mixed ^ mixed >> HALF_BITS) * FACTOR & MASK
        found.append(mixed)
    return found


class Fingerprints:
    """Makes the fingerprints by which a model knows tokens and pairs: keyed, if it has a key.

    Fingerprints of tokens are remembered, so that each is worked out once for many messages.
    """

    __slots__ = ("_remembered", "key")

    def __init__(self, key: Key | None = None) -> None:
        self.key = key
        # By token, the plain fingerprint and the model's; without a key the two are one dictionary.
        self._remembered = self._empty_memory()

    def _empty_memory(self) -> tuple[dict[str, int], dict[str, int]]:
        plain: dict[str, int] = {}
        return plain, {} if self.key else plain

    def look_up(self, tokens: Collection[str]) -> tuple[dict[str, int], dict[str, int]]:
        """Map these tokens to plain fingerprints, of which pairs are made, and to those of the model."""
        if len(self._remembered[0]) + len(tokens) > MOST_REMEMBERED:
            self._remembered = self._empty_memory()  # not cleared: other threads may be reading it
        plain, of_model = self._remembered
        new = [token for token in tokens if token not in of_model]
        fingerprints = fingerprints_of(new)
        plain.update(zip(new, fingerprints, strict=True))
        if self.key:
            of_model.update(zip(new, self.key.fingerprints(fingerprints), strict=True))
        return plain, of_model

    def tokens(self, tokens: Collection[str]) -> list[int]:
        """Return the model's fingerprint of each token."""
        _, of_model = self.look_up(tokens)
        return [of_model[token] for token in tokens]

    def pairs(self, words: Iterable[int]) -> list[int]:
        """Return fingerprints of neighbours, once each, in a run of words given by plain fingerprints."""
        distinct = dict.fromkeys(pairwise(words))
        fingerprints = [(first * PAIR_FACTOR + second) & MASK for first, second in distinct]
        return self.key.fingerprints(fingerprints) if self.key else fingerprints

    def pair(self, first: str, second: str) -> int:
        """Return the model's fingerprint of two neighbours."""
        return self.pairs(fingerprints_of([first, second]))[0]
