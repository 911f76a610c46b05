"""Maildir: a folder with folders `cur`, `new` and `tmp`, where each file in `new` and `cur` is a message.

A message moves from `new` to `cur` when it is seen, and its name changes with its flags.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from typing import Any

# New before cur, as messages move: one that moves while they are listed is found twice, not missed.
WITH_MAIL = ("new", "cur")
FOLDERS = frozenset((*WITH_MAIL, "tmp"))


def is_maildir(folders: Collection[str]) -> bool:
    """Return whether a folder with these subfolders is a Maildir: it has `cur`, or both `new` and `tmp`.

    A folder that has only `new` is an ordinary folder, so the files beside `new` are mail, too.
    """
    return "cur" in folders or ("new" in folders and "tmp" in folders)


def is_in_maildir(path: str) -> bool:
    """Return whether a file is in a Maildir, and so is a single message even if it begins like an mbox."""
    folder, file = os.path.split(path)
    maildir, name = os.path.split(folder)
    if name not in WITH_MAIL:
        return False
    return ":2," in file or all(os.path.isdir(os.path.join(maildir, other)) for other in WITH_MAIL)


def is_deleted(path: str) -> bool:
    """Return whether a file's name has the Maildir flag of a message that was deleted or moved (T).

    >>> is_deleted("Maildir/cur/1700000000.1.host:2,ST")
    True
    """
    if ":2," not in path:
        return False
    folder, name = os.path.split(path)
    return os.path.basename(folder) in WITH_MAIL and "T" in name.partition(":2,")[2]


def messages(listed: Iterable[Any]) -> list[Any]:
    """Sort messages by name; if one is listed twice, as it moved from `new` to `cur`, keep the latter."""
    found = {_unique_part(entry.name): entry for entry in listed}
    return [found[unique] for unique in sorted(found)]


def current_paths(paths: Iterable[str]) -> Iterator[str]:
    """Yield the current paths of files: messages of a Maildir may have moved since `paths` were listed."""
    listings: dict[str, dict[str, str]] = {}  # listed once, also when 100,000 messages were marked as read
    for path in paths:
        if "cur/" not in path and "new/" not in path:  # most files of folders
            yield path
            continue
        folder, name = os.path.split(path)
        maildir, sub = os.path.split(folder)
        if sub in WITH_MAIL and not os.path.lexists(path):
            unique = _unique_part(name)
            listed = listings.get(maildir)
            if listed is None or (unique in listed and not os.path.lexists(listed[unique])):  # moved again
                listed = listings[maildir] = _listing(maildir)
            yield listed.get(unique, path)
        else:
            yield path


def _listing(maildir: str) -> dict[str, str]:
    """Return {unique part of the name: path} of all messages in a Maildir."""
    paths: dict[str, str] = {}
    for folder in (os.path.join(maildir, name) for name in WITH_MAIL):
        try:
            paths.update((_unique_part(name), os.path.join(folder, name)) for name in os.listdir(folder))
        except OSError:  # missing or not permitted: nothing has moved there that could be read
            continue
    return paths


def _unique_part(name: str) -> str:
    """Return the part of a message's file name that does not change when its flags change."""
    return name.partition(":")[0]
