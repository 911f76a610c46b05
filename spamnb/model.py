"""A model for judging mail: counts on disk, a tokenizer, and a view (how counts give probabilities)."""

import os

from spamnb.bayes.classifier import Classifier, Scorers
from spamnb.bayes.likelihood import NONE_MISFILED
from spamnb.bayes.verdict import MIN_SCORE, Calibration, Cutoffs, Score, verdict_of
from spamnb.bayes.view import View
from spamnb.core.native import CountSum, Tokenizer, read
from spamnb.errors import WHAT_TO_DO, DataError, ModelError, NoInput, SpamnbError, UsageError
from spamnb.files import complain, model_file
from spamnb.labels import SPAM
from spamnb.reading.settings import Settings
from spamnb.store.stored_model import StoredModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from spamnb.bayes.verdict import Verdict
    from spamnb.core.native import Counts, FeatureSet, Message
    from spamnb.store.counts import TotalCounts


# The figures are (1-AUC)% on ten half splits of spamassassin; this view has 0.0137 (`make ablation`).
DEFAULT_VIEW = View(
    event="binary",  # presence, not frequency
    smoothing=0.01,  # 0.014 with 0.001, 0.018 with 0.1, 0.087 with 1
    pairs=True,  # 0.019 without neighbours
    least_evidence=2.5,  # nats; 0.025 with all evidence, 0.015 from 2 on, 0.014 from 3 on
    damping=4.0,  # 0.014 with none; trained on one corpus and tested on another 0.26 instead of 0.07
    split_head_body=True,  # 0.024 with head and body in one
    grams=True,  # 0.016 without them, 0.025 without neighbours, too
)


class Model:
    """A model that judges messages by its cutoffs; with another view than its own, by the likeliest label.

    If a base is used, view and cutoffs are those of the base, and `layers_of` says whose counts are used.
    """

    def __init__(
        self,
        stored: StoredModel,
        view: View | None = None,
        cutoffs: Cutoffs | None = None,
        base: StoredModel | None = None,
    ) -> None:
        self.stored = stored
        self.labels = stored.labels
        self.settings = settings_of(stored)
        self.tokenizer = Tokenizer(self.settings)
        self.given_view, self.given_cutoffs = view, cutoffs
        self.use_base(base if view is None else None)

    def use_base(self, base: StoredModel | None) -> None:
        """If a base is given, let `layers_of` choose the counts: the base's, the model's, or their sum."""
        self.totals: TotalCounts = self.stored
        self.base, self.layers = None, [self.stored]
        if base:
            from spamnb.bayes.layers import LayeredTotals, layers_of

            own, beneath = min(self.stored.messages), min(base.messages)
            is_own, is_base = layers_of(own, beneath, base.is_imported)
            if is_base or self.stored.head["cutoffs"][1] == float("inf"):  # no cutoffs yet
                is_sum = is_own and not base.is_imported
                self.base, self.layers = base, [self.stored, base] if is_sum else [base]
                self.totals = LayeredTotals(self.stored, base) if is_sum else base
        judge = self.base or self.stored  # a model with few messages has no cutoffs of its own
        about, self.view = judge.head, self.given_view or view_of(judge)
        # Cutoffs are for the model's own view only.
        has_cutoffs = self.given_view is None and self.view.has_cutoffs
        misfiled = about.get("misfiled", NONE_MISFILED) if has_cutoffs else NONE_MISFILED
        self.classifier = Classifier(self.totals, self.view, misfiled, judge.counts)
        self.judge_by([layer.counts for layer in self.layers])
        self.cutoffs = cutoffs_of(judge, self.given_cutoffs) if self.given_cutoffs or has_cutoffs else None
        self.calibration = Calibration(*about["calibration"]) if has_cutoffs else None
        learned = [label for label, count in zip(self.labels, self.totals.messages, strict=True) if count]
        # With mail of a single label, all mail would get that label.
        self.can_judge = len(learned) > 1 and (SPAM in learned or SPAM not in self.labels)

    def judge_by(self, layers: "Sequence[Counts]", are_for_many: bool = False) -> None:
        """From now on, look up tokens in `layers`: the counts of the model, of its base, or both."""
        first, *others = layers
        self.counts = self.classifier.counts = CountSum(first, *others) if others else first
        self.scorers = Scorers(self.classifier, self.settings, are_for_many)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        view: View | None = None,
        cutoffs: Cutoffs | None = None,
        layered: bool = True,
    ) -> "Self":
        """Open a model and, if `layered`, also its base, if it has one."""
        if os.path.isdir(path):
            raise NoInput(f"{os.fspath(path)}: this is a folder; name the model file in it")
        stored = StoredModel.open(model_file(os.fspath(path)))
        return cls(stored, view, cutoffs, base=base_of(stored) if layered and view is None else None)

    def features(self, message: "Message", reuse: "FeatureSet | None" = None) -> "FeatureSet":
        """Return the features of a message that the view needs; `reuse` is an object to fill and return."""
        return self.tokenizer.features(message, self.view.numbers, reuse)

    def classify(self, raw: bytes) -> "Verdict":
        return self.classify_message(read(raw))

    def classify_message(self, message: "Message") -> "Verdict":
        return self.classify_features(self.features(message))

    def classify_features(self, features: "FeatureSet") -> "Verdict":
        return self.decide(self.score(features))

    def score(self, features: "FeatureSet") -> Score:
        try:
            return self.scorers.with_evidence(features)
        except SpamnbError as error:
            self.lose_base(error)
        return self.scorers.with_evidence(features)

    def alone(self) -> "Model":
        """Return the model without its base, so that it has only the counts of its own mail."""
        return Model(self.stored) if self.base else self

    def lose_base(self, error: SpamnbError) -> None:
        """If an error is about the base, report it and judge without this base; otherwise raise the error."""
        if not self.base or not str(error).startswith(self.base.path):
            raise error
        report_no_base(error)
        self.use_base(None)

    def verdict(self, features: "FeatureSet") -> "Verdict":
        """Judge a message without collecting evidence, which is faster than `classify_features`."""
        try:
            return self.decide(self.scorers.score(features))
        except SpamnbError as error:
            self.lose_base(error)
        return self.decide(self.scorers.score(features))

    def verdicts(self, messages: "list[bytes]") -> "list[Verdict]":
        """Return the verdicts of many messages, without evidence."""
        try:
            scores = self.scorers.scores(messages)
        except SpamnbError as error:
            self.lose_base(error)
            scores = self.scorers.scores(messages)
        return [self.decide(score) for score in scores]

    def decide(self, score: "Score") -> "Verdict":
        verdict = verdict_of(score, self.cutoffs, self.calibration)
        if not self.can_judge:
            verdict.make_unsure()
        return verdict


def cutoffs_of(stored: StoredModel, given: Cutoffs | None = None) -> Cutoffs:
    """Return the `given` cutoffs, or else those of the model; `margin` is always that of the model."""
    given = given or Cutoffs(*stored.head["cutoffs"])
    return Cutoffs(given.ham, given.spam, given.contradiction, stored.head.get("margin", MIN_SCORE))


def base_of(stored: StoredModel, only: StoredModel | None = None) -> StoredModel | None:
    """Open and return the base of a model; None if it has none or (with a warning) one that does not fit.

    If `only` is given, any other base is refused: a user may have written this model, and named any file.
    """
    about = stored.head.get("base")
    if not about:
        return None
    try:
        if only and about["path"] != only.path:
            raise DataError(f"{stored.path}: its base is not the shared model {only.path}")
        base = only or StoredModel.open(about["path"])
        check_base(stored.path, stored.labels, settings_of(stored), base)
    except SpamnbError as error:
        report_no_base(error)
        return None
    return base


def report_no_base(error: SpamnbError) -> None:
    complain(f"{error} (judging without this base)")


def check_base(path: str, labels: "Sequence[str]", settings: Settings, base: StoredModel) -> None:
    """Raise an error unless a model with these labels and settings can have this base."""
    own, other = settings.as_map(), settings_of(base).as_map()
    differing = [name for name in own if own[name] != other[name]]
    differing += ["labels"] if list(labels) != base.labels else []
    if differing:
        raise DataError(f"{base.path}: cannot be the base of {path}, as these differ: {', '.join(differing)}")
    if len(labels) != 2 or SPAM not in labels:
        raise DataError(f"{base.path}: cannot be a base: a base has two labels, one of them spam")
    if not view_of(base).has_cutoffs:
        raise DataError(f"{base.path}: cannot be a base: its event, smoothing or damping allows no cutoffs")


def view_of(stored: StoredModel) -> View:
    """Return the view of a model: the formula that turns its counts into probabilities."""
    try:
        return View.from_map(stored.head["view"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(stored.path, f"the view in the file is damaged; {WHAT_TO_DO}") from error


def settings_of(stored: StoredModel) -> Settings:
    """Return the settings with which a model's mail is tokenized."""
    try:
        return Settings.from_map(stored.head["settings"])
    except (KeyError, TypeError, ValueError, AttributeError, UsageError) as error:
        raise ModelError(stored.path, f"the settings in the file are damaged; {WHAT_TO_DO}") from error
