"""Judge labelled mail with a model that has learned other mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.bayes.cutoffs import has_spam
from spamnb.evaluation.results import JudgedMessages
from spamnb.evaluation.scores import row_scores
from spamnb.in_memory import load_into_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.bayes.verdict import Verdict
    from spamnb.mailboxes.skipped import Unreadable
    from spamnb.model import Model
    from spamnb.training.batches import Batch


def judge_by_model(
    model: Model, labels: Sequence[str], batches: Iterable[Batch]
) -> tuple[JudgedMessages, int]:
    """Judge all labelled messages that the model has not learned; also return how many it has learned."""
    model = load_into_memory(model)
    scorer = model.scorers.first
    known = tuple(dict.fromkeys([*model.labels, *labels]))
    truth: list[int] = []
    verdicts: list[Verdict] = []
    names: list[tuple[str, int | None]] = []
    unreadable: list[Unreadable] = []
    learned = 0
    for batch in batches:
        label_index = known.index(batch.label or "")
        scores = row_scores(scorer, batch.rows, np.arange(len(batch)))
        hashes = np.frombuffer(batch.rows.hashes, np.uint64).tolist()
        for name, score, message_hash in zip(batch.names, scores, hashes, strict=True):
            if model.stored.label_of(message_hash) is not None:
                learned += 1
                continue
            truth.append(label_index)
            verdicts.append(model.decide(score))
            names.append(name)
        unreadable += batch.unreadable
    pair = (model.cutoffs.ham, model.cutoffs.spam) if model.cutoffs and has_spam(model.labels) else None
    judged = JudgedMessages.of(known, np.array(truth, int), verdicts, names, unreadable, pair)
    return judged, learned
