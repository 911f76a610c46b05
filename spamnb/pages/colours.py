"""Colours of labels and weights: class names of the style sheets, whose values are in colours.css."""

from spamnb.inspection.explanation import Explanation
from spamnb.labels import SPAM, UNSURE

SPAM_COLOUR, HAM_COLOUR, GREY = "spam", "ham", "quiet"


def colour_of_label(label: str) -> str:
    """Return the colour of a label or verdict; all labels other than spam have the colour of ham."""
    return SPAM_COLOUR if label == SPAM else GREY if label == UNSURE else HAM_COLOUR


def colour_of_weight(why: Explanation, weight: float) -> str:
    """Return the colour of evidence; if neither label is spam, evidence for the less likely one is grey."""
    return GREY if weight <= 0 and SPAM not in why.sides else colour_of_label(why.sides[weight > 0])
