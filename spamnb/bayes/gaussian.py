"""Normal distributions of numeric features: their log densities, from sums of each label's values."""

from __future__ import annotations

from math import log, pi

from spamnb.bayes.verdict import Evidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from spamnb.store.counts import Sums


def numeric_evidence(
    sums_by_name: Mapping[str, Sequence[Sums]], numbers: Mapping[str, float]
) -> list[Evidence]:
    """Return the evidence of the `numbers` for which every label has values, by normal distributions."""
    found = []
    for name, value in sorted(numbers.items()):
        sums = sums_by_name.get(name)
        if sums is not None and (weights := log_densities(value, sums)):
            found.append(Evidence(name, tuple(int(n) for n, _, _ in sums), 1, weights))
    return found


def log_densities(value: float, by_label: Sequence[Sums]) -> list[float] | None:
    """Return a value's log density for each label; None if a label has no values, or all values are equal."""
    return [
        -0.5 * (log(2 * pi * variance) + (value - mean) ** 2 / variance)
        for mean, variance in means_and_variances(by_label)
    ] or None


def means_and_variances(by_label: Sequence[Sums]) -> list[tuple[float, float]]:
    """Return each label's (mean, variance) from n, Σx, Σx²; [] if a label lacks values, or all are equal."""
    if not by_label or not all(n for n, _, _ in by_label):
        return []
    # The least variance: equal values would have an infinite density. If it is 0, the feature says nothing.
    least = 1e-9 * variance_of([sum(column) for column in zip(*by_label, strict=True)])
    return (
        [(total / n, max(variance_of((n, total, squares)), least)) for n, total, squares in by_label]
        if least
        else []
    )


def variance_of(sums: Sums) -> float:
    """Return the variance Σx²/n − mean², by a single division: rounded only once for whole numbers."""
    n, total, squares = sums
    return max(0.0, (n * squares - total * total) / (n * n))
