"""What a model knows of single tokens and of pairs of neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.cli.inspecting.facts import told
from spamnb.cli.render import print_json, show, signed, table
from spamnb.errors import DataError
from spamnb.files import complain, printable
from spamnb.inspection.lookup import Lookup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from spamnb.cli.grid import Grid
    from spamnb.inspection.lookup import Known, Other
    from spamnb.model import Model

LISTED = 8  # near spellings
NEAREST = 3  # of an unknown token
NO_WORDS = "unknown: this model keeps no words"


def look_up(model: Model, tokens: Sequence[str], as_json: bool) -> int:
    """Those that are known; of others it is said that they are not."""
    lookup = Lookup(model)
    found = [lookup.known(token) for token in tokens]
    if as_json:
        print_json([one.as_map() for one in found])
    for one in found:
        if one.known and not as_json:
            show(
                printable(one.token),
                counts_table(model, one),
                *told(facts(model, one)),
                *([estimates_table(one)] if one.estimates else []),
            )
    for one in found:
        if not one.known:
            near = ", ".join(other.token for other in one.near[:NEAREST])
            complain(
                f"{one.token}: no learned message has this token" + (f"; near it: {near}" if near else "")
            )
    return 0 if all(one.known for one in found) else DataError.exit_code


def counts_table(model: Model, one: Known) -> Grid:
    return table(
        None,
        ("label", "messages", "of", "share", "occurrences", "weight"),
        [
            (
                label,
                f"{one.messages[label]:,}",
                f"{total:,}",
                f"{100 * one.messages[label] / max(1, total):.2f} %",
                "–" if one.occurrences is None else f"{one.occurrences[label]:,}",
                signed((one.weights or {}).get(label, 0.0), 2),
            )
            for label, total in zip(model.labels, model.stored.messages, strict=True)
        ],
    )


def facts(model: Model, one: Known) -> Iterator[tuple[str, str]]:
    least = model.view.least_evidence
    no = f"less than {least:g} nats between the labels" if one.weights else "this view reads no pairs"
    yield "evidence", "yes" if one.counts else f"no: {no}"
    if one.is_pair:
        yield "elsewhere", others(one.elsewhere)
        return
    yield "first seen", one.first_seen or "not recorded"
    yield "last seen", one.last_seen or "not recorded"
    yield "elsewhere", others(one.elsewhere)
    yield "near", NO_WORDS if model.stored.keyed else others(one.near[:LISTED])


def others(found: Sequence[Other]) -> str:
    """Each with the messages that have it."""
    return (
        ", ".join(
            f"{one.token} ({', '.join(f'{many:,} {label}' for label, many in one.messages.items() if many)})"
            for one in found
        )
        or "nothing"
    )


def estimates_table(one: Known) -> Grid:
    return table(
        "P(token | label)",
        ("event model, smoothing", *one.messages),
        [
            (
                f"{each.event}, {str(each.smoothing).removesuffix('.0')}",
                *(f"{p:.3e}" if p else "0" for p in each.probabilities.values()),
            )
            for each in one.estimates
        ],
    )
