"""Numbers written as a person reads them, and the colours of ham and spam: values in colours.css."""

from collections.abc import Callable, Sequence

from spamnb.inspection.explanation import Explanation
from spamnb.labels import SPAM, UNSURE

SPAM_COLOUR, HAM_COLOUR, GREY = "spam", "ham", "quiet"  # classes of the style sheets


def colour_of_label(label: str) -> str:
    """Choose the colour of a label or verdict; all labels but spam have that of ham."""
    return SPAM_COLOUR if label == SPAM else GREY if label == UNSURE else HAM_COLOUR


def colour_of_weight(why: Explanation, weight: float) -> str:
    """Choose the colour of what speaks for spam (without spam, for the label in the lead) or against it."""
    is_warm = why.sides[weight > 0] == SPAM if SPAM in why.sides else weight > 0
    return SPAM_COLOUR if is_warm else HAM_COLOUR


UNKNOWN = "–"
HUGE = 1e6  # from here on a score is written as a power of ten


def count(value: int) -> str:
    return f"{value:,}"


def share(value: float | None) -> str:
    """Write a part of one: precision, recall, F1, accuracy."""
    return UNKNOWN if value is None else f"{value:.4f}"


def percent(value: float | None) -> str:
    """Write two significant digits or more, but never more than four decimals."""
    if value is None:
        return UNKNOWN
    if not value:
        return "0"
    return f"{value:.{2 if value >= 1 else 3 if value >= 0.1 else 4}f}"


def interval_text(interval: Sequence[float] | None, form: Callable[[float | None], str]) -> str | None:
    """Write a 95 % interval; None where it is not known."""
    return f"{form(interval[0])} to {form(interval[1])}" if interval else None


def signed(value: float) -> str:
    """Write a score or a weight, with a minus as wide as the plus."""
    text = f"{value:+.2f}" if abs(value) < HUGE else f"{value:+.1e}"
    return text.replace("-", "−")


def short(value: int) -> str:
    """Write a count so that it fits under a bar."""
    return str(value) if value < 1000 else f"{value / 1000:.1f}k" if value < 9950 else f"{value / 1000:.0f}k"


def tick(value: float) -> str:
    return f"{value:,.10g}".replace("-", "−")
