"""Adding up the counts of a model, finding its cutoffs, and writing it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spamnb.bayes.cutoffs import has_spam, measured, misfiled_shares, score_scale
from spamnb.core.native import NOT_LEARNED, LearnedMessages
from spamnb.labels import LABELS, SPAM
from spamnb.store.merging import Merged, Run, Source, merged
from spamnb.store.stored_model import StoredModel, load_learned
from spamnb.store.writing import write_model
from spamnb.training.plan import About
from spamnb.training.replacing import replace_model

if TYPE_CHECKING:
    from spamnb.training.sample import SampleScorer

Names = Mapping[str, str | None]  # label → its new name, None to remove it


def kept_labels(labels: Sequence[str], sources: Sequence[Source], renamed: Names | None = None) -> list[str]:
    """Return the labels to keep: spam, those with mail, ham unless a third has mail; without mail, all."""
    messages = dict.fromkeys(labels, 0)
    for source in sources:
        if not isinstance(source.counts, Run):  # a run has no counts of messages
            for label, count in zip(source.counts.labels, source.counts.messages, strict=True):
                name = (renamed or {}).get(label, label)
                if name is not None:
                    messages[name] += source.sign * count
    with_mail = [label for label, count in messages.items() if count > 0]
    kept = [label for label in labels if label in with_mail or label == SPAM]
    if not with_mail:
        return list(labels)
    return [label for label in labels if label in LABELS] if set(kept) <= set(LABELS) else kept


def add_up(
    path: str,
    labels: Sequence[str],
    kept: Sequence[str],
    sources: Sequence[Source],
    renamed: Names | None = None,
    **options: Any,
) -> Merged:
    """Add up the counts of all sources for a new model at `path`; only labels in `kept` are in the result."""
    names: dict[str, str | None] = dict(zip(labels, labels, strict=True))
    names.update(renamed or {})
    relabel = {old: new if new in kept else None for old, new in names.items()}
    return merged(kept, sources, relabel=relabel, folder=os.path.dirname(path) or ".", **options)


def indices_of(labels: Sequence[str | None], kept: Sequence[str]) -> list[int]:
    """Return, for each label, its index in `kept`, or NOT_LEARNED if `kept` does not have the label."""
    return [kept.index(label) if label in kept else NOT_LEARNED for label in labels]


def find_limits(
    labels: Sequence[str],
    learned: LearnedMessages,
    about: About,
    scorer: SampleScorer | None = None,
) -> dict[str, Any]:
    """Find cutoffs and calibration from the scores of learned mail; a `scorer` first scores the sample.

    Scores depend on the shares of misfiled mail, and these on the scores: both are computed up to twice.
    """
    messages = learned.message_counts(len(labels))
    shares = misfiled_shares(labels, messages, learned.scored())
    if scorer:
        scorer(learned, shares)
        found = misfiled_shares(labels, messages, learned.scored())
        if found != shares:
            scorer(learned, found)
            shares = found
    scale = score_scale(about.view)
    limits, calibration = measured(labels, messages, learned.scored(), about.ham_loss, scale)
    return {
        "cutoffs": [limits.ham, limits.spam],
        "calibration": [calibration.slope, calibration.intercept],
        "misfiled": list(shares),
        **({"margin": limits.margin} if has_spam(labels) and len(labels) > 2 else {}),
    }


def put_in_place(
    path: str,
    total: Merged,
    learned: LearnedMessages,
    about: About,
    before: StoredModel | None = None,
    limits: Mapping[str, Any] | None = None,
) -> None:
    """Write a model in place of the current one; carry over messages learned since `before` was opened.

    Without `limits`, cutoffs are computed from the stored scores. The caller must hold the lock on training.
    """
    limits = limits or find_limits(total.labels, learned, about)
    new = write_model(path, total, learned, {**about.as_map(), **limits})
    replace_model(path, new, before)


def sum_of(stored: StoredModel, **options: Any) -> Merged:
    """Add up the counts of a model file and its journal."""
    sources = [Source(stored)]
    kept = kept_labels(stored.labels, sources)
    return add_up(stored.path, stored.labels, kept, sources, **options)


def rewrite(stored: StoredModel, total: Merged) -> None:
    """Write a model again with the counts `total`; its learned messages stay. The caller holds the lock."""
    learned = load_learned(stored)
    learned.relabel(indices_of(stored.labels, total.labels))
    put_in_place(stored.path, total, learned, About.of(stored), stored)


def put_empty(path: str, labels: Sequence[str], about: About, before: StoredModel | None = None) -> None:
    """Write a model without mail. The caller must hold the lock on training."""
    put_in_place(path, merged(labels, []), LearnedMessages(), about, before)
