"""Print what a model has learned, the result of a check, and messages made at random from the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import date
from math import isfinite
from typing import TYPE_CHECKING, Any

from spamnb.bayes.cutoffs import not_spam
from spamnb.cli.render.terminal import fact_lines, left_aligned, listed, print_json, show, signed, table
from spamnb.errors import DataError
from spamnb.evaluation.candidates import settings_text
from spamnb.files import complain, counted, printable
from spamnb.inspection.check import CheckReport
from spamnb.inspection.model_summary import ModelSummary, StrongToken
from spamnb.inspection.samples import SyntheticMessage
from spamnb.labels import SPAM

if TYPE_CHECKING:
    from rich.console import RenderableType

MAX_COLUMNS = 4  # labels that have a column each; if there are more, only one has
BAR_WIDTH = 10  # characters


def show_model(known: ModelSummary) -> None:
    show(
        f"model: {printable(known.path)}",
        labels_table(known),
        *fact_lines(facts(known)),
        *(strongest_table(known, label, tokens) for label, tokens in known.strongest.items() if tokens),
    )


def labels_table(known: ModelSummary) -> RenderableType:
    columns = ("label", "messages", "prior", "tokens", "occurrences", "per message")
    rows = zip(known.labels, known.messages, known.priors, known.tokens, known.occurrences, strict=True)
    return table(
        None,
        columns,
        [
            (
                label,
                f"{messages:,}",
                f"{prior:.4f}",
                f"{tokens:,}",
                f"{times:,}",
                f"{times / max(1, messages):,.0f}",
            )
            for label, messages, prior, tokens, times in rows
        ],
    )


def facts(known: ModelSummary) -> Iterator[tuple[str, str]]:
    yield "trained", "; ".join(known.assessment) or "well"
    yield "cutoffs", cutoffs(known)
    yield "learned", age(known)
    yield "vocabulary", f"{counted(known.vocabulary, 'token')}, {counted(known.pairs, 'word pair')}"
    yield "settings", printable(settings_text(known.settings, known.view))
    if known.base:
        yield "base", base(known.base)
    yield "size", f"{known.size / 1e6:,.1f} MB"
    yield "journal", journal(known)


def base(about: Mapping[str, Any]) -> str:
    """Describe the base of a model, and say whether mail is judged by the model, the base, or both."""
    judges = {
        ("model",): "not used: the model judges alone",
        ("base",): f"judges alone until the model has {about['enough']} messages of each label",
        ("model", "base"): "judges together with the model, with the sum of both counts",
    }[tuple(about["judges"])]
    limits = "; cutoffs {:.4f} and {:.4f}".format(*about["cutoffs"]) if about["cutoffs"] else ""
    return f"{printable(about['path'])}, {judges}{limits}"


def cutoffs(known: ModelSummary) -> str:
    if known.cutoffs is None:
        return "none: the verdict is the likeliest label"
    ham, spam = known.cutoffs
    if not isfinite(spam):
        return "none yet: too little mail, everything is unsure"
    other = not_spam(known.labels)
    loss = f"set for {100 * known.ham_loss:g} % of {other} lost"
    said = f"{other} up to {ham:.4f}, {SPAM} from {spam:.4f} on, between them unsure; {loss}"
    return said if known.margin is None else f"{said}; other labels must lead by {known.margin:.4f}"


def age(known: ModelSummary) -> str:
    if known.last_learned is None:
        return "nothing yet"
    days = (date.today() - date.fromisoformat(known.last_learned)).days
    return f"last {known.last_learned} ({'today' if days < 1 else counted(days, 'day') + ' ago'})"


def journal(known: ModelSummary) -> str:
    if not known.journal:
        return "empty: all that was learned is in the model file"
    share = 100 * known.journal_size / known.journal_limit
    messages = counted(known.journal, "message")
    return f"{messages} since the model file was written; {share:.0f} % of the size at which it is folded in"


def strongest_table(known: ModelSummary, label: str, tokens: list[StrongToken]) -> RenderableType:
    """Make the table of a label's strongest tokens, with counts of all labels or, if many, this one."""
    has_few_labels = len(known.labels) <= MAX_COLUMNS
    label_indexes = range(len(known.labels)) if has_few_labels else [known.labels.index(label)]
    largest = max(token.weight for each in known.strongest.values() for token in each)
    return table(
        f"strongest tokens of {label}",
        ("token", *(f"in {known.labels[k]}" for k in label_indexes), "weight", ""),
        [
            (
                token.token,
                *(f"{token.messages[k]:,}" for k in label_indexes),
                signed(token.weight, 2),
                left_aligned("█" * round(BAR_WIDTH * token.weight / largest)),
            )
            for token in tokens
        ],
        has_picture=True,
    )


def show_check(found: CheckReport, as_json: bool) -> int:
    """Print a line for each damaged part, or facts about an undamaged model; return the exit code."""
    if as_json:
        print_json(asdict(found))
    elif not found.damage:
        show(f"{printable(found.path)}: undamaged", *fact_lines(check_facts(found)))
    else:
        for damage in found.damage:
            complain(f"{found.path}: {damage}")
    return DataError.exit_code if found.damage else 0


def check_facts(found: CheckReport) -> Iterator[tuple[str, str]]:
    yield "tokens", f"{found.tokens:,}"
    yield "word pairs", f"{found.pairs:,}"
    yield "messages", f"{found.messages:,}"
    yield "journal", f"{counted(found.journal, 'message')}, {found.journal_size:,} bytes"
    yield "size", f"{found.size:,} bytes in {found.columns:,} columns"
    if found.aside:
        yield (
            "aside",
            f"{printable(found.aside)}: an earlier, damaged journal; its undamaged records are in the model",
        )


LISTED = 100  # tokens of a random message


def show_samples(samples: Iterable[SyntheticMessage], count: int, everything: bool, as_json: bool) -> None:
    """Print messages made at random from the model: their tokens, the most frequent first."""
    if as_json:
        print_json({"messages": [*map(asdict, samples)]})
        return
    for serial, sample in enumerate(samples, 1):
        size = f"{sample.length:,} tokens, {len(sample.tokens):,} different"
        ordered = sorted(sample.tokens.items(), key=lambda item: -item[1])
        tokens = [token if times == 1 else f"{token} ×{times}" for token, times in ordered]
        named = listed(tokens, len(tokens) if everything else LISTED)
        show(f"{sample.label} {serial} of {count}: {size}", f"  {named}", "")
