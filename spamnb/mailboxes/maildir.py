"""Maildir: a folder with folders `cur`, `new` and `tmp`, where each file of `new` and `cur` is a message.

A message moves from `new` to `cur` when it is seen, and its name changes with its flags.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import Protocol, TypeVar

    class Named(Protocol):
        """File in a folder."""

        @property
        def name(self) -> str: ...

    Entry = TypeVar("Entry", bound=Named)

# First new, then cur, as messages move: one that moves while they are listed is met twice, not missed.
WITH_MAIL = ("new", "cur")
FOLDERS = frozenset((*WITH_MAIL, "tmp"))


def is_maildir(folders: Collection[str]) -> bool:
    """Whether a folder with these folders in it is a Maildir: it has `cur`, or `new` and `tmp`.

    Beside any other folder called `new`, files are mail, too.
    """
    return "cur" in folders or ("new" in folders and "tmp" in folders)


def is_in_maildir(path: str, is_folder: Callable[[str], bool]) -> bool:
    """Whether a file lies in a Maildir: then it is one message, even if it begins like an mbox.

    Flags in its name tell, too: object stores keep no empty folders, and `new` is often empty.
    """
    folder, file = os.path.split(path)
    maildir, name = os.path.split(folder)
    if name not in WITH_MAIL:
        return False
    return ":2," in file or all(is_folder(os.path.join(maildir, other)) for other in WITH_MAIL)


def is_deleted(path: str) -> bool:
    """Whether the flags in the name of a Maildir's file say that the message is deleted, or was moved.

    >>> is_deleted("Maildir/cur/1700000000.1.host:2,ST")
    True
    """
    if ":2," not in path:
        return False
    folder, name = os.path.split(path)
    return os.path.basename(folder) in WITH_MAIL and "T" in name.partition(":2,")[2]


def messages(listed: Iterable[Entry]) -> list[Entry]:
    """Sort the messages listed in `new`, then in `cur`; of one that is in both, take the later."""
    found = {_unique_part(entry.name): entry for entry in listed}
    return [found[unique] for unique in sorted(found)]


def current_paths(paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths of files as they are now: a message may have moved since it was listed."""
    listings: dict[str, dict[str, str]] = {}  # one serves many, as when 100,000 messages are marked as read
    for path in paths:
        if "cur/" not in path and "new/" not in path:  # most files of folders
            yield path
            continue
        folder, name = os.path.split(path)
        maildir, sub = os.path.split(folder)
        if sub in WITH_MAIL and "://" not in path and not os.path.lexists(path):
            unique = _unique_part(name)
            listed = listings.get(maildir)
            if listed is None or (
                unique in listed and not os.path.lexists(listed[unique])
            ):  # moved once more
                listed = listings[maildir] = _listing(maildir)
            yield listed.get(unique, path)
        else:
            yield path


def _listing(maildir: str) -> dict[str, str]:
    """Paths of a Maildir's messages by the part of their names that stays."""
    paths: dict[str, str] = {}
    for folder in (os.path.join(maildir, name) for name in WITH_MAIL):
        try:
            paths.update((_unique_part(name), os.path.join(folder, name)) for name in os.listdir(folder))
        except OSError:  # no such folder, or closed to us: nothing has moved there that we could read
            continue
    return paths


def _unique_part(name: str) -> str:
    """Part of a message's name that stays when its flags change."""
    return name.partition(":")[0]
