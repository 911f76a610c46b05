"""Labels of a model: which it may get, and which it keeps."""

from collections.abc import Collection, Iterable, Sequence

from spamnb.errors import UsageError
from spamnb.labels import LABELS, SPAM
from spamnb.store.stored_model import StoredModel

SHORTEST = 3  # letters of a name that can be mistyped


def refuse_new_labels(stored: StoredModel, given: Iterable[str], agreed: Collection[str]) -> None:
    """Refuse labels that a model with mail does not have, unless they are agreed to: they may be mistyped."""
    for label in new_labels(stored, given):
        for known in (*stored.labels, *LABELS):
            if differs_by_one_letter(label, known):
                raise UsageError(
                    f"{label!r} differs from {known!r} by one letter only. Nothing was changed; "
                    f"if {known!r} is meant, correct it, else choose another name"
                )
        if label not in agreed:
            raise UsageError(
                f"{label!r} is a new label; there are: {', '.join(stored.labels)}. Nothing was changed; "
                f"if it is meant, add --new-label {label}"
            )


def new_labels(stored: StoredModel, given: Iterable[str]) -> list[str]:
    """Return the labels, ham and spam aside, that a model with mail does not have."""
    if not any(stored.messages):
        return []
    return [label for label in given if label not in stored.labels and label not in LABELS]


def differs_by_one_letter(one: str, other: str) -> bool:
    """Tell whether a letter too many, missing or wrong, or two swapped ones, make one name of another.

    Names of one or two letters are said to differ: else a model of a and b could have no c.
    """
    short, long = sorted((one, other), key=len)
    if short == long or len(long) < SHORTEST:
        return False
    at = next((n for n, letter in enumerate(short) if letter != long[n]), len(short))
    left, right = short[at:], long[at:]
    if len(short) < len(long):
        return left == right[1:]
    return left[1:] == right[1:] or left[1::-1] + left[2:] == right


def mail_option(label: str) -> str:
    """Give the option of `spamnb train` for mail of a label."""
    return f"--{label} PATH" if label in LABELS else f"--label {label}=PATH"


def with_mail(labels: Sequence[str], messages: Sequence[int]) -> list[str]:
    """Return the labels that a model keeps: those of its mail, and spam; of ham or spam alone, both."""
    kept = [label for label, count in zip(labels, messages, strict=True) if count > 0 or label == SPAM]
    if not any(messages):
        return list(labels)
    return [label for label in labels if label in LABELS] if set(kept) <= set(LABELS) else kept
