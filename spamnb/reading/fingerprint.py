"""Tokens as 64-bit numbers, spread evenly, so that a model can be searched in place.

A token's bytes are taken eight at a time: what there is so far, changed by these eight, is multiplied by an
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
EIGHT = 8  # bytes of a token that are taken as one number
EIGHT_BYTES, HALF = 64, 32
MASK = (1 << EIGHT_BYTES) - 1
MOST_REMEMBERED = 50_000  # tokens: four in five of a message are among the last so many


def fingerprints_of(tokens: Iterable[str]) -> list[int]:
    found = []
    for token in tokens:
        data = token.encode()
        number = int.from_bytes(data, "little")
        mixed = (number & MASK) * FACTOR & MASK
        mixed = (mixed ^ mixed >> HALF) * FACTOR & MASK
        left = len(data)  # not what is left of the number: NULs at the end count, too
        while left > EIGHT:
            left -= EIGHT
            number >>= EIGHT_BYTES
            mixed = (mixed ^ number & MASK) * FACTOR & MASK
            mixed = (mixed ^ mixed >> HALF) * FACTOR & MASK
        found.append(mixed)
    return found


class Fingerprints:
    """Makes the fingerprints by which a model knows tokens and pairs: hidden by its key, if it has one.

    Those of tokens are remembered, so that each is worked out once for a message, and for many messages.
    """

    __slots__ = ("_remembered", "key")

    def __init__(self, key: Key | None = None) -> None:
        self.key = key
        # By token, the plain fingerprint and the one of the model; without a key the two are one.
        self._remembered = self._nothing()

    def _nothing(self) -> tuple[dict[str, int], dict[str, int]]:
        plain: dict[str, int] = {}
        return plain, {} if self.key else plain

    def remembered(self, tokens: Collection[str]) -> tuple[dict[str, int], dict[str, int]]:
        """Map these tokens to plain fingerprints, of which pairs are made, and to those of the model."""
        if len(self._remembered[0]) + len(tokens) > MOST_REMEMBERED:
            self._remembered = self._nothing()  # not emptied: others may be reading them
        plain, kept = self._remembered
        new = [token for token in tokens if token not in kept]
        numbers = fingerprints_of(new)
        plain.update(zip(new, numbers, strict=True))
        if self.key:
            kept.update(zip(new, self.key.fingerprints(numbers), strict=True))
        return plain, kept

    def tokens(self, tokens: Collection[str]) -> list[int]:
        """The fingerprint of each token."""
        _, kept = self.remembered(tokens)
        return [kept[token] for token in tokens]

    def pairs(self, words: Iterable[int]) -> list[int]:
        """Pairs of neighbours in a run of words, once each; words are given by their plain fingerprints."""
        distinct = dict.fromkeys(pairwise(words))
        numbers = [(first * PAIR_FACTOR + second) & MASK for first, second in distinct]
        return self.key.fingerprints(numbers) if self.key else numbers

    def pair(self, first: str, second: str) -> int:
        """The fingerprint of two neighbours."""
        return self.pairs(fingerprints_of([first, second]))[0]
