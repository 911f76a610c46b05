"""Writing a model: shards of counts, and the cutoffs that the scores of the learned mail ask for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np

from spamnb.arrays import Array, split_by_shard
from spamnb.bayes.cutoffs import HAM_LOSS, has_spam
from spamnb.bayes.view import View
from spamnb.model import DEFAULT_VIEW, settings_of, view_of
from spamnb.reading.settings import Settings
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable
from spamnb.tables.learned import NOT_LEARNED, LearnedMessages
from spamnb.tables.saving import MapShards, save
from spamnb.tables.totals import Totals, sum_totals
from spamnb.training.labels import with_mail
from spamnb.training.limits import find_limits
from spamnb.training.replacing import replace_model
from spamnb.training.sample import Sample, counts_in


def write_shards(
    path: str,
    labels: Sequence[str],
    shards: Sequence[Any],
    learned: LearnedMessages,
    settings: Settings,
    view: View = DEFAULT_VIEW,
    ham_loss: float = HAM_LOSS,
    before: StoredModel | None = None,
    base: Mapping[str, Any] | None = None,
    sample: Sample | None = None,
    map_shards: MapShards = map,
    map_pieces: MapShards = map,
    in_background: Callable[..., AbstractContextManager[Callable[[], Any]]] = nullcontext,
) -> None:
    """Write a model, with the cutoffs and the calibration that its scores ask for, taken in the background.

    What was learned since `before` was opened is carried over. `base` has the path of a base. The caller
    holds the lock on training.
    """
    totals = list(map_shards(Totals.of, shards))
    kept = with_mail(labels, sum_totals(totals).messages)
    if kept != list(labels):  # a label without messages is none
        indices = [kept.index(label) if label in kept else NOT_LEARNED for label in labels]
        learned = learned.relabelled(indices).remaining()
        if sample:
            sample.relabel(indices)
        labels, map_shards = kept, partial(map_relabelled, map_shards, kept)
        totals = list(map_shards(Totals.of, shards))

    def counts(vocabularies: Sequence[Array]) -> list[Array]:
        by_shard = zip(*(split_by_shard(own, len(shards)) for own in vocabularies), strict=True)
        found = map_shards(counts_in, shards, [view] * len(shards), by_shard)
        return [np.concatenate(counts) for counts in zip(*found, strict=True)]

    def scored() -> tuple[LearnedMessages, dict[str, Any]]:
        return find_limits(learned, sum_totals(totals), view, ham_loss, sample, counts, map_pieces)

    about: dict[str, Any] = {
        "labels": list(labels),
        "settings": settings.as_map(),
        "view": view.as_map(),
        "ham_loss": ham_loss,
        "cutoffs": [0.0, 0.0],  # until they are known
        "calibration": [0.0, 0.0],
        "misfiled": [0.0, 0.0],
        **({"margin": 0.0} if has_spam(labels) and len(labels) > 2 else {}),
        **({"base": dict(base)} if base else {}),
    }
    with in_background(scored) as result:
        new = save(path, shards, learned, about, totals, map_shards, result)
    replace_model(path, new, before)


def map_relabelled(
    map_shards: MapShards, labels: Sequence[str], task: Callable[..., Any], *shards: Iterable[Any]
) -> Iterable[Any]:
    """Call a function for each shard as `map_shards` does, but with these labels."""
    return map_shards(partial(_with_labels, task, labels), *shards)


def _with_labels(task: Callable[..., Any], labels: Sequence[str], table: CountTable, *more: Any) -> Any:
    return task(table.relabelled(labels), *more)


def write(
    path: str,
    table: CountTable,
    settings: Settings,
    view: View = DEFAULT_VIEW,
    ham_loss: float = HAM_LOSS,
    before: StoredModel | None = None,
    base: Mapping[str, Any] | None = None,
    **more: Any,
) -> None:
    """Write a model of one table, as `write_shards` does of many."""
    about = settings, view, ham_loss, before, base
    write_shards(path, table.labels, [table], table.learned, *about, **more)


def rewrite(stored: StoredModel, table: CountTable, **more: Any) -> None:
    """Write a model anew with another table. The caller holds the lock on training."""
    about = stored.head["ham_loss"], stored, stored.head.get("base")
    write(stored.path, table, settings_of(stored), view_of(stored), *about, **more)
