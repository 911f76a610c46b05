"""Synthetic messages: naive Bayes knows how probable each message is, so it can also make up messages.

Tokens are drawn from P(token | label); their number varies around the mean of the label's messages. By
Bernoulli's model each token of the vocabulary is drawn or not.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes.likelihood import Likelihood
from spamnb.bayes.view import View
from spamnb.errors import DataError, UsageError
from spamnb.inspection.words import words_of
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel


@dataclass(frozen=True)
class SyntheticMessage:
    """A message made up by a model."""

    label: str
    length: int
    tokens: dict[str, int]


def draw_messages(
    model: Model, view: View | None, label: str, count: int, seed: int
) -> Iterator[SyntheticMessage]:
    """Draw messages of a label, by a view."""
    stored, label_index = model.stored, model.labels.index(label)
    # The default view is no probability distribution; the textbooks' multinomial of the same counts is one.
    view = view or View("multinomial", model.view.smoothing)
    if view.event == "gaussian":
        raise UsageError("--sample needs words; Gaussians have only numbers; choose another --event")
    if not stored.messages[label_index]:
        raise DataError(f"{stored.path}: no {label} has been learned; there is nothing to draw from")
    chance, p = np.random.default_rng(seed), token_probabilities(stored, view, label_index)
    reach = np.cumsum(p)
    totals = stored.occurrences if view.event == "multinomial" else stored.presences
    mean = totals[label_index] / stored.messages[label_index]
    drawn = []
    for _ in range(count):
        if view.event == "bernoulli":
            places = np.flatnonzero(chance.random(len(p)) < p)
        else:
            places = np.searchsorted(reach, chance.random(chance.poisson(mean)) * reach[-1:], "right")
        drawn.append(np.unique(places, return_counts=True))
    texts = texts_at(stored, np.unique(np.concatenate([np.empty(0, int), *(places for places, _ in drawn)])))
    for places, times in drawn:
        tokens = zip([texts[place] for place in places.tolist()], times.tolist(), strict=True)
        yield SyntheticMessage(label, int(times.sum()), dict(tokens))


def token_probabilities(stored: StoredModel, view: View, label_index: int) -> Array:
    """Return P(token | label) of each word of a model."""
    likelihood = Likelihood(stored, view)

    def of_row(row: tuple[int, ...]) -> list[float]:
        return [likelihood.probabilities(row)[label_index]]

    return np.concatenate([np.empty(0), *(words.values(view, of_row)[0] for words in words_of(stored))])


def texts_at(stored: StoredModel, places: Array) -> dict[int, str]:
    """Return the texts of words, by their positions among all words of a model."""
    texts, start = {}, 0
    for words in words_of(stored):
        end = start + len(words.fingerprints)
        here = places[(places >= start) & (places < end)]
        texts.update({place: words.text(place - start) for place in here.tolist()})
        start = end
    return texts
