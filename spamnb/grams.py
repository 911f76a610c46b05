"""Grams: runs of four bytes, each counted by one of many counters, which a hash of the run chooses.

A run has no entry of its own, and its bytes are not kept: those that share a counter are counted together.
One half of the counters is for the body of messages, the other half for the head.
"""

GRAM_BYTES = 4
# (1-AUC)% by half splits of spamassassin: 0.0149 without grams, 0.0138 with 2^16, 0.0113 with 2^18 and more.
COUNTER_BITS = 18
COUNTERS = 1 << COUNTER_BITS
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
