"""Count tables as dictionaries: slow, and plain enough to be believed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spamnb.store.counts import Pair, Row, Token


class SimpleTable:
    """A table of counts as plainly as can be, to compare the real one with."""

    __slots__ = ("labels", "messages", "numbers", "pairs", "tokens")

    def __init__(self, labels: Iterable[str]) -> None:
        self.labels = list(labels)
        self.messages = [0] * len(self.labels)
        self.tokens: dict[int, list[int]] = {}
        self.pairs: dict[int, list[int]] = {}
        self.numbers: dict[str, list[list[int | float]]] = {}

    def learn(
        self,
        label: str,
        tokens: Iterable[Token],
        numbers: Mapping[str, int | float] | None = None,
        pairs: Iterable[Pair] = (),
        times: int = 1,
    ) -> None:
        """Add one message, given as a classifier takes it: its tokens, its numeric features, its pairs."""
        place, many = self.labels.index(label), len(self.labels)
        self.messages[place] += times
        for token, occurrences, _ in tokens:
            row = self.tokens.setdefault(token, [0] * (2 * many))
            row[place] += times
            row[many + place] += times * occurrences
            if not any(row):
                del self.tokens[token]
        for pair, _ in pairs:
            row = self.pairs.setdefault(pair, [0] * many)
            row[place] += times
            if not any(row):
                del self.pairs[pair]
        for name, value in (numbers or {}).items():
            by_label = self.numbers.setdefault(name, [[0, 0, 0] for _ in self.labels])
            sums = by_label[place]
            sums[0] += times
            sums[1] += times * value
            sums[2] += times * value * value
            if not any(n for n, _, _ in by_label):
                del self.numbers[name]

    def forget(
        self,
        label: str,
        tokens: Iterable[Token],
        numbers: Mapping[str, int | float] | None = None,
        pairs: Iterable[Pair] = (),
    ) -> None:
        self.learn(label, tokens, numbers, pairs, times=-1)

    def __add__(self, other: SimpleTable) -> SimpleTable:
        return self._combined(other, 1)

    def __sub__(self, other: SimpleTable) -> SimpleTable:
        return self._combined(other, -1)

    def _combined(self, other: SimpleTable, sign: int) -> SimpleTable:
        total = SimpleTable(dict.fromkeys([*self.labels, *other.labels]))
        total._absorb(self, 1)
        total._absorb(other, sign)
        total.tokens = {token: row for token, row in total.tokens.items() if any(row)}
        total.pairs = {pair: row for pair, row in total.pairs.items() if any(row)}
        total.numbers = {name: rows for name, rows in total.numbers.items() if any(n for n, _, _ in rows)}
        return total

    def _absorb(self, other: SimpleTable, sign: int) -> None:
        many, theirs = len(self.labels), len(other.labels)
        places = [self.labels.index(label) for label in other.labels]
        for place, messages in zip(places, other.messages, strict=True):
            self.messages[place] += sign * messages
        for token, counts in other.tokens.items():
            row = self.tokens.setdefault(token, [0] * (2 * many))
            for i, place in enumerate(places):
                row[place] += sign * counts[i]
                row[many + place] += sign * counts[theirs + i]
        for pair, counts in other.pairs.items():
            row = self.pairs.setdefault(pair, [0] * many)
            for place, count in zip(places, counts, strict=True):
                row[place] += sign * count
        for name, by_label in other.numbers.items():
            rows = self.numbers.setdefault(name, [[0, 0, 0] for _ in self.labels])
            for place, sums in zip(places, by_label, strict=True):
                rows[place] = [ours + sign * more for ours, more in zip(rows[place], sums, strict=True)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SimpleTable):
            return NotImplemented
        return not any((self - other)._everything())

    __hash__ = None  # type: ignore[assignment]  # a table changes

    def _everything(self) -> Iterable[object]:
        return [*self.messages, *self.tokens, *self.pairs, *self.numbers]

    @property
    def vocabulary(self) -> int:
        return len(self.tokens)

    @property
    def presences(self) -> list[int]:
        """Per label, messages containing a token summed over all tokens: n_c of binary counts."""
        return self._totals(0)

    @property
    def occurrences(self) -> list[int]:
        """Per label, the number of token positions: the textbooks' n_c."""
        return self._totals(len(self.labels))

    @property
    def pair_vocabulary(self) -> int:
        return len(self.pairs)

    @property
    def pair_presences(self) -> list[int]:
        return [sum(row[k] for row in self.pairs.values()) for k in range(len(self.labels))]

    def _totals(self, start: int) -> list[int]:
        return [sum(row[start + k] for row in self.tokens.values()) for k in range(len(self.labels))]

    def rows(self, fingerprints: Iterable[int]) -> dict[int, Row]:
        """The counts of those tokens that are known."""
        return {token: tuple(self.tokens[token]) for token in fingerprints if token in self.tokens}

    def pair_rows(self, fingerprints: Iterable[int]) -> dict[int, Row]:
        return {pair: tuple(self.pairs[pair]) for pair in fingerprints if pair in self.pairs}

    def histogram(self) -> dict[tuple[int, ...], int]:
        """How many tokens share the same messages per label: Bernoulli's absent words, in brief."""
        alike: dict[tuple[int, ...], int] = {}
        for row in self.tokens.values():
            key = tuple(row[: len(self.labels)])
            alike[key] = alike.get(key, 0) + 1
        return alike
