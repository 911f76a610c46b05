"""Training: batches of mail summed into a model file."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes.cutoffs import HAM_LOSS, has_spam
from spamnb.bayes.view import View
from spamnb.clock import today
from spamnb.errors import DataError, NoModel, SpamnbError, UsageError
from spamnb.files import complain
from spamnb.labels import LABELS, MOST_LABELS
from spamnb.lock import TRAINING, Lock
from spamnb.mailboxes.skipped import failures, passed_over
from spamnb.model import DEFAULT_VIEW, check_base, settings_of, view_of
from spamnb.reading.settings import Settings
from spamnb.rights import read_as_others
from spamnb.store.changes import KNOWN, LEARNED, MOVED
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable
from spamnb.tables.learned import NOTHING_LEARNED, LearnedMessages
from spamnb.tables.loading import load_table
from spamnb.tables.spilling import SpillFile
from spamnb.training.batches import Counted, MailToRead, Pool
from spamnb.training.known_messages import KnownMessages, Summary, refuse_swapped_labels
from spamnb.training.labels import mail_option, refuse_new_labels
from spamnb.training.sample import SAMPLE_SIZE, Sample
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
    rare: int = 0,
    all_folders: bool = False,
    yes: bool = False,
    new_labels: Collection[str] = (),
    dry_run: bool = False,
    base: str | None = None,
    progress: Callable[[Counted], object] = lambda _: None,
    tell: Callable[[Counted, list[str]], object] = lambda *_: None,
) -> Summary:
    """Learn (or forget) all mail under each label. The model is replaced at the end, whole, or not at all.

    `wanted` (the tokenizer's settings) is for a new model, or a `fresh` one in place of the old.
    So is `view`, unless it has no cutoffs, or there is mail enough of each label whose scores set them: half
    of what was learned, or as much as a sample has.
    Tokens in no more messages than `rare` are dropped. Without `all_folders`, folders below a path are left
    out if their names speak against its label. Raises UsageError if nearly all that was learned under a label
    would move to another one, or if a label is new to a model with mail and not among `new_labels`, unless
    `yes` says that it is meant. A `dry_run` changes nothing.
    `base` is a model that this one is to stand on, "" none, None the one that it has.
    `progress` is called with each batch, `tell` with the outcomes of its messages, too.
    """
    beneath = StoredModel.open(base) if base else None
    lock = nullcontext() if dry_run else Lock(path, kind=TRAINING)
    with lock, SpillFile(os.path.dirname(path) or ".") as file:
        replaced = replaceable(path) if fresh else existing(path)
        stored = None if fresh else replaced  # the model to be added to
        if stored is None:
            labels = list(LABELS if set(sources) <= set(LABELS) else sources)
            settings, view = Settings(**wanted or {}), view or DEFAULT_VIEW
            settings.words()  # an unknown language is an error
            accepted = HAM_LOSS if ham_loss is None else ham_loss
            known_before, is_new_view = NOTHING_LEARNED, False
        else:
            given = () if forget else sources
            refuse_new_labels(stored, given, new_labels, yes)
            labels = list(dict.fromkeys([*stored.labels, *given]))
            settings, old_view = same_settings(stored, wanted or {}), view_of(stored)
            is_new_view = view is not None and view.as_map() != old_view.as_map()
            view = view or old_view
            accepted = stored.head["ham_loss"] if ham_loss is None else ham_loss
            known_before = LearnedMessages.load(stored)
            if is_new_view:
                if settings.closed and view.has_cutoffs:
                    raise DataError(
                        f"{path}: imported, so it keeps no scores to set the cutoffs of a view by"
                    )
                known_before = LearnedMessages.of(known_before.digests, known_before.labels)
        old_base = stored.head.get("base") if stored else None
        about_base = None if base == "" else old_base
        if beneath:
            about_base = new_base(path, beneath, labels, settings, view)
        if len(labels) > MOST_LABELS:
            raise UsageError(f"{len(labels)} labels; a model has at most {MOST_LABELS}")
        table_sum = pool.table_sum(stored, labels, file)  # which raises an error if the model is damaged
        summary, sample, known = Summary(), Sample(file), KnownMessages(known_before, labels)
        day, met = today(), np.zeros(len(labels), np.int64)
        is_known = known.is_known if len(known_before) and not (forget or is_new_view) else None
        mail = MailToRead(sources, settings, is_known, all_folders)
        for batch in read_as_others(pool.batches(mail)):
            steps, outcomes = known.steps(batch, forget, summary)
            if len(steps) and not dry_run:
                table_sum.add(batch.table(labels, steps, day))
            if is_new_view:
                steps = steps_of_all(outcomes, labels.index(batch.label or ""))
            if len(steps) and not dry_run:
                sample.add(batch, steps)
                met += np.bincount(steps[steps[:, 2] > 0, 1], minlength=len(labels))
            summary.name_conflicts(batch, outcomes)
            summary.unreadable += failures(batch.unreadable)
            summary.passed_over += passed_over(batch.unreadable)
            progress(batch)
            tell(batch, outcomes)
            del batch  # or it would stay in memory until the next is there
        if not yes:
            refuse_swapped_labels(labels, known.moves, known.message_counts)
        if dry_run:
            return summary
        needs_mail = is_new_view and view.has_cutoffs and has_spam(labels)
        if needs_mail and (met < np.minimum(known.message_counts / 2, SAMPLE_SIZE)).any():
            paths = " ".join(map(mail_option, labels))
            raise DataError(
                f"{path}: this view needs cutoffs of its own, set by half of the mail that was learned "
                f"(of much mail, {SAMPLE_SIZE:,} of each label); add to this command: {paths}"
            )
        is_changed = known.changed or rare or is_new_view or about_base != old_base
        if stored is None or is_changed or accepted != stored.head["ham_loss"]:
            write_shards(
                path,
                labels,
                table_sum.shards(Cleanup(rare, settings.closed)),
                known.learned(),
                settings,
                view,
                accepted,
                replaced,
                about_base,
                # Imported counts: their messages, which scores would need, are not there.
                None if settings.closed else sample,
                pool.map_shards,
                pool.in_background,
            )
    return summary


def steps_of_all(outcomes: Sequence[str], label_index: int) -> Array:
    """Make steps of all messages that a model knows after a batch: a new view is to score them all."""
    messages = [at for at, result in enumerate(outcomes) if result in (LEARNED, MOVED, KNOWN)]
    return np.array([(at, label_index, 1) for at in messages], np.int64).reshape(-1, 3)


def new_base(
    path: str, base: StoredModel, labels: Sequence[str], settings: Settings, view: View
) -> dict[str, Any]:
    """Check that a model can stand on a base, and say what the head of the model has of it."""
    if not view.has_cutoffs:
        raise UsageError("a base needs a view with cutoffs; this one decides for the likeliest label")
    check_base(path, labels, settings, base)
    return {"path": base.path}


@dataclass(frozen=True)
class Cleanup:
    """Cleans a sum up: no counts below zero, no rare tokens; in a closed model, no new ones."""

    rare: int = 0  # tokens in no more messages are dropped
    closed: bool = False

    def __call__(self, table: CountTable, before: CountTable) -> CountTable:
        table = table.clipped()
        if self.closed:
            table = table.only(before.places(table.fingerprints) >= 0)
        return table.only(table.message_counts.sum(axis=0) > self.rare) if self.rare else table


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


def same_settings(stored: StoredModel, wanted: Mapping[str, Any]) -> Settings:
    """Read the settings of a model; raise an error if others were asked for."""
    settings = settings_of(stored)
    other = [name for name, value in wanted.items() if getattr(settings, name) != value]
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
                chosen = {**settings_of(beneath).as_map(), "closed": False}
                try:
                    about_base = new_base(path, beneath, names, Settings.from_map(chosen), DEFAULT_VIEW)
                    settings = Settings.from_map(chosen)
                except DataError as error:
                    complain(str(error))
            write(path, CountTable.empty(names), settings, ham_loss=accepted, base=about_base)
