"""Grams: runs of four bytes, each counted by one of many counters, which a hash of the run chooses.

A run has no entry of its own, and its bytes are not kept: those that share a counter are counted together.
One half of the counters is for the body of messages, the other half for the head.
"""

GRAM_BYTES = 4
LAST_BYTE = GRAM_BYTES - 1
FIRST_BIT = 1  # of 64: a sign bit is not to be shifted into
# (1-AUC)% by half splits of spamassassin: 0.0149 without grams, 0.0138 with 2^16, 0.0113 with 2^18 and more.
COUNTER_BITS = 18
COUNTERS = 1 << COUNTER_BITS
MOST_GRAMS = 4096  # different ones of one message
PART_BIT = COUNTER_BITS - 1
HASH_SHIFT = 32 - PART_BIT
FACTOR = 0x9E3779B1  # 2^32 / the golden ratio: spreads runs that differ little
LOWER_HALF = 0xFFFFFFFF  # of 64 bits; a literal as large would have no type


def counter_of(gram: int, part: int) -> int:
    """Return the counter of four bytes, given as one number, in head or body."""
    return (gram * FACTOR & LOWER_HALF) >> HASH_SHIFT | part << PART_BIT


def part_of(counter: int) -> int:
    """Return whether a counter is for the head or the body."""
    return counter >> PART_BIT


class GramSet:
    """The counters of the grams of a message, each once, in the order they came."""

    # Arrays of C, full of zeros.
    seen: list[int]  # a bit a counter
    counters: list[int]

    def __init__(self) -> None:
        self.used = 0

    def add(self, text: bytes, part: int) -> None:
        """Add the counters of all grams of a text of head or body."""
        if self.used + len(text) > MOST_GRAMS:
            raise IndexError("too many grams")
        source, gram, used, size = text, 0, self.used, len(text)
        for at in range(min(LAST_BYTE, size)):
            letter = source[at]
            gram = gram >> 8 | letter << 24
        for at in range(LAST_BYTE, size):
            letter = source[at]
            gram = gram >> 8 | letter << 24
            counter = counter_of(gram, part)
            place, bit = counter >> 5, FIRST_BIT << (counter & 31)
            # Without a branch, which would often be guessed wrong.
            self.counters[used] = counter
            used += not self.seen[place] & bit
            self.seen[place] |= bit
        self.used = used

    def take(self, counters: list[int]) -> None:
        """Add counters that are found already, each once."""
        if self.used + len(counters) > MOST_GRAMS:
            raise IndexError("too many grams")
        for counter in counters:
            self.counters[self.used] = counter
            self.used += 1

    def clear(self) -> None:
        for entry in range(self.used):
            self.seen[self.counters[entry] >> 5] = 0
        self.used = 0

    def as_list(self) -> list[int]:
        return [self.counters[entry] for entry in range(self.used)]
