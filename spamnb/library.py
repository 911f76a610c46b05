"""Training and learning for `import spamnb`; all else that it offers has its home elsewhere."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from spamnb.bayes.view import View
    from spamnb.training.known_messages import Summary

    Path = str | os.PathLike[str]


def train(
    path: Path,
    sources: Mapping[str, Path | Sequence[Path]],
    settings: Mapping[str, Any] | None = None,
    *,
    view: View | None = None,
    ham_loss: float | None = None,
    fresh: bool = False,
    forget: bool = False,
    jobs: int | None = None,
    memory: int | None = None,
) -> Summary:
    """Learn (or forget) the mail below the path, or paths, of each label, wholly or not at all.

    Settings (the tokenizer's) and view are for a new model. ham_loss is the share of ham that may be lost,
    from 0 to 0.5; memory about how many bytes training may take. Folders below a path whose names speak
    against its label (Trash, Drafts …) are left out. A run is refused that would move nearly all of a label
    to another one: folders may have been swapped.
    """
    from spamnb.files import model_file
    from spamnb.labels import is_label
    from spamnb.mailboxes.sources import check
    from spamnb.training import train as training
    from spamnb.workers.local import LocalPool

    if ham_loss is not None and not 0 <= ham_loss <= 0.5:
        raise ValueError(f"ham_loss is a share from 0 to 0.5, as 0.001 for 0.1 %, not {ham_loss!r}")
    if wrong := [label for label in sources if not is_label(label)]:
        raise ValueError(f"{wrong[0]!r} cannot be a label")
    lists = {label: [of] if isinstance(of, str | os.PathLike) else of for label, of in sources.items()}
    named = {label: [os.fspath(one) for one in paths] for label, paths in lists.items()}
    check([one for paths in named.values() for one in paths])
    return training.train(
        model_file(os.fspath(path)),
        named,
        settings,
        view=view,
        ham_loss=ham_loss,
        fresh=fresh,
        forget=forget,
        memory=memory or training.MEMORY,
        pool=LocalPool(jobs),
    )


def learn(path: Path, raw: bytes, label: str | None, is_correction: bool = False) -> str:
    """Learn a message under a label, or forget it (None). When this returns, the change is on disk.

    A correction was chosen for being hard to judge: cutoffs are not set by its score, if there are others.
    """
    from spamnb.files import model_file
    from spamnb.training import learn as learning

    return learning.learn(model_file(os.fspath(path)), raw, label, is_correction)
