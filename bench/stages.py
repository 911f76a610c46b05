"""Training and classification taken apart: the CPU time of each stage, in one process."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from spamnb.core.native import BatchReader, FeatureSet, LearnedMessages, read, render_page
from spamnb.in_memory import load_into_memory
from spamnb.labels import LABELS
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import chunks
from spamnb.model import Model
from spamnb.reading.settings import Settings
from spamnb.training.batches import Batch
from spamnb.training.counting import Counting
from spamnb.training.known_messages import KnownMessages, Summary
from spamnb.training.plan import About
from spamnb.training.sample import Sample, SampleScorer
from spamnb.training.writing import add_up, find_limits, put_in_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from spamnb.core.native import Message

T = TypeVar("T")
MEMORY = 4 << 30  # bytes: no run is written


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
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        counting, sample, about = Counting(path, LABELS, MEMORY), Sample(), About(Settings())
        known, reader = KnownMessages(LearnedMessages(), LABELS), BatchReader(Settings())
        for label, size, raws in messages_of(stages, mail):
            with stages.of("reading, features, digests, numbers"):
                reader.add([raw.data for raw in raws])
                batch = Batch(label, [(raw.path, raw.index) for raw in raws], reader.rows(), [], size)
                batch.rows.keeps_places = True
            with stages.of("counting"):
                steps = known.steps(batch, False, Summary())
                counting.add(batch.rows, steps, 1)
            with stages.of("sample for cutoffs"):
                sample.add(batch.rows, steps)
        with stages.of("merging"):
            total = add_up(path, LABELS, LABELS, counting.sources())
        with stages.of("cutoffs, writing"):
            scorer = SampleScorer(sample, about.view, counting.learned, 1)
            limits = find_limits(LABELS, known.learned, about, scorer)
            put_in_place(path, total, known.learned, about, limits=limits)
    return stages.spent


def classification_stages(model: str, mail: dict[str, str]) -> dict[str, float]:
    """The same work as `spamnb classify --jobs 1`, for an mbox a label."""
    stages = Stages()
    with stages.of("loading the model"):
        held = load_into_memory(Model.open(model))
    message, features = None, FeatureSet()
    for _, _, raws in messages_of(stages, mail):
        for raw in raws:
            with stages.of("reading messages: headers, parts, decoding"):
                message = read(raw.data, message)
            with stages.of("features"):
                features = held.tokenizer.features(message, False, features)
            with stages.of("looking up, scores, verdicts"):
                held.verdict(features)
    return stages.spent


def messages_of(stages: Stages, mail: dict[str, str]) -> Iterator[tuple[str, int, list[RawMessage]]]:
    for label, path in mail.items():
        for chunk in chunks([path]):
            with stages.of("cutting mailboxes into messages"):
                raws = [raw for raw in chunk.messages() if isinstance(raw, RawMessage)]
            yield label, chunk.size, raws


def pages_of(messages: Sequence[Message]) -> list[str]:
    parts = (part for message in messages for part in message.leaves)
    return [part.text for part in parts if part.content_type == "text/html" and part.text]


def reading_rates(raws: Sequence[bytes], repeats: int) -> Iterator[tuple[str, float, list[float]]]:
    """HTML to text, and bytes to messages: megabytes, and the CPU seconds of each turn."""
    pages = pages_of([read(raw) for raw in raws])
    yield "HTML to text", sum(map(len, pages)) / 1e6, [cpu_of(render_page, pages) for _ in range(repeats)]
    yield "reading messages", sum(map(len, raws)) / 1e6, [cpu_of(read, raws) for _ in range(repeats)]


def cpu_of(work: Callable[[T], object], items: Sequence[T]) -> float:
    start = time.process_time()
    for item in items:
        work(item)
    return time.process_time() - start
