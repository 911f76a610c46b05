"""A piece of evidence: its place in the message, and what it adds to a verdict."""

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
    """Return the place in a message, such as `subject`, of a token or of the first word of a pair."""
    tag, colon, _ = token.partition(":")
    return _PLACE_OF_TAG.get(tag, HEADER) if colon else BODY


class Reason(NamedTuple):
    """A piece of evidence: a token, two neighbouring words, a number, or text covered by grams."""

    token: str  # the token, both words of a pair, or the name of a number
    evidence: Evidence
    weight: float  # in nats; positive if it speaks for the label whose lead is explained
    adds: float  # what it adds to the lead
    is_number: bool = False
    covers: tuple[str, ...] | None = None  # words that a stretch of grams covers, whole or in part

    def count_text(self, label_index: int) -> str:
        """Say how many messages of a label have the evidence; "3 + 20" is 3 of the model, 20 of its base."""
        base = f" + {self.evidence.base_row[label_index]:,}" if self.evidence.base_row else ""
        return f"{self.row[label_index]:,}{base}"

    @property
    def is_gram(self) -> bool:
        """Whether this is a stretch of text covered by grams; `weight` is then the mean of their weights."""
        return self.covers is not None

    @property
    def total_weight(self) -> float:
        """The weight times the occurrences; in a view that uses means, `adds` is this, divided."""
        return self.weight * self.evidence.times if self.evidence.times else 0.0

    @property
    def mark(self) -> float:
        """The weight that decides the colour of words: the total; for text covered by grams, the mean."""
        return self.weight if self.is_gram else self.total_weight

    @property
    def row(self) -> Row:
        """How many messages of each label have the evidence; for a token, its occurrences by label follow."""
        return self.evidence.row

    @property
    def where(self) -> str:
        """The place in the message, such as `subject` or `body`."""
        return NUMBER if self.is_number else GRAMS if self.is_gram else place_of(self.token)
