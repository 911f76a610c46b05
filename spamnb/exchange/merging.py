"""Merge models of several hosts: the sum of their count tables.

Hosts that began with the same model, the base, have it in common: the sum is Σ hosts − (n−1) · base.
A message that several of them changed since is changed once for each of them: no model knows what a single
message added, so `Merged` says how many there are. Tables are read and summed a shard at a time.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spamnb.errors import CannotCreate, DataError, NoInput, NoModel, UsageError
from spamnb.files import model_file
from spamnb.labels import MOST_LABELS
from spamnb.lock import TRAINING, Lock
from spamnb.model import settings_of, view_of
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.learned import NOT_LEARNED, NOTHING_LEARNED, LearnedMessages, merge_learned
from spamnb.tables.loading import load_shard
from spamnb.tables.vocabulary import column_blocks
from spamnb.training.train import existing, replaceable
from spamnb.training.writing import write_shards

SHARD_SIZE = 32 << 20  # bytes of model files that are summed at once: some ten times that in memory


@dataclass
class Changes:
    """How many messages a model learned, moved to another label and forgot since the base."""

    learned: int = 0
    moved: int = 0
    forgotten: int = 0


@dataclass
class Merged:
    """Numbers of messages that a merged model is made of."""

    messages: int = 0  # messages that it knows, each once
    models: list[Changes] = field(default_factory=list)  # what each model changed since the base
    shared: int = 0  # messages that several models changed: counted for each of these models
    conflicting: int = 0  # shared messages with different labels: that of the first model holds


def merge(
    out: str,
    paths: Sequence[str],
    base: str | None = None,
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
        base_model = open_once(base, opened) if base else None
        everything = [*([base_model] if base_model else []), *models]
        is_input = any(model is before for model in everything)
        if before and not fresh and not is_input:
            raise CannotCreate(f"{out}: already exists; use --fresh to replace it, or merge it, too")
        check_alike(everything)
        settings = settings_of(models[0])
        for model in everything:
            for name, *_ in model.head["columns"]:
                for _ in column_blocks(model, name):  # verifies checksums: shards are read without
                    pass
            progress(model.file.size)
        size = sum(model.file.size for model in everything)
        total = ModelSum(models, base_model, shards=1 << (size // SHARD_SIZE).bit_length())
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
            raise UsageError(f"{model.path}: given twice; a model counts once, and the base is another")
        files.add(file)
        different = [name for name, value in settings_of(model).as_map().items() if value != settings[name]]
        different += ["view"] if view_of(model).as_map() != view else []
        if different:
            raise DataError(
                f"{model.path}: made with other settings than {first.path} ({', '.join(different)}); "
                "such counts cannot be added; train one of them again"
            )


class ModelSum:
    """Sum of models with their journals, shard by shard; the base that they began with counts once."""

    def __init__(self, models: Sequence[StoredModel], base: StoredModel | None, shards: int) -> None:
        self.models, self.base, self.shards = models, base, shards
        everything = [*([base] if base else []), *models]
        self.labels = list(dict.fromkeys(label for model in everything for label in model.labels))
        self.merged = Merged(models=[Changes() for _ in models])
        # Per label: a message of the base that several models took out of it leaves it once, so it is added
        # again for all but one. Else tokens could be in more messages than there are.
        self.restored = np.zeros(len(self.labels), np.int64)

    def table(self, shard: int) -> CountTable:
        """Sum one shard of the tables. Call `learned` before."""
        tables = [self._table(model, shard) for model in self.models]
        if self.base and len(tables) > 1:
            tables.append(self._table(self.base, shard).scaled(1 - len(tables)))
        total = sum_tables(tables)
        if shard == 0:
            total = replace(total, messages=tuple((self.restored + total.messages).tolist()))
        return total.clipped()

    def _table(self, model: StoredModel, shard: int) -> CountTable:
        return load_shard(model, shard, self.shards).clipped().relabelled(self.labels)

    def learned(self) -> LearnedMessages:
        """Unite the learned messages of all shards, and count what models changed."""
        learned = merge_learned([self._learned_in(shard) for shard in range(self.shards)])
        if self.base:
            self._check_base(self.base)
        self.merged.messages = len(learned)
        return learned

    def _check_base(self, base: StoredModel) -> None:
        """Refuse a model without any message of the base, or without counts that the base has imported."""
        known = len(LearnedMessages.load(base))
        for model, counts in zip(self.models, self.merged.models, strict=True):
            grown = sum(model.messages) - sum(base.messages)
            if grown < counts.learned - counts.forgotten or 0 < known == counts.forgotten:
                raise DataError(f"{model.path}: did not start from {base.path}; name the right --base")

    def _learned_in(self, shard: int) -> LearnedMessages:
        """Unite the learned messages of one shard, and count what models changed in it."""
        base = self._learned(self.base, shard) if self.base else NOTHING_LEARNED
        changed = [changes(base, self._learned(model, shard)) for model in self.models]
        for counts, changes_of_one in zip(self.merged.models, changed, strict=True):
            new = base.label_indices(changes_of_one.digests) == NOT_LEARNED
            gone = changes_of_one.labels == NOT_LEARNED
            counts.learned += int(new.sum())
            counts.forgotten += int(gone.sum())
            counts.moved += int((~new & ~gone).sum())
        united = merge_learned([base, *reversed(changed)]).remaining()  # the first model comes last: it holds
        digests, times = np.unique(np.concatenate([each.digests for each in changed]), return_counts=True)
        self.merged.shared += int((times > 1).sum())
        conflicting = [each.digests[each.labels != united.label_indices(each.digests)] for each in changed]
        self.merged.conflicting += len(np.unique(np.concatenate(conflicting)))
        of_base = base.label_indices(digests) != NOT_LEARNED
        np.add.at(self.restored, base.label_indices(digests[of_base]), times[of_base] - 1)
        return united

    def _learned(self, model: StoredModel, shard: int) -> LearnedMessages:
        label_indices = [self.labels.index(label) for label in model.labels]
        return LearnedMessages.load(model, shard, self.shards).relabelled(label_indices)


def changes(before: LearnedMessages, after: LearnedMessages) -> LearnedMessages:
    """Find messages that are learned otherwise than before, or NOT_LEARNED any more."""
    gone = before.chosen(after.label_indices(before.digests) == NOT_LEARNED)
    gone = replace(gone, labels=np.full_like(gone.labels, NOT_LEARNED))
    return merge_learned([gone, after.chosen(after.labels != before.label_indices(after.digests))])
