"""Scores of messages, and verdicts: how cutoffs and calibration decide on a score."""

from math import exp

from spamnb.labels import HAM, SPAM, UNSURE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spamnb.store.counts import Row

inf, nan = float("inf"), float("nan")
MAX_FLOAT = 1.7976931348623157e308  # the largest float, in place of infinity, which JSON lacks
REQUIRED = 5.0  # SpamAssassin's threshold, and where our spam cutoff lies on its scale
MAX_POINTS = 100.0
# Nats by which head or body may speak for spam in ham; beyond, a message is unsure: a spammer who knows good
# words puts them below a revealing head. 0.04 % of the ham of spamassassin is beyond, and 97 % of its spam.
CONTRADICTION = 1.0
HAM_LOSS = 0.001  # the share of ham that may be taken for spam
MIN_SCORE = 0.5  # what one token of 2.5 nats makes, the weakest that counts: not enough for a verdict


class Score:
    """The log-joint (log P(label, message)) of each label, and the evidence for these numbers."""

    __slots__ = ("evidence", "joint", "labels", "other_evidence", "parts", "repeat_gain")

    def __init__(
        self,
        labels: "Sequence[str]",
        joint: list[float],
        evidence: "list[Evidence]",
        parts: "Sequence[list[float]]" = (),
        other_evidence: "Sequence[Evidence]" = (),
        repeat_gain: float = 0.0,
    ) -> None:
        self.labels = labels
        self.joint = joint
        self.evidence = evidence
        self.parts = parts  # what the words of body and head add to the log-joints, where these are means
        # Where `evidence` separates spam from the rest: what separates the other labels.
        self.other_evidence = other_evidence
        self.repeat_gain = repeat_gain  # nats that spam gains, or loses, by text of learned spam

    def of(self, label: str) -> float:
        """Return how far a label is ahead of the best other label; with two labels, the log-odds."""
        return lead_of(self.joint, self.labels.index(label))

    def without(self, label: str) -> "Score":
        """Return the score of all labels except this one, without evidence."""
        k = self.labels.index(label)
        return Score([*self.labels[:k], *self.labels[k + 1 :]], [*self.joint[:k], *self.joint[k + 1 :]], [])

    def lead_among_others(self, label: str) -> float:
        """Return a label's lead over the best other but spam; NaN for spam, or without spam and 2 others."""
        if label == SPAM or SPAM not in self.labels or len(self.labels) <= 2:
            return nan
        return self.without(SPAM).of(label)

    def highest_lead_of_a_part(self, label: str) -> float:
        """Return by how much a label leads in the head or in the body of the message, whichever is more."""
        return max([lead_of(part, self.labels.index(label)) for part in self.parts], default=0.0)

    @property
    def posterior(self) -> list[float]:
        return posterior_of(self.joint)

    @property
    def best(self) -> str:
        return self.labels[self.joint.index(max(self.joint))]


class Evidence:
    """A token, word pair or number: its counts, how often the message has it, its weight per label."""

    __slots__ = ("base_row", "feature", "part", "row", "times", "weights")

    def __init__(
        self,
        feature: int | str,
        row: "Row",
        times: float,
        weights: list[float],
        part: int = 0,
        base_row: "Row" = (),
    ) -> None:
        self.feature = feature  # the fingerprint of a token or a pair, the name of a number
        self.part = part
        self.row = row
        self.base_row = base_row  # counts of a base, once separated
        self.times = times
        self.weights = weights

    @property
    def strength(self) -> float:
        """The difference between the highest and the lowest weight."""
        low, high = min(self.weights), max(self.weights)
        return 0.0 if low == high else high - low


class Cutoffs:
    """Two scores: up to `ham`, a message is ham; from `spam` on, it is spam; between the two, it is unsure.

    A message that would be ham is also unsure if its head or body favours spam by more than `contradiction`.
    With several labels besides spam, it is also unsure if the best of these leads by less than `margin`.
    """

    __slots__ = ("contradiction", "ham", "margin", "spam")

    def __init__(
        self,
        ham: float = -inf,
        spam: float = inf,
        contradiction: float = CONTRADICTION,
        margin: float = MIN_SCORE,
    ) -> None:
        self.ham = float(ham)
        self.spam = float(spam)
        self.contradiction = float(contradiction)
        self.margin = float(margin)

    def verdict(self, score: float) -> str:
        """Return the verdict for a score."""
        if score >= self.spam and score != self.ham:
            return SPAM
        return HAM if score <= self.ham else UNSURE


class Calibration:
    """Turns a score into a probability of spam, by a logistic function."""

    __slots__ = ("intercept", "slope")

    def __init__(self, slope: float = 1.0, intercept: float = 0.0) -> None:
        self.slope = float(slope)
        self.intercept = float(intercept)

    def between(self, cutoffs: "Cutoffs") -> "Calibration":
        """Return the calibration, shifted so that the score of probability 0.5 lies between the cutoffs."""
        low, high = -self.slope * cutoffs.spam, -self.slope * cutoffs.ham
        return Calibration(self.slope, min(max(self.intercept, low), high)) if low < high else self

    def probability(self, score: float) -> float:
        x = self.slope * score + self.intercept
        return 1 / (1 + exp(-x)) if x > -700 else 0.0  # exp(710) overflows


class Verdict:
    """The label chosen for a message, with score, probability and evidence.

    With three or more labels, `is_spam` may be False while the label of the message is still unsure.
    """

    __slots__ = (
        "cutoffs",
        "evidence",
        "is_spam",
        "label",
        "label_if_ham",
        "probabilities",
        "probability",
        "reason",
        "score",
        "why",
    )

    def __init__(
        self,
        label: str,
        score: float,
        probability: float,
        probabilities: "Mapping[str, float]",
        evidence: "Sequence[Evidence]",
        cutoffs: Cutoffs | None = None,
        label_if_ham: str = HAM,
    ) -> None:
        self.label = label
        self.is_spam = None if label == UNSURE else label == SPAM  # None: unsure
        self.label_if_ham = (
            label_if_ham  # the label if the message is not spam, perhaps by its sender; may be unsure
        )
        self.score = score
        self.probability = probability
        self.probabilities = probabilities
        self.evidence = evidence
        self.reason = ""  # why the score did not decide: "blocked=example.org", "allowed=ann@example.org"
        self.why: list[str] = []  # reasons in plain words, if they were asked for
        self.cutoffs = cutoffs  # the cutoffs that decided; None where the likeliest label won

    def __repr__(self) -> str:
        return f"<Verdict {self.label}: score {self.score:.4f}, probability {self.probability:.4f}>"

    def make_unsure(self) -> None:
        """Change the verdict to unsure, with the same probability for all labels."""
        self.label, self.is_spam, self.score, self.probability = UNSURE, None, 0.0, 0.5
        self.probabilities = dict.fromkeys(self.probabilities, 1 / len(self.probabilities))

    @property
    def points(self) -> float:
        """The score on SpamAssassin's scale: 5.0 or more if the verdict is spam, otherwise less."""
        points = spamassassin_score(self.score, self.cutoffs)
        return max(points, REQUIRED) if self.label == SPAM else min(points, REQUIRED - 0.1)

    def as_map(self) -> "dict[str, Any]":
        return {
            "verdict": self.label,
            "is_spam": self.is_spam,
            "score": self.score,
            "probability": self.probability,
            "probabilities": dict(self.probabilities),
            "reason": self.reason or None,
        }


def score_text(score: float, digits: int = 4) -> str:
    """Return a score as a decimal number, or as inf or -inf."""
    return f"{score:.{digits}f}" if abs(score) < MAX_FLOAT else "inf" if score > 0 else "-inf"


def spamassassin_score(score: float, cutoffs: Cutoffs | None) -> float:
    """Return a score on SpamAssassin's scale: 5.0 at the spam cutoff, and one point for each nat.

    Half of the ham of the SpamAssassin corpus is then below -5, half of its spam above 15. The result is
    rounded down to tenths, so that only scores from the cutoff on are printed as 5.0.
    """
    cutoff = cutoffs.spam if cutoffs and abs(cutoffs.spam) != inf else 0.0
    points = REQUIRED + (score - cutoff)
    return 10 * min(max(points, -MAX_POINTS), MAX_POINTS) // 1 / 10  # rounded down


def verdict_of(score: Score, cutoffs: Cutoffs | None, calibration: Calibration | None) -> Verdict:
    """Return the verdict for a score by the cutoffs; without cutoffs, or a label spam, the best label wins.

    Score and probability of the verdict are those of spam; without a label spam, those of the best label.
    """
    if SPAM in score.labels and len(score.labels) > 1:
        return _verdict_on_spam(score, cutoffs, calibration)
    label, probabilities = score.best, dict(zip(score.labels, score.posterior, strict=True))
    value, label_if_ham = within_limits(score.of(label)), HAM if label == SPAM else label
    decided = UNSURE if is_undecided(score.joint) else label
    return Verdict(decided, value, probabilities[label], probabilities, score.evidence, None, label_if_ham)


def _verdict_on_spam(score: Score, cutoffs: Cutoffs | None, calibration: Calibration | None) -> Verdict:
    """Return the verdict on a message: whether it is spam, and which label it has if it is not."""
    labels, joint = score.labels, score.joint
    spam_index = labels.index(SPAM)
    others = joint[:spam_index] + joint[spam_index + 1 :]
    best = others.index(max(others))
    label_if_ham = labels[best if best < spam_index else best + 1]
    value = within_limits(lead_of(joint, spam_index))
    if cutoffs is not None and len(others) > 1 and lead_of(others, best) < cutoffs.margin:
        label_if_ham = UNSURE
    is_ham = False
    if is_undecided(joint):
        label = UNSURE
    elif cutoffs is None:
        label = score.best
    else:
        label = cutoffs.verdict(value)
        is_ham = label == HAM and score.highest_lead_of_a_part(SPAM) <= cutoffs.contradiction
        label = label_if_ham if is_ham else SPAM if label == SPAM else UNSURE
    if calibration is not None:
        spam = calibration.probability(value)
        # Given cutoffs may not fit the calibration: no probability may contradict the verdict.
        spam = min(spam, 0.5) if is_ham else max(spam, 0.5) if label == SPAM else spam
        shares = [(1 - spam) * share for share in posterior_of(others)]
        shares.insert(spam_index, spam)
    else:
        shares = posterior_of(joint)
    probabilities = dict(zip(labels, shares, strict=True))
    verdict = Verdict(label, value, shares[spam_index], probabilities, score.evidence, cutoffs, label_if_ham)
    verdict.is_spam = False if is_ham else verdict.is_spam
    return verdict


def within_limits(score: float) -> float:
    """Return a score that JSON can express, with the largest float in place of infinity."""
    return min(max(score, -MAX_FLOAT), MAX_FLOAT)


def is_undecided(joint: list[float]) -> bool:
    """Return whether all labels are equally likely, or all impossible (the zero-frequency problem)."""
    return len(joint) > 1 and max(joint) == min(joint)


def posterior_of(joint: list[float]) -> list[float]:
    """Turn log-joints into probabilities of the labels; if no label is possible, all are equally likely."""
    if len(joint) == 1:
        return [1.0]
    top = max(joint)
    if top == -inf:
        return [1 / len(joint) for _ in joint]
    if top == inf:
        return posterior_of([0.0 if j == inf else -inf for j in joint])
    shares = [exp(j - top) for j in joint]
    total = sum(shares)
    return [share / total for share in shares]


def lead_of(values: list[float], label_index: int) -> float:
    """Return how far the value of one label is above the highest value of the others."""
    if len(values) == 1:
        return 0.0
    value, best_other = values[label_index], max(values[:label_index] + values[label_index + 1 :])
    return 0.0 if value == best_other else value - best_other
