"""Suspects: learned mail that looks misfiled, because it scores like mail of the other label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from spamnb.bayes.cutoffs import ham_and_spam, has_spam, limits_of_rightly_filed, not_spam
from spamnb.core.native import hash_of_message, read
from spamnb.errors import command_to_run
from spamnb.labels import SPAM
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import message_name, messages
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel, load_learned


@dataclass(frozen=True, slots=True)
class Suspect:
    """A learned message that looks misfiled."""

    path: str
    index: int | None  # its number in an mbox
    label: str  # under which it was learned
    looks_like: str
    score: float
    sender: str
    subject: str

    @property
    def name(self) -> str:
        return message_name(self.path, self.index)

    def as_map(self) -> dict[str, Any]:
        return asdict(self)


def misfiled_by(stored: StoredModel, scored: Sequence[Any]) -> Callable[[int, float], bool]:
    """Return a function that says, by label index and score, whether a learned message looks misfiled."""
    if not has_spam(stored.labels):
        return lambda _label, _score: False
    both, spam = ham_and_spam(stored.labels, scored), stored.labels.index(SPAM)
    highest_ham, lowest_spam = limits_of_rightly_filed(*both)
    return lambda label, score: score < lowest_spam if label == spam else score > highest_ham


def count_suspects(stored: StoredModel) -> list[str]:
    """Return a list of one sentence on how many learned messages look misfiled, by label; [] if none do."""
    scored = load_learned(stored).scored()
    is_misfiled = misfiled_by(stored, scored)
    labels = [label for label, score, _ in scored if is_misfiled(label, score)]
    counts = [labels.count(place) for place in range(len(stored.labels))]
    found = [
        f"{count:,} of your {label} look{'s' if count == 1 else ''} like "
        f"{not_spam(stored.labels) if label == SPAM else SPAM}"
        for label, count in zip(stored.labels, counts, strict=True)
        if count
    ]
    command = command_to_run("inspect", "--model", stored.path, "--suspects")
    return [f"{' and '.join(found)}; to list them: {command} MAIL"] if found else []


def find_suspects(
    model: Model, paths: Iterable[str], step: Callable[[int, int], object] = lambda *_: None
) -> tuple[list[Suspect], int, list[Unreadable]]:
    """Return suspects found at `paths` (most certain first), how many were not found, and unreadable mail."""
    learned = load_learned(model.stored)
    is_misfiled = misfiled_by(model.stored, learned.scored())
    wanted: dict[int, tuple[int | None, float]] = {
        hash_: (label, score) for hash_, label, score, _ in learned.messages() if is_misfiled(label, score)
    }
    found, unreadable = [], []
    for raw in messages(paths):
        if isinstance(raw, Unreadable):
            unreadable.append(raw)
            continue
        step(len(raw.data), 1)
        message = read(raw.data)
        label_index, score = wanted.pop(hash_of_message(message), (None, 0.0))
        if label_index is not None:
            label = model.labels[label_index]
            shares = model.classify_message(message).probabilities
            looks_like = max((other for other in shares if other != SPAM), key=shares.__getitem__)
            texts = (message.get("from") or "", message.get("subject") or "")
            looks_like = looks_like if label == SPAM else SPAM
            found.append(Suspect(raw.path, raw.index, label, looks_like, score, *texts))
    found.sort(key=lambda suspect: -abs(suspect.score))
    return found, len(wanted), unreadable
