"""Labels of a model: which it may get, and which it keeps."""

from collections.abc import Iterable, Sequence

from spamnb.labels import LABELS, SPAM
from spamnb.store.stored_model import StoredModel


def new_labels(stored: StoredModel, given: Iterable[str]) -> list[str]:
    """Return the labels, ham and spam aside, that a model with mail does not have."""
    if not any(stored.messages):
        return []
    return [label for label in given if label not in stored.labels and label not in LABELS]


def mail_option(label: str) -> str:
    """Give the option of `spamnb train` for mail of a label."""
    return f"--{label} PATH" if label in LABELS else f"--label {label}=PATH"


def with_mail(labels: Sequence[str], messages: Sequence[int]) -> list[str]:
    """Return the labels that a model keeps: those of its mail, and spam; of ham or spam alone, both."""
    kept = [label for label, count in zip(labels, messages, strict=True) if count > 0 or label == SPAM]
    if not any(messages):
        return list(labels)
    return [label for label in labels if label in LABELS] if set(kept) <= set(LABELS) else kept
