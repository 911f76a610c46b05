"""The three ways to evaluate a filter: cross-validation, online in order of time, and with a given model."""

from collections.abc import Iterable, Sequence
from typing import Any

from spamnb.bayes.view import View
from spamnb.errors import DataError
from spamnb.evaluation import mistakes
from spamnb.evaluation.by_model import judge_by_model
from spamnb.evaluation.corpus import Corpus
from spamnb.evaluation.folds import CrossValidation, assign_folds
from spamnb.evaluation.metrics import measure
from spamnb.evaluation.online import in_time_order, judge_online
from spamnb.evaluation.results import Evaluation, JudgedMessages
from spamnb.model import DEFAULT_VIEW, Model
from spamnb.reading.settings import Settings
from spamnb.training.batches import Batch


def evaluate_by_folds(
    corpus: Corpus,
    settings: Settings,
    view: View | None,
    fold_count: int,
    most_mistakes: int,
    jobs: int,
) -> Evaluation:
    """Judge each fold of the mail by the counts of all other folds; list at most `most_mistakes` mistakes."""
    view = view or DEFAULT_VIEW
    work = CrossValidation(corpus, assign_folds(corpus, fold_count), view, jobs)
    judged = work.judge()
    return Evaluation(
        f"in {fold_count} folds",
        judged,
        {**figures_of(judged), "folds": fold_count},
        mistakes.by_folds(judged, work, settings, most_mistakes),
        duplicates_in(corpus),
        [],
    )


def evaluate_online(corpus: Corpus, view: View | None) -> Evaluation:
    """Judge messages in order of their dates, each by the counts of all earlier messages."""
    judged, curve = judge_online(corpus, in_time_order(corpus), view)
    return Evaluation("online", judged, figures_of(judged), [], duplicates_in(corpus), curve)


def evaluate_by_model(
    model: Model, labels: Sequence[str], batches: Iterable[Batch], most_mistakes: int
) -> Evaluation:
    """Judge mail with a model, except the messages that the model has learned: it knows their labels."""
    judged, learned = judge_by_model(model, labels, batches)
    if not judged.names and learned:
        raise DataError("the model has already learned all this mail; evaluate other mail")
    return Evaluation(
        "by a model",
        judged,
        figures_of(judged),
        mistakes.by_model(judged, model, most_mistakes),
        0,
        [],
        learned,
    )


def figures_of(judged: JudgedMessages) -> dict[str, Any]:
    """Return all figures of an evaluation, ready for JSON."""
    found = measure(judged.labels, judged.truth, judged.verdict, judged.score, judged.probability)
    return {**found, "folds": None}


def duplicates_in(corpus: Corpus) -> int:
    """Return how many messages are copies: they have the same hash as an earlier message."""
    return len(corpus) - len(set(corpus.hashes.tolist()))
