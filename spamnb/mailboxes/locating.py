"""Find the store that has a path: the disks of this machine, or one that fsspec opens."""

from __future__ import annotations

from spamnb.files import refuse_password
from spamnb.mailboxes.stores import Store

LOCAL = Store()


def is_remote(path: str) -> bool:
    """Whether a path is an address that fsspec opens, like s3://bucket/folder/."""
    return "://" in path


def store_for(path: str) -> Store:
    """Store that has a path."""
    if not is_remote(path):
        return LOCAL
    refuse_password(path)
    from spamnb.mailboxes.remote import REMOTE

    return REMOTE
