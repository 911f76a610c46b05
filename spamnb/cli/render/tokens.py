"""Print the counts of tokens and pairs of neighbours, in a terminal, a pipe or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from spamnb.cli.render.terminal import fact_lines, print_json_lines, show, signed, table
from spamnb.errors import DataError
from spamnb.files import complain, printable
from spamnb.inspection.token_lookup import TokenFacts
from spamnb.model import Model

if TYPE_CHECKING:
    from rich.console import RenderableType


def show_tokens(model: Model, found: Sequence[TokenFacts], as_json: bool) -> int:
    """Show the counts of tokens that were learned; report other tokens as errors."""
    if as_json:
        print_json_lines(map(asdict, found))
    for token in found:
        if token.known and not as_json:
            show(printable(token.token), counts_table(model, token), *fact_lines(facts(model, token)))
    unknown = [token for token in found if not token.known]
    for token in unknown:
        complain(f"{token.token}: no learned message has this token")
    return DataError.exit_code if unknown else 0


def counts_table(model: Model, token: TokenFacts) -> RenderableType:
    return table(
        None,
        ("label", "messages", "of", "share", "occurrences", "P(token | label)", "weight"),
        [
            (
                label,
                f"{token.messages[label]:,}",
                f"{total:,}",
                f"{100 * token.messages[label] / max(1, total):.2f} %",
                f"{token.occurrences[label]:,}" if token.occurrences else "–",
                f"{token.probabilities[label]:.3e}" if token.probabilities else "–",
                signed(token.weights[label], 2) if token.weights else "–",
            )
            for label, total in zip(model.labels, model.stored.messages, strict=True)
        ],
    )


def facts(model: Model, token: TokenFacts) -> Iterator[tuple[str, str]]:
    least = model.view.least_evidence
    no = (
        f"the labels differ by less than {least:g} nats" if token.weights else "this view reads no word pairs"
    )
    yield "evidence", "yes" if token.counts else f"no: {no}"
    if not token.is_pair:
        yield "first seen", token.first_seen or "not recorded"
        yield "last seen", token.last_seen or "not recorded"
    if token.base_messages is not None:
        counts = ", ".join(f"{label} {count:,}" for label, count in token.base_messages.items())
        yield "in the base", f"{counts}; probability and weight are with the counts of both"
