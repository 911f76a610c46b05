"""`spamnb inspect`."""

from __future__ import annotations

import os
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from spamnb.bulk.knowledge import Knowledge
from spamnb.cli.options import (
    Command,
    chosen_view,
    json_option,
    model_option,
    opened,
    path_type,
    view_options,
)
from spamnb.cli.render import bar, number, print_json, show, table
from spamnb.delivery import standard_input
from spamnb.errors import DataError, NoInput, UsageError
from spamnb.files import complain, shown
from spamnb.mail.sources import Unreadable, check, messages
from spamnb.verdict import SPAM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spamnb.bayes import Evidence
    from spamnb.model import Model

EXAMPLES = """
spamnb inspect
spamnb inspect --top 50
spamnb inspect --token viagra --token subject:free
spamnb inspect message.eml
spamnb inspect archive.mbox:3
spamnb inspect - < message
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("message", required=False, type=path_type)
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="How many tokens to show.")
@click.option("--token", "tokens", multiple=True, metavar="WORD", help="What is known of a token.")
@model_option
@view_options
@json_option
def inspect(
    message: str | None, top: int, tokens: tuple[str, ...], model: str, as_json: bool, **view: Any
) -> int:
    """What the model knows; of one MESSAGE (- is standard input), why it is judged as it is.

    A message of a mailbox is named as classify names it: archive.mbox:3.
    """
    if message is not None and tokens:
        raise UsageError("a message or --token, not both")
    judge = opened(model, chosen_view(**view))
    if message is not None:
        return explain(judge, message, top, as_json)
    if tokens:
        return look_up(judge, tokens, as_json)
    return summarise(judge, top, as_json)


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
            ("token", *(f"in {label}" for label in model.labels), "weight", sides(model.labels)),
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


def sides(labels: Sequence[str]) -> str:
    """What the bars point at."""
    if SPAM not in labels:
        return ""
    other = labels[1 - labels.index(SPAM)] if len(labels) == 2 else "other"
    return f"{other} │ {SPAM}"


def one_message(path: str) -> bytes:
    """A message by its path, or by that of its mailbox and its number there; of several the first."""
    if path == "-":
        return standard_input()
    box, _, digits = path.rpartition(":")
    numbered = digits.isdecimal() and not os.path.exists(path) and os.path.exists(box)
    name, wanted = (box, int(digits)) if numbered else (path, 0)
    check([name])
    found = messages([name])
    for place, raw in enumerate(found):
        if isinstance(raw, Unreadable):
            raise DataError(f"{raw.path}: {raw.why}")
        if (place if raw.index is None else raw.index) == wanted:
            if not numbered and (more := next(found, None)) is not None:
                other = more.path if raw.index is None else f"{name}:{wanted + 1}"
                complain(f"{path}: the first of several messages; for another: spamnb inspect {other}")
            return raw.data
    raise NoInput(
        f"{path}: there is no such message in it" if numbered else f"{path}: there is no message in it"
    )


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
    tokens = tuple(as_kept(model, token) for token in tokens)
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


def as_kept(model: Model, token: str) -> str:
    """The token that a word becomes: people ask for `Viagra` and `Subject:Free`."""
    tag, colon, word = token.rpartition(":")
    kept = tag.lower() + colon + " ".join(model.tokenizer.words.of(word))
    return kept if kept in model.stored.rows([kept]) and not model.stored.rows([token]) else token


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
        cutoffs_line(knowledge),
        *(f"still little mail: {', '.join(lacking)}" for lacking in [knowledge.missing] if lacking),
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


def cutoffs_line(knowledge: Knowledge) -> str:
    if knowledge.cutoffs is None or SPAM not in knowledge.labels:
        return "verdict: the likeliest label"
    if not all(map(isfinite, knowledge.cutoffs)):
        return "too little mail for cutoffs: all is unsure"
    ham, spam = knowledge.cutoffs
    other = next(label for label in knowledge.labels if label != SPAM)
    loss = f"for {100 * knowledge.ham_loss:g} % of {other} lost"
    return f"cutoffs {loss}: {other} up to {ham:.4f}, {SPAM} from {spam:.4f} on"
