"""Merge models of several hosts: the sum of their count tables.

Hosts that began with the same model, the base, have it in common: the sum is Σ hosts − (n−1) · base.
A message that several of them changed since is changed once for each of them: no model knows what a single
message added, so `Merged` says how many there are. Tables are read and summed a part at a time.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.errors import CannotCreate, DataError, NoInput, NoModel, UsageError
from spamnb.lock import TRAINING, Lock
from spamnb.model import settings_of, view_of
from spamnb.store.stored import Stored
from spamnb.tables.count_table import CountTable, sum_tables
from spamnb.tables.keying import key_for
from spamnb.tables.learned import NOWHERE, Learned, in_turn, joined
from spamnb.tables.loading import load_slice
from spamnb.tables.vocabulary import column_blocks
from spamnb.training.train import MOST_LABELS, existing, replaceable, write_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

PART = 32 << 20  # bytes of model files that are summed at once: some ten times that in memory


@dataclass
class Changes:
    """How many messages a model learned, moved to another label and forgot since the base."""

    learned: int = 0
    moved: int = 0
    forgotten: int = 0


@dataclass
class Merged:
    """What came together in a merged model."""

    messages: int = 0  # that it knows, each once
    models: list[Changes] = field(default_factory=list)
    shared: int = 0  # messages that several models changed: each of them counts
    conflicting: int = 0  # of these, those that not all have under the same label: the first model's holds


def merge(
    out: str,
    paths: Sequence[str],
    base: str | None = None,
    *,
    fresh: bool = False,
    progress: Callable[[int], object] = int,
) -> Merged:
    """Write the sum of models to a file. Progress is called with three times the bytes of all, in pieces."""
    with Lock(out, kind=TRAINING):
        before = replaceable(out) if fresh else existing(out)
        opened = {location(out): before} if before else {}
        models = [open_once(path, opened) for path in paths]
        began_with = open_once(base, opened) if base else None
        everything = [*([began_with] if began_with else []), *models]
        is_input = any(model is before for model in everything)
        if before and not fresh and not is_input:
            raise CannotCreate(f"{out}: there is a model; --fresh replaces it, or name it to merge with it")
        check_alike(everything)
        settings = settings_of(models[0])
        if not settings.keyed and key_for(out):
            raise DataError(f"{out}: has a key, so it keeps no words; {paths[0]} keeps them: name another")
        for model in everything:
            for name, *_ in model.head["columns"]:
                for _ in column_blocks(model, name):  # verifies checksums: parts are read without
                    pass
            progress(model.file.size)
        size = sum(model.file.size for model in everything)
        total = ModelSum(models, began_with, parts=1 << (size // PART).bit_length())
        if len(total.labels) > MOST_LABELS:
            raise DataError(f"{len(total.labels)} labels in all; a model has at most {MOST_LABELS}")
        learned = total.learned()

        def spread(task: Callable[..., Any], parts: Iterable[int], *more: Iterable[Any]) -> Iterator[Any]:
            for part, *rest in zip(parts, *more, strict=True):
                yield task(total.table(part), *rest)
                progress(size // total.parts)

        own = before if before and is_input else models[0]
        parts, view, loss = range(total.parts), view_of(own), own.head["ham_loss"]
        write_parts(out, total.labels, parts, learned, settings, view, loss, before, spread=spread)
    return total.merged


def location(path: str) -> str:
    """Path by which a model is known; a link to a model has a journal of its own, so it is not followed."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def open_once(path: str, opened: dict[str, Stored]) -> Stored:
    """Open a model. Named as input and output it is one: what it learns meanwhile is carried over once."""
    place = location(path)
    if place not in opened:
        try:
            opened[place] = Stored.open(path)
        except NoModel as error:
            raise NoInput(f"{path}: no such model") from error
    return opened[place]


def check_alike(models: Sequence[Stored]) -> None:
    """Refuse models that are the same file, or that count different things."""
    first = models[0]
    settings, view = settings_of(first).as_map(), view_of(first).as_map()
    files: set[str] = set()
    for model in models:
        file = os.path.realpath(model.path)
        if file in files:
            raise UsageError(f"{model.path}: named twice; a model counts once, and the base is none of them")
        files.add(file)
        other = [name for name, value in settings_of(model).as_map().items() if value != settings[name]]
        other += ["view"] if view_of(model).as_map() != view else []
        if other:
            raise DataError(
                f"{model.path}: made with other settings than {first.path} ({', '.join(other)}); counts of "
                "different things do not add: train one of them anew"
            )


class ModelSum:
    """The sum of models with their journals, in parts; what they began with counts once."""

    def __init__(self, models: Sequence[Stored], base: Stored | None, parts: int) -> None:
        self.models, self.base, self.parts = models, base, parts
        everything = [*([base] if base else []), *models]
        self.labels = list(dict.fromkeys(label for model in everything for label in model.labels))
        self.merged = Merged(models=[Changes() for _ in models])
        # Messages of the base that several took out of a label leave it once. Else tokens that others have,
        # too, could be in more messages than there are.
        self.restored = np.zeros(len(self.labels), np.int64)

    def table(self, part: int) -> CountTable:
        """Sum one part of the tables; `learned` comes before."""
        tables = [self._table(model, part) for model in self.models]
        if self.base and len(tables) > 1:
            tables.append(self._table(self.base, part).times(1 - len(tables)))
        total = sum_tables(tables)
        if part == 0:
            total = replace(total, messages=tuple((self.restored + total.messages).tolist()))
        return total.settled()

    def _table(self, model: Stored, part: int) -> CountTable:
        return load_slice(model, part, self.parts).settled().relabelled(self.labels)

    def learned(self) -> Learned:
        """Unite the learned messages, and count what models changed."""
        learned = joined([self._learned_in(part) for part in range(self.parts)])
        if self.base:
            self._check_base(self.base)
        self.merged.messages = len(learned)
        return learned

    def _check_base(self, base: Stored) -> None:
        """Refuse a model without any message of the base, or without counts that the base has imported."""
        known = len(Learned.load(base))
        for model, own in zip(self.models, self.merged.models, strict=True):
            grown = sum(model.messages) - sum(base.messages)
            if grown < own.learned - own.forgotten or 0 < known == own.forgotten:
                raise DataError(f"{model.path}: did not begin with {base.path}; name the right one: --base")

    def _learned_in(self, part: int) -> Learned:
        base = self._learned(self.base, part) if self.base else Learned.of([], [])
        changed = [changes(base, self._learned(model, part)) for model in self.models]
        for counts, own in zip(self.merged.models, changed, strict=True):
            new, gone = base.places(own.digests) == NOWHERE, own.labels == NOWHERE
            counts.learned += int(new.sum())
            counts.forgotten += int(gone.sum())
            counts.moved += int((~new & ~gone).sum())
        united = in_turn([base, *reversed(changed)])  # the first model comes last: it holds
        digests, times = np.unique(np.concatenate([own.digests for own in changed]), return_counts=True)
        self.merged.shared += int((times > 1).sum())
        conflicting = [own.digests[own.labels != united.places(own.digests)] for own in changed]
        self.merged.conflicting += len(np.unique(np.concatenate(conflicting)))
        of_base = base.places(digests) != NOWHERE
        np.add.at(self.restored, base.places(digests[of_base]), times[of_base] - 1)
        return united

    def _learned(self, model: Stored, part: int) -> Learned:
        places = [self.labels.index(label) for label in model.labels]
        return Learned.load_part(model, part, self.parts).relabelled(places)


def changes(before: Learned, after: Learned) -> Learned:
    """Messages that are learned otherwise than before; the place of a forgotten one is NOWHERE."""
    gone = before.chosen(after.places(before.digests) == NOWHERE)
    gone = replace(gone, labels=np.full_like(gone.labels, NOWHERE))
    return joined([gone, after.chosen(after.labels != before.places(after.digests))])
