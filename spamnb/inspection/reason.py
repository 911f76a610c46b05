"""One piece of evidence: its place in the message, and what it adds to a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spamnb.bayes.verdict import Evidence

if TYPE_CHECKING:
    from spamnb.store.counts import Row

HEADER, BODY, NUMBER, GRAMS = "header", "body", "number", "byte runs"

# In the order in which a message is read.
PLACES = (
    *("subject", "from", "to", "received", HEADER, BODY),
    *("link", "markup", "attachment", "hidden", NUMBER, GRAMS),
)
_TAGS = {
    "subject": ("subject",),
    "from": ("from", "sender", "reply-to", "errors-to"),
    "to": ("to", "cc"),
    "received": ("received", "x-originating-ip"),
    "link": ("url",),
    "markup": ("html",),
    "attachment": ("type", "charset", "file"),
    "hidden": ("hidden",),
}
_PLACE_OF_TAG = {tag: place for place, tags in _TAGS.items() for tag in tags}


def place_of(token: str) -> str:
    """The place where a token stands, by its tag; of a pair of neighbours, that of the first word."""
    tag, colon, _ = token.partition(":")
    return _PLACE_OF_TAG.get(tag, HEADER) if colon else BODY


class Reason(NamedTuple):
    """A token, a pair of neighbours, a number or a stretch of grams that counted."""

    token: str  # as it is spelled; of a pair both words, of a number its name
    evidence: Evidence
    weight: float  # nats for the label that is explained, against the other one
    adds: float  # to the lead
    is_number: bool = False
    covers: tuple[str, ...] | None = None  # of a stretch of grams: the words that it covers, in whole or part

    def count_text(self, label_index: int) -> str:
        """In how many messages of a label it is: those of the model, and those of its base, if it has one."""
        base = f" + {self.evidence.base_row[label_index]:,}" if self.evidence.base_row else ""
        return f"{self.row[label_index]:,}{base}"

    @property
    def is_gram(self) -> bool:
        """Whether it is a stretch of text, whose grams have this weight in the mean."""
        return self.covers is not None

    @property
    def total_weight(self) -> float:
        """Weight times how often it counts; where the mean is taken, a token adds only a part of that."""
        return self.weight * self.evidence.times if self.evidence.times else 0.0

    @property
    def mark(self) -> float:
        """How strongly it marks the words it stands in: its weight, as often as it counts; of grams once."""
        return self.weight if self.is_gram else self.total_weight

    @property
    def row(self) -> Row:
        """Counts by label: messages, and of a token its occurrences after them."""
        return self.evidence.row

    @property
    def where(self) -> str:
        """The place in the message, as `subject` or `body`."""
        return NUMBER if self.is_number else GRAMS if self.is_gram else place_of(self.token)
