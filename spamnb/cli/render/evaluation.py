"""Print evaluations and comparisons as tables, and write scores as tab-separated lines."""

from collections.abc import Sequence
from typing import Any

from spamnb.bayes.cutoffs import not_spam
from spamnb.cli.render.terminal import number, percent, show, table
from spamnb.evaluation.compare import CHANCE, ComparedCandidate
from spamnb.evaluation.results import Evaluation, JudgedMessages, Mistake
from spamnb.files import counted

ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def show_evaluation(evaluation: Evaluation) -> None:
    metrics = evaluation.metrics
    labels, intervals = metrics["labels"], metrics["intervals"]
    show(
        table(
            f"{counted(metrics['messages'], 'message')}, judged {evaluation.how}",
            ("", "precision", "recall", "F1", "messages"),
            [
                *(
                    (
                        name,
                        *(number(values[key]) for key in ("precision", "recall", "f1")),
                        f"{values['support']:,}",
                    )
                    for name, values in labels.items()
                ),
                ("macro", *(number(metrics["macro"][key]) for key in ("precision", "recall", "f1")), ""),
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
        table("with 95 % intervals", ("", "", "from", "to"), figures(metrics, intervals)),
    )
    if metrics["imbalance"]:
        show(metrics["imbalance"])
    if evaluation.learned:
        show(learned_before(evaluation.learned, evaluation.skipped))
    if evaluation.curve:
        show_curve(evaluation)
    if evaluation.mistakes:
        show_mistakes(evaluation.mistakes)
    if evaluation.duplicates:
        show(f"copies of other messages: {evaluation.duplicates:,}; --group-duplicates keeps them together")


def learned_before(learned: int, skipped: bool) -> str:
    """Warn of figures that flatter a model, or say what was left out to keep them honest."""
    if skipped:
        return f"left out, because the model has already learned them: {counted(learned, 'message')}"
    what = f"the model has already learned {learned:,} of these messages"
    return f"{what}, so the figures are too good; --skip-learned leaves them out"


def figures(metrics: dict[str, Any], intervals: dict[str, Any]) -> list[Sequence[str]]:
    """List the figures that have a meaning for this mail: name, value, and both ends of its interval."""
    missed, missed_intervals = (
        metrics["spam_missed_at_ham_lost"] or {},
        intervals["spam_missed_at_ham_lost"] or {},
    )
    lost_name = f"{not_spam(list(metrics['labels']))} lost"
    rows = [
        ("accuracy", metrics["accuracy"], intervals["accuracy"], 4, ""),
        (lost_name, metrics["ham_lost_percent"], intervals["ham_lost_percent"], 2, " %"),
        ("spam missed", metrics["spam_missed_percent"], intervals["spam_missed_percent"], 2, " %"),
        ("unsure", metrics["unsure_percent"], intervals["unsure_percent"], 2, " %"),
        ("1 - AUC", metrics["one_minus_auc_percent"], intervals["one_minus_auc_percent"], 4, " %"),
        *(
            (f"spam missed at {lost} % {lost_name}", missed[lost], missed_intervals.get(lost), 2, " %")
            for lost in missed
        ),
        ("lam", metrics["lam_percent"], intervals["lam_percent"], 3, " %"),
        ("log loss", metrics["log_loss"], intervals["log_loss"], 4, ""),
        ("Brier score", metrics["brier"], intervals["brier"], 4, ""),
        (
            "calibration error",
            metrics["expected_calibration_error"],
            intervals["expected_calibration_error"],
            4,
            "",
        ),
    ]
    return [
        (name, number(value, digits) + unit, *(number(end, digits) + unit for end in between or (None, None)))
        for name, value, between, digits, unit in rows
        if value is not None
    ]


def show_mistakes(mistakes: Sequence[Mistake]) -> None:
    show(
        table(
            "worst mistakes: the filter's, or is the mail mislabelled?",
            ("message", "subject", "truly", "judged", "score", "because of"),
            [
                (
                    mistake.path if mistake.index is None else f"{mistake.path}:{mistake.index}",
                    mistake.subject[:60],
                    mistake.truth,
                    mistake.verdict,
                    f"{mistake.score:.2f}",
                    ", ".join(f"{token} {weight:+.1f}" for token, weight in mistake.evidence[:5]),
                )
                for mistake in mistakes
            ],
            texts=("subject", "truly", "judged", "because of"),
        )
    )


def show_curve(evaluation: Evaluation) -> None:
    """Show some points of the learning curve; the page and the JSON have them all."""
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
            f"compared in {how}; won, tied and lost against the first, message by message",
            (
                "settings",
                "F1",
                "ham\nlost %",
                "spam\nmissed %",
                "unsure\n%",
                "1 - AUC\n%",
                "won:tied:lost",
                "chance?",
            ),
            [comparison_row(result) for result in compared],
            texts=("chance?",),
        )
    )


def comparison_row(result: ComparedCandidate) -> Sequence[str]:
    metrics = result.metrics
    spam = metrics["labels"].get("spam", metrics["macro"])
    return (
        result.candidate.name.replace(",", ", "),  # folded there
        number(spam["f1"]),
        number(metrics["ham_lost_percent"], 2),
        number(metrics["spam_missed_percent"], 2),
        number(metrics["unsure_percent"], 2),
        number(metrics["one_minus_auc_percent"]),
        f"{result.won}:{result.tied}:{result.lost}",
        chance(result),
    )


def chance(result: ComparedCandidate) -> str:
    """Say whether the difference to the first could be chance, in verdicts and in ranking."""
    if result.verdicts_p is None:
        return ""
    low = min(p for p in (result.verdicts_p, result.ranking_p) if p is not None)
    return f"yes, p {low:.2f}" if low > CHANCE else f"no, p {low:.1g}"


def as_tsv(judged: JudgedMessages) -> str:
    """Write path, label, score and verdict of each message on a line; what would break a line is escaped."""
    lines = ["path\tlabel\tscore\tverdict"]
    for (path, index), truth, score, verdict in zip(
        judged.names, judged.truth.tolist(), judged.score.tolist(), judged.verdict.tolist(), strict=True
    ):
        name = path if index is None else f"{path}:{index}"
        escaped = name.translate(ESCAPES)
        label = "unsure" if verdict < 0 else judged.labels[verdict]
        lines.append(f"{escaped}\t{judged.labels[truth]}\t{score!r}\t{label}")
    return "\n".join(lines) + "\n"
