"""A naive-Bayes spam filter for people who run their own mail.

import spamnb

spamnb.train("model.msgpack", {"ham": ["ham/"], "spam": ["spam/"]})
verdict = spamnb.Model.open("model.msgpack").classify(raw_message)
print(verdict.label, verdict.score, verdict.probability)
spamnb.learn("model.msgpack", raw_message, "spam")
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spamnb.bayes.classifier import Classifier, View
    from spamnb.bayes.verdict import Verdict
    from spamnb.errors import SpamnbError
    from spamnb.model import Model
    from spamnb.reading.settings import Settings
    from spamnb.tables.count_table import CountTable
    from spamnb.training.known_messages import Summary

    Path = str | os.PathLike[str]

__version__ = "0.1.0"
__all__ = [
    "Classifier",
    "CountTable",
    "Model",
    "Settings",
    "SpamnbError",
    "Verdict",
    "View",
    "learn",
    "train",
]

_HOMES = {
    "Classifier": "spamnb.bayes.classifier",
    "CountTable": "spamnb.tables.count_table",
    "Model": "spamnb.model",
    "Settings": "spamnb.reading.settings",
    "SpamnbError": "spamnb.errors",
    "Verdict": "spamnb.bayes.verdict",
    "View": "spamnb.bayes.classifier",
}


def __getattr__(name: str) -> object:
    """Each name is loaded when first used: a delivery pays for none it does not need."""
    if name not in _HOMES:
        raise AttributeError(f"module 'spamnb' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def train(
    path: Path,
    sources: Mapping[str, Sequence[Path]],
    settings: Mapping[str, Any] | None = None,
    *,
    view: View | None = None,
    ham_loss: float | None = None,
    fresh: bool = False,
    forget: bool = False,
    keyed: bool = False,
    all_folders: bool = False,
    yes: bool = False,
    jobs: int | None = None,
) -> Summary:
    """Learn (or forget) the mail below the paths of each label. The model changes as a whole or not at all.

    Settings (the tokenizer's), view and keyed are for a new model; keyed ones keep no words, but fingerprints
    by a key that has a file of its own. ham_loss is the share of ham that may be lost. Without all_folders,
    those below a path whose names speak against its label (Trash, Drafts …) are left out. Without yes, a run
    that would move nearly all of a label to another one is refused: folders may have been swapped.
    """
    from spamnb.mailboxes.sources import check
    from spamnb.training import train as training
    from spamnb.workers.local import LocalPool

    named = {label: [os.fspath(one) for one in paths] for label, paths in sources.items()}
    check([one for paths in named.values() for one in paths])
    return training.train(
        os.fspath(path),
        named,
        settings,
        view=view,
        ham_loss=ham_loss,
        fresh=fresh,
        forget=forget,
        keyed=keyed,
        all_folders=all_folders,
        yes=yes,
        pool=LocalPool(jobs),
    )


def learn(path: Path, raw: bytes, label: str | None) -> str:
    """Learn a message under a label, or forget it (None). When this returns, the change is on disk."""
    from spamnb.training import learn as learning

    return learning.learn(os.fspath(path), raw, label)
