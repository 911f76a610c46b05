"""The worst mistakes of an evaluation and their evidence, which helps to find mislabelled mail."""

from collections.abc import Sequence

import numpy as np

from spamnb.bayes.classifier import Classifier
from spamnb.bayes.verdict import Score
from spamnb.core.native import FeatureSet, Message, Tokenizer, read
from spamnb.evaluation.folds import CrossValidation
from spamnb.evaluation.results import UNDECIDED, JudgedMessages, Mistake
from spamnb.inspection.comparison import compared_labels, difference, evidence_between
from spamnb.inspection.model_summary import INFINITE
from spamnb.labels import SPAM
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import messages
from spamnb.model import Model
from spamnb.reading.settings import Settings

EVIDENCE_SHOWN = 8  # tokens of a mistake


def worst_mistakes(judged: JudgedMessages, most: int) -> list[int]:
    """Return the indices of at most `most` wrong verdicts, the most certain first; unsure is not wrong."""
    wrong = np.flatnonzero((judged.verdict != judged.truth) & (judged.verdict != UNDECIDED))
    sure = judged.probability[wrong, judged.verdict[wrong]]
    distance = np.abs(judged.score[wrong]) if SPAM in judged.labels else sure
    return wrong[np.lexsort((wrong, -distance, -sure.round(3)))][:most].tolist()


def by_folds(judged: JudgedMessages, work: CrossValidation, settings: Settings, most: int) -> list[Mistake]:
    """Return the worst mistakes of a cross-validation, at most `most`, with the evidence that led to each."""
    chosen = worst_mistakes(judged, most)
    raw = dict(zip(chosen, raw_messages(judged, chosen), strict=True))
    found = {}

    def explain(fold: int) -> None:
        tokenizer = Tokenizer(settings)
        with work.table_without(fold) as table:
            classifier = Classifier(table, work.view)
            for message in chosen:
                if work.assigned[message] == fold:
                    parsed = read(raw[message])
                    features = tokenizer.features(parsed, numbers=False)
                    found[message] = _mistake(judged, message, parsed, features, classifier.score(features))

    for _ in work.for_each(explain, dict.fromkeys(work.assigned[chosen].tolist())):
        pass
    return [found[message] for message in chosen]


def by_model(judged: JudgedMessages, model: Model, most: int) -> list[Mistake]:
    """Return the worst mistakes of a model, at most `most`, with the evidence that led to each."""
    chosen = worst_mistakes(judged, most)
    found = []
    for message, raw in zip(chosen, raw_messages(judged, chosen), strict=True):
        parsed = read(raw)
        features = model.features(parsed)
        found.append(_mistake(judged, message, parsed, features, model.score(features)))
    return found


def raw_messages(judged: JudgedMessages, chosen: Sequence[int]) -> list[bytes]:
    """Read the chosen messages, each mailbox only once; for a message that is no longer there, return b""."""
    wanted = {judged.names[message]: message for message in chosen}
    raw: dict[int, bytes] = {}
    for path in dict.fromkeys(path for path, _ in wanted):
        missing = {index for mailbox, index in wanted if mailbox == path}
        for found in messages([path]):
            if not isinstance(found, Unreadable) and found.index in missing:
                raw[wanted[path, found.index]] = found.data
                missing.discard(found.index)
            if not missing:
                break
    return [raw.get(message, b"") for message in chosen]


def _mistake(
    judged: JudgedMessages, message: int, parsed: Message, features: FeatureSet, score: Score
) -> Mistake:
    path, index = judged.names[message]
    truth, verdict = judged.labels[judged.truth[message]], judged.labels[judged.verdict[message]]
    toward, against = compared_labels(score, verdict, truth)
    weighed = [
        (
            features.text_of(item.feature),
            max(-INFINITE, min(INFINITE, difference(item.weights, toward, against))),
        )
        for item in evidence_between(score, toward, against)
    ]
    return Mistake(
        path,
        index,
        parsed.get("subject") or "",
        truth,
        verdict,
        float(judged.score[message]),
        sorted(weighed, key=lambda item: (-abs(item[1]), item[0]))[:EVIDENCE_SHOWN],
    )
