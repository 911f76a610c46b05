"""Use words where the program uses fingerprints: for messages, tables and counts of textbook examples."""

import numpy as np

from spamnb.core.native import (
    CountTable,
    FeatureSet,
    MessageRows,
    fingerprints_of,
    pair_fingerprint,
    word_tokens,
)


def features(words=None, numbers=None, pairs=(), grams=()):
    """Return the features of a message, given as {word: times}, {number: value}, (word, word) and grams."""
    words = words or {}
    tokens = [(key, times, 0) for key, times in zip(fingerprints_of(words), words.values(), strict=True)]
    neighbours = [(pair_fingerprint(*pair), 0) for pair in pairs]
    return FeatureSet.of(tokens, numbers, neighbours, grams)


def table_of(messages, labels=("ham", "spam"), day=0):
    """Return a table that has learned messages, given as (label, features)."""
    table = CountTable(labels)
    rows = MessageRows.of([message for _, message in messages])
    label_indices = np.array([labels.index(label) for label, _ in messages], np.int64)
    table.add(rows, np.arange(len(messages)), label_indices, day)
    return table


def rows_of(counts, words):
    """Return {word: counts} for the words in a model or table; of words with one fingerprint, the first."""
    rows = getattr(counts, "counts", counts).lookup(fingerprints_of(words))
    return {word: rows.pop(n) for word, n in zip(words, fingerprints_of(words), strict=True) if n in rows}


def pair_rows_of(stored, pairs):
    """Return {pair: messages of each label} for those of these pairs that a model has."""
    numbers = {pair: pair_fingerprint(*pair) for pair in pairs}
    rows = stored.counts.lookup(list(numbers.values()))
    return {pair: rows[number][: len(stored.labels)] for pair, number in numbers.items() if number in rows}


def grams_of(words, text):
    """Return the words of a text, and n-grams of words."""
    return word_tokens(text, words)


def counted(features):
    """Return {text of a token: how often it occurs} for a message."""
    return {features.texts[number]: times for number, times, _ in features.tokens}


def pairs_in(features):
    """Return the pairs of a message as pairs of words."""
    return {tuple(features.text_of(number).split()) for number, _ in features.pairs}
