"""A dry run does all that a run does, on copies: of the model, and of what is known of the mailbox."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

from spamnb.store.copying import copy_model


@contextmanager
def copied_model(path: str) -> Iterator[str]:
    """Copy a model and its journal, to learn what nobody keeps."""
    with TemporaryDirectory(prefix="spamnb-dry-run-", ignore_cleanup_errors=True) as folder:
        copy = os.path.join(folder, "model.msgpack")
        if os.path.exists(path):
            copy_model(path, copy, check=lambda _copy: None)
        yield copy
