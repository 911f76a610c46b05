"""Bytes to the disk and to other programs, all of them or an error."""

from __future__ import annotations

import os


def write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def read_all(handle: int) -> bytes:
    pieces = []
    while piece := os.read(handle, 1 << 20):
        pieces.append(piece)
    return b"".join(pieces)


def sync_folder(path: str) -> None:
    """Make a new or renamed file's name survive a crash."""
    handle = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def default_model() -> str:
    """$SPAMNB_MODEL, else spamnb/model.msgpack in the XDG data folder."""
    named = os.environ.get("SPAMNB_MODEL")
    if named:
        return named
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "spamnb", "model.msgpack")
