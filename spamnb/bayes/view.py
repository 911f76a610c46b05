"""Views: the ways to compute probabilities from a table of counts."""

from spamnb.core.native import is_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

PRIORS = ("counts", "uniform")  # or a share for each label
MAX_SETTING = 1e9  # of a number in a view: what is computed with it stays finite
FLAGS = ("grams", "numbers", "pairs", "split_head_body", "tfidf")
EVENTS = ("multinomial", "binary", "bernoulli", "gaussian")
MIN_GRAM_EVIDENCE = 3.0  # nats that a gram needs to be evidence
# Factor of the mean of grams, beside that of words. With 1, scores are lower on both sides and more spam is
# unsure; if spam has the head of ham, no other factor catches more.
SHARE_OF_GRAMS = 0.5
GLOBAL = "global"  # smoothing by num(w)/num in place of a constant ε


class View:
    """A formula from counts to probabilities: event model, smoothing, prior, which tokens are evidence."""

    __slots__ = (
        "damping",
        "event",
        "grams",
        "least_evidence",
        "numbers",
        "pairs",
        "prior",
        "smoothing",
        "split_head_body",
        "tfidf",
    )

    def __init__(
        self,
        event: str = "multinomial",
        smoothing: float | str = 1.0,
        prior: "str | Mapping[str, float]" = "counts",
        tfidf: bool = False,
        numbers: bool = False,
        pairs: bool = False,
        least_evidence: float = 0.0,
        damping: float | None = None,
        split_head_body: bool = False,
        grams: bool = False,
    ) -> None:
        self.event = event
        self.smoothing = smoothing
        self.prior = prior  # "counts", "uniform", or a share for each label
        self.tfidf = tfidf
        self.numbers = numbers or event == "gaussian"
        self.pairs = pairs and event == "binary" and not tfidf  # neighbours are counted by presence only
        self.least_evidence = least_evidence  # in nats: by which the weights of evidence must differ
        # Unless None, the evidence is averaged, not summed, as if there were so many more tokens of weight 0.
        self.damping = damping if event in ("multinomial", "binary") else None
        self.split_head_body = split_head_body  # average head and body by themselves, and add the two
        self.grams = grams and self.has_cutoffs and not self.numbers  # the mean of runs of four bytes

    @property
    def has_cutoffs(self) -> bool:
        """Whether cutoffs on the score decide the verdict, instead of the most probable label."""
        return self.damping is not None and self.event == "binary" and self.smoothing != GLOBAL

    @classmethod
    def from_map(cls, stored: "Mapping[str, Any]") -> "View":
        """Return the view that is stored in a model; raise ValueError for an invalid one."""
        view = cls(**{name: stored[name] for name in cls.__slots__})
        fits = view.event in EVENTS and all(isinstance(stored[name], bool) for name in FLAGS)
        fits = fits and (view.smoothing == GLOBAL or is_number(view.smoothing, 0, MAX_SETTING))
        fits = fits and is_number(view.least_evidence, 0, MAX_SETTING)
        fits = fits and (view.damping is None or is_number(view.damping, 0, MAX_SETTING))
        if isinstance(view.prior, dict):
            shares = view.prior.values()
            fits = fits and all(is_number(share, 0, MAX_SETTING) for share in shares) and sum(shares) > 0
        else:
            fits = fits and view.prior in PRIORS
        if not fits:
            raise ValueError("the fields of the view are damaged")
        return view

    def as_map(self) -> "dict[str, Any]":
        return {name: getattr(self, name) for name in self.__slots__}

    def __repr__(self) -> str:
        return f"View({', '.join(f'{name}={value!r}' for name, value in self.as_map().items())})"

    def of_grams(self) -> "View":
        """Return the view that is used to weigh grams (runs of four bytes)."""
        return View(
            "binary",
            smoothing=self.smoothing,
            least_evidence=MIN_GRAM_EVIDENCE,
            damping=self.damping,
            split_head_body=self.split_head_body,
        )


def prior(
    labels: "Sequence[str]", messages: "Sequence[float]", chosen: "str | Mapping[str, float]"
) -> list[float]:
    """Return P(label): in proportion to `messages`, the same for all, or the shares in `chosen`.

    Labels without a chosen share divide the rest in proportion to their messages.
    """
    if not isinstance(chosen, str):
        others = {label: m for label, m in zip(labels, messages, strict=True) if label not in chosen}
        rest = max(0.0, 1 - sum(chosen.values()))
        rests = prior(list(others), list(others.values()), "counts")
        shares = {**chosen, **{label: rest * share for label, share in zip(others, rests, strict=True)}}
        return [shares[label] / sum(shares.values()) for label in labels]
    total = sum(messages)
    if chosen == "uniform" or not total:
        return [1 / len(labels) for _ in labels]
    return [m / total for m in messages]
