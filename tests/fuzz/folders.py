"""Folders for what a check writes, gone when the process ends."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path


def new_folder() -> Path:
    folder = tempfile.mkdtemp(prefix="spamnb-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
