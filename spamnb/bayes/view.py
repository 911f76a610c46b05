"""Views of a count table: the event model, its smoothing, the prior, and what evidence counts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EVENTS = ("multinomial", "binary", "bernoulli", "gaussian")
GLOBAL = "global"  # smoothing by num(w)/num in place of a constant ε


class View:
    """A way to read a count table: event model, smoothing, prior, and what evidence counts."""

    __slots__ = (
        "damping",
        "event",
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
        prior: str | Mapping[str, float] = "counts",
        tfidf: bool = False,
        numbers: bool = False,
        pairs: bool = False,
        least_evidence: float = 0.0,
        damping: float | None = None,
        split_head_body: bool = False,
    ) -> None:
        self.event = event
        self.smoothing = smoothing
        self.prior = prior  # "counts", "uniform", or a share for each label
        self.tfidf = tfidf
        self.numbers = numbers or event == "gaussian"
        self.pairs = pairs and event == "binary" and not tfidf  # neighbours are counted by presence only
        self.least_evidence = least_evidence  # in nats: evidence counts if its weights are this far apart
        # Unless None, the evidence is averaged, not summed, as if it had so many more tokens of weight 0.
        self.damping = damping if event in ("multinomial", "binary") else None
        self.split_head_body = split_head_body  # average head and body by themselves, and add the two

    @property
    def has_cutoffs(self) -> bool:
        """Whether cutoffs on the score decide, and not the likeliest label."""
        return self.damping is not None and self.event == "binary" and self.smoothing != GLOBAL

    @classmethod
    def from_map(cls, stored: Mapping[str, Any]) -> View:
        return cls(**{name: stored[name] for name in cls.__slots__})

    def as_map(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}
