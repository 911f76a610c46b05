"""Training: batches of mail summed into a model file."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from spamnb.bayes.cutoffs import HAM_LOSS
from spamnb.bayes.view import View
from spamnb.clock import today
from spamnb.errors import DataError, NoModel, SpamnbError, UsageError
from spamnb.files import complain
from spamnb.labels import LABELS, MOST_LABELS
from spamnb.lock import TRAINING, Lock
from spamnb.mailboxes.skipped import failures, passed_over
from spamnb.model import DEFAULT_VIEW, check_base, settings_of, view_of
from spamnb.reading.settings import Settings
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable
from spamnb.tables.learned import NOTHING_LEARNED, LearnedMessages
from spamnb.tables.loading import load_table
from spamnb.tables.spilling import SpillFile
from spamnb.training.batches import Batch, MailToRead, Pool
from spamnb.training.known_messages import KnownMessages, Summary, refuse_swapped_labels
from spamnb.training.labels import new_labels
from spamnb.training.sample import Sample
from spamnb.training.writing import rewrite, write, write_shards


def train(
    path: str,
    sources: Mapping[str, Sequence[str]],
    wanted: Mapping[str, Any] | None = None,
    *,
    pool: Pool,
    view: View | None = None,
    ham_loss: float | None = None,
    fresh: bool = False,
    forget: bool = False,
    base: str | None = None,
    progress: Callable[[Batch], object] = lambda _: None,
) -> Summary:
    """Learn (or forget) all mail under each label. The model is replaced at the end, whole, or not at all.

    `wanted` (the tokenizer's settings) and `view` are for a new model, or a `fresh` one in place of the old.
    Raises UsageError if nearly all that was learned under a label would move to another one.
    `base` is a model that this one is to stand on, "" none, None the one that it has.
    `progress` is called with each batch.
    """
    beneath = StoredModel.open(base) if base else None
    with Lock(path, kind=TRAINING), SpillFile(os.path.dirname(path) or ".") as file:
        replaced = replaceable(path) if fresh else existing(path)
        stored = None if fresh else replaced  # the model to be added to
        if stored is None:
            labels = list(LABELS if set(sources) <= set(LABELS) else sources)
            settings, view = Settings(**wanted or {}), view or DEFAULT_VIEW
            settings.words()  # an unknown language is an error
            accepted = HAM_LOSS if ham_loss is None else ham_loss
            known_before = NOTHING_LEARNED
        else:
            labels = list(dict.fromkeys([*stored.labels, *(() if forget else sources)]))
            settings, view = same_settings(stored, wanted or {}, view), view_of(stored)
            accepted = stored.head["ham_loss"] if ham_loss is None else ham_loss
            known_before = LearnedMessages.load(stored)
        old_base = stored.head.get("base") if stored else None
        about_base = None if base == "" else old_base
        if beneath:
            about_base = new_base(path, beneath, labels, settings, view)
        if len(labels) > MOST_LABELS:
            raise UsageError(f"{len(labels)} labels; a model has at most {MOST_LABELS}")
        table_sum = pool.table_sum(stored, labels, file)  # which raises an error if the model is damaged
        summary, sample, known = Summary(), Sample(file), KnownMessages(known_before, labels)
        summary.new_labels = new_labels(stored, labels) if stored else []
        learned_as = known.learned_as if len(known_before) and not forget else None
        mail, day = MailToRead(sources, settings, learned_as), today()
        for batch in pool.batches(mail):
            steps, outcomes = known.steps(batch, forget, summary)
            if len(steps):
                table_sum.add(batch, steps, day)
                sample.add(batch, steps)
            summary.name_conflicts(batch, outcomes)
            summary.unreadable += failures(batch.unreadable)
            summary.passed_over += passed_over(batch.unreadable)
            progress(batch)
            del batch  # or it would stay in memory until the next is there
        refuse_swapped_labels(labels, known.moves, known.message_counts)
        is_changed = known.changed or about_base != old_base
        if stored is None or is_changed or accepted != stored.head["ham_loss"]:
            write_shards(
                path,
                labels,
                table_sum.shards(),
                known.learned(),
                settings,
                view,
                accepted,
                replaced,
                about_base,
                sample,
                pool.map_shards,
                pool.map,
                pool.in_background,
            )
    return summary


def new_base(
    path: str, base: StoredModel, labels: Sequence[str], settings: Settings, view: View
) -> dict[str, Any]:
    """Check that a model can stand on a base, and say what the head of the model has of it."""
    if not view.has_cutoffs:
        raise UsageError("a base needs a view with cutoffs; this one decides for the likeliest label")
    check_base(path, labels, settings, base)
    return {"path": base.path}


def existing(path: str) -> StoredModel | None:
    """Open a model; None if there is none."""
    try:
        return StoredModel.open(path)
    except NoModel:
        return None


def replaceable(path: str) -> StoredModel | None:
    """Open a model that is to be replaced; None if there is none, or none that can be read."""
    try:
        return existing(path)
    except SpamnbError:
        return None


def same_settings(stored: StoredModel, wanted: Mapping[str, Any], view: View | None) -> Settings:
    """Read the settings of a model; raise an error if others, or another view, were asked for."""
    settings = settings_of(stored)
    other = [name for name, value in wanted.items() if getattr(settings, name) != value]
    if view and view.as_map() != view_of(stored).as_map():
        other.append("view")
    if other:
        raise DataError(
            f"{stored.path}: trained with other settings ({', '.join(other)}); leave them out, or use --fresh"
        )
    return settings


def fold(path: str, always: bool = False) -> None:
    """Fold the journal into the model, if there is one. The caller holds the lock on training."""
    stored = StoredModel.open(path)
    if stored.journal.records or always:
        rewrite(stored, load_table(stored).clipped())


def create(path: str, *labels: str, ham_loss: float | None = None, base: str | None = None) -> None:
    """Write an empty model, for a filter that learns from its first message on; on a base, if it fits one."""
    with Lock(path, kind=TRAINING):
        if existing(path) is None:
            names = LABELS if set(labels) <= set(LABELS) else labels
            settings = Settings()
            accepted, about_base = HAM_LOSS if ham_loss is None else ham_loss, None
            beneath = existing(base) if base else None
            if beneath:
                try:
                    about_base = new_base(path, beneath, names, settings_of(beneath), DEFAULT_VIEW)
                    settings = settings_of(beneath)
                except DataError as error:
                    complain(str(error))
            write(path, CountTable.empty(names), settings, ham_loss=accepted, base=about_base)
