"""Count tables loaded from a model file, whole or in slices; and one journal record as a table."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from spamnb.arrays import Array, Texts, shard_range, stable_order
from spamnb.core.native import COUNTERS
from spamnb.errors import WHAT_TO_DO, ModelError
from spamnb.store.journal import JournalRecord
from spamnb.store.records import Column
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import LARGEST_INT32, NO_GRAMS, CountTable, NumberSums, sum_tables
from spamnb.tables.layout import column_header, record_type
from spamnb.tables.learned import NOTHING_LEARNED, LearnedMessages


def load_table(stored: StoredModel) -> CountTable:
    """Load the whole of a model file, its checksums verified, and add its journal."""
    column = _read_columns(stored)
    base = replace(_table_of(stored, column), learned=LearnedMessages.of_columns(stored, column))
    return sum_tables([base, *(table_of_record(record, base.labels) for record in stored.journal.records)])


def _read_columns(stored: StoredModel) -> dict[str, Array]:
    """Read all columns of a model file, and verify them."""
    columns = {}
    for name, kind, size, _ in stored.head["columns"]:
        column = stored.column(name)
        header = column_header(name, size)
        data = column.read()
        if stored.file.read(column.at - len(header), len(header)) != header:
            raise ModelError(stored.path, f"its column {name} is damaged; {WHAT_TO_DO}")
        columns[name] = np.frombuffer(data, record_type(kind))
    return columns


def load_shard(stored: StoredModel, shard: int, shards: int) -> CountTable:
    """Load one of `shards` equal ranges of fingerprints; no messages learned, no checksums verified."""

    def stretch(name: str, first: int, end: int) -> Array:
        column = stored.column(name)
        data = column.file.read(column.at + first * column.width, (end - first) * column.width)
        return np.frombuffer(data, record_type(column.kind))

    first, end = _shard_records(stored.column("tokens"), shard, shards)
    first_pair, end_pair = _shard_records(stored.column("pairs"), shard, shards)
    ends = stretch("ends", first, end).astype(np.int64)
    start = stored.column("ends")[first - 1] if first else 0
    column = {
        "tokens": stretch("tokens", first, end),
        "pairs": stretch("pairs", first_pair, end_pair),
        "ends": ends - start,
        "text": stretch("text", start, int(ends[-1]) if len(ends) else start),
        "days": stretch("days", first, end),
        "first_days": stretch("first_days", first, end),
        "pair_days": stretch("pair_days", first_pair, end_pair),
    }
    base = _table_of(stored, column, with_grams=shard == 0).as_shard(shard)
    later = (table_of_record(record, base.labels).shard(shard, shards) for record in stored.journal.records)
    return replace(sum_tables([base, *later]), learned=NOTHING_LEARNED)


def _table_of(stored: StoredModel, column: Mapping[str, Array], with_grams: bool = True) -> CountTable:
    """Make a table of columns of a file, whole ones or a stretch of each."""
    label_count, head = len(stored.labels), stored.head

    def both(words: Array, pairs: Array) -> Array:
        return np.concatenate((words, pairs))[order]

    tokens, pairs = column["tokens"], column["pairs"]
    lengths = np.diff(column["ends"].astype(np.int64), prepend=0)
    if lengths.min(initial=0) < 0 or lengths.sum() != len(column["text"]):
        raise ModelError(stored.path, f"its column ends is damaged; {WHAT_TO_DO}")
    order = stable_order(np.concatenate((tokens["key"], pairs["key"])))
    counts, pair_counts = tokens["counts"].T, pairs["counts"].T
    kind = np.int32 if max(counts.max(initial=0), pair_counts.max(initial=0)) <= LARGEST_INT32 else np.int64
    zeros = np.zeros(len(pairs), np.uint8)  # pairs have no text and no occurrences
    grams = gram_counts(stored) if with_grams else NO_GRAMS
    return CountTable(
        tuple(stored.labels),
        tuple(head["messages"]),
        head["numbers"],
        both(tokens["key"], pairs["key"]),
        Texts(np.cumsum(both(lengths, zeros)), column["text"]),
        np.array([both(counts[k], pair_counts[k]) for k in range(label_count)], kind),
        np.array([both(counts[label_count + k], zeros) for k in range(label_count)], kind),
        both(column["first_days"], column["pair_days"]),
        both(column["days"], column["pair_days"]),
        grams=grams.T.astype(kind),
    )


def gram_counts(stored: StoredModel) -> Array:
    """Return the counts of all grams in a file, [counter, label]; none if it has none."""
    if not stored.gram_data():
        return NO_GRAMS
    return np.frombuffer(stored.gram_data(), f"<{stored.column('grams').kind}").reshape(COUNTERS, -1)


def _shard_records(column: Column, shard: int, shards: int) -> tuple[int, int]:
    """Find where the records of a shard start and end in a column."""
    first, end = (
        bisect_left(range(len(column)), number, key=column.key) for number in shard_range(shard, shards)
    )
    return first, end


def table_of_record(record: JournalRecord, labels: Sequence[str]) -> CountTable:
    """Make a table of one journal record: what the message adds to a label, and takes away from another."""
    word_count, size = len(record.fingerprints), len(record.fingerprints) + len(record.pairs)
    messages = [0] * len(labels)
    message_counts, occurrence_counts = np.zeros((2, len(labels), size), np.int32)
    grams = np.zeros((len(labels), COUNTERS), np.int8) if len(record.grams) else NO_GRAMS
    numbers: NumberSums = {}
    record.add_numbers_to(numbers)
    for label_index, sign in record.steps:
        messages[label_index] += sign
        message_counts[label_index] += sign
        occurrence_counts[label_index, :word_count] += sign * np.array(record.occurrences, np.int32)
        if grams.size:
            grams[label_index, record.grams] += sign
    text = np.frombuffer(record.text, np.uint8)
    lengths = np.zeros(size, np.int64)
    lengths[:word_count] = np.diff(np.flatnonzero(text == ord("\n")), prepend=-1) - 1
    fingerprints = np.array([*record.fingerprints, *record.pairs], np.uint64)
    order = stable_order(fingerprints)
    days = np.full(size, record.day, np.uint16)
    return CountTable(
        tuple(labels),
        tuple(messages),
        numbers,
        fingerprints[order],
        Texts(np.cumsum(lengths[order]), text[text != ord("\n")]),
        message_counts[:, order],
        occurrence_counts[:, order],
        days,
        days,
        LearnedMessages.of_records([record], labels),
        grams,
    )
