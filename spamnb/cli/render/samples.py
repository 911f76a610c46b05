"""Print messages made up by a model, in a terminal, a pipe or as JSON."""

from collections.abc import Iterable, Iterator

from spamnb.cli.render.terminal import listed, print_json, show
from spamnb.inspection.reason import PLACES, place_of
from spamnb.inspection.samples import SyntheticMessage

LISTED = 25  # tokens of each place


def show_samples(
    samples: Iterable[SyntheticMessage], count: int, seed: int, keyed: bool, everything: bool, as_json: bool
) -> None:
    if as_json:
        print_json({"seed": seed, "messages": [sample.as_map() for sample in samples]})
        return
    for serial, sample in enumerate(samples, 1):
        show(*lines(sample, serial, count, seed, everything))
    if keyed:
        show("tokens are numbers: this model keeps no words")


def lines(sample: SyntheticMessage, serial: int, count: int, seed: int, everything: bool) -> Iterator[str]:
    """Describe a drawn message: its tokens by where they would stand, the most frequent first."""
    size = f"{sample.length:,} tokens, {len(sample.tokens):,} different"
    yield f"{sample.label} {serial} of {count}: {size} (--seed {seed})"
    by_place: dict[str, list[str]] = {name: [] for name in PLACES}
    for token, times in sorted(sample.tokens.items(), key=lambda item: -item[1]):
        by_place[place_of(token)].append(token if times == 1 else f"{token} ×{times}")
    for name, tokens in by_place.items():
        if tokens:
            yield f"  {name}: {listed(tokens, len(tokens) if everything else LISTED)}"
    if sample.numbers:
        yield "  number: " + ", ".join(f"{name} {value:.1f}" for name, value in sample.numbers.items())
    yield ""
