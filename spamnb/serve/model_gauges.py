"""Figures of model files for Prometheus, by kind: a series for each user would be too many."""

import os
from collections.abc import Iterable

from spamnb.errors import SpamnbError
from spamnb.serve.judge import Judge
from spamnb.serve.metrics import GAUGES, gauge
from spamnb.store.head import read_head
from spamnb.store.stored_model import open_file


def measure(judge: Judge) -> None:
    """Set the gauges of the shared model, and of all users' models together."""
    users = judge.user_models.users() if judge.user_models else []
    for kind, paths in (("shared", [judge.shared.path]), ("user", map(judge.own_path, users))):
        for name, value in zip(GAUGES, figures(filter(None, paths)), strict=True):
            judge.counters.set(gauge(name, kind), value)


def figures(paths: Iterable[str]) -> tuple[int, ...]:
    """Number of models that can be read, their messages, when one last changed, the largest journal."""
    models = messages = changed = largest = 0
    for path in paths:
        try:
            messages += sum(read_head(open_file(path))[0]["messages"])
            models += 1
            changed = max(changed, int(os.stat(path).st_mtime))
            status = os.stat(f"{path}.journal")
            changed, largest = max(changed, int(status.st_mtime)), max(largest, status.st_size)
        except (SpamnbError, OSError, KeyError, TypeError):
            continue  # damaged, closed, or without a journal
    return models, messages, changed, largest
