"""Draw synthetic messages: naive Bayes says how probable each message is, so it can also make them up.

The tokens are drawn from P(token | label), as many as the label's messages have in the mean, give or take; by
Bernoulli's model each token is drawn by itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes.bulk_classifier import by_row, counts_for
from spamnb.bayes.likelihood import Likelihood
from spamnb.bayes.view import View
from spamnb.errors import DataError, UsageError
from spamnb.model import Model
from spamnb.tables.vocabulary import Vocabulary


@dataclass(frozen=True)
class SyntheticMessage:
    """A message made up by a model."""

    label: str
    length: int
    tokens: dict[str, int]


def draw_messages(
    model: Model, view: View | None, label: str, count: int, seed: int
) -> Iterator[SyntheticMessage]:
    """Draw messages of a label, by the view asked for."""
    stored, label_index = model.stored, model.labels.index(label)
    # What the default takes the mean of is no distribution; the textbooks' multinomial of the same counts is.
    view = view or View("multinomial", model.view.smoothing)
    if view.event == "gaussian":
        raise UsageError("--sample draws words, and Gaussians know numbers only; choose another --event")
    if not stored.messages[label_index]:
        raise DataError(f"{stored.path}: no {label} has been learned; there is nothing to draw from")
    vocabulary, chance = Vocabulary(stored), np.random.default_rng(seed)
    p = token_probabilities(vocabulary, view, label_index)
    reach = np.cumsum(p)
    totals = stored.occurrences if view.event == "multinomial" else stored.presences
    mean = totals[label_index] / stored.messages[label_index]
    texts: dict[int, str] = {}  # of the tokens drawn so far: each is read from the model once
    for _ in range(count):
        if view.event == "bernoulli":
            drawn = np.flatnonzero(chance.random(len(p)) < p)
        else:
            drawn = np.searchsorted(reach, chance.random(chance.poisson(mean)) * reach[-1:], "right")
        found, times = (column.tolist() for column in np.unique(drawn, return_counts=True))
        new = [token for token in found if token not in texts]
        texts.update(zip(new, vocabulary.tokens(new), strict=True))
        tokens = {texts[token]: n for token, n in zip(found, times, strict=True)}
        yield SyntheticMessage(label, len(drawn), tokens)


def token_probabilities(vocabulary: Vocabulary, view: View, label_index: int) -> Array:
    """P(token | label) of each token of a model."""
    likelihood = Likelihood(vocabulary.stored, view)

    def of_row(row: tuple[int, ...]) -> list[float]:
        return [likelihood.probabilities(row)[label_index] if any(row) else 0.0]

    blocks = [
        by_row(of_row, counts_for(view, block.message_counts, block.occurrence_counts), 1)[0]
        for block in vocabulary.blocks()
    ]
    return np.concatenate([np.empty(0), *blocks])
