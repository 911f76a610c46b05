"""Tables of counts, and the models written from them."""

import numpy as np
from hypothesis import strategies as st

from helpers.simple_table import SimpleTable
from spamnb.arrays import Texts
from spamnb.core.native import COUNTERS, fingerprints_of, pair_fingerprint
from spamnb.model import DEFAULT_VIEW
from spamnb.reading.settings import Settings
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import NO_GRAMS, CountTable
from spamnb.tables.learned import LearnedMessages
from spamnb.tables.saving import save
from spamnb.training.replacing import replace_model


def fingerprint(token):
    return fingerprints_of([token])[0]


ABOUT = {  # all that a model has beside its table
    "settings": Settings().as_map(),
    "view": DEFAULT_VIEW.as_map(),
    "ham_loss": 0.001,
    "cutoffs": [-1.0, 1.0],
    "calibration": [1.0, 0.0],
}


def saved(path, table, **about):
    """A table as a model file, in its place."""
    about = {**ABOUT, **about, "labels": list(table.labels)}
    replace_model(path, save(path, [table], table.learned, about), None)
    return path


def columns_of(table, learned):
    """A table in bulk: words and pairs in one order, a pair without text and occurrences."""
    many = len(table.labels)
    entries = [(fingerprint(token), token.encode(), row) for token, row in table.tokens.items()]
    for pair, row in table.pairs.items():
        entries.append((pair_fingerprint(*pair), b"", row + [0] * many))
    entries.sort()
    text = [token for _, token, _ in entries]
    rows = np.array([row for _, _, row in entries], np.int32).reshape(-1, 2 * many).T
    days = np.array([len(token) for token in text], np.uint16)  # any will do, a pair has none
    return CountTable(
        tuple(table.labels),
        tuple(table.messages),
        table.numbers,
        np.array([number for number, _, _ in entries], np.uint64),
        Texts.of(text),
        rows[:many],
        rows[many:],
        days,
        days,
        LearnedMessages.of(
            list(learned), [place for place, _ in learned.values()], [s for _, s in learned.values()]
        ),
        dense(table),
    )


def dense(table):
    """The counts of all grams of a table, or nothing if there are none."""
    if not table.grams:
        return NO_GRAMS
    grams = np.zeros((len(table.labels), COUNTERS), np.int32)
    for counter, row in table.grams.items():
        grams[:, counter] = row
    return grams


def grams_of(table):
    """The grams that some message has, and in how many of each label."""
    counters = np.flatnonzero(table.grams.any(axis=0))
    return dict(zip(counters.tolist(), table.grams[:, counters].T.tolist(), strict=True))


def table_of_message(labels, label, tokens, numbers=None):
    """Count one message: its tokens and its numeric features."""
    own = [int(each == label) for each in labels]
    entries = sorted((fingerprint, times) for fingerprint, times, _ in tokens)
    days = np.zeros(len(entries), np.uint16)
    return CountTable(
        tuple(labels),
        tuple(own),
        {name: [[one, one * x, one * x * x] for one in own] for name, x in (numbers or {}).items()},
        np.array([fingerprint for fingerprint, _ in entries], np.uint64),
        Texts.empty(len(entries)),
        np.outer(own, np.ones(len(entries))).astype(np.int32),
        np.outer(own, [times for _, times in entries]).astype(np.int32),
        days,
        days,
    )


def stored(folder, rows, pairs=None, dtype=np.int32):
    """A model of such fingerprints: {number: (in ham, in spam, occurrences in ham, in spam)}."""
    pairs = pairs or {}
    both = sorted([*rows, *pairs])
    counts = np.array([rows.get(one) or (*pairs[one], 0, 0) for one in both], dtype).reshape(-1, 4).T
    table = CountTable(
        ("ham", "spam"),
        (1, 1),
        {},
        np.array(both, np.uint64),
        Texts.empty(len(both)),
        counts[:2],
        counts[2:],
        np.zeros(len(both), np.uint16),
        np.zeros(len(both), np.uint16),
    )
    return StoredModel.open(saved(str(folder / "model"), table))


LABELS = ["ham", "spam", "list"]
messages = st.tuples(
    st.sampled_from(LABELS),
    st.dictionaries(
        st.sampled_from("one two three vier fünf 六 七七".split()), st.integers(1, 300), max_size=5
    ),
    st.dictionaries(st.sampled_from(["size", "hour"]), st.integers(0, 500), max_size=2),
    st.sets(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=3),
    st.sets(st.sampled_from([0, 7, COUNTERS - 1]), max_size=2),
)


mail = st.lists(messages, max_size=8)


def table_of(some, labels=LABELS):
    table = SimpleTable(labels)
    for label, tokens, *more in some:
        bag = [(token, times, 0) for token, times in tokens.items()]
        numbers, pairs, grams = [*more, None, None, None][:3]
        table.learn(label, bag, numbers, [(pair, 0) for pair in pairs or ()], grams or ())
    return table


def bulk(some, labels=LABELS, learned=()):
    return columns_of(table_of(some, labels), dict.fromkeys(learned, (0, 0.5)))


def assert_same(mine, theirs):
    assert (mine.labels, mine.messages, mine.numbers) == (theirs.labels, theirs.messages, theirs.numbers)
    for name in ("fingerprints", "message_counts", "occurrence_counts", "last_days"):
        assert np.array_equal(getattr(mine, name), getattr(theirs, name)), name
    for name in ("ends", "data"):
        assert np.array_equal(getattr(mine.texts, name), getattr(theirs.texts, name)), name
    assert grams_of(mine) == grams_of(theirs)
    for name in ("digests", "labels", "scores"):
        one, other = getattr(mine.learned, name), getattr(theirs.learned, name)
        assert np.array_equal(one, other, equal_nan=name == "scores"), name
