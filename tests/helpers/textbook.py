"""Words for what takes fingerprints: textbook messages, and counts by the words they are of."""

from spamnb.core.native import fingerprints_of, pair_fingerprint, word_tokens


def bag(words):
    """The tokens of a message, given as {word: times}, as a classifier and a table take them."""
    return [(number, times, 0) for number, times in zip(fingerprints_of(words), words.values(), strict=True)]


def neighbours(pairs):
    """Its pairs, given as (word, word)."""
    return [(pair_fingerprint(*pair), 0) for pair in pairs]


def rows_of(counts, words):
    """The counts of those words that a model knows, or a table, by word; of those that collide, the first's."""
    rows = getattr(counts, "counts", counts).lookup(fingerprints_of(words))
    return {word: rows.pop(n) for word, n in zip(words, fingerprints_of(words), strict=True) if n in rows}


def pair_rows_of(stored, pairs):
    """The messages with those pairs that a model knows, by pair."""
    numbers = {pair: pair_fingerprint(*pair) for pair in pairs}
    rows = stored.counts.lookup(list(numbers.values()))
    return {pair: rows[number][: len(stored.labels)] for pair, number in numbers.items() if number in rows}


def grams_of(words, text):
    """The words of a text and their n-grams."""
    return word_tokens(text, words)


def counted(features):
    """The tokens of a message as they are spelled, and how often each occurs."""
    return {features.texts[number]: times for number, times, _ in features.tokens}


def pairs_in(features):
    """The pairs of a message as they are spelled."""
    return {tuple(features.text_of(number).split()) for number, _ in features.pairs}
