"""Count tables as dictionaries: slow, but so simple that tests can trust them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class SimpleTable:
    """A simple table of counts, by words or fingerprints, with which tests compare the real table."""

    __slots__ = ("grams", "labels", "messages", "numbers", "pairs", "tokens")

    def __init__(self, labels: Iterable[str]) -> None:
        self.labels = list(labels)
        self.messages = [0] * len(self.labels)
        self.tokens: dict[Any, list[int]] = {}
        self.pairs: dict[Any, list[int]] = {}
        self.grams: dict[int, list[int]] = {}
        self.numbers: dict[str, list[list[int | float]]] = {}

    def learn(
        self,
        label: str,
        tokens: Iterable[tuple[Any, int, int]],
        numbers: Mapping[str, int | float] | None = None,
        pairs: Iterable[tuple[Any, int]] = (),
        grams: Iterable[int] = (),
    ) -> None:
        """Add one message of a label, given by its tokens, numeric features, pairs and grams."""
        place, many = self.labels.index(label), len(self.labels)
        self.messages[place] += 1
        for token, occurrences, _ in tokens:
            row = self.tokens.setdefault(token, [0] * (2 * many))
            row[place] += 1
            row[many + place] += occurrences
        for pair, _ in pairs:
            self.pairs.setdefault(pair, [0] * many)[place] += 1
        for counter in grams:
            self.grams.setdefault(counter, [0] * many)[place] += 1
        for name, value in (numbers or {}).items():
            sums = self.numbers.setdefault(name, [[0, 0, 0] for _ in self.labels])[place]
            sums[0] += 1
            sums[1] += value
            sums[2] += value * value

    @property
    def vocabulary(self) -> int:
        return len(self.tokens)

    @property
    def presences(self) -> list[int]:
        """For each label, the sum over all tokens of the messages with the token: n_c of binary counts."""
        return self._totals(0)

    @property
    def occurrences(self) -> list[int]:
        """For each label, the number of occurrences of all tokens: n_c in textbooks."""
        return self._totals(len(self.labels))

    @property
    def pair_vocabulary(self) -> int:
        return len(self.pairs)

    @property
    def pair_presences(self) -> list[int]:
        return [sum(row[k] for row in self.pairs.values()) for k in range(len(self.labels))]

    def _totals(self, start: int) -> list[int]:
        return [sum(row[start + k] for row in self.tokens.values()) for k in range(len(self.labels))]

    def histogram(self) -> dict[tuple[int, ...], int]:
        """Return {(messages of each label): number of tokens in so many}, to compute Bernoulli faster."""
        alike: dict[tuple[int, ...], int] = {}
        for row in self.tokens.values():
            key = tuple(row[: len(self.labels)])
            alike[key] = alike.get(key, 0) + 1
        return alike
