"""Features of many messages as sparse rows, with the vocabulary of them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.arrays import Rows, Sets, Texts
from spamnb.core.native import NUMBERS

if TYPE_CHECKING:
    from spamnb.arrays import Array
    from spamnb.core.native import BatchReader


class ReadColumns(NamedTuple):
    """What a BatchReader made of messages."""

    digests: Array
    dates: list[str]  # as they are written, "" where there is none
    rows: Rows
    fingerprints: Array  # of the vocabulary, sorted
    texts: Texts


def read_columns(reader: BatchReader) -> ReadColumns:
    """Take what a reader has read; none of its arrays is copied."""
    fingerprints, ends, letters, starts, places, times, parts, gram_starts, grams, numbers, digests, dates = (
        reader.columns()
    )
    by_number = np.frombuffer(numbers, np.int64).reshape(len(NUMBERS), -1)
    rows = Rows(
        np.frombuffer(starts, np.int64),
        np.frombuffer(places, np.int32),
        np.frombuffer(times, np.uint16),
        np.frombuffer(parts, np.uint8),
        {
            name: values
            for name, values in zip(NUMBERS, by_number, strict=True)
            if values.max(initial=-1) >= 0
        },
        Sets(np.frombuffer(gram_starts, np.int64), np.frombuffer(grams, np.uint32)),
    )
    texts = Texts(np.frombuffer(ends, np.int64), np.frombuffer(letters, np.uint8))
    return ReadColumns(
        np.frombuffer(digests, np.uint64), dates, rows, np.frombuffer(fingerprints, np.uint64), texts
    )
