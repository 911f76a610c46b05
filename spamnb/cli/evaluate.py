"""`spamnb evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from spamnb.bulk.batches import all_cores, read_batches
from spamnb.bulk.classifying import Judge
from spamnb.bulk.corpus import Corpus
from spamnb.bulk.evaluation import cross_validated, held_out
from spamnb.bulk.metrics import measure
from spamnb.cli.options import (
    Command,
    chosen_cutoffs,
    chosen_view,
    jobs_option,
    json_option,
    labelled,
    tokenizer_options,
    tokenizer_settings,
    view_options,
)
from spamnb.cli.progress import progress
from spamnb.cli.render import number, percent, print_json, show, shown, table
from spamnb.errors import UsageError
from spamnb.mail.sources import check, total_size
from spamnb.model import Model
from spamnb.tokens.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from spamnb.bulk.batches import Batch
    from spamnb.bulk.evaluation import Judged

EXAMPLES = """
spamnb evaluate ham/ spam/
spamnb evaluate --folds 5 --event multinomial ham.mbox.xz spam.mbox.xz
spamnb evaluate --model model.msgpack later-ham/ later-spam/
spamnb evaluate --json ham/ spam/ | jq .labels.spam.f1
"""


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("folders", nargs=-1, metavar="[HAM SPAM]")
@click.option("--ham", multiple=True, metavar="PATH", help="Ham; again for more.")
@click.option("--spam", multiple=True, metavar="PATH", help="Spam, likewise.")
@click.option("--label", multiple=True, metavar="NAME=PATH", help="Mail of any other class.")
@click.option("--model", metavar="PATH", help="Judge by this model, instead of cross-validating.")
@click.option("--folds", type=click.IntRange(2, 1000), default=10, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the shuffle into folds.")
@view_options
@click.option("--cutoff", metavar="[HAM,]SPAM", help="With --model: scores to decide by.")
@tokenizer_options
@jobs_option
@json_option
def evaluate(
    folders: tuple[str, ...],
    ham: tuple[str, ...],
    spam: tuple[str, ...],
    label: tuple[str, ...],
    model: str | None,
    folds: int,
    seed: int,
    event: str | None,
    smoothing: str | None,
    prior: str | None,
    tfidf: bool,
    numbers: bool,
    cutoff: str | None,
    jobs: int | None,
    as_json: bool,
    **settings: Any,
) -> int:
    """How good is the filter on this mail? Precision, recall, F1, and what was mistaken for what.

    Cross-validates: the mail is read once, then each fold is judged by the counts of all the others. With
    --model, judges by a model that was trained elsewhere.
    """
    sources = labelled(folders, ham, spam, label)
    if len(sources) < 2:
        raise UsageError("at least two labels, for instance: spamnb evaluate ham/ spam/")
    paths = [path for many in sources.values() for path in many]
    check(paths)
    view = chosen_view(event, smoothing, prior, tfidf, numbers)
    given = tokenizer_settings(**settings)
    if model is not None and given:
        raise UsageError("a model has its tokenizer settings; leave them out")
    opened = Model.open(model, view, chosen_cutoffs(cutoff)) if model is not None else None
    chosen = opened.settings if opened else Settings(**given)

    def batches() -> Iterator[Batch]:
        with progress("reading", total_size(paths)) as step:
            for batch in read_batches(sources, chosen, jobs or all_cores()):
                yield batch
                step(batch.size, len(batch))

    if opened:
        judged = held_out(Judge(opened), list(sources), batches())
    else:
        judged = cross_validated(Corpus.of(list(sources), batches()), folds, seed, view)
    metrics = measure(judged.labels, judged.truth, judged.verdict, judged.score, judged.probability).as_map()
    metrics["folds"] = None if opened else folds
    if as_json:
        print_json(metrics)
    else:
        report(judged, metrics)
    return 0


def report(judged: Judged, metrics: dict[str, Any]) -> None:
    labels = metrics["labels"]
    how = "by a model of its own" if metrics["folds"] is None else f"in {metrics['folds']} folds"
    show(
        table(
            f"{metrics['messages']:,} messages, judged {how}",
            ("", "precision", "recall", "F1", "messages"),
            [
                (
                    name,
                    number(own["precision"]),
                    number(own["recall"]),
                    number(own["f1"]),
                    f"{own['support']:,}",
                )
                for name, own in labels.items()
            ],
        ),
        table(
            "verdicts",
            ("truly", *labels, "unsure"),
            [
                (
                    name,
                    *(f"{metrics['confusion'][name].get(verdict, 0):,}" for verdict in (*labels, "unsure")),
                )
                for name in labels
            ],
        ),
        f"accuracy {number(metrics['accuracy'])}",
    )
    if metrics["one_minus_auc_percent"] is not None:
        missed = metrics["spam_missed_at_ham_lost"]
        show(
            f"ham lost {percent(metrics['ham_lost_percent'])}, "
            f"spam missed {percent(metrics['spam_missed_percent'])}, "
            f"(1-AUC) {percent(metrics['one_minus_auc_percent'], 4)}",
            f"spam missed at 0.1 % ham lost {percent(missed['0.1'])}, at 0.5 % {percent(missed['0.5'])}",
        )
    for failure in judged.unreadable:
        click.echo(f"unreadable: {shown(failure.path)}: {shown(failure.why)}", err=True)
