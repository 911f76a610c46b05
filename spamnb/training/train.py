"""Training: mail is read and added to the counts of a model, and new cutoffs are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spamnb.bayes.cutoffs import has_spam
from spamnb.bayes.verdict import HAM_LOSS
from spamnb.clock import today
from spamnb.errors import DataError
from spamnb.files import complain
from spamnb.labels import LABELS
from spamnb.lock import TRAINING, Lock
from spamnb.model import DEFAULT_VIEW, settings_of
from spamnb.reading.settings import Settings
from spamnb.store.merging import Source
from spamnb.store.stored_model import StoredModel
from spamnb.threads import in_threads
from spamnb.training.batches import Batch, MailToRead, Pool
from spamnb.training.counting import Counting
from spamnb.training.known_messages import KnownMessages, Summary, refuse_swapped_labels
from spamnb.training.plan import About, Plan, new_base, open_if_there, plan
from spamnb.training.sample import Sample, SampleScorer
from spamnb.training.writing import (
    add_up,
    find_limits,
    indices_of,
    kept_labels,
    put_empty,
    put_in_place,
    rewrite,
    sum_of,
)

if TYPE_CHECKING:
    from spamnb.bayes.view import View
    from spamnb.core.native import LearnedMessages
    from spamnb.store.merging import Merged

MEMORY = 300 * 10**6  # bytes that training takes, about; models of many labels and huge messages take more


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
    memory: int = MEMORY,
    progress: Callable[[Batch], object] = lambda _: None,
) -> Summary:
    """Learn (or forget) all mail of each label; at the end the model is replaced, completely or not at all.

    `wanted` (tokenizer settings) and `view` are for a new model; an existing model must have the same, unless
    `fresh` replaces it by a new model. `base` is the path of a base, "" for none; None keeps the current
    base. `progress` is called with each batch. Raises UsageError if nearly all that was learned under a label
    would move to another label.
    """
    with Lock(path, kind=TRAINING):
        aim = plan(path, list(sources), wanted or {}, view, ham_loss, base, fresh, forget)
        known, sample, day = KnownMessages(aim.learned, aim.labels), Sample(), today()
        counting = Counting(path, aim.labels, memory)
        summary = Summary(new_labels=aim.new_labels)
        mail = MailToRead(sources, aim.about.settings, None if forget else aim.learned_hashes)
        for batch in pool.batches(mail):
            batch.rows.keeps_places = aim.stored is None
            steps = known.steps(batch, forget, summary)
            counting.add(batch.rows, steps, day)
            sample.add(batch.rows, steps)
            progress(batch)
            del batch  # or it would stay in memory until the next is there
        refuse_swapped_labels(aim.labels, known.moves, known.message_counts)
        if known.changed or aim.changes_model:
            write(path, aim, counting, sample, known.learned, pool.jobs)
    return summary


def write(
    path: str, aim: Plan, counting: Counting, sample: Sample, learned: LearnedMessages, jobs: int
) -> None:
    """Add up all counts, score the sample with them, and put the new model in place."""
    sources = [*([Source(aim.stored)] if aim.stored else ()), *counting.sources()]
    labels, about = kept_labels(aim.labels, sources), aim.about
    indices = indices_of(aim.labels, labels)
    learned.relabel(indices)
    sample.relabel(indices)
    is_scored = has_spam(labels) and about.view.has_cutoffs and bool(sample.pieces())
    is_whole = aim.stored is None and counting.is_in_memory and labels == aim.labels
    table = counting.learned if is_whole or not is_scored else sample.vocabulary(labels)

    def added() -> Merged:
        return add_up(path, aim.labels, labels, sources, fill=None if table is counting.learned else table)

    def limits() -> dict[str, Any]:
        scorer = SampleScorer(sample, about.view, table, jobs) if is_scored else None
        return find_limits(labels, learned, about, scorer)

    if is_whole:  # the table has all counts: they are written down while the sample is scored by them
        total, found = in_threads(lambda task: task(), [(added,), (limits,)], jobs)
    else:
        total, found = added(), limits()
    put_in_place(path, total, learned, about, aim.replaced, found)


def fold(path: str, always: bool = False) -> None:
    """Merge a journal into its model file if it has records, or if `always`. The caller holds the lock."""
    stored = StoredModel.open(path)
    if stored.journal.records or always:
        rewrite(stored, sum_of(stored))


def create(path: str, *labels: str, ham_loss: float = HAM_LOSS, base: str | None = None) -> None:
    """Write an empty model if there is no model yet, so that a filter can learn from the first message on."""
    with Lock(path, kind=TRAINING):
        if open_if_there(path) is None:
            names = LABELS if set(labels) <= set(LABELS) else labels
            about = About(Settings(), ham_loss=ham_loss)
            beneath = open_if_there(base) if base else None
            if beneath:
                try:
                    settings = settings_of(beneath)
                    stands_on = new_base(path, beneath, names, settings, DEFAULT_VIEW)
                    about = About(settings, ham_loss=ham_loss, base=stands_on)
                except DataError as error:
                    complain(str(error))
            put_empty(path, names, about)
