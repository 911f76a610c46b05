"""The features of many messages as sparse rows.

Words of texts do not become Python objects here. The texts of a batch lie one behind the other; where words
begin and end, which are the same, how often each message has them and what stands beside what is found by a
few sorts of numbers, in half the time that dictionaries of strings take.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.arrays import MISSING, Rows, changes, order_of, texts_at
from spamnb.reading.features import BODY, HEAD
from spamnb.reading.fingerprint import EIGHT, FACTOR, HALF, PAIR_FACTOR
from spamnb.reading.word_rules import LONGEST
from spamnb.reading.words import shortened

if TYPE_CHECKING:
    from spamnb.arrays import Array
    from spamnb.key import Key
    from spamnb.reading.features import Features

SPACE = ord(" ")
FIRST = np.array([(1 << (8 * n)) - 1 for n in range(EIGHT + 1)], np.uint64)  # masks for the first n of them


class _Numbering(dict[str, int]):
    """Numbers tokens in the order they come."""

    def __missing__(self, token: str) -> int:
        self[token] = number = len(self)
        return number


class Gathering:
    """Messages of a batch as they come."""

    def __init__(self, key: Key | None = None) -> None:
        self.key = key  # by which a model hides them; then they have no texts
        self.head_numbering, self.body_numbering = _Numbering(), _Numbering()  # of all but words of texts
        self.head: list[int] = []
        self.body: list[int] = []
        self.subjects: list[int] = []
        self.texts: list[bytes] = []
        self.shares: list[tuple[int, int, int, int]] = []  # how much of each of these is a message's
        self.measured: list[dict[str, int]] = []

    def add(self, features: Features) -> None:
        of_head, of_body = self.head_numbering.__getitem__, self.body_numbering.__getitem__
        self.head += map(of_head, features.head)
        self.body += map(of_body, features.body)
        self.subjects += map(of_head, features.subject)
        self.texts += features.spaced
        own = features.head, features.body, features.subject, features.spaced
        self.shares.append((len(own[0]), len(own[1]), len(own[2]), len(own[3])))
        self.measured.append(features.numbers)

    def finished(self) -> tuple[Rows, Array, Array, Array]:
        """All messages as rows; the fingerprints of their vocabulary, where its texts end, and these."""
        messages = len(self.shares)
        shares = np.array(self.shares, np.int64).reshape(-1, 4)
        of_head, of_body, of_subjects, of_texts = (
            np.repeat(np.arange(messages), share) for share in shares.T
        )
        tags = Tags(list(self.head_numbering), list(self.body_numbering))
        words = Words(self.texts, of_texts)
        many = len(tags.fingerprints)
        fingerprints = np.concatenate((tags.fingerprints, words.fingerprints))
        parts = np.concatenate((tags.parts, np.full(len(words.fingerprints), BODY, np.uint8)))

        head, body, subjects = (np.array(own, np.int64) for own in (self.head, self.body, self.subjects))
        tagged, subjects = tags.ranks[np.concatenate((head, tags.of_head + body))], tags.ranks[subjects]
        runs = np.concatenate((words.text, len(self.texts) + of_subjects))
        sequence = np.concatenate((many + words.which, subjects))
        pairs, pair_owners, first, second = neighbours(
            sequence, np.concatenate((words.owners, of_subjects)), runs, len(fingerprints)
        )
        tagged, tag_owners, tag_times = counted(tagged, np.concatenate((of_head, of_body)), many)
        entries = np.concatenate((tagged, many + words.entries, len(fingerprints) + pairs))
        times = np.concatenate((tag_times, words.times, np.zeros(len(pairs), np.uint16)))
        owners = np.concatenate((tag_owners, words.entry_owners, pair_owners))
        owners = owners.astype(np.min_scalar_type(messages))
        by_owner = np.argsort(owners, kind="stable")  # by radix, which numpy has for 16 bits
        entries = entries[by_owner]

        fingerprints = np.concatenate(
            (fingerprints, fingerprints[first] * np.uint64(PAIR_FACTOR) + fingerprints[second])
        )
        if self.key:
            fingerprints = np.array(self.key.fingerprints(fingerprints.tolist()), np.uint64)
        parts = np.concatenate((parts, parts[first]))
        order = order_of(fingerprints)
        place_of = np.empty(len(order), np.int32)
        place_of[order] = np.arange(len(order), dtype=np.int32)
        rows = Rows(
            np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=messages)))),
            place_of[entries],
            times[by_owner],
            parts[entries],
            self._numbers(),
        )
        starts = np.concatenate((tags.starts, len(tags.data) + words.starts))
        ends = np.concatenate((tags.ends, len(tags.data) + words.ends))
        lengths = np.zeros(len(fingerprints), np.int64)
        if self.key is None:
            lengths[: len(starts)] = ends - starts
        with_text = order[order < len(starts)]
        text = np.frombuffer(tags.data + words.data, np.uint8)
        return (
            rows,
            fingerprints[order],
            np.cumsum(lengths[order]),
            texts_at(text, starts[with_text], lengths[with_text]),
        )

    def _numbers(self) -> dict[str, Array]:
        names = dict.fromkeys(name for own in self.measured for name in own)
        return {name: np.array([own.get(name, MISSING) for own in self.measured], np.int64) for name in names}


class Tags:
    """Distinct tokens but words of texts: where each stands in `data`, its fingerprint and its part.

    In order of their fingerprints, and `ranks` tells which comes where: so the tokens of a message have the
    same order whatever else is in the batch, and sums over them do not differ in the last digit.
    """

    def __init__(self, head: list[str], body: list[str]) -> None:
        self.of_head = len(head)  # those of the body are numbered behind them
        texts = [token.encode() for token in head + body]
        self.data = b"".join(texts) + b" " * EIGHT
        ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
        starts = np.concatenate((np.zeros(1, np.int64), ends))[:-1]
        fingerprints = fingerprints_in(self.data, starts, ends)
        order = order_of(fingerprints)
        self.ranks = np.empty(len(order), np.int64)
        self.ranks[order] = np.arange(len(order))
        self.starts, self.ends, self.fingerprints = starts[order], ends[order], fingerprints[order]
        self.parts = np.repeat(np.array((HEAD, BODY), np.uint8), (len(head), len(body)))[order]


class Words:
    """The words between the spaces of texts, and whose they are.

    Of each its text and its owner, and which word it is; of each message's words, once each, which it is,
    whose and how often; of each distinct word its fingerprint and where it stands in `data`.
    """

    def __init__(self, texts: list[bytes], owners: Array) -> None:
        data = b" " + b" ".join(texts) + b" " * EIGHT
        inside = np.frombuffer(data, np.uint8) != SPACE
        edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
        starts, ends = edges[0::2], edges[1::2]
        borders = np.searchsorted(starts, np.cumsum([1, *(len(text) + 1 for text in texts)]))
        self.text = np.repeat(np.arange(len(texts)), np.diff(borders))
        self.owners = owners[self.text]
        self.data = data + short_forms(data, starts, ends) + b" " * EIGHT

        fingerprints = fingerprints_in(self.data, starts, ends)
        order = order_of(fingerprints)  # of the same word, its owners stay in order
        new = changes(fingerprints[order])
        which = np.cumsum(new) - 1
        self.which = np.empty(len(order), np.int64)
        self.which[order] = which
        of_order = self.owners[order]
        entries = np.flatnonzero(new | changes(of_order))
        self.entries, self.entry_owners = which[entries], of_order[entries]
        self.times = np.diff(entries, append=len(order)).astype(np.uint16)
        distinct = order[new]
        self.fingerprints, self.starts, self.ends = fingerprints[distinct], starts[distinct], ends[distinct]


def short_forms(data: bytes, starts: Array, ends: Array) -> bytes:
    """Those of over-long words, to be put behind the data: there these words now start and end."""
    forms = []
    at = len(data)
    for long in np.flatnonzero(ends - starts > LONGEST).tolist():  # of bytes; characters may be fewer
        word = data[starts[long] : ends[long]].decode()
        if len(word) > LONGEST:
            forms.append(shortened(word).encode())
            starts[long], ends[long] = at, at + len(forms[-1])
            at += len(forms[-1])
    return b"".join(forms)


def fingerprints_in(data: bytes, starts: Array, ends: Array) -> Array:
    """reading.fingerprint for tokens in a text, with at least eight bytes behind the last."""
    eights = np.ndarray(len(data) - EIGHT + 1, "<u8", data, strides=(1,))
    found = np.zeros(len(starts), np.uint64)
    tokens, at, left = np.arange(len(starts)), starts, ends - starts
    while len(tokens):
        mixed = (found[tokens] ^ (eights[at] & FIRST[np.minimum(left, EIGHT)])) * np.uint64(FACTOR)
        found[tokens] = (mixed ^ (mixed >> np.uint64(HALF))) * np.uint64(FACTOR)
        longer = np.flatnonzero(left > EIGHT)
        tokens, at, left = tokens[longer], at[longer] + EIGHT, left[longer] - EIGHT
    return found


def counted(tokens: Array, owners: Array, many: int) -> tuple[Array, Array, Array]:
    """The tokens of each message once, whose they are, and how often each occurs."""
    keys = np.sort(owners * many + tokens)
    first = np.flatnonzero(changes(keys))
    times = np.diff(first, append=len(keys)).astype(np.uint16)
    owners, tokens = np.divmod(keys[first], max(1, many))
    return tokens, owners, times


def neighbours(words: Array, owners: Array, runs: Array, many: int) -> tuple[Array, Array, Array, Array]:
    """The pairs of words side by side in a run: of each message's pairs, once each, which it is and whose;
    and the first and the second word of every pair there is."""
    beside = runs[1:] == runs[:-1]
    messages = int(owners.max(initial=0)) + 1
    keys = np.sort(((words[:-1] * many + words[1:]) * messages + owners[1:])[beside])
    pairs, owners = np.divmod(keys[changes(keys)], messages)
    new = changes(pairs)
    first, second = np.divmod(pairs[new], max(1, many))
    return np.cumsum(new) - 1, owners, first, second
