"""Use a user's rights instead of root's, so that root opens only files that the user may open."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import NamedTuple

from spamnb.errors import NoInput, SpamnbError


class Rights(NamedTuple):
    """The user and the group with whose rights files are opened."""

    user: int
    group: int


ROOT = Rights(0, 0)


def owner_of(first: str, last: str) -> Rights:
    """Return the first owner who is not root among the folders from `first` down to `last`; ROOT if none."""
    names = last[len(first) :].strip("/").split("/")
    for here in accumulate((first, *names), os.path.join):
        for look in (os.lstat, os.stat):  # a link of root's may lead to a user's folder
            try:
                status = look(here)
            except OSError as error:
                raise NoInput(f"{here}: {error.strerror}") from error
            if status.st_uid:
                return Rights(status.st_uid, status.st_gid)
    return ROOT


def take(rights: Rights) -> None:
    """Give up all rights of this process except those of a user and the user's groups."""
    try:
        entry = pwd.getpwuid(rights.user)
        groups = os.getgrouplist(entry.pw_name, entry.pw_gid)
    except KeyError:
        groups = []
    try:
        os.setgroups(groups)
        os.setresgid(rights.group, rights.group, rights.group)
        os.setresuid(rights.user, rights.user, rights.user)
    except OSError as error:
        raise SpamnbError(f"cannot take the rights of user {rights.user}: {error.strerror}") from error
    for path in (os.__file__, __file__):  # not all modules that mail may need are loaded yet
        if not os.access(path, os.R_OK):
            raise SpamnbError(f"user {rights.user} cannot read {path}; install spamnb for all users")


@contextmanager
def as_owner(rights: Rights) -> Iterator[None]:
    """If root runs this, open files in the `with` block as a user. Programs started in it could be root."""
    groups = os.getgroups()
    if os.geteuid() or rights == ROOT:
        yield
        return
    os.setgroups([])
    os.setegid(rights.group)
    os.seteuid(rights.user)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
