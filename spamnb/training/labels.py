"""Labels of a model: which it may get, and which it keeps."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from spamnb.errors import UsageError
from spamnb.labels import LABELS, SPAM
from spamnb.mailboxes.roles import speaks_against
from spamnb.store.stored_model import StoredModel

SHORTEST = 3  # letters of a name that can be mistyped


def refuse_new_labels(
    stored: StoredModel, given: Iterable[str], agreed: Collection[str], yes: bool = False
) -> None:
    """Refuse labels that a model with mail does not have, unless they are agreed to: they may be mistyped.

    `yes` agrees to all that differ from known labels by more than a letter.
    """
    for label in new_labels(stored, given):
        like = [known for known in (*stored.labels, *LABELS) if differs_by_one_letter(label, known)]
        if label in agreed or (yes and not like):
            continue
        known = f"differs from {like[0]!r} by one letter only" if like else "is a new label"
        raise UsageError(
            f"{label!r} {known}; there are: {', '.join(stored.labels)}. Nothing was changed; "
            f"if it is meant, add --new-label {label}"
        )


def refuse_swapped_names(sources: Mapping[str, Sequence[str]]) -> None:
    """Refuse folders and mailboxes whose names contradict their labels: they may have been swapped."""
    if wrong := contradicting_names(sources):
        raise UsageError(f"{wrong}: swapped? Nothing was changed; if you mean it, train with --yes")


def contradicting_names(sources: Mapping[str, Sequence[str]]) -> str:
    """Name the folders and mailboxes whose names contradict their labels: "spam/ as ham and ham/ as spam"."""
    named = [(label, path) for label, paths in sources.items() for path in paths]
    return " and ".join(f"{path} as {label}" for label, path in named if speaks_against(label, path))


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
