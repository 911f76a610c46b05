"""Sums of the numeric features of messages; as counts, they add and subtract."""

from __future__ import annotations

from collections.abc import Iterable

NumberSums = dict[str, list[list[int | float]]]  # of each numeric feature and label: n, Σx, Σx²


def add_sums(tables: Iterable[NumberSums]) -> NumberSums:
    """Add sums up; a feature whose sums are all zero is left out."""
    total: NumberSums = {}
    for numbers in tables:
        for name, by_label in numbers.items():
            rows = total.setdefault(name, [[0, 0, 0] for _ in by_label])
            for row, sums in zip(rows, by_label, strict=True):
                for i, x in enumerate(sums):
                    row[i] += x
    return {name: total[name] for name in sorted(total) if any(map(any, total[name]))}


def scale_sums(factor: int, numbers: NumberSums) -> NumberSums:
    """Multiply all sums by a whole number; by -1 to subtract them."""
    return {name: [[factor * x for x in sums] for sums in by_label] for name, by_label in numbers.items()}
