"""A model: counts on disk, the tokenizer they were made with, and the view that judges by them."""

import os

from spamnb.bayes.classifier import Classifier
from spamnb.bayes.likelihood import NONE_MISFILED
from spamnb.bayes.verdict import IMPORTED, LEAST_SCORE, Calibration, Cutoffs, Score, verdict_of
from spamnb.bayes.view import View
from spamnb.errors import WHAT_TO_DO, ModelError, NoInput, UsageError
from spamnb.files import model_file
from spamnb.reading.message import read
from spamnb.reading.settings import REVISION, Settings
from spamnb.reading.tokenizer import Tokenizer
from spamnb.store.stored_model import StoredModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from spamnb.bayes.verdict import Verdict
    from spamnb.key import Key
    from spamnb.reading.features import Features
    from spamnb.reading.message import Message

    class FeatureScorer(Protocol):
        def score(self, features: Features) -> Score: ...


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
    """A model that judges messages; with another view than its own it decides by the likeliest label."""

    def __init__(
        self,
        stored: StoredModel,
        view: View | None = None,
        cutoffs: Cutoffs | None = None,
        key: "Key | None" = None,
    ) -> None:
        self.stored = stored
        self.labels = stored.labels
        self.key = key or key_of(stored)
        self.settings = settings_of(stored)
        self.tokenizer = Tokenizer(self.settings, self.key)
        self.view = view or view_of(stored)
        self.scorer: FeatureScorer | None = None  # of a model that is held in memory
        has_cutoffs = view is None and self.view.has_cutoffs  # cutoffs hold for the model's own view only
        misfiled = stored.head.get("misfiled", NONE_MISFILED) if has_cutoffs else NONE_MISFILED
        self.classifier = Classifier(stored, self.view, misfiled)
        self.cutoffs = cutoffs_of(stored, cutoffs) if cutoffs or has_cutoffs else None
        self.calibration = Calibration(*stored.head["calibration"]) if has_cutoffs else None

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], view: View | None = None, cutoffs: Cutoffs | None = None
    ) -> "Model":
        if os.path.isdir(path):
            raise NoInput(f"{os.fspath(path)}: a folder; name the model file in it with --model")
        return cls(StoredModel.open(model_file(os.fspath(path))), view, cutoffs)

    def features(self, message: "Message", spare: "Features | None" = None) -> "Features":
        """Return the features of a message that the view has a use for; put into `spare`, if there is one."""
        return self.tokenizer.features(message, self.view.numbers, spare)

    def classify(self, raw: bytes) -> "Verdict":
        return self.classify_message(read(raw))

    def classify_message(self, message: "Message") -> "Verdict":
        return self.classify_features(self.features(message))

    def classify_features(self, features: "Features") -> "Verdict":
        return self.decide(self.score(features))

    def score(self, features: "Features") -> Score:
        pairs = features.pairs if self.view.pairs else ()
        grams = features.grams if self.view.grams else ()
        return self.classifier.score(features.tokens, features.numbers, pairs, grams)

    def verdict(self, features: "Features") -> "Verdict":
        """Judge a message as `classify_features` does, maybe without the evidence, which takes time."""
        if self.scorer is None:
            return self.classify_features(features)
        return self.decide(self.scorer.score(features))

    def decide(self, score: "Score") -> "Verdict":
        return verdict_of(score, self.cutoffs, self.calibration)


def cutoffs_of(stored: StoredModel, given: Cutoffs | None = None) -> Cutoffs:
    """Return the cutoffs of a model, or those given, by its margin.

    Older models of three labels or more have neither a margin nor cutoffs that were measured.
    """
    margin: float | None = stored.head.get("margin")
    if given is None:
        given = (
            Cutoffs(*stored.head["cutoffs"]) if len(stored.labels) <= 2 or margin is not None else IMPORTED
        )
    return Cutoffs(given.ham, given.spam, given.contradiction, LEAST_SCORE if margin is None else margin)


def key_of(stored: StoredModel) -> "Key | None":
    """Read the key of a model that keeps no words; None for any other model."""
    if not stored.keyed:
        return None
    from spamnb.key import read_model_key

    return read_model_key(stored.path, stored.keyed)


def view_of(stored: StoredModel) -> View:
    """Return the view a model was made for."""
    try:
        return View.from_map(stored.head["view"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(stored.path, f"its view is damaged; {WHAT_TO_DO}") from error


def settings_of(stored: StoredModel) -> Settings:
    """Return the settings by which a model's mail is tokenized: those it was made with, by today's tokenizer.

    Counts of an older revision are kept, and lack what that did not read; whatever is written of a model has
    the revision of today.
    """
    if revision_of(stored) > REVISION:
        raise ModelError(stored.path, "made by a newer spamnb, which reads mail differently; upgrade spamnb")
    try:
        return Settings.from_map({**stored.head["settings"], "revision": REVISION})
    except (KeyError, TypeError, ValueError, AttributeError, UsageError) as error:
        raise ModelError(stored.path, f"its settings are damaged; {WHAT_TO_DO}") from error


def revision_of(stored: StoredModel) -> int:
    """Return the revision of the tokenizer that a model was made with."""
    try:
        return int(stored.head["settings"]["revision"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(stored.path, f"its settings are damaged; {WHAT_TO_DO}") from error
