"""Messages made up by a model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from spamnb.bayes.view import View
from spamnb.cli.render import listed, print_json, show
from spamnb.errors import DataError, UsageError
from spamnb.inspection.places import PLACES, place_of
from spamnb.inspection.samples import Sampler

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.inspection.samples import Synthetic
    from spamnb.model import Model

MANY = 3  # messages, if not said otherwise
LISTED = 25  # tokens of each place


def show_samples(
    model: Model, view: View | None, label: str, many: int, seed: int | None, everything: bool, as_json: bool
) -> int:
    if label not in model.labels:
        raise UsageError(f"--sample: there is no label {label!r}; there are: {', '.join(model.labels)}")
    if not model.stored.messages[model.labels.index(label)]:
        raise DataError(f"{model.stored.path}: no {label} has been learned; there is nothing to draw from")
    seed = int.from_bytes(os.urandom(4), "little") if seed is None else seed
    # What the default takes the mean of is no distribution; the textbooks' multinomial of the same counts is.
    drawn = view or View("multinomial", model.view.smoothing)
    samples = Sampler(model.stored, drawn, label, seed).messages(many)
    if as_json:
        print_json({"seed": seed, "messages": [one.as_map() for one in samples]})
        return 0
    for place, one in enumerate(samples, 1):
        show(*lines(one, place, many, seed, everything))
    if model.stored.keyed:
        show("tokens are numbers: this model keeps no words")
    return 0


def lines(one: Synthetic, place: int, many: int, seed: int, everything: bool) -> Iterator[str]:
    """A drawn message, its tokens by where they would stand, the most frequent first."""
    size = f"{one.length:,} tokens, {len(one.tokens):,} different"
    yield f"{one.label} {place} of {many}: {size} (--seed {seed})"
    by_place: dict[str, list[str]] = {name: [] for name in PLACES}
    for token, times in sorted(one.tokens.items(), key=lambda item: -item[1]):
        by_place[place_of(token)].append(token if times == 1 else f"{token} ×{times}")
    for name, tokens in by_place.items():
        if tokens:
            yield f"  {name}: {listed(tokens, len(tokens) if everything else LISTED)}"
    if one.numbers:
        yield "  number: " + ", ".join(f"{name} {value:.1f}" for name, value in one.numbers.items())
    yield ""
