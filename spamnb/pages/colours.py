"""Colours of labels and weights: class names of the style sheets, whose values are in colours.css."""

from spamnb.inspection.explanation import Explanation
from spamnb.labels import SPAM, UNSURE

SPAM_COLOUR, HAM_COLOUR, GREY = "spam", "ham", "quiet"


def colour_of_label(label: str) -> str:
    """Return the colour of a label or verdict; all labels other than spam have that of ham."""
    return SPAM_COLOUR if label == SPAM else GREY if label == UNSURE else HAM_COLOUR


def colour_of_weight(why: Explanation, weight: float) -> str:
    """Return the colour of evidence for or against spam or, if no label is spam, the label that is ahead."""
    is_warm = why.sides[weight > 0] == SPAM if SPAM in why.sides else weight > 0
    return SPAM_COLOUR if is_warm else HAM_COLOUR
