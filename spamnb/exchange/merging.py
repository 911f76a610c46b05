"""Merge models of several hosts: the sum of their count tables, read and summed one shard at a time.

A message that several of them learned counts once for each of them: no model knows what a single message
added, so `Merged` says how many there are.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spamnb.errors import CannotCreate, DataError, NoInput, NoModel, UsageError
from spamnb.files import model_file
from spamnb.labels import MOST_LABELS
from spamnb.lock import TRAINING, Lock
from spamnb.model import settings_of, view_of
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.learned import LearnedMessages, merge_learned
from spamnb.tables.loading import load_shard
from spamnb.tables.vocabulary import column_blocks
from spamnb.training.train import existing, replaceable
from spamnb.training.writing import write_shards

SHARD_SIZE = 32 << 20  # bytes of model files that are summed at once: some ten times that in memory


@dataclass
class Merged:
    """Numbers of messages that a merged model is made of."""

    messages: int = 0  # messages that it knows, each once
    learned: list[int] = field(default_factory=list)  # messages that each model knows
    shared: int = 0  # messages that several models know: counted for each of these models
    conflicting: int = 0  # shared messages with different labels: that of the first model holds


def merge(
    out: str,
    paths: Sequence[str],
    *,
    fresh: bool = False,
    progress: Callable[[int], object] = int,
) -> Merged:
    """Write the sum of models to a file.

    `progress` is called with numbers of bytes that add up to three times those of all models.
    """
    out = model_file(out)
    with Lock(out, kind=TRAINING):
        before = replaceable(out) if fresh else existing(out)
        opened = {os.path.realpath(out): before} if before else {}
        models = [open_once(path, opened) for path in paths]
        is_input = any(model is before for model in models)
        if before and not fresh and not is_input:
            raise CannotCreate(f"{out}: already exists; use --fresh to replace it, or merge it, too")
        check_alike(models)
        settings = settings_of(models[0])
        for model in models:
            for name, *_ in model.head["columns"]:
                for _ in column_blocks(model, name):  # verifies checksums: shards are read without
                    pass
            progress(model.file.size)
        size = sum(model.file.size for model in models)
        total = ModelSum(models, shards=1 << (size // SHARD_SIZE).bit_length())
        if len(total.labels) > MOST_LABELS:
            raise DataError(f"{len(total.labels)} labels in all; a model has at most {MOST_LABELS}")
        learned = total.learned()

        def map_shards(
            task: Callable[..., Any], shards: Iterable[int], *more: Iterable[Any]
        ) -> Iterator[Any]:
            for shard, *rest in zip(shards, *more, strict=True):
                yield task(total.table(shard), *rest)
                progress(size // total.shards)

        model = before if before and is_input else models[0]
        shards, view, loss = range(total.shards), view_of(model), model.head["ham_loss"]
        write_shards(out, total.labels, shards, learned, settings, view, loss, before, map_shards=map_shards)
    return total.merged


def open_once(path: str, opened: dict[str, StoredModel]) -> StoredModel:
    """Open a model, once even if it is input and output: what it learns meanwhile is carried over once."""
    key = os.path.realpath(path)
    if key not in opened:
        try:
            opened[key] = StoredModel.open(model_file(path))
        except NoModel as error:
            raise NoInput(f"{path}: no such model") from error
    return opened[key]


def check_alike(models: Sequence[StoredModel]) -> None:
    """Refuse models that are the same file, or that count different things."""
    first = models[0]
    settings, view = settings_of(first).as_map(), view_of(first).as_map()
    files: set[str] = set()
    for model in models:
        file = os.path.realpath(model.path)
        if file in files:
            raise UsageError(f"{model.path}: given twice; a model counts once")
        files.add(file)
        different = [name for name, value in settings_of(model).as_map().items() if value != settings[name]]
        different += ["view"] if view_of(model).as_map() != view else []
        if different:
            raise DataError(
                f"{model.path}: made with other settings than {first.path} ({', '.join(different)}); "
                "such counts cannot be added; train one of them again"
            )


class ModelSum:
    """Sum of models with their journals, shard by shard."""

    def __init__(self, models: Sequence[StoredModel], shards: int) -> None:
        self.models, self.shards = models, shards
        self.labels = list(dict.fromkeys(label for model in models for label in model.labels))
        self.merged = Merged()

    def table(self, shard: int) -> CountTable:
        """Sum one shard of the tables."""
        return sum_tables([self._table(model, shard) for model in self.models]).clipped()

    def _table(self, model: StoredModel, shard: int) -> CountTable:
        return load_shard(model, shard, self.shards).clipped().relabelled(self.labels)

    def learned(self) -> LearnedMessages:
        """Unite the learned messages of all models, and count those that several have."""
        of_each = [self._learned(model) for model in self.models]
        united = merge_learned([*reversed(of_each)])  # the first model comes last: it holds
        _, times = np.unique(np.concatenate([each.digests for each in of_each]), return_counts=True)
        conflicting = [each.digests[each.labels != united.label_indices(each.digests)] for each in of_each]
        self.merged = Merged(
            messages=len(united),
            learned=[len(each) for each in of_each],
            shared=int((times > 1).sum()),
            conflicting=len(np.unique(np.concatenate(conflicting))),
        )
        return united

    def _learned(self, model: StoredModel) -> LearnedMessages:
        label_indices = [self.labels.index(label) for label in model.labels]
        return LearnedMessages.load(model).relabelled(label_indices).remaining()
