"""The labels ham and spam, the verdict unsure, and which names can be labels."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

HAM, SPAM = "ham", "spam"
LABELS = HAM, SPAM
UNSURE = "unsure"  # a verdict, never a label
MAIL_KEPT = "mail you keep"  # everyday words for what is not spam
MAX_LABEL_LENGTH = 100  # characters
MAX_LABELS = 100  # of a model: their indices are stored in a signed byte


def sorted_into(labels: "Collection[str]") -> list[str]:
    """Return the labels other than ham and spam, for sorting; [] unless there are spam and two others."""
    return [label for label in labels if label not in LABELS] if SPAM in labels and len(labels) > 2 else []


def plain_label(label: str) -> str:
    """Return a label or verdict in everyday words: "not spam" for ham."""
    return "not spam" if label == HAM else label


def plain_mail(label: str) -> str:
    """Return everyday words for the messages of a label, such as "messages you keep" for ham."""
    return "messages you keep" if label == HAM else label if label == SPAM else f"in {label}"


def is_label(name: object) -> bool:
    """Return whether a name from the command line or a file can be a label."""
    is_shown = isinstance(name, str) and 0 < len(name) <= MAX_LABEL_LENGTH and name.isprintable()
    return is_shown and str(name).lower() != UNSURE
