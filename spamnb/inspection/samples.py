"""Draw synthetic messages: naive Bayes says how probable each message is, so it can also make them up.

The length follows the sizes of a label's mail, about the mean number of its tokens; the tokens are drawn from
P(token | label), by Bernoulli's model each by itself; the numbers from the label's Gaussians.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import exp, log, sqrt
from typing import Any

import numpy as np

from spamnb.arrays import Array
from spamnb.bayes.classifier import Likelihood, View
from spamnb.bayes.gaussian import variance_of
from spamnb.bayes.scoring import by_row, counts_for
from spamnb.errors import DataError
from spamnb.model import Model
from spamnb.reading.tokenizer import MOST_TOKENS
from spamnb.store.stored_model import StoredModel
from spamnb.tables.vocabulary import Vocabulary

SIZE = "size"  # the numeric feature that tells of lengths, in tenths of a doubling
SIZE_UNIT = log(2) / 10  # a tenth of a doubling, as a natural logarithm


@dataclass(frozen=True)
class SyntheticMessage:
    """A message made up by a model."""

    label: str
    length: int
    tokens: dict[str, int]
    numbers: dict[str, float]

    def as_map(self) -> dict[str, Any]:
        return asdict(self)


def draw_messages(
    model: Model, view: View | None, label: str, count: int, seed: int
) -> Iterator[SyntheticMessage]:
    """Draw messages of a label, by the view asked for."""
    if not model.stored.messages[model.labels.index(label)]:
        raise DataError(f"{model.stored.path}: no {label} has been learned; there is nothing to draw from")
    # What the default takes the mean of is no distribution; the textbooks' multinomial of the same counts is.
    chosen = view or View("multinomial", model.view.smoothing)
    return Sampler(model.stored, chosen, label, seed).messages(count)


class Sampler:
    """Draws messages of one label."""

    def __init__(self, stored: StoredModel, view: View, label: str, seed: int) -> None:
        self.stored = stored
        self.view = view
        self.label = label
        self.label_index = stored.labels.index(label)
        self.vocabulary = Vocabulary(stored)
        self.chance = np.random.default_rng(seed)
        self.p = self._probabilities()
        self._known: dict[int, str] = {}

    def _probabilities(self) -> Array:
        """The probability of each token; empty for Gaussians, which know numbers only."""
        if self.view.event == "gaussian":
            return np.empty(0)
        likelihood = Likelihood(self.stored, self.view)
        blocks = [
            by_row(
                lambda row: [likelihood.probabilities(row)[self.label_index] if any(row) else 0.0],
                counts_for(self.view, block.message_counts, block.occurrence_counts),
                1,
            )[0]
            for block in self.vocabulary.blocks()
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def messages(self, count: int) -> Iterator[SyntheticMessage]:
        reach = np.cumsum(self.p)
        messages = max(1, self.stored.messages[self.label_index])
        for _ in range(count):
            size_off = self.chance.standard_normal()
            if self.view.event == "bernoulli":
                drawn = np.flatnonzero(self.chance.random(len(self.p)) < self.p)
            else:
                length = self._length(size_off) if len(reach) else 0
                drawn = np.searchsorted(reach, self.chance.random(length) * reach[-1:], "right")
            numbers = self._numbers(size_off, messages)
            found, times = np.unique(drawn, return_counts=True)
            tokens = dict(zip(self._texts(found.tolist()), times.tolist(), strict=True))
            yield SyntheticMessage(self.label, len(drawn), tokens, numbers)

    def _texts(self, tokens: list[int]) -> list[str]:
        """The texts of tokens, each read from the model once."""
        new = [token for token in tokens if token not in self._known]
        self._known.update(zip(new, self.vocabulary.tokens(new), strict=True))
        return [self._known[token] for token in tokens]

    def _length(self, size_off: float) -> int:
        """A log-normal length, as sizes are; `size_off` is how many deviations it is off the mean."""
        stored = self.stored
        totals = stored.occurrences if self.view.event == "multinomial" else stored.presences
        mean = totals[self.label_index] / max(1, stored.messages[self.label_index])
        sizes = stored.numbers.get(SIZE)
        spread = (
            SIZE_UNIT * sqrt(variance_of(sizes[self.label_index]))
            if sizes and sizes[self.label_index][0]
            else 0.0
        )
        return min(MOST_TOKENS, round(mean * exp(spread * size_off - spread * spread / 2)))

    def _numbers(self, size_off: float, messages: int) -> dict[str, float]:
        """Draw the numeric features, each as often as the label's mail has it."""
        numbers = {}
        for name, by_label in sorted(self.stored.numbers.items()):
            n, total, squares = by_label[self.label_index]
            chance, off = self.chance.random(), self.chance.standard_normal()
            if chance * messages < n:
                deviation = sqrt(variance_of((n, total, squares)))
                numbers[name] = total / n + deviation * (size_off if name == SIZE else off)
        return numbers
