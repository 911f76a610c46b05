"""The Python API: what `import spamnb` offers for training, judging and evaluating (docs/python.md)."""

from __future__ import annotations

import os

from spamnb import model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from spamnb.bayes.verdict import Verdict
    from spamnb.bayes.view import View
    from spamnb.evaluation.results import Evaluation
    from spamnb.inspection.explanation import Explanation
    from spamnb.training.known_messages import Summary

    Path = str | os.PathLike[str]
    Sources = Mapping[str, Path | Iterable[Path]]

MAX_HAM_LOSS = 0.5


class OpenModel(model.Model):
    """A trained model, opened by `Model.open(path)`; it classifies messages and explains its verdicts."""

    def classify(self, raw: bytes) -> Verdict:
        """Judge a message, given as bytes, and return the verdict."""
        return super().classify(checked_message(raw))

    def explain(self, raw: bytes) -> Explanation:
        """Judge a message; return the verdict with the evidence for it and the reasons in plain words."""
        from spamnb.inspection.explanation import explain

        return explain(self, checked_message(raw))

    def __repr__(self) -> str:
        counts = zip(self.labels, self.stored.messages, strict=True)
        return f"<Model {self.stored.path!r}: {', '.join(f'{count:,} {label}' for label, count in counts)}>"


Model = OpenModel  # its name for users


def train(
    path: Path,
    sources: Sources,
    settings: Mapping[str, Any] | None = None,
    *,
    view: View | None = None,
    ham_loss: float | None = None,
    fresh: bool = False,
    jobs: int | None = None,
) -> Summary:
    """Learn the mail in the paths of each label, all of it or none. An existing model keeps what it learned.

    `sources` maps each label to one or several paths: mailboxes, Maildirs, folders of messages. `settings`
    (of the tokenizer) and `view` are for a new model; an existing one must have the same, unless `fresh`
    replaces it. `ham_loss` is the share of ham that may be lost, from 0 to 0.5; `jobs` the number of threads.

    Folders in these paths are left out if their name contradicts the label (Trash, …). Raises UsageError if
    nearly all mail of a label would move to another label: the paths may have been swapped.
    """
    from spamnb.files import model_file
    from spamnb.training.train import train as run
    from spamnb.workers import LocalPool

    if ham_loss is not None and not 0 <= ham_loss <= MAX_HAM_LOSS:
        raise ValueError(f"ham_loss must be from 0 to 0.5, such as 0.001 for 0.1 %, not {ham_loss!r}")
    file, mail = model_file(os.fspath(path)), checked_sources(sources)
    return run(file, mail, settings, view=view, ham_loss=ham_loss, fresh=fresh, pool=LocalPool(jobs))


def learn(path: Path, raw: bytes, label: str) -> str:
    """Learn a message under a label. When this returns, the change is on disk.

    Returns "learned", "moved" if it was learned under another label before, or "known" if under this one.
    """
    from spamnb.files import model_file
    from spamnb.training.learn import learn as run

    return run(model_file(os.fspath(path)), checked_message(raw), label)


def forget(path: Path, raw: bytes) -> str:
    """Remove a message from the model, whatever its label. When this returns, the change is on disk.

    Returns "forgotten", or "unknown" if the message was not in the model, so that nothing changed.
    """
    from spamnb.files import model_file
    from spamnb.training.learn import learn as run

    return run(model_file(os.fspath(path)), checked_message(raw), None)


def evaluate(
    sources: Sources,
    settings: Mapping[str, Any] | None = None,
    *,
    view: View | None = None,
    folds: int = 10,
    jobs: int | None = None,
) -> Evaluation:
    """Cross-validate on labelled mail: judge each part (fold) of the mail by the counts of the other parts.

    `metrics` of the result has the figures that `spamnb evaluate --json` prints.
    """
    from spamnb.evaluation.corpus import Corpus
    from spamnb.evaluation.evaluate import evaluate_by_folds
    from spamnb.reading.settings import Settings
    from spamnb.threads import all_cores
    from spamnb.training.batches import MailToRead
    from spamnb.workers import LocalPool

    mail, chosen, threads = checked_sources(sources), Settings(**(settings or {})), jobs or all_cores()
    corpus = Corpus.of(list(mail), LocalPool(threads).batches(MailToRead(mail, chosen)))
    return evaluate_by_folds(corpus, chosen, view, folds, MAX_MISTAKES, threads)


MAX_MISTAKES = 10  # listed in an evaluation


def checked_sources(sources: Sources) -> dict[str, list[str]]:
    """Return the paths of each label as a list; raise an error for a wrong label or a missing path."""
    from spamnb.labels import is_label
    from spamnb.mailboxes.sources import check

    if wrong := [label for label in sources if not is_label(label)]:
        raise ValueError(f"{wrong[0]!r} cannot be a label; choose a short printable name other than 'unsure'")
    lists = {label: [of] if isinstance(of, str | os.PathLike) else of for label, of in sources.items()}
    found = {label: [os.fspath(path) for path in paths] for label, paths in lists.items()}
    check([path for paths in found.values() for path in paths])
    return found


def checked_message(raw: bytes) -> bytes:
    """Return a message unchanged; raise TypeError if it is not bytes."""
    if not isinstance(raw, bytes):
        raise TypeError(
            f"a message must be bytes, such as Path.read_bytes() returns, not {type(raw).__name__}"
        )
    return raw
