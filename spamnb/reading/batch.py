"""Features of many messages as sparse rows.

Words of texts do not become Python objects here. The texts of a batch lie one behind the other; where words
begin and end, which are the same, how often each message has them and which are neighbours is found by a few
sorts of integers, in half the time that dictionaries of strings take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import MISSING, Rows, Texts, gather_texts, run_starts, stable_order
from spamnb.reading.features import BODY, HEAD
from spamnb.reading.fingerprint import BLOCK_BYTES, FACTOR, HALF_BITS, PAIR_FACTOR
from spamnb.reading.word_rules import LONGEST_WORD
from spamnb.reading.words import shortened

if TYPE_CHECKING:
    from spamnb.arrays import Array
    from spamnb.key import Key
    from spamnb.reading.features import Features

SPACE = ord(" ")
FIRST_BYTES = np.array([(1 << (8 * n)) - 1 for n in range(BLOCK_BYTES + 1)], np.uint64)  # n → mask of n bytes


class _Numbering(dict[str, int]):
    """A dictionary that numbers tokens in the order they come."""

    def __missing__(self, token: str) -> int:
        self[token] = number = len(self)
        return number


class BatchBuilder:
    """Takes the features of messages one by one, and makes rows of them."""

    def __init__(self, key: Key | None = None) -> None:
        self.key = key  # None for a model that keeps words
        # Tokens other than the words of texts are numbered; the three lists below hold these numbers.
        self.head_numbering, self.body_numbering = _Numbering(), _Numbering()
        self.head: list[int] = []
        self.body: list[int] = []
        self.subjects: list[int] = []
        self.texts: list[bytes] = []
        self.sizes: list[tuple[int, int, int, int]] = []  # of a message in head, body, subjects, texts
        self.numbers: list[dict[str, int]] = []

    def add(self, features: Features) -> None:
        of_head, of_body = self.head_numbering.__getitem__, self.body_numbering.__getitem__
        self.head += map(of_head, features.head)
        self.body += map(of_body, features.body)
        self.subjects += map(of_head, features.subject)
        self.texts += features.spaced
        self.sizes.append(
            (len(features.head), len(features.body), len(features.subject), len(features.spaced))
        )
        self.numbers.append(features.numbers)

    def build(self) -> tuple[Rows, Array, Texts]:
        """Return rows of all messages, and the fingerprints and texts of their vocabulary."""
        messages = len(self.sizes)
        sizes = np.array(self.sizes, np.int64).reshape(-1, 4)
        head_owners, body_owners, subject_owners, text_owners = (
            np.repeat(np.arange(messages), size) for size in sizes.T
        )
        tags = TaggedTokens(list(self.head_numbering), list(self.body_numbering))
        words = TextWords(self.texts, text_owners)
        tag_count = len(tags.fingerprints)
        fingerprints = np.concatenate((tags.fingerprints, words.fingerprints))
        parts = np.concatenate((tags.parts, np.full(len(words.fingerprints), BODY, np.uint8)))

        head, body, subjects = (
            np.array(tokens, np.int64) for tokens in (self.head, self.body, self.subjects)
        )
        tagged, subjects = tags.ranks[np.concatenate((head, tags.head_count + body))], tags.ranks[subjects]
        runs = np.concatenate((words.text, len(self.texts) + subject_owners))
        sequence = np.concatenate((tag_count + words.which, subjects))
        pairs, pair_owners, first, second = neighbour_pairs(
            sequence, np.concatenate((words.owners, subject_owners)), runs, len(fingerprints)
        )
        tagged, tag_owners, tag_times = count_tokens(
            tagged, np.concatenate((head_owners, body_owners)), tag_count
        )
        entries = np.concatenate((tagged, tag_count + words.entries, len(fingerprints) + pairs))
        times = np.concatenate((tag_times, words.times, np.zeros(len(pairs), np.uint16)))
        owners = np.concatenate((tag_owners, words.entry_owners, pair_owners))
        owners = owners.astype(np.min_scalar_type(messages))
        by_owner = np.argsort(owners, kind="stable")  # numpy sorts 16-bit numbers by radix
        entries = entries[by_owner]

        fingerprints = np.concatenate(
            (fingerprints, fingerprints[first] * np.uint64(PAIR_FACTOR) + fingerprints[second])
        )
        if self.key:
            fingerprints = np.array(self.key.fingerprints(fingerprints.tolist()), np.uint64)
        parts = np.concatenate((parts, parts[first]))
        order = stable_order(fingerprints)
        rank_of = np.empty(len(order), np.int32)
        rank_of[order] = np.arange(len(order), dtype=np.int32)
        rows = Rows(
            np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=messages)))),
            rank_of[entries],
            times[by_owner],
            parts[entries],
            self._number_columns(),
        )
        starts = np.concatenate((tags.starts, len(tags.data) + words.starts))
        ends = np.concatenate((tags.ends, len(tags.data) + words.ends))
        lengths = np.zeros(len(fingerprints), np.int64)
        if self.key is None:
            lengths[: len(starts)] = ends - starts
        with_text = order[order < len(starts)]
        text = np.frombuffer(tags.data + words.data, np.uint8)
        data = gather_texts(text, starts[with_text], lengths[with_text])
        return rows, fingerprints[order], Texts(np.cumsum(lengths[order]), data)

    def _number_columns(self) -> dict[str, Array]:
        names = dict.fromkeys(name for numbers in self.numbers for name in numbers)
        return {
            name: np.array([numbers.get(name, MISSING) for numbers in self.numbers], np.int64)
            for name in names
        }


class TaggedTokens:
    """Distinct tokens other than words of texts: where each stands in `data`, its fingerprint and its part.

    They are in order of their fingerprints, and `ranks` tells which comes where: so the tokens of a message
    have the same order whatever else is in the batch, and sums over them do not differ in the last digit.
    """

    def __init__(self, head: list[str], body: list[str]) -> None:
        self.head_count = len(head)  # tokens of the body are numbered behind those of the head
        texts = [token.encode() for token in head + body]
        self.data = b"".join(texts) + b" " * BLOCK_BYTES
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        starts = np.concatenate((np.zeros(1, np.int64), ends))[:-1]
        fingerprints = fingerprints_in(self.data, starts, ends)
        order = stable_order(fingerprints)
        self.ranks = np.empty(len(order), np.int64)
        self.ranks[order] = np.arange(len(order))
        self.starts, self.ends, self.fingerprints = starts[order], ends[order], fingerprints[order]
        self.parts = np.repeat(np.array((HEAD, BODY), np.uint8), (len(head), len(body)))[order]


class TextWords:
    """Words between the spaces of texts, and the messages that own them, as three tables of columns.

    One item per word, as they come: `text` and `owners` (indices), `which` of the distinct words it is.
    One per distinct word of a message: `entries` (which of the distinct words), `entry_owners`, `times`.
    One per distinct word of the batch: `fingerprints`, and `starts` and `ends` in `data`.
    """

    def __init__(self, texts: list[bytes], owners: Array) -> None:
        data = b" " + b" ".join(texts) + b" " * BLOCK_BYTES
        inside = np.frombuffer(data, np.uint8) != SPACE
        edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
        starts, ends = edges[0::2], edges[1::2]
        borders = np.searchsorted(starts, np.cumsum([1, *(len(text) + 1 for text in texts)]))
        self.text = np.repeat(np.arange(len(texts)), np.diff(borders))
        self.owners = owners[self.text]
        self.data = data + short_forms(data, starts, ends) + b" " * BLOCK_BYTES

        fingerprints = fingerprints_in(self.data, starts, ends)
        order = stable_order(fingerprints)  # the owners of a word stay in order
        new = run_starts(fingerprints[order])
        which = np.cumsum(new) - 1
        self.which = np.empty(len(order), np.int64)
        self.which[order] = which
        ordered_owners = self.owners[order]
        entries = np.flatnonzero(new | run_starts(ordered_owners))
        self.entries, self.entry_owners = which[entries], ordered_owners[entries]
        self.times = np.diff(entries, append=len(order)).astype(np.uint16)
        distinct = order[new]
        self.fingerprints, self.starts, self.ends = fingerprints[distinct], starts[distinct], ends[distinct]


def short_forms(data: bytes, starts: Array, ends: Array) -> bytes:
    """Return short forms of over-long words, to be put behind `data`; let `starts` and `ends` lie there."""
    forms = []
    at = len(data)
    for long in np.flatnonzero(ends - starts > LONGEST_WORD).tolist():  # bytes, maybe fewer characters
        word = data[starts[long] : ends[long]].decode()
        if len(word) > LONGEST_WORD:
            forms.append(shortened(word).encode())
            starts[long], ends[long] = at, at + len(forms[-1])
            at += len(forms[-1])
    return b"".join(forms)


def fingerprints_in(data: bytes, starts: Array, ends: Array) -> Array:
    """Return what fingerprints_of does, for tokens in `data`, which has eight more bytes behind the last."""
    blocks = np.ndarray(len(data) - BLOCK_BYTES + 1, "<u8", data, strides=(1,))
    found = np.zeros(len(starts), np.uint64)
    tokens, at, left = np.arange(len(starts)), starts, ends - starts
    while len(tokens):
        block = blocks[at] & FIRST_BYTES[np.minimum(left, BLOCK_BYTES)]
        mixed = (found[tokens] ^ block) * np.uint64(FACTOR)
        found[tokens] = (mixed ^ (mixed >> np.uint64(HALF_BITS))) * np.uint64(FACTOR)
        longer = np.flatnonzero(left > BLOCK_BYTES)
        tokens, at, left = tokens[longer], at[longer] + BLOCK_BYTES, left[longer] - BLOCK_BYTES
    return found


def count_tokens(tokens: Array, owners: Array, token_count: int) -> tuple[Array, Array, Array]:
    """Return the tokens of each message once, the owner of each, and how often it occurs."""
    keys = np.sort(owners * token_count + tokens)
    first = np.flatnonzero(run_starts(keys))
    times = np.diff(first, append=len(keys)).astype(np.uint16)
    owners, tokens = np.divmod(keys[first], max(1, token_count))
    return tokens, owners, times


def neighbour_pairs(
    words: Array, owners: Array, runs: Array, word_count: int
) -> tuple[Array, Array, Array, Array]:
    """Return the pairs of words side by side in a run, as four columns.

    Two have an item for each pair of each message: which of the distinct pairs it is, and its owner. Two
    have an item for each distinct pair: its first word, and its second.
    """
    beside = runs[1:] == runs[:-1]
    messages = int(owners.max(initial=0)) + 1
    keys = np.sort(((words[:-1] * word_count + words[1:]) * messages + owners[1:])[beside])
    pairs, owners = np.divmod(keys[run_starts(keys)], messages)
    new = run_starts(pairs)
    first, second = np.divmod(pairs[new], max(1, word_count))
    return np.cumsum(new) - 1, owners, first, second
