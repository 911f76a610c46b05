"""A dry run does all that a run does, on copies: of the model, and of what is known of the mailbox."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory

from spamnb.key import key_path
from spamnb.lock import Lock


@contextmanager
def copied_model(path: str) -> Iterator[str]:
    """Copy a model and its journal, to learn what nobody keeps."""
    with TemporaryDirectory(prefix="spamnb-dry-run-", ignore_cleanup_errors=True) as folder:
        copy = os.path.join(folder, "model.msgpack")
        if os.path.exists(path):
            with Lock(path), suppress(FileNotFoundError):  # there may be no journal
                shutil.copyfile(path, copy)
                shutil.copyfile(path + ".journal", copy + ".journal")
        if os.path.exists(path + ".key"):
            os.symlink(os.path.abspath(key_path(path)), copy + ".key")
        yield copy
