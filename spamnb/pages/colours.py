"""Choice of colours: the class of the style sheets that something gets. The values are in colours.css."""

from spamnb.inspection.explanation import Explanation
from spamnb.labels import SPAM, UNSURE

SPAM_COLOUR, HAM_COLOUR, GREY = "spam", "ham", "quiet"


def colour_of_label(label: str) -> str:
    """Choose the colour of a label or verdict; all labels but spam have that of ham."""
    return SPAM_COLOUR if label == SPAM else GREY if label == UNSURE else HAM_COLOUR


def colour_of_weight(why: Explanation, weight: float) -> str:
    """Choose the colour of what speaks for spam (without spam, for the label in the lead) or against it."""
    is_warm = why.sides[weight > 0] == SPAM if SPAM in why.sides else weight > 0
    return SPAM_COLOUR if is_warm else HAM_COLOUR
