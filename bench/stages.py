"""Training and classification taken apart: the CPU time of each stage, in one process."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from spamnb.html.page import render
from spamnb.in_memory import load_into_memory
from spamnb.labels import LABELS
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import chunks
from spamnb.model import Model
from spamnb.reading.batch import BatchBuilder
from spamnb.reading.features import Features
from spamnb.reading.identity import digest
from spamnb.reading.message import read
from spamnb.reading.settings import Settings
from spamnb.reading.tokenizer import Tokenizer
from spamnb.tables.learned import NOTHING_LEARNED
from spamnb.tables.spilling import SpillFile
from spamnb.training.batches import Batch
from spamnb.training.known_messages import KnownMessages, Summary
from spamnb.training.sample import Sample
from spamnb.training.writing import write_shards
from spamnb.workers.local import LocalTableSum, map_shards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spamnb.reading.message import Message

T = TypeVar("T")


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
    stages = Stages()
    file = SpillFile(tempfile.gettempdir())
    total, sample = LocalTableSum(None, LABELS, file), Sample(file)
    seen = KnownMessages(NOTHING_LEARNED, LABELS)
    for batch in batches(stages, mail, Tokenizer(Settings())):
        with stages.of("table of a batch"):
            steps, _ = seen.steps(batch, False, Summary())
            table = batch.table(LABELS, steps, 1)
        with stages.of("summing tables"):
            total.add(table)
        with stages.of("sample for cutoffs"):
            sample.add(batch, steps)
    with stages.of("summing tables"):
        shards = total.shards()
    with stages.of("cutoffs, writing"), tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        learned = seen.learned()
        write_shards(path, LABELS, shards, learned, Settings(), sample=sample, map_shards=map_shards)
    return stages.spent


def classification_stages(model: str, mail: dict[str, str]) -> dict[str, float]:
    """The same work as `spamnb classify --jobs 1`, for an mbox a label."""
    stages = Stages()
    with stages.of("loading the model"):
        held = load_into_memory(Model.open(model))
    spare = Features()
    for _, _, _, messages in messages_read(stages, mail):
        for message in messages:
            with stages.of("features"):
                features = held.tokenizer.features(message, False, spare)
            with stages.of("looking up, scores, verdicts"):
                held.verdict(features)
    return stages.spent


def batches(stages: Stages, mail: dict[str, str], tokenizer: Tokenizer) -> Iterator[Batch]:
    spare = Features()
    for label, size, raws, messages in messages_read(stages, mail):
        with stages.of("digests"):
            digests = np.array([digest(message) for message in messages], np.uint64)
        builder = BatchBuilder()
        for message in messages:
            with stages.of("features: headers, links, HTML, cleaned text"):
                features = tokenizer.features(message, True, spare)
            with stages.of("… of these, HTML"):
                for page in pages_of([message]):
                    render(page)
            with stages.of("batch: words, pairs, counting, numbering"):
                builder.add(features)
        with stages.of("batch: words, pairs, counting, numbering"):
            names = [(raw.path, raw.index) for raw in raws]
            batch = Batch(label, names, digests, [], *builder.build(), [], size)
        yield batch


def messages_read(
    stages: Stages, mail: dict[str, str]
) -> Iterator[tuple[str, int, list[RawMessage], list[Message]]]:
    for label, path in mail.items():
        for chunk in chunks([path]):
            with stages.of("cutting mailboxes into messages"):
                raws = [raw for raw in chunk.messages() if isinstance(raw, RawMessage)]
            with stages.of("reading messages: headers, parts, decoding"):
                messages = [read(raw.data) for raw in raws]
            yield label, chunk.size, raws, messages


def pages_of(messages: Sequence[Message]) -> list[str]:
    parts = (part for message in messages for part in message.leaves)
    return [part.text for part in parts if part.content_type == "text/html" and part.text]


def reading_rates(raws: Sequence[bytes], repeats: int) -> Iterator[tuple[str, float, list[float]]]:
    """HTML to text, and bytes to messages: megabytes, and the CPU seconds of each turn."""
    pages = pages_of([read(raw) for raw in raws])
    yield "HTML to text", sum(map(len, pages)) / 1e6, [cpu_of(render, pages) for _ in range(repeats)]
    yield "reading messages", sum(map(len, raws)) / 1e6, [cpu_of(read, raws) for _ in range(repeats)]


def cpu_of(work: Callable[[T], object], items: Sequence[T]) -> float:
    start = time.process_time()
    for item in items:
        work(item)
    return time.process_time() - start
