"""Print evaluations and comparisons as tables."""

from collections.abc import Sequence

from spamnb.bayes.cutoffs import not_spam
from spamnb.bayes.verdict import score_text
from spamnb.cli.render.terminal import number, percent, show, table
from spamnb.evaluation.compare import CHANCE, ComparedCandidate
from spamnb.evaluation.metrics import LABEL_METRICS, shown_metrics
from spamnb.evaluation.results import Evaluation, Mistake
from spamnb.files import counted
from spamnb.labels import UNSURE
from spamnb.mailboxes.sources import message_name


def show_evaluation(evaluation: Evaluation) -> None:
    metrics = evaluation.metrics
    labels = metrics["labels"]
    by_label = [(name, values, f"{values['support']:,}") for name, values in labels.items()]
    show(
        table(
            f"{counted(metrics['messages'], 'message')}, judged {evaluation.how}",
            ("", *(metric.name for metric in LABEL_METRICS), "messages"),
            [
                (name, *(number(values[metric.key]) for metric in LABEL_METRICS), messages)
                for name, values, messages in (*by_label, ("macro", metrics["macro"], ""))
            ],
        ),
        table(
            "verdicts",
            ("truly", *labels, UNSURE),
            [
                (name, *(f"{count:,}" for count in counts.values()))
                for name, counts in metrics["confusion"].items()
            ],
        ),
        table(
            "with 95 % intervals",
            ("", "", "from", "to"),
            [(each.name, each.value, each.low, each.high) for each in shown_metrics(metrics)],
        ),
    )
    for note in (metrics["imbalance"], evaluation.learned_note):
        if note:
            show(note)
    if evaluation.curve:
        show_curve(evaluation)
    if evaluation.mistakes:
        show_mistakes(evaluation.mistakes)
    if evaluation.duplicates:
        show(f"exact copies of other messages: {evaluation.duplicates:,}; they make the figures look better")


def show_mistakes(mistakes: Sequence[Mistake]) -> None:
    show(
        table(
            "worst mistakes (some of this mail may be mislabelled)",
            ("message", "subject", "truly", "judged", "score", "because of"),
            [
                (
                    message_name(mistake.path, mistake.index),
                    mistake.subject[:60],
                    mistake.truth,
                    mistake.verdict,
                    score_text(mistake.score, 2),
                    ", ".join(f"{token} {weight:+.1f}" for token, weight in mistake.evidence[:5]),
                )
                for mistake in mistakes
            ],
            texts=("subject", "truly", "judged", "because of"),
        )
    )


def show_curve(evaluation: Evaluation) -> None:
    """Show some points of the learning curve; the HTML page and the JSON have all of them."""
    step = max(1, len(evaluation.curve) // 10)
    lost_name = f"{not_spam(evaluation.judged.labels)} lost"
    show(
        table(
            "learning curve",
            ("messages seen", "1 - AUC", lost_name, "spam missed", "recent errors"),
            [
                (
                    f"{point.messages:,}",
                    percent(point.one_minus_auc_percent, 3),
                    percent(point.ham_lost_percent),
                    percent(point.spam_missed_percent),
                    percent(point.recent_error_percent, 1),
                )
                for point in [*evaluation.curve[step - 1 :: step]]
            ],
        )
    )


def show_comparison(compared: Sequence[ComparedCandidate], how: str) -> None:
    show(
        table(
            f"compared in {how}; won:tied:lost: messages judged better, alike, worse than by the first row; "
            f"p: how probable the difference is by chance, corrected for all tests (low: up to {CHANCE:g})",
            (
                "settings",
                "F1",
                "ham\nlost %",
                "spam\nmissed %",
                "unsure\n%",
                "1 - AUC\n%",
                "won:tied\n:lost",
                "verdicts\np",
                "ranking\np",
            ),
            [comparison_row(result) for result in compared],
        )
    )


def comparison_row(result: ComparedCandidate) -> Sequence[str]:
    metrics = result.metrics
    spam = metrics["labels"].get("spam", metrics["macro"])
    return (
        result.candidate.name.replace(",", ", "),  # long names are wrapped at the spaces
        number(spam["f1"]),
        number(metrics["ham_lost_percent"], 2),
        number(metrics["spam_missed_percent"], 2),
        number(metrics["unsure_percent"], 2),
        number(metrics["one_minus_auc_percent"]),
        f"{result.won}:{result.tied}:{result.lost}",
        *("" if p is None else f"{p:.2g}" for p in (result.verdicts_p, result.ranking_p)),
    )
