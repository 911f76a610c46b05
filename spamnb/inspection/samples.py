"""Synthetic messages: random tokens, chosen with the probabilities of a model.

Each token is chosen with P(token | label) of the textbooks' multinomial model. The number of tokens is random
as well; its mean is that of the label's messages.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spamnb.bayes.likelihood import Likelihood
from spamnb.bayes.view import View
from spamnb.errors import DataError
from spamnb.inspection.words import words_of
from spamnb.model import Model


@dataclass(frozen=True)
class SyntheticMessage:
    """A message of random tokens for a label: how many in all, and how often each occurs."""

    label: str
    length: int
    tokens: dict[str, int]


def draw_messages(model: Model, label: str, count: int, seed: int) -> Iterator[SyntheticMessage]:
    """Yield `count` messages of random tokens, each chosen with its probability P(token | label)."""
    stored, label_index = model.stored, model.labels.index(label)
    if not stored.messages[label_index]:
        raise DataError(f"{stored.path}: no sample possible: no message of the label {label} was learned")
    view = View("multinomial", model.view.smoothing)
    likelihood, texts, p = Likelihood(stored, view), list[str](), [np.empty(0)]
    for words in words_of(stored):
        p.append(words.values(view, lambda row: [likelihood.probabilities(row)[label_index]])[0])
        texts += map(words.text, range(len(words.fingerprints)))
    chance, reach = np.random.default_rng(seed), np.cumsum(np.concatenate(p))
    mean = stored.occurrences[label_index] / stored.messages[label_index]
    for _ in range(count):
        drawn = np.searchsorted(reach, chance.random(chance.poisson(mean)) * reach[-1:], "right")
        places, times = np.unique(drawn, return_counts=True)
        tokens = dict(zip([texts[place] for place in places.tolist()], times.tolist(), strict=True))
        yield SyntheticMessage(label, len(drawn), tokens)
