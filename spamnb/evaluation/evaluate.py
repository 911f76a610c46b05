"""The three ways to evaluate a filter: cross-validation, online in the order mail came, and by a model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spamnb.delivery.batch_judge import BatchJudge
from spamnb.errors import DataError
from spamnb.evaluation import mistakes
from spamnb.evaluation.folds import CrossValidation, cross_validated, fold_of, held_out
from spamnb.evaluation.metrics import measure
from spamnb.evaluation.online import in_index_order, in_time_order, online
from spamnb.evaluation.results import Evaluation
from spamnb.inspection.knowledge import Knowledge, most_telling
from spamnb.model import DEFAULT_VIEW

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from spamnb.bayes.view import View
    from spamnb.evaluation.corpus import Corpus
    from spamnb.evaluation.results import Judged
    from spamnb.model import Model
    from spamnb.reading.settings import Settings
    from spamnb.training.batches import Batch

TELLING = 20  # tokens of each label in the report


@dataclass(frozen=True)
class Folds:
    """How mail is split for cross-validation."""

    count: int
    seed: int
    group_duplicates: bool  # exact copies of a message into one fold


@dataclass(frozen=True)
class OnlineProtocol:
    """What is learned as mail comes in; `first` is for the delayed protocol, `margin` for on-error."""

    name: str
    first: int
    margin: float


def evaluate_by_folds(
    corpus: Corpus, settings: Settings, view: View | None, folds: Folds, most_mistakes: int, jobs: int
) -> Evaluation:
    """Judge each fold by the counts of all the others."""
    view = view or DEFAULT_VIEW
    assigned = fold_of(corpus, folds.count, folds.seed, folds.group_duplicates)
    judged = cross_validated(corpus, assigned, view, jobs)
    work = CrossValidation(corpus, assigned, view)
    telling = {
        label: most_telling(view, work.whole, corpus.tokens, place, TELLING)
        for place, label in enumerate(corpus.labels)
    }
    return Evaluation(
        f"in {folds.count} folds",
        judged,
        {**figures_of(judged), "folds": folds.count},
        mistakes.by_folds(judged, work, settings, most_mistakes),
        duplicates_in(corpus),
        telling,
        [],
    )


def evaluate_online(
    corpus: Corpus, view: View | None, protocol: OnlineProtocol, index: Sequence[tuple[str, str]]
) -> Evaluation:
    """Judge each message by what was learned before it, in the order of an index, or else of the dates."""
    order = in_index_order(corpus, index) if index else in_time_order(corpus)
    judged, curve = online(
        corpus, order, view=view, protocol=protocol.name, first=protocol.first, margin=protocol.margin
    )
    how = f"online ({protocol.name})"
    return Evaluation(how, judged, figures_of(judged), [], duplicates_in(corpus), {}, curve)


def evaluate_by_model(
    model: Model, labels: Sequence[str], batches: Iterable[Batch], skip_learned: bool, most_mistakes: int
) -> Evaluation:
    """Judge mail by a model that was trained on other mail."""
    judged, learned = held_out(BatchJudge(model), labels, batches, skip_learned)
    if not judged.names and learned:
        raise DataError(f"all {learned:,} messages are learned by the model already; name other mail")
    worst = mistakes.by_model(judged, model, most_mistakes)
    telling = Knowledge.of(model, TELLING).telling
    found = Evaluation("by a model", judged, figures_of(judged), worst, 0, telling, [])
    return replace(found, learned=learned, skipped=skip_learned)


def figures_of(judged: Judged) -> dict[str, Any]:
    """Measure all figures of an evaluation, ready for JSON."""
    found = measure(judged.labels, judged.truth, judged.verdict, judged.score, judged.probability)
    return {**found.as_map(), "folds": None}


def duplicates_in(corpus: Corpus) -> int:
    """Count the messages that are exact copies of another."""
    return len(corpus) - len(set(corpus.digests.tolist()))
