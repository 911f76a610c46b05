"""The labels that every model knows, the verdict between them, and what may be a label."""

HAM, SPAM = "ham", "spam"
LABELS = HAM, SPAM
UNSURE = "unsure"  # a verdict, never a label
LONGEST_LABEL = 100  # characters
MOST_LABELS = 100  # of a model: their indices are kept in a signed byte


def is_label(name: object) -> bool:
    """Tell whether a name, of the command line or in a file, can be that of a label."""
    is_shown = isinstance(name, str) and 0 < len(name) <= LONGEST_LABEL and name.isprintable()
    return is_shown and str(name).lower() != UNSURE
