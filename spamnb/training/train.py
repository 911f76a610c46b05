"""Training: batches of mail summed into a model file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.arrays import portions
from spamnb.bayes.cutoffs import HAM_LOSS, IMPORTED, calibrated, cutoffs, ham_and_spam
from spamnb.bayes.verdict import HAM, SPAM, Calibration
from spamnb.clock import today
from spamnb.errors import DataError, NoModel, SpamnbError, UsageError
from spamnb.lock import TRAINING, Lock
from spamnb.mailboxes.skipped import failures, passed_over
from spamnb.model import DEFAULT_VIEW, key_of, settings_of, view_of
from spamnb.reading.settings import Settings
from spamnb.store.outcomes import CONFLICTING, DUPLICATE, outcome
from spamnb.store.stored_model import StoredModel
from spamnb.tables.count_table import CountTable
from spamnb.tables.keying import key_for
from spamnb.tables.layout import save
from spamnb.tables.learned import NOWHERE, Learned, in_turn, joined
from spamnb.tables.loading import load_table
from spamnb.tables.totals import Totals, summed
from spamnb.training.placing import put_in_place
from spamnb.training.pool import MailToRead
from spamnb.training.sample import Sample
from spamnb.training.swapped import check_moves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from spamnb.arrays import Array
    from spamnb.bayes.view import View
    from spamnb.mailboxes.skipped import PassedOver, Unreadable
    from spamnb.tables.layout import MapShards
    from spamnb.training.pool import Counted, Pool

LABELS = (HAM, SPAM)
MOST_LABELS = 100  # their places are kept in a byte
UNSEEN = NOWHERE - 1  # the place of a message that was not met


@dataclass
class Summary:
    """What became of the messages."""

    outcomes: dict[str, dict[str, int]] = field(default_factory=dict)  # per label: learned, known, moved …
    unreadable: list[Unreadable] = field(default_factory=list)
    passed_over: list[PassedOver] = field(default_factory=list)  # not read on purpose

    def count(self, label: str, what: str, many: int = 1) -> None:
        if many:
            counts = self.outcomes.setdefault(label, {})
            counts[what] = counts.get(what, 0) + many

    def total(self, *what: str) -> int:
        return sum(counts.get(name, 0) for counts in self.outcomes.values() for name in what)


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
    keyed: bool = False,
    rare: int = 0,
    all_folders: bool = False,
    yes: bool = False,
    progress: Callable[[Counted], object] = len,
) -> Summary:
    """Learn (or forget) all mail under each label. The model is replaced at the end, whole, or not at all.

    Tokens in no more messages than are `rare` are dropped. Without `all_folders`, those below a path whose
    names speak against its label are left out. Raises UsageError if nearly all that was learned under a label
    would move to another one, unless `yes`, that is meant.
    """
    with Lock(path, kind=TRAINING):
        before = replaceable(path) if fresh else existing(path)
        stored = None if fresh else before
        if stored is None:
            labels = list(LABELS if set(sources) <= set(LABELS) else sources)
            Settings(**wanted or {}).words()  # a language that there is not is told before a key is made
            key = key_for(path, keyed)
            settings, view = Settings(**wanted or {}, keyed=key.id if key else ""), view or DEFAULT_VIEW
            accepted = HAM_LOSS if ham_loss is None else ham_loss
            known_before = Learned.of([], [])
        else:
            labels = list(dict.fromkeys([*stored.labels, *(() if forget else sources)]))
            settings, view = same_settings(stored, wanted or {}, keyed, view), view_of(stored)
            key = key_of(stored)
            accepted = stored.head["ham_loss"] if ham_loss is None else ham_loss
            known_before = Learned.load(stored)
        if len(labels) > MOST_LABELS:
            raise UsageError(f"{len(labels)} labels; a model has at most {MOST_LABELS}")
        table_sum = pool.table_sum(stored, labels)  # or it says that the model is damaged
        summary, sample, seen = Summary(), Sample(), Seen(known_before, labels)
        day = today()
        known = None if forget else seen.is_known
        for batch in pool.batches(MailToRead(sources, settings, key, known, all_folders)):
            steps = seen.steps(batch, forget, summary)
            if len(steps):
                table_sum.add(batch.table(labels, steps, day))
                sample.add(batch, steps)
            summary.unreadable += failures(batch.unreadable)
            summary.passed_over += passed_over(batch.unreadable)
            progress(batch)
            del batch  # or it would stay until the next is there
        if not yes:
            check_moves(labels, seen.met, seen.known_of_each)
        if stored is None or seen.changed or rare or accepted != stored.head["ham_loss"]:
            if settings.closed:
                sample = Sample()
            write_shards(
                path,
                labels,
                table_sum.shards(Finish(rare, settings.closed)),
                seen.learned(),
                settings,
                view,
                accepted,
                before,
                sample,
                pool.map_shards,
            )
    return summary


@dataclass(frozen=True)
class Finish:
    """What is left of a sum: nothing below zero, nothing that is rare; in a closed model, nothing new."""

    rare: int = 0  # messages
    closed: bool = False

    def __call__(self, table: CountTable, before: CountTable) -> CountTable:
        table = table.settled()
        if self.closed:
            table = table.only(before.places(table.fingerprints) >= 0)
        return table.only(table.message_counts.sum(axis=0) > self.rare) if self.rare else table


def existing(path: str) -> StoredModel | None:
    try:
        return StoredModel.open(path)
    except NoModel:
        return None


def replaceable(path: str) -> StoredModel | None:
    """A model that is to be replaced; that it cannot be read is no hindrance."""
    try:
        return existing(path)
    except SpamnbError:
        return None


def same_settings(
    stored: StoredModel, wanted: Mapping[str, Any], keyed: bool = False, view: View | None = None
) -> Settings:
    """The settings of a model; an error if others were asked for."""
    settings = settings_of(stored)
    other = [name for name, value in wanted.items() if getattr(settings, name) != value]
    other += ["keyed"] if keyed and not stored.keyed else []
    other += ["view"] if view and view.as_map() != view_of(stored).as_map() else []
    if other:
        raise DataError(
            f"{stored.path}: trained with other settings ({', '.join(other)}); leave them out, or use --fresh"
        )
    return settings


class Seen:
    """Which messages the model knows, under which label, before and during this run."""

    def __init__(self, before: Learned, labels: Sequence[str]) -> None:
        self.labels = labels
        self.before = before
        self.runs: list[Learned] = []  # of this run, each longer than those behind it together
        self.changed = False
        self.known_of_each = np.bincount(before.labels, minlength=len(labels))
        self.met = np.zeros((len(labels), len(labels)), np.int64)  # known messages: [label before, label now]

    def is_known(self, digest: int, label: str | None) -> bool:
        """Whether learning it again would change nothing: then it need not be tokenized."""
        return self.before.place(digest) == self.labels.index(label)

    def steps(self, batch: Counted, forget: bool, summary: Summary) -> Array:
        """What messages of a batch add and take away: (message, place of the label, 1 or -1) each."""
        label = batch.label or ""
        target = NOWHERE if forget else self.labels.index(label)
        digests, first, which = np.unique(batch.digests, return_index=True, return_inverse=True)
        in_run = self._in_run(digests)
        new = in_run == UNSEEN
        copies = np.bincount(which, minlength=len(digests)) - new
        summary.count(label, DUPLICATE, int(copies[new | (in_run == target)].sum()))
        summary.count(label, CONFLICTING, int(copies[~new & (in_run != target)].sum()))
        digests, messages = digests[new], first[new]
        before = self.before.places(digests)
        if target != NOWHERE:
            self.met[:, target] += np.bincount(before[before != NOWHERE], minlength=len(self.labels))
        for place, many in zip(*np.unique(before, return_counts=True), strict=True):
            summary.count(label, outcome(self._name(place), self._name(target)), int(many))
        self._note(
            Learned(
                digests, np.full(len(digests), target, np.int8), np.full(len(digests), np.nan, np.float32)
            )
        )
        moved = np.flatnonzero(before != target)
        self.changed |= bool(len(moved))
        steps = [
            np.stack((messages[moved], places, np.full(len(moved), sign)), axis=1)[places != NOWHERE]
            for places, sign in ((before[moved], -1), (np.full(len(moved), target), 1))
        ]
        return np.concatenate(steps).astype(np.int64)

    def _in_run(self, digests: Array) -> Array:
        """The place that each has in this run."""
        found = np.full(len(digests), UNSEEN, np.int8)
        for run in self.runs:
            found = np.maximum(found, run.places(digests, UNSEEN))
        return found

    def _note(self, run: Learned) -> None:
        while self.runs and len(self.runs[-1]) <= len(run):
            run = joined([self.runs.pop(), run])
        self.runs.append(run)

    def _name(self, place: int) -> str | None:
        return None if place == NOWHERE else self.labels[place]

    def learned(self) -> Learned:
        """All that the model knows from now on; of what did not change, the score stays."""
        run = joined([Learned.of([], []), *self.runs])
        return in_turn([self.before, run.chosen(run.labels != self.before.places(run.digests))])


def write_shards(
    path: str,
    labels: Sequence[str],
    shards: Sequence[Any],
    learned: Learned,
    settings: Settings,
    view: View = DEFAULT_VIEW,
    ham_loss: float = HAM_LOSS,
    before: StoredModel | None = None,
    sample: Sample | None = None,
    map_shards: MapShards = map,
) -> None:
    """Put a model in its place, with the cutoffs and the calibration that its scores ask for.

    What was learned since `before` was opened is carried over. The caller holds the lock on training.
    """
    totals = list(map_shards(Totals.of, shards))
    if sample:

        def counts(fingerprints: Array) -> tuple[Array, Array]:
            found = list(map_shards(CountTable.counts, shards, portions(fingerprints, len(shards))))
            return tuple(np.concatenate(counts, axis=1) for counts in zip(*found, strict=True))  # type: ignore[return-value]

        learned = sample.scored(learned, labels, view, summed(totals), counts)
    ham, spam = ham_and_spam(labels, learned.labels, learned.scores)
    limits, calibration = IMPORTED, Calibration()
    if not settings.closed:
        limits, calibration = cutoffs(ham, spam, ham_loss), calibrated(ham, spam)
    about = {
        "labels": list(labels),
        "settings": settings.as_map(),
        "view": view.as_map(),
        "ham_loss": ham_loss,
        "cutoffs": [limits.ham, limits.spam],
        "calibration": [calibration.slope, calibration.intercept],
    }
    put_in_place(path, save(path, shards, learned, about, totals, map_shards), before)


def write(
    path: str,
    table: CountTable,
    settings: Settings,
    view: View = DEFAULT_VIEW,
    ham_loss: float = HAM_LOSS,
    before: StoredModel | None = None,
) -> None:
    """The same of a table that is here, whole."""
    write_shards(path, table.labels, [table], table.learned, settings, view, ham_loss, before)


def fold(path: str) -> None:
    """Fold the journal into the model. The caller holds the lock on training."""
    stored = StoredModel.open(path)
    if stored.journal.records:
        table, view, settings = load_table(stored).settled(), view_of(stored), settings_of(stored)
        write(path, table, settings, view, stored.head["ham_loss"], stored)


def create(path: str, *labels: str) -> None:
    """An empty model, for a filter that learns from its first message on."""
    with Lock(path, kind=TRAINING):
        if existing(path) is None:
            names = LABELS if set(labels) <= set(LABELS) else labels
            key = key_for(path)
            write(path, CountTable.empty(names), Settings(keyed=key.id if key else ""))
