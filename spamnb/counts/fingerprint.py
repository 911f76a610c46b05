"""Tokens as 64-bit numbers, so that a model can be searched in place."""

from __future__ import annotations

# A prime drawn at random between 2^63 and 2^64. A token's bytes, read as one number, modulo this prime:
# 0.2 to 0.4 µs a token where blake2b needs 0.85, and hashing the vocabulary is a large part of training.
# Two tokens of n bytes collide with a chance of about n / 2^61, as chosen by the prime and not by the
# sender: whoever could make one collide with a hammy word could write the hammy word itself.
PRIME = 0xE6A93D1B57C8F2B7


def fingerprint(token: str) -> int:
    return int.from_bytes(token.encode(), "little") % PRIME


def fingerprints(tokens: list[str]) -> list[int]:
    prime, number = PRIME, int.from_bytes
    return [number(token.encode(), "little") % prime for token in tokens]
