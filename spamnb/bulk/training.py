"""Training: batches of mail summed into a model file."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from spamnb.bulk.batches import Batch, read_batches
from spamnb.bulk.calibration import HAM_LOSS, IMPORTED, Sample, calibrated, cutoffs, ham_and_spam
from spamnb.bulk.columns import Columns, added
from spamnb.bulk.learned import NOWHERE, Learned, in_turn
from spamnb.bulk.model_file import save
from spamnb.bulk.placing import put_in_place
from spamnb.bulk.workers import all_cores
from spamnb.counts.outcomes import AGAIN, TORN, outcome
from spamnb.counts.store import Stored
from spamnb.errors import DataError, NoModel, SpamnbError, UsageError
from spamnb.lock import TRAINING, Lock
from spamnb.model import DEFAULT_VIEW, settings_of, view_of
from spamnb.tokens.settings import Settings
from spamnb.verdict import HAM, SPAM, Calibration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from spamnb.mail.sources import Unreadable
    from spamnb.view import View

LABELS = (HAM, SPAM)
FAN = 8
MOST_LABELS = 100  # their places are kept in a byte


@dataclass
class Summary:
    """What became of the messages."""

    outcomes: dict[str, dict[str, int]] = field(default_factory=dict)  # per label: learned, known, moved …
    unreadable: list[Unreadable] = field(default_factory=list)

    def count(self, label: str, what: str) -> None:
        counts = self.outcomes.setdefault(label, {})
        counts[what] = counts.get(what, 0) + 1

    def total(self, *what: str) -> int:
        return sum(counts.get(name, 0) for counts in self.outcomes.values() for name in what)


class Pile:
    """Tables summed as they come, FAN of them at a time: so each token is moved only log(n) times."""

    def __init__(self, base: Columns) -> None:
        self.tables = [base]
        self.levels = [-1]  # how often each was summed; the base waits until the end

    def add(self, table: Columns) -> None:
        self.tables.append(table)
        self.levels.append(0)
        while self.levels.count(self.levels[-1]) == FAN:
            self.tables[-FAN:] = [added(self.tables[-FAN:])]
            self.levels[-FAN:] = [self.levels[-1] + 1]

    def total(self) -> Columns:
        tables, self.tables = self.tables, []
        return added(tables)


def train(
    path: str,
    sources: Mapping[str, Sequence[str]],
    wanted: Mapping[str, Any] | None = None,
    *,
    view: View | None = None,
    ham_loss: float | None = None,
    fresh: bool = False,
    forget: bool = False,
    jobs: int | None = None,
    progress: Callable[[Batch], object] = len,
) -> Summary:
    """Learn (or forget) all mail under each label. The model is replaced at the end, whole, or not at all."""
    with Lock(path, kind=TRAINING):
        before = replaceable(path) if fresh else existing(path)
        stored = None if fresh else before
        if stored is None:
            base = Columns.empty(LABELS if set(sources) <= set(LABELS) else list(sources))
            settings, view = Settings(**wanted or {}), view or DEFAULT_VIEW
            accepted = HAM_LOSS if ham_loss is None else ham_loss
        else:
            base = Columns.load(stored)
            settings, view = same_settings(stored, wanted or {}), view_of(stored)
            accepted = stored.head["ham_loss"] if ham_loss is None else ham_loss
        summary, labels = Summary(), list(dict.fromkeys([*base.labels, *(() if forget else sources)]))
        if len(labels) > MOST_LABELS:
            raise UsageError(f"{len(labels)} labels; a model has at most {MOST_LABELS}")
        base = base.relabelled(labels)
        seen = Seen(base)
        pile, sample, day = Pile(base), Sample(), int(time.time() // 86400)
        vocabulary = base if settings.closed else None
        del base
        for batch in read_batches(sources, settings, jobs or all_cores(), None if forget else seen.is_known):
            steps = seen.steps(batch, forget, summary)
            if steps:
                pile.add(batch.table(labels, steps, day))
                sample.add(batch, steps)
            summary.unreadable += batch.unreadable
            progress(batch)
            del batch  # or it would stay until the next is there
        if stored is None or seen.changed or accepted != stored.head["ham_loss"]:
            table = seen.recorded(pile.total().settled())
            if vocabulary is None:
                table = sample.scored(table, view)
            else:
                table = table.only(vocabulary.places(table.hashes) >= 0)
            write(path, table, settings, view, accepted, before)
    return summary


def existing(path: str) -> Stored | None:
    try:
        return Stored.open(path)
    except NoModel:
        return None


def replaceable(path: str) -> Stored | None:
    """A model that is to be replaced; that it cannot be read is no hindrance."""
    try:
        return existing(path)
    except SpamnbError:
        return None


def same_settings(stored: Stored, wanted: Mapping[str, Any]) -> Settings:
    """The settings of a model; an error if others were asked for."""
    settings = settings_of(stored)
    other = [name for name, value in wanted.items() if getattr(settings, name) != value]
    if other:
        raise DataError(
            f"{stored.path}: trained with other settings ({', '.join(other)}); leave them out, or use --fresh"
        )
    return settings


class Seen:
    """Which messages the model knows, under which label, before and during this run."""

    def __init__(self, base: Columns) -> None:
        self.labels = base.labels
        self.before = base.learned
        self.run: dict[int, int] = {}  # digest: place of its label
        self.changed = False

    def is_known(self, digest: int, label: str) -> bool:
        """Whether learning it again would change nothing: then it need not be tokenized."""
        return self.before.place(digest) == self.labels.index(label)

    def steps(self, batch: Batch, forget: bool, summary: Summary) -> list[tuple[int, int, int]]:
        """What each message of a batch adds and takes away."""
        label = batch.label or ""
        target = NOWHERE if forget else self.labels.index(label)
        steps = []
        for message, digest in enumerate(batch.digests.tolist()):
            if digest in self.run:
                summary.count(label, AGAIN if self.run[digest] == target else TORN)
                continue
            self.run[digest] = target
            before = self.before.place(digest)
            summary.count(label, outcome(self._name(before), self._name(target)))
            if before != target:
                steps += [(message, place, sign) for place, sign in ((before, -1), (target, 1)) if place >= 0]
        self.changed |= bool(steps)
        return steps

    def _name(self, place: int) -> str | None:
        return None if place == NOWHERE else self.labels[place]

    def recorded(self, table: Columns) -> Columns:
        """A table with the digests of this run in it."""
        changes = {digest: place for digest, place in self.run.items() if place != self.before.place(digest)}
        now = Learned.of(list(changes), list(changes.values()))
        return replace(table, learned=in_turn([table.learned, now]))


def write(
    path: str,
    table: Columns,
    settings: Settings,
    view: View = DEFAULT_VIEW,
    ham_loss: float = HAM_LOSS,
    before: Stored | None = None,
) -> None:
    """Put a model in its place, with the cutoffs and the calibration that its scores ask for.

    What was learned since `before` was opened is carried over. The caller holds the lock on training.
    """
    ham, spam = ham_and_spam(table.labels, table.learned.labels, table.learned.scores)
    limits, calibration = IMPORTED, Calibration()
    if not settings.closed:
        limits, calibration = cutoffs(ham, spam, ham_loss), calibrated(ham, spam)
    about = {
        "settings": settings.as_map(),
        "view": view.as_map(),
        "ham_loss": ham_loss,
        "cutoffs": [limits.ham, limits.spam],
        "calibration": [calibration.slope, calibration.intercept],
    }
    put_in_place(path, save(path, table, about), before)


def fold(path: str) -> None:
    """Fold the journal into the model. The caller holds the lock on training."""
    stored = Stored.open(path)
    if stored.journal.entries:
        table, view, settings = Columns.load(stored).settled(), view_of(stored), settings_of(stored)
        write(path, table, settings, view, stored.head["ham_loss"], stored)


def create(path: str, *labels: str) -> None:
    """An empty model, for a filter that learns from its first message on."""
    with Lock(path, kind=TRAINING):
        if existing(path) is None:
            names = LABELS if set(labels) <= set(LABELS) else labels
            write(path, Columns.empty(names), Settings())
