"""The labels that every model knows, the verdict between them, and what may be a label."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

HAM, SPAM = "ham", "spam"
LABELS = HAM, SPAM
UNSURE = "unsure"  # a verdict, never a label
MAIL_KEPT = "mail you keep"  # what is not spam, for people
MAX_LABEL_LENGTH = 100  # characters
MAX_LABELS = 100  # of a model: their indices are kept in a signed byte


def sorted_into(labels: "Collection[str]") -> list[str]:
    """List the labels that mail is sorted into, beside ham and spam; of two labels, or without spam, none."""
    return [label for label in labels if label not in LABELS] if SPAM in labels and len(labels) > 2 else []


def plain_label(label: str) -> str:
    """Return a label or verdict as people call it: ham is a word for those who train filters."""
    return "not spam" if label == HAM else label


def plain_mail(label: str) -> str:
    """Return what people call messages of a label."""
    return "messages you keep" if label == HAM else label if label == SPAM else f"in {label}"


def is_label(name: object) -> bool:
    """Tell whether a name, of the command line or in a file, can be that of a label."""
    is_shown = isinstance(name, str) and 0 < len(name) <= MAX_LABEL_LENGTH and name.isprintable()
    return is_shown and str(name).lower() != UNSURE
