"""The worst mistakes of an evaluation, and what made them: mislabelled mail is found so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spamnb.bayes.scoring import BulkClassifier
from spamnb.bayes.verdict import SPAM, UNSURE
from spamnb.evaluation.results import UNDECIDED, Mistake
from spamnb.inspection.knowledge import ahead
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import messages
from spamnb.reading.message import read
from spamnb.reading.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.arrays import Array
    from spamnb.evaluation.folds import CrossValidation
    from spamnb.evaluation.results import Judged
    from spamnb.model import Model
    from spamnb.reading.features import Features
    from spamnb.reading.message import Message
    from spamnb.reading.settings import Settings

    Evidence = list[tuple[str, float]]

TELLING = 8  # tokens shown of each


def worst(judged: Judged, most: int) -> list[int]:
    """The messages judged wrong, not merely unsure, by how sure that was."""
    wrong = np.flatnonzero((judged.verdict != judged.truth) & (judged.verdict != UNDECIDED))
    sure = judged.probability[wrong, judged.verdict[wrong]]
    far = np.abs(judged.score[wrong]) if SPAM in judged.labels else sure
    return wrong[np.lexsort((wrong, -far, -sure.round(3)))][:most].tolist()


def by_folds(judged: Judged, folds: CrossValidation, settings: Settings, most: int) -> list[Mistake]:
    """Mistakes of a cross-validation, with the evidence of the folds that judged them."""
    tokenizer = Tokenizer(settings)
    chosen = worst(judged, most)
    weights: dict[int, Array] = {}
    found = []
    for message, raw in zip(chosen, reread(judged, chosen), strict=True):
        read_again = read(raw)
        fold = int(folds.assigned[message])
        if fold not in weights:
            weights[fold] = BulkClassifier.of(folds.table(fold), folds.view).weights
        features = tokenizer.features(read_again)
        evidence = _evidence(
            features, folds.corpus.fingerprints, weights[fold], judged.labels, folds.view.pairs
        )
        found.append(_mistake(judged, message, read_again, evidence))
    return found


def by_model(judged: Judged, model: Model, most: int) -> list[Mistake]:
    """Mistakes of a model as it is."""
    chosen = worst(judged, most)
    found = []
    for message, raw in zip(chosen, reread(judged, chosen), strict=True):
        features = model.features(raw)
        verdict = model.classify_features(features)
        place = model.labels.index(SPAM) if SPAM in model.labels else 0
        evidence = [(features.text_of(item.feature), ahead(item.weights)[place]) for item in verdict.evidence]
        found.append(_mistake(judged, message, read(raw), evidence))
    return found


def reread(judged: Judged, chosen: Sequence[int]) -> list[bytes]:
    """Some messages once more from where they were, each mailbox read once; empty if it is gone."""
    wanted = {judged.names[message]: message for message in chosen}
    raw: dict[int, bytes] = {}
    for path in dict.fromkeys(path for path, _ in wanted):
        missing = {index for own, index in wanted if own == path}
        for one in messages([path]):
            if not isinstance(one, Unreadable) and one.index in missing:
                raw[wanted[path, one.index]] = one.data
                missing.discard(one.index)
            if not missing:
                break
    return [raw.get(message, b"") for message in chosen]


def _evidence(
    features: Features, fingerprints: Array, weights: Array, labels: Sequence[str], pairs: bool
) -> Evidence:
    numbers = [token[0] for token in features.tokens] + [pair[0] for pair in features.pairs if pairs]
    wanted = np.array(numbers, np.uint64)
    at = np.minimum(np.searchsorted(fingerprints, wanted), len(fingerprints) - 1)
    logs = weights[:, at]
    telling = (fingerprints[at] == wanted) & ~np.isnan(logs[0])
    place = labels.index(SPAM) if SPAM in labels else 0
    return [
        (features.text_of(numbers[n]), ahead(logs[:, n].tolist())[place])
        for n in np.flatnonzero(telling).tolist()
    ]


def _mistake(judged: Judged, message: int, again: Message, evidence: Iterable[tuple[str, float]]) -> Mistake:
    path, index = judged.names[message]
    verdict = judged.verdict[message]
    strongest = sorted(evidence, key=lambda item: (-abs(item[1]), item[0]))[:TELLING]
    return Mistake(
        path,
        index,
        again.get("subject") or "",
        judged.labels[judged.truth[message]],
        UNSURE if verdict == UNDECIDED else judged.labels[verdict],
        float(judged.score[message]),
        strongest,
    )
