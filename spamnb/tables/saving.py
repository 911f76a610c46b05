"""Saving a table as a model file, which docs/model-file.md describes.

It is written shard by shard: the counts of a model may be too many for one machine's memory. Of n shards, n a
power of two, the i-th has the tokens in the i-th of n equal ranges of fingerprints. How large each column
becomes is known before, from the totals; so each shard goes where it belongs, and the head comes last.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from spamnb.arrays import Array
from spamnb.core.native import COUNTERS
from spamnb.errors import CannotCreate, DataError
from spamnb.files import complain, keep_owner, make_folder
from spamnb.tables.count_table import CountTable
from spamnb.tables.layout import DIRECTORY, ModelFileWriter, record_type
from spamnb.tables.learned import LearnedMessages
from spamnb.tables.totals import Totals, sum_totals

MapShards = Callable[..., Iterable[Any]]  # called as `map`: a function, the shards, other arguments

LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}  # bytes of an unsigned number → letter of its type
MOST_LISTED = COUNTERS // 8  # counters of grams: more take a delivery longer than all would
LARGEST_COLUMN = (1 << 32) - 1  # bytes
TOO_LARGE = "more than 4 GiB, which is the most a column has; train in parts, and `spamnb prune` between them"


@dataclass(frozen=True)
class ShardLayout:
    """Facts about the whole file that are needed to encode one shard of it."""

    shard: int
    shards: int
    token_kind: str  # types of the records, as `record_type` takes them
    pair_kind: str
    end_kind: str
    bits: int  # the directory goes by so many first bits of a fingerprint
    pair_bits: int
    tokens: int  # number in the shards before this one; as `pairs`, and `text` in bytes
    pairs: int
    text: int


def encode_shard(table: CountTable, layout: ShardLayout) -> dict[str, Array]:
    """Make the stretch of each column of tokens that a shard fills."""
    words, pairs = np.flatnonzero(table.words), np.flatnonzero(~table.words)
    counts = [counts.take(words, axis=1) for counts in (table.message_counts, table.occurrence_counts)]
    tokens = _records(table.fingerprints.take(words), np.concatenate(counts), layout.token_kind)
    pair_counts = table.message_counts.take(pairs, axis=1)
    neighbours = _records(table.fingerprints.take(pairs), pair_counts, layout.pair_kind)
    return {
        "starts": _directory(tokens["key"], layout, layout.bits, layout.tokens),
        "tokens": tokens,
        "pair_starts": _directory(neighbours["key"], layout, layout.pair_bits, layout.pairs),
        "pairs": neighbours,
        "ends": (table.texts.ends.take(words) + layout.text).astype(f"<{layout.end_kind}"),
        "text": table.texts.data,
        "days": table.last_days.take(words).astype("<u2"),
        "first_days": table.first_days.take(words).astype("<u2"),
        "pair_days": table.last_days.take(pairs).astype("<u2"),
    }


def _records(fingerprints: Array, counts: Array, kind: str) -> Array:
    """Put fingerprints and counts [count, token] side by side: one read finds both."""
    records = np.empty(len(fingerprints), record_type(kind))
    records["key"] = fingerprints
    for column, row in zip(records["counts"].T, counts, strict=True):  # 15 times as fast as all at once
        column[:] = np.maximum(row, 0)  # a message forgotten twice may do no harm
    return records


def _directory(fingerprints: Array, layout: ShardLayout, bits: int, before: int) -> Array:
    """Find where each stretch of fingerprints with the same first bits starts, if it starts in this shard.

    The last shard adds where the last stretch ends.
    """
    first, end = (-(-(number << bits) // layout.shards) for number in (layout.shard, layout.shard + 1))
    firsts = np.arange(first, end, dtype=np.uint64) << np.uint64((64 - bits) % 64)
    starts = np.searchsorted(fingerprints, firsts)
    if layout.shard == layout.shards - 1:
        starts = np.append(starts, len(fingerprints))
    return (starts + before).astype(np.uint32)


def _bits(count: int) -> int:
    """Choose how many first bits a directory goes by: eight to sixteen fingerprints share them."""
    return (count // 16).bit_length()


def save(
    path: str,
    shards: Sequence[Any],
    learned: LearnedMessages,
    about: dict[str, Any],
    totals: Sequence[Totals] | None = None,
    map_shards: MapShards = map,
    scored: Callable[[], tuple[LearnedMessages, dict[str, Any]]] | None = None,
) -> str:
    """Write a model file beside the old one, synced. `about`: labels, settings, cutoffs. Returns where it is.

    The shards are tables, or what `map_shards` takes for them. When they are written, `scored` is asked for
    the messages with their scores, and for what replaces a part of `about`; all is as large as before.
    """
    totals = totals or list(map_shards(Totals.of, shards))
    whole = sum_totals(totals)
    label_count = len(about["labels"])
    kinds = {
        "starts": DIRECTORY,
        "tokens": "Q" + _letter(whole.highest) * 2 * label_count,
        "pair_starts": DIRECTORY,
        "pairs": "Q" + _letter(whole.highest_of_pairs) * label_count,
        "ends": _letter(whole.text),
        "text": "B",
        "days": "H",
        "first_days": "H",
        "pair_days": "H",
    }
    small = {
        **_histogram(whole),
        **_digests(learned, label_count),
        **_grams(whole.grams.T),
    }
    kinds |= {name: _kind(column) for name, column in small.items()}
    bits, pair_bits = _bits(whole.vocabulary), _bits(whole.pair_vocabulary)
    entries = {
        "starts": (1 << bits) + 1,
        "pair_starts": (1 << pair_bits) + 1,
        **dict.fromkeys(("tokens", "ends", "days", "first_days"), whole.vocabulary),
        **dict.fromkeys(("pairs", "pair_days"), whole.pair_vocabulary),
        "text": whole.text,
        **{name: len(column) for name, column in small.items()},
    }
    sizes = {name: entries[name] * np.dtype(record_type(kind)).itemsize for name, kind in kinds.items()}
    for name, size in sizes.items():
        if size > LARGEST_COLUMN:
            raise DataError(f"{path}: its column {name} would have {TOO_LARGE}")
    head = {
        **dict(sorted(about.items())),
        "messages": whole.messages,
        "presences": whole.presences,
        "occurrences": whole.occurrences,
        "vocabulary": whole.vocabulary,
        "pair_presences": whole.pair_presences,
        "pair_vocabulary": whole.pair_vocabulary,
        "numbers": whole.numbers,
    }
    layouts, tokens, pairs, text = [], 0, 0, 0
    for shard, total in enumerate(totals):
        of_columns = kinds["tokens"], kinds["pairs"], kinds["ends"]
        layouts.append(ShardLayout(shard, len(shards), *of_columns, bits, pair_bits, tokens, pairs, text))
        tokens, pairs, text = tokens + total.vocabulary, pairs + total.pair_vocabulary, text + total.text
    temporary = f"{path}.new"
    try:
        make_folder(os.path.dirname(path))
        if os.path.lexists(temporary):
            os.unlink(temporary)  # left by a crash; the caller holds the lock on training
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, "w+b") as file:
            keep_owner(handle, path, with_mode=True)
            if os.fstat(handle).st_uid != os.geteuid() and not os.path.exists(path):
                complain(f"{path}: belongs to the owner of its folder")
            writer = ModelFileWriter(file, head, kinds, sizes)
            for columns in map_shards(encode_shard, shards, layouts):
                writer.add(columns)
            if scored:
                learned, found = scored()
                small |= _digests(learned, label_count)
                head |= found
            writer.add(small)
            writer.add_directories()
            writer.finish()
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise CannotCreate(f"{path}: cannot write the model: {error.strerror}") from error
        raise
    return temporary


def _histogram(totals: Totals) -> dict[str, Array]:
    columns = {f"histogram.{k}": _narrow(row) for k, row in enumerate(totals.patterns)}
    return {**columns, "histogram.tokens": _narrow(totals.pattern_tokens)}


def _digests(learned: LearnedMessages, label_count: int) -> dict[str, Array]:
    columns = {
        "digests": learned.digests.astype("<u8"),
        "digest_labels": learned.labels.astype("u1"),
        "digest_scores": learned.scores.astype("<f4"),
    }
    if label_count > 2:
        columns["digest_leads"] = learned.leads.astype("<f4")
    return columns


def _grams(counts: Array) -> dict[str, Array]:
    """Return the counts of all grams; while few are not 0, of those alone, and which these are."""
    known = np.flatnonzero(counts.any(axis=1)) if len(counts) else np.empty(0, np.int64)
    if len(known) > MOST_LISTED:
        columns = np.stack([*counts.T], axis=1)  # a reshape takes 15 times as long
        return {"gram_counters": np.empty(0, "<u4"), "grams": _narrow(columns.reshape(-1))}
    return {"gram_counters": known.astype("<u4"), "grams": _narrow(counts[known].reshape(-1))}


def _narrow(column: Array) -> Array:
    """Convert a column to the smallest unsigned type that holds it."""
    return np.maximum(column, 0).astype(f"<{_letter(int(column.max(initial=0)))}")


def _kind(column: Array) -> str:
    return "f" if column.dtype.kind == "f" else LETTERS[column.dtype.itemsize]


def _letter(top: int) -> str:
    """Name the smallest unsigned type that holds a number: most tokens are seen a few times."""
    return LETTERS[np.min_scalar_type(top).itemsize]
