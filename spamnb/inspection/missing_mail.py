"""Mail that a model lacks."""

from collections.abc import Sequence

from spamnb import HAM, SPAM

ENOUGH = 200  # messages of each label; a model with fewer is told that more would help


def missing_mail(labels: Sequence[str], messages: Sequence[int]) -> list[str]:
    """Mail that a model lacks to be well trained, a sentence for each label."""
    learned = [label for label, count in zip(labels, messages, strict=True) if count]
    if len(learned) == 1:
        other = next((label for label in labels if label not in learned), None)
        return [f"only {learned[0]} so far; learn other mail, too: {how_to_train(other)}"]
    return [
        f"{ENOUGH - count} more {label} would help"
        for label, count in zip(labels, messages, strict=True)
        if count < ENOUGH
    ]


def how_to_train(label: str | None) -> str:
    """A command line that learns mail of a label, or of any other than there is."""
    options = {HAM: "--ham PATH", SPAM: "--spam PATH", None: "--label NAME=PATH"}
    return f"spamnb train {options.get(label, f'--label {label}=PATH')}"
