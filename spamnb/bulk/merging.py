"""Models of many hosts made one: count tables add, and what they have in common is counted once.

Hosts that began with the same model, the base, have it in common; of each only what it changed since is new.
A message that several changed is as the first of them has it. The others' part in it is undone, each in its
own counts, by the lesson in a journal or a ledger. Tables are read and summed a part at a time.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spamnb.bulk.columns import Columns, added, of_lesson
from spamnb.bulk.keying import key_for
from spamnb.bulk.learned import NOWHERE, Learned, joined
from spamnb.bulk.ledger import Ledger, Lesson, mark_of
from spamnb.bulk.spool import Spool
from spamnb.bulk.training import MOST_LABELS, existing, replaceable, write_parts
from spamnb.bulk.vocabulary import column_blocks
from spamnb.counts.store import Stored
from spamnb.errors import CannotCreate, DataError, NoInput, NoModel, UsageError
from spamnb.lock import TRAINING, Lock
from spamnb.model import settings_of, view_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from spamnb.arrays import Array
    from spamnb.tokens.settings import Settings

PART = 32 << 20  # bytes of model files that are summed at once: some ten times that in memory
IN_MEMORY = 64  # bytes of a token there
NAMED = 3  # messages whose words are not known that are named
UNKNOWN = Lesson(np.empty(0, np.uint64), np.empty(0, np.uint16), np.empty(0, np.uint64), {})


@dataclass
class Changes:
    """What a model did to messages since the base."""

    learned: int = 0
    moved: int = 0
    forgotten: int = 0


@dataclass
class Merged:
    """What became of the messages."""

    messages: int = 0
    models: list[Changes] = field(default_factory=list)
    again: int = 0  # changed by several alike, counted once
    torn: int = 0  # changed by several, not alike: as the first has it
    twice: int = 0  # of both, those that count more than once, since their words are not known


def merge(
    out: str,
    paths: Sequence[str],
    base: str | None = None,
    *,
    fresh: bool = False,
    twice: bool = False,
    forgotten: bool = False,
    progress: Callable[[int], object] = int,
) -> Merged:
    """Write the sum of models to a file. Progress is told three times the bytes of all.

    `twice`: what several changed counts more than once, where its words are not known.
    `forgotten`: what a model lacks of the base, it has forgotten.
    """
    with Lock(out, kind=TRAINING), ExitStack() as stack:
        before = replaceable(out) if fresh else existing(out)
        of = {place_of(out): before} if before else {}
        models = [opened(path, of) for path in paths]
        common = opened(base, of) if base else None
        everything = [*([common] if common else []), *models]
        among = any(model is before for model in everything)
        if before and not fresh and not among:
            raise CannotCreate(f"{out}: there is a model; --fresh replaces it, or name it to merge with it")
        check_alike(everything)
        settings = settings_of(models[0])
        check_words(out, settings, models[0])
        labels = list(dict.fromkeys(label for model in everything for label in model.labels))
        if len(labels) > MOST_LABELS:
            raise DataError(f"{len(labels)} labels in all; a model has at most {MOST_LABELS}")
        for model in everything:
            check_sound(model)
            progress(model.file.size)
        size = sum(model.file.size for model in everything)
        parts = 1 << (size // PART).bit_length()
        sources = [
            Source(
                model,
                labels,
                stack.enter_context(Ledger.beside(model.path, mark_of(model), read_only=True)),
                stack.enter_context(Spool(out, labels, parts, PART // IN_MEMORY // len(everything))),
            )
            for model in everything
        ]
        began_with = sources.pop(0) if common else None
        merging = Merging(labels, began_with, sources, parts)
        learned, done = merging.messages(twice, forgotten)

        def spread(task: Callable[..., Any], numbers: Iterable[int], *more: Iterable[Any]) -> Iterator[Any]:
            for number, *rest in zip(numbers, *more, strict=True):
                yield task(merging.part(number), *rest)
                progress(size // parts)

        own = before if before and among else models[0]
        view, loss = view_of(own), own.head["ham_loss"]
        write_parts(out, labels, range(parts), learned, settings, view, loss, before, spread=spread)
    return done


def place_of(path: str) -> str:
    """What a model goes by: a link to it has a journal of its own."""
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def opened(path: str, of: dict[str, Stored]) -> Stored:
    """A model, once: what is learned since then must be known for all it stands for."""
    place = place_of(path)
    if place not in of:
        try:
            of[place] = Stored.open(path)
        except NoModel as error:
            raise NoInput(f"{path}: no such model") from error
    return of[place]


def check_alike(models: Sequence[Stored]) -> None:
    """Counts of different things do not add."""
    first = models[0]
    settings, view = settings_of(first).as_map(), view_of(first).as_map()
    known: set[str] = set()
    for model in models:
        place = os.path.realpath(model.path)
        if place in known:
            raise UsageError(f"{model.path}: named twice; a model counts once, and the base is none of them")
        known.add(place)
        other = [name for name, value in settings_of(model).as_map().items() if value != settings[name]]
        other += ["view"] if view_of(model).as_map() != view else []
        if other:
            names = ", ".join(other)
            raise DataError(
                f"{model.path}: made with other settings than {first.path} ({names}); counts of different "
                "things do not add: train one of them anew"
            )


def check_words(out: str, settings: Settings, first: Stored) -> None:
    """Who wanted no words kept in a place does not get them there from elsewhere."""
    if not settings.keyed and key_for(out):
        raise DataError(f"{out}: has a key and so keeps no words, but {first.path} keeps them; name another")


def check_sound(model: Stored) -> None:
    for name, *_ in model.head["columns"]:
        for _ in column_blocks(model, name):
            pass


class Source:
    """A model, and what it knows of single messages."""

    def __init__(self, model: Stored, labels: Sequence[str], ledger: Ledger | None, undone: Spool) -> None:
        self.model = model
        self.labels = labels
        self.ledger = ledger
        self.undone = undone  # what it counted for messages that others have, too
        self.entries = {entry.digest: entry for entry in model.journal.entries}

    def lesson(self, digest: int) -> Lesson | None:
        entry = self.entries.get(digest)
        if entry is not None:
            return Lesson.of_entry(entry)
        return self.ledger.get(digest) if self.ledger else None

    def never_knew(self, digest: int) -> bool:
        """If it kept a ledger, it would remember."""
        return self.ledger is not None and digest not in self.entries and digest not in self.ledger

    def learned(self, part: int, parts: int) -> Learned:
        own = [self.labels.index(label) for label in self.model.labels]
        return Learned.load_part(self.model, part, parts).relabelled(own)

    def table(self, part: int, parts: int) -> Columns:
        return Columns.load_part(self.model, part, parts).relabelled(self.labels)

    def without_copies(self, part: int, parts: int, base: Columns) -> Columns:
        """Its own table; where it was pruned, there is nothing to undo."""
        table, undone = self.table(part, parts), self.undone.part(part)
        known = (table.places(undone.hashes) >= 0) | (base.places(undone.hashes) >= 0)
        return added([table, undone.only(known)]).settled()

    def without_digests(self, learned: Array) -> Array:
        """Of each label, the messages that were counted by another filter, or more than once."""
        messages = dict(zip(self.model.labels, self.model.messages, strict=True))
        return np.array([messages.get(label, 0) for label in self.labels]) - learned


class Copy(NamedTuple):
    """A message that another has changed, too: what to undo of it."""

    digest: int
    owner: Source
    before: int  # place of its label, or NOWHERE
    after: int

    def steps(self) -> list[tuple[int, int]]:
        """(place of a label, 1 or -1) each."""
        return [(place, sign) for place, sign in ((self.after, -1), (self.before, 1)) if place != NOWHERE]


class Merging:
    def __init__(
        self, labels: Sequence[str], base: Source | None, sources: Sequence[Source], parts: int
    ) -> None:
        self.labels = labels
        self.base = base
        self.sources = sources
        self.parts = parts
        self.done = Merged(models=[Changes() for _ in sources])
        self.lacking = [0] * len(sources)  # messages of the base that each never knew
        self.counted = np.zeros((len(sources) + 1, len(labels)), np.int64)  # by label, in the base and each

    def part(self, number: int) -> Columns:
        """One part of the sum. The base comes first: of what others have forgotten, it has the words."""
        base = Columns.empty(self.labels)
        if self.base and len(self.sources) > 1:
            base = self.base.table(number, self.parts)
        tables = [source.without_copies(number, self.parts, base) for source in self.sources]
        return added([base.times(1 - len(tables)), *tables]).settled()

    def messages(self, twice: bool = False, forgotten: bool = False) -> tuple[Learned, Merged]:
        """All that are learned, and as what. What is to be undone is noted."""
        lost: set[int] = set()
        kept = []
        for number in range(self.parts):
            learned, copies = self._settled(number)
            kept.append(learned)
            for copy in copies:
                lesson, steps = self._lesson(copy), copy.steps()
                if lesson is None:
                    lost.add(copy.digest)
                    # It is in twice. Were it out twice, tokens could be in more messages than there are.
                    lesson, steps = UNKNOWN, [step for step in steps if step[1] > 0]
                copy.owner.undone.add(of_lesson(lesson, self.labels, steps))
        for source in self.sources:
            source.undone.end()
        self._check_base(forgotten)
        if lost and not twice:
            raise DataError(unknown_words(lost, self.base is not None))
        everything = joined(kept)
        self.done.messages, self.done.twice = len(everything), len(lost)
        return everything, self.done

    def _check_base(self, forgotten: bool) -> None:
        """A model that did not begin with the base would take away what it never had."""
        if not self.base:
            return
        base, of_base = self.base.model.path, self.base.without_digests(self.counted[0])
        for source, counted, changes, lacking in zip(
            self.sources, self.counted[1:], self.done.models, self.lacking, strict=True
        ):
            path, all_gone = source.model.path, 0 < self.counted[0].sum() == changes.forgotten
            if (source.without_digests(counted) < of_base).any() or (all_gone and not forgotten):
                raise DataError(f"{path}: did not begin with {base}; name what it began with: --base")
            if lacking and not forgotten:
                raise DataError(
                    f"{path}: lacks {lacking:,} messages of {base}, and its ledger does not know them; if it "
                    f"began with an older model, first: spamnb merge --base OLDER NEW {base} {path}; "
                    "if it forgot them: --forgotten"
                )

    def _settled(self, number: int) -> tuple[Learned, list[Copy]]:
        """Some messages as the first that changed them has them, and what the others did to them."""
        learned = [source.learned(number, self.parts) for source in self.sources]
        base = self.base.learned(number, self.parts) if self.base else Learned.of([], [])
        for row, one in zip(self.counted, (base, *learned), strict=True):
            row += np.bincount(one.labels, minlength=len(self.labels))
        digests = np.unique(np.concatenate([base.digests, *(own.digests for own in learned)]))
        before = base.places(digests)
        places = np.stack([own.places(digests) for own in learned])
        changed = places != before
        for at, source in enumerate(self.sources):
            gone = digests[changed[at] & (places[at] == NOWHERE)]
            new = int((changed[at] & (before == NOWHERE)).sum())
            changes = self.done.models[at]
            changes.learned += new
            changes.forgotten += len(gone)
            changes.moved += int(changed[at].sum()) - new - len(gone)
            self.lacking[at] += sum(map(source.never_knew, gone.tolist()))
        first = changed.argmax(axis=0)  # where nobody changed anything, any will do
        everyone = np.arange(len(digests))
        result, scores = places[first, everyone], scores_of(learned, digests)[first, everyone]
        copies = []
        for at in np.flatnonzero(changed.sum(axis=0) > 1).tolist():
            others = [own for own in np.flatnonzero(changed[:, at]).tolist() if own != first[at]]
            alike = all(places[own, at] == result[at] for own in others)
            self.done.again += alike
            self.done.torn += not alike
            for own in others:
                labels = int(before[at]), int(places[own, at])
                copies.append(Copy(int(digests[at]), self.sources[own], *labels))
        kept = result != NOWHERE
        return Learned(digests[kept], result[kept], scores[kept]), copies

    def _lesson(self, copy: Copy) -> Lesson | None:
        """What a message adds: as its owner has it, else as anybody has."""
        for source in (copy.owner, *self.sources, *([self.base] if self.base else [])):
            lesson = source.lesson(copy.digest)
            if lesson is not None:
                return lesson
        return None


def unknown_words(lost: set[int], based: bool) -> str:
    named = ", ".join([f"{digest:016x}" for digest in sorted(lost)[:NAMED]])
    common = "" if based else "if these began with the same one, name it: --base; "
    return (
        f"{len(lost):,} messages are in several models, and no ledger has their words ({named}"
        f"{', …' if len(lost) > NAMED else ''}); {common}to count them more than once: --twice; "
        "to have their words from now on: spamnb train --ledger"
    )


def scores_of(learned: Sequence[Learned], digests: Array) -> Array:
    """[model, message]; NaN where none was taken."""
    scores = np.full((len(learned), len(digests)), np.nan, np.float32)
    for row, own in zip(scores, learned, strict=True):
        row[np.searchsorted(digests, own.digests)] = own.scores
    return scores
