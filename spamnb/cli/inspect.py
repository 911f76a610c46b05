"""`spamnb inspect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from spamnb.bulk.knowledge import Knowledge
from spamnb.cli.options import Command, chosen_view, json_option, model_option, view_options
from spamnb.cli.render import bar, number, print_json, show, shown, table
from spamnb.delivery import standard_input
from spamnb.errors import NoInput, UsageError
from spamnb.mail.sources import Unreadable, check, messages
from spamnb.model import Model
from spamnb.verdict import SPAM

if TYPE_CHECKING:
    from spamnb.bayes import Evidence

EXAMPLES = """
spamnb inspect
spamnb inspect --top 50
spamnb inspect --token viagra --token subject:free
spamnb inspect message.eml
spamnb inspect - < message
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("message", required=False)
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="How many tokens to show.")
@click.option("--token", "tokens", multiple=True, metavar="WORD", help="What is known of a token.")
@model_option
@view_options
@json_option
def inspect(
    message: str | None, top: int, tokens: tuple[str, ...], model: str, as_json: bool, **view: Any
) -> int:
    """What the model knows; of one MESSAGE (- is standard input), why it is judged as it is."""
    opened = Model.open(model, chosen_view(**view))
    if message is not None and tokens:
        raise UsageError("a message or --token, not both")
    if message is not None:
        return explain(opened, message, top, as_json)
    if tokens:
        return look_up(opened, tokens, as_json)
    return summarise(opened, top, as_json)


def explain(model: Model, path: str, top: int, as_json: bool) -> int:
    verdict = model.classify(one_message(path))
    items = sorted(verdict.evidence, key=lambda item: -item.strength)
    if as_json:
        print_json({"path": path, **verdict.as_map(), "evidence": [evidence(model, item) for item in items]})
        return 0
    largest = max((abs(contribution(model, item)) for item in items), default=0)
    show(
        f"{verdict.label}: score {number(verdict.score)}, probability {number(verdict.probability)}",
        table(
            f"strongest evidence ({min(top, len(items))} of {len(items)})",
            ("token", *(f"in {label}" for label in model.labels), "weight", "ham │ spam"),
            [
                (
                    item.token,
                    *(f"{count:,}" for count in item.row[: len(model.labels)]),
                    f"{contribution(model, item):+.2f}",
                    bar(contribution(model, item), largest),
                )
                for item in items[:top]
            ],
        ),
    )
    return 0


def one_message(path: str) -> bytes:
    if path == "-":
        return standard_input()
    check([path])
    for raw in messages([path]):
        if isinstance(raw, Unreadable):
            raise NoInput(f"{raw.path}: {raw.why}")
        return raw.data
    raise NoInput(f"{path}: there is no message in it")


def contribution(model: Model, item: Evidence) -> float:
    """How much a token speaks for spam; without such a label, how far it sets the labels apart."""
    if SPAM not in model.labels:
        return item.strength
    place = model.labels.index(SPAM)
    others = [weight for k, weight in enumerate(item.weights) if k != place]
    return max(-99.0, min(99.0, item.weights[place] - max(others)))


def evidence(model: Model, item: Evidence) -> dict[str, Any]:
    many = len(model.labels)
    return {
        "token": item.token,
        "messages": dict(zip(model.labels, item.row[:many], strict=True)),
        "occurrences": dict(zip(model.labels, item.row[many:], strict=False)),
        "weight": contribution(model, item),
    }


def look_up(model: Model, tokens: tuple[str, ...], as_json: bool) -> int:
    rows = model.stored.rows(tokens)
    many = len(model.labels)
    known: list[dict[str, Any]] = [
        {
            "token": token,
            "known": token in rows,
            "messages": dict(zip(model.labels, rows.get(token, [0] * many)[:many], strict=True)),
            "occurrences": dict(zip(model.labels, rows.get(token, [0] * 2 * many)[many:], strict=True)),
            "probabilities": dict(zip(model.labels, model.classifier.probabilities(rows[token]), strict=True))
            if token in rows
            else None,
        }
        for token in tokens
    ]
    if as_json:
        print_json(known)
        return 0
    show(
        table(
            None,
            (
                "token",
                *(f"{label}: messages" for label in model.labels),
                *(f"P(token | {label})" for label in model.labels),
            ),
            [
                (
                    one["token"],
                    *(f"{one['messages'][label]:,}" for label in model.labels),
                    *(
                        f"{one['probabilities'][label]:.2e}" if one["known"] else "unknown"
                        for label in model.labels
                    ),
                )
                for one in known
            ],
        )
    )
    return 0


def summarise(model: Model, top: int, as_json: bool) -> int:
    knowledge = Knowledge.of(model, top)
    if as_json:
        print_json(knowledge.as_map())
        return 0
    labels = model.labels
    show(
        f"model: {shown(model.stored.path)}",
        table(
            None,
            ("", *labels),
            [
                ("messages", *(f"{n:,}" for n in knowledge.messages)),
                ("tokens", *(f"{n:,}" for n in knowledge.tokens)),
                ("occurrences", *(f"{n:,}" for n in knowledge.occurrences)),
            ],
        ),
        f"vocabulary {knowledge.vocabulary:,}, pairs {knowledge.pairs:,}; "
        f"journal {knowledge.journal:,} messages; {knowledge.size / 1e6:.1f} MB",
        f"settings: {knowledge.settings_line}",
        knowledge.cutoffs_line,
    )
    for label in labels if top else ():
        show(
            table(
                f"most telling of {label}",
                ("token", *(f"in {name}" for name in labels), "weight"),
                [
                    (one.token, *(f"{n:,}" for n in one.messages), f"{one.weight:+.2f}")
                    for one in knowledge.telling[label]
                ],
            )
        )
    return 0
