"""Explain a verdict as a sum that can be checked by hand.

A lead is explained: how far spam is ahead of the best other label or, if spam is not in question, how far the
verdict is ahead of the next label. With two labels, one of them spam, it is the score. A lead is a sum:

    lead = prior + absent words + Σ adds,   adds = weight · times      (the textbooks' models)
                                            adds = weight / divisor    (where means are taken)

If few words and pairs are evidence, a lead of spam is reduced: the row "little evidence" subtracts from it.
Spam gains if the text is known from learned spam, and loses if a reply quotes such text (`repeat_gain`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from spamnb.bayes.cutoffs import has_spam, not_spam
from spamnb.bayes.verdict import Cutoffs, Evidence, Verdict
from spamnb.configuration import Configuration
from spamnb.core.native import FeatureSet, Message, Scorer, read
from spamnb.files import printable
from spamnb.inspection.comparison import difference, evidence_between
from spamnb.inspection.in_words import ReasonInWords, labels_in_question, why_in_words
from spamnb.inspection.reason import PLACES, Reason
from spamnb.inspection.sums import (
    PartSum,
    numeric_reasons,
    present_and_absent,
    sum_evidence,
    sum_grams,
)
from spamnb.labels import SPAM, UNSURE
from spamnb.model import Model
from spamnb.reading.envelope import envelope_of

if TYPE_CHECKING:
    from spamnb.store.counts import Row

MAX_LISTED = 12  # labels
MAX_COLUMNS = 4  # with more labels, a table has columns only for the two compared


class WeakToken(NamedTuple):
    """A learned token that is too weak to be used as evidence."""

    token: str
    row: Row
    weight: float


class IgnoredKind(NamedTuple):
    """A group of tokens that are not used as evidence: its name, the reason, how many there are, examples."""

    name: str
    why: str
    total: int
    examples: list[str]


class SumRow(NamedTuple):
    """A row of the table that adds up the lead: name, sum of weights, divisor, and what the row adds."""

    name: str
    weight: float | None
    divisor: str
    adds: float


class Explanation(NamedTuple):
    """A verdict, the evidence for it, and what was ignored."""

    model: Model
    message: Message
    features: FeatureSet
    verdict: Verdict
    toward: int  # index of the label whose lead over the other one is explained
    against: int  # index of the other label
    joint: Sequence[float]  # per label; the lead is the difference of two
    lead: float
    prior: float
    absent: float  # what absent words add, by Bernoulli's model
    part_sums: list[PartSum]
    reasons: list[Reason]  # strongest first
    unknown: list[str]  # tokens in no learned message
    weak_rows: dict[str, Row]
    ignored_pairs: int  # pairs of neighbouring words that are unknown or weak
    sentence: str  # why, in plain words
    in_words: list[ReasonInWords]  # the strongest reasons, in plain words

    def __repr__(self) -> str:
        return f"<Explanation: {self.sentence}>"

    @property
    def sides(self) -> tuple[str, str]:
        """The sum's sides: two labels, or "not spam" and spam. Evidence for the first lowers the sum."""
        against, toward = self.compared
        is_spam_apart = self.model.classifier.spam_apart >= 0  # compared with all other labels together
        return not_spam(self.model.labels) if self.is_about_spam and is_spam_apart else against, toward

    @property
    def compared(self) -> tuple[str, str]:
        """The two labels compared; `lead` is how far the second is ahead of the first."""
        return self.model.labels[self.against], self.model.labels[self.toward]

    @property
    def column_labels(self) -> Sequence[str]:
        """The labels whose counts a table shows: all labels or, if there are many, the two compared."""
        return self.model.labels if len(self.model.labels) <= MAX_COLUMNS else self.compared

    @property
    def ranked_label(self) -> str:
        """The label whose score and probability are shown: spam, or else the label of the verdict."""
        return SPAM if SPAM in self.model.labels else self.verdict.label

    @property
    def cutoffs(self) -> Cutoffs | None:
        """The cutoffs that decide the verdict; None if the likeliest label wins."""
        return self.model.cutoffs if has_spam(self.model.labels) else None

    @property
    def is_about_spam(self) -> bool:
        """Whether the evidence is for or against spam, rather than for one of several other labels."""
        return SPAM in self.compared

    @property
    def is_finite(self) -> bool:
        """Whether all parts of the sum are finite; without smoothing, a count of zero makes one infinite."""
        sums = (self.joint[self.toward], self.joint[self.against], self.prior, self.absent)
        return all(map(isfinite, sums)) and all(isfinite(part.adds) for part in self.part_sums)

    @property
    def weak(self) -> list[WeakToken]:
        """The learned tokens that are too weak to be used as evidence, the strongest first."""
        classifier = self.model.classifier
        weights = Scorer(classifier).weights_of if self.is_about_spam else classifier.weights
        weak = [
            WeakToken(token, row, difference(weights(row), self.toward, self.against))
            for token, row in self.weak_rows.items()
        ]
        return sorted(weak, key=lambda token: -abs(token.weight))

    def ignored(self, most: int) -> list[IgnoredKind]:
        """Return the tokens not used as evidence, grouped by reason, with at most `most` examples a group."""
        weak = [f"{token.token} {token.weight:+.2f}" for token in self.weak[:most]]
        least = f"less than {self.model.view.least_evidence:g} nats"
        kinds = (
            IgnoredKind("unknown", "in no message learned", len(self.unknown), self.unknown),
            IgnoredKind("weak", least, len(self.weak_rows), weak),
            IgnoredKind("word pairs", "unknown or weak", self.ignored_pairs, []),
        )
        return [kind._replace(examples=kind.examples[:most]) for kind in kinds if kind.total]

    def rule(self, named: Callable[[str], str] = str) -> str:
        """Say by which rule the score became this verdict; `named` returns the name to show for a label."""
        if self.verdict.reason:
            return f"decided by its sender, not by the score: {printable(self.verdict.reason)}"
        if self.cutoffs is None:
            shares = sorted(self.verdict.probabilities.items(), key=lambda item: -item[1])[:MAX_LISTED]
            return "the likeliest label: " + ", ".join(f"{named(name)} {share:.4f}" for name, share in shares)
        limits, margin = self.cutoffs, self.cutoffs.margin
        if not isfinite(limits.spam):
            return "too little mail learned for cutoffs: everything is unsure"
        ham = named(not_spam(self.model.labels))
        rules = [f"cutoffs: {ham} up to {limits.ham:.4f}, spam from {limits.spam:.4f} on"]
        if len(self.model.labels) > 2:
            rules.append(f"other labels must lead by {margin:.4f}")
        if self.model.classifier.is_corrected:
            rules.append("weights are corrected for mail that looks misfiled, the counts below are not")
        if self.verdict.label == UNSURE and self.verdict.score <= limits.ham:
            is_ham = self.verdict.is_spam is False
            why = "no other label leads by that much" if is_ham else "its headers or its body look like spam"
            rules.append(f"unsure, because {why}")
        return "; ".join(rules)

    def as_map(self, path: str) -> dict[str, Any]:
        """Return the explanation as plain values for JSON; `path` is the path of the message."""
        return {
            "path": path,
            **self.verdict.as_map(),
            "why": [self.sentence, *map(str, self.in_words)],
            "cutoffs": [self.cutoffs.ham, self.cutoffs.spam] if self.cutoffs else None,
            **({"margin": self.cutoffs.margin} if self.cutoffs and len(self.model.labels) > 2 else {}),
            "toward": self.compared[1],
            "against": self.compared[0],
            "lead": self.lead,
            "sum": {
                "prior": self.prior,
                "absent": self.absent,
                "parts": [part._asdict() for part in self.part_sums],
            },
            "evidence": [self._reason_map(reason) for reason in self.reasons],
            "ignored": {
                "unknown": self.unknown,
                "weak": [
                    {"token": weak.token, **self._counts_map(weak.row), "weight": weak.weight}
                    for weak in self.weak
                ],
                "pairs": self.ignored_pairs,
            },
        }

    def _reason_map(self, reason: Reason) -> dict[str, Any]:
        return {
            "token": reason.token,
            "where": reason.where,
            **self._counts_map(reason.row),
            **self._base_map(reason.evidence.base_row),
            "times": reason.evidence.times,
            "weights": dict(zip(self.model.labels, reason.evidence.weights, strict=True)),
            "weight": reason.weight,
            "adds": reason.adds,
        }

    def _base_map(self, row: Row) -> dict[str, Any]:
        """Return for JSON how many messages of the base have a token; {} if the model has no base."""
        return {"base_messages": self._counts_map(row)["messages"]} if self.model.base else {}

    def _counts_map(self, row: Row) -> dict[str, Any]:
        labels = self.model.labels
        return {
            "messages": dict(zip(labels, row[: len(labels)], strict=True)),
            "occurrences": dict(zip(labels, row[len(labels) :], strict=False)),
        }

    def sum_rows(self, named: Callable[[str], str] = str) -> Iterator[SumRow]:
        """Yield the rows of a table that adds up the lead; `named` returns the name to show for a label."""
        against, toward = map(named, self.sides)
        damping = self.model.view.damping
        if damping is None:
            yield SumRow(f"prior, log {toward} against {against}", None, "", self.prior)
        if self.absent:
            yield SumRow("all other words, which are absent", None, "", self.absent)
        for part in self.part_sums:
            counted = part.divisor * part.share - (damping or 0.0)
            divisor = f"{counted:.2f} + {damping or 0:g} silent" if part.divisor != 1 else ""
            divisor = divisor if part.share == 1 else f"{1 / part.share:g} × ({divisor})"
            yield SumRow(part.name, part.weight, divisor, part.adds)
        ahead = "score" if self.lead == self.verdict.score else f"{toward} ahead of {against} by"
        yield SumRow(ahead, None, "", self.lead)

    def by_place(self) -> dict[str, list[Reason]]:
        """Return the reasons by place in the message, such as `subject`, in the order of reading."""
        places: dict[str, list[Reason]] = {name: [] for name in PLACES}
        for reason in self.reasons:
            places[reason.where].append(reason)
        return {name: reasons for name, reasons in places.items() if reasons}


def explain(model: Model, raw: bytes, configuration: Configuration | None = None) -> Explanation:
    """Explain the verdict on a message; lists of senders in the configuration may overrule the model."""
    message = read(raw)
    features = model.tokenizer.features(message)
    classifier, view = model.classifier, model.view
    pairs = features.pairs if view.pairs else []
    score = model.score(features)
    verdict = model.decide(score)
    toward, against = labels_in_question(score, verdict)
    lead = difference(score.joint, toward, against)
    prior = difference(classifier.log_prior, toward, against) if view.damping is None else 0.0
    absent = 0.0
    if configuration:
        configuration.decide(verdict, envelope_of(message), model.stored)
    in_words = why_in_words(model, message, features, score, verdict)
    words = evidence_between(score, toward, against)
    separate_layers(model, words)
    numbers = words[:0]
    if view.numbers:
        measured = len(classifier.numeric_evidence(features.numbers))
        words, numbers = words[: len(words) - measured], words[len(words) - measured :]
    if view.event == "bernoulli":
        words, logs = present_and_absent(classifier, words)
        absent = difference(logs, toward, against)
    reasons, part_sums = sum_evidence(view, words, features, toward, against)
    if numbers:
        reasons += numeric_reasons(numbers, toward, against)
        total = sum(reason.adds for reason in reasons[len(words) :])
        part_sums.append(PartSum("numbers", len(numbers), total, 1.0, total))
    stretches, gram_sums = sum_grams(model, features, toward, against)
    reasons, part_sums = reasons + stretches, part_sums + gram_sums
    if score.repeat_gain and SPAM in (model.labels[toward], model.labels[against]):
        gain = score.repeat_gain if model.labels[toward] == SPAM else -score.repeat_gain
        weights = [score.repeat_gain * (label == SPAM) for label in model.labels]
        name = f"{'text' if score.repeat_gain > 0 else 'quotation'} of learned spam"
        repeat = Evidence(name, (0,) * 2 * len(model.labels), 1, weights)
        reasons.append(Reason(name, repeat, gain, gain))
        part_sums.append(PartSum(name, 1, gain, 1.0, gain))
    loses = lead - sum(part.adds for part in part_sums)
    if classifier.spam in (toward, against) and abs(loses) > 1e-9:
        part_sums.append(PartSum("little evidence", len(words), loses, 1.0, loses))
    counted = {item.feature for item in words}
    others = [token[0] for token in features.tokens if token[0] not in counted]
    weak = model.counts.lookup(others)
    if view.event == "gaussian":
        others, weak = [], {}
    return Explanation(
        model,
        message,
        features,
        verdict,
        toward,
        against,
        score.joint,
        lead,
        prior,
        absent,
        part_sums,
        sorted(reasons, key=lambda reason: -abs(reason.adds)),
        [features.texts[fingerprint] for fingerprint in others if fingerprint not in weak],
        {features.texts[fingerprint]: weak[fingerprint] for fingerprint in others if fingerprint in weak},
        len(pairs) - sum([len(item.row) == len(model.labels) for item in words]) if pairs else 0,
        *in_words,
    )


def separate_layers(model: Model, words: Sequence[Evidence]) -> None:
    """Split the counts of each word, sums of model and base, into `row` (model) and `base_row` (base)."""
    if model.base is None:
        return
    features = [int(item.feature) for item in words]
    own, beneath = (layer.counts.lookup(features) for layer in (model.stored, model.base))
    for item in words:
        size, nothing = len(item.row), (0,) * len(item.row)  # the row of a pair has no occurrences
        item.row = own.get(int(item.feature), nothing)[:size]
        item.base_row = beneath.get(int(item.feature), nothing)[:size]
