"""Users' own lists of allowed and blocked senders: allow.txt and block.txt beside their models."""

from __future__ import annotations

from spamnb.errors import DataError
from spamnb.files import stamp_of
from spamnb.rights import as_owner
from spamnb.senders.list_file import read_list
from spamnb.senders.lists import SenderLists
from spamnb.user_models import UserModels

NAMES = ("allow.txt", "block.txt")
MAX_USERS = 1024  # lists kept in memory
MAX_LIST = 1 << 20  # bytes


class UserLists:
    """The users' own lists of senders, read when they are first needed, and again when they have changed."""

    def __init__(self, models: UserModels) -> None:
        self.models = models
        self.by_user: dict[str, tuple[list[object], SenderLists]] = {}  # the least recently used first

    def of(self, user: str) -> SenderLists | None:
        """Return a user's lists; None if the user has no lists. Raises an error if a list cannot be read."""
        paths = [self.models.find(user, name) for name in NAMES]
        if paths == [None, None]:
            return None
        stamps: list[object] = [path and checked_stamp(path) for path in paths]
        kept = self.by_user.pop(user, None)
        if kept is None or kept[0] != stamps:
            with as_owner(self.models.owner(user)):
                kept = stamps, SenderLists.of(*map(read_list, paths))
        self.by_user[user] = kept
        if len(self.by_user) > MAX_USERS:
            del self.by_user[next(iter(self.by_user))]
        return kept[1]


def checked_stamp(path: str) -> tuple[int, int, int] | None:
    """Return inode, time and size of a list file, None if missing; raise DataError if it is too large."""
    stamp = stamp_of(path, follow_symlinks=False)
    if stamp and stamp[2] > MAX_LIST:
        raise DataError(f"{path}: is larger than {MAX_LIST >> 20} MB, the limit for a list on a server")
    return stamp
