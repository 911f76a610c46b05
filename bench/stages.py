"""Training taken apart: the CPU time of each stage, in one process."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import chunks
from spamnb.reading.batch import BatchBuilder
from spamnb.reading.header_rules import header_tokens
from spamnb.reading.identity import digest
from spamnb.reading.message import read
from spamnb.reading.settings import Settings
from spamnb.reading.tokenizer import Tokenizer, pages_of
from spamnb.tables.learned import NOTHING_LEARNED
from spamnb.tables.spilling import SpillFile
from spamnb.training.batches import Batch
from spamnb.training.known_messages import KnownMessages, Summary
from spamnb.training.sample import Sample
from spamnb.training.train import LABELS, Cleanup, write_shards
from spamnb.workers.table_sum import LocalTableSum, map_shards

if TYPE_CHECKING:
    from collections.abc import Iterator


class Stages:
    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        start = time.process_time()
        yield
        self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - start


def training_stages(mail: dict[str, str]) -> dict[str, float]:
    """The same work as `spamnb train --jobs 1`, for an mbox a label."""
    stages, tokenizer = Stages(), Tokenizer(Settings())
    file = SpillFile(tempfile.gettempdir())
    total, sample = LocalTableSum(None, LABELS, file), Sample(file)
    seen = KnownMessages(NOTHING_LEARNED, LABELS)
    for label, path in mail.items():
        for chunk in chunks([path]):
            with stages.of("cutting mailboxes into messages"):
                raws = [raw for raw in chunk.messages() if isinstance(raw, RawMessage)]
            with stages.of("reading messages: headers, parts, decoding"):
                messages = [read(raw.data) for raw in raws]
            with stages.of("digests"):
                digests = np.array([digest(message) for message in messages], np.uint64)
            with stages.of("tokens"):
                features = [tokenizer.features(message) for message in messages]
            with stages.of("… of these, HTML"):
                for message in messages:
                    pages_of(message)
            with stages.of("… of these, headers"):
                for message in messages:
                    header_tokens(message.headers, tokenizer.words)
            with stages.of("numbering, counting, pairs"):
                builder = BatchBuilder()
                for each in features:
                    builder.add(each)
                names = [(raw.path, raw.index) for raw in raws]
                batch = Batch(label, names, digests, [], *builder.build(), [], chunk.size)
            with stages.of("summing tables"):
                steps = seen.steps(batch, False, Summary())
                total.add(batch.table(LABELS, steps, 1))
                sample.add(batch, steps)
    with stages.of("summing tables"):
        shards = total.shards(Cleanup())
    with stages.of("scores of mail left out, cutoffs, writing"), tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        learned = seen.learned()
        write_shards(path, LABELS, shards, learned, Settings(), sample=sample, map_shards=map_shards)
    return stages.spent
