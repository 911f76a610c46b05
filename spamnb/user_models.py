"""Paths of the models of users: a pattern in which %u stands for the user."""

from __future__ import annotations

import os
import stat
import string

from spamnb.errors import ModelError, NoInput
from spamnb.rights import Rights, owner_of

MODEL_NAME = "model.msgpack"
USER = "%u"
USER_CHARACTERS = frozenset(string.ascii_letters + string.digits + "._@+-=")
MAX_USER_LENGTH = 128  # characters


class UserModels:
    """The paths of users' models: a pattern with %u for the user, or FOLDER for FOLDER/%u/model.msgpack."""

    def __init__(self, pattern: str) -> None:
        if USER not in pattern:
            pattern = os.path.join(pattern, USER, MODEL_NAME)
        self.before, _, self.behind = pattern.partition(USER)

    def path(self, user: str) -> str | None:
        """Return the path of a user's model, even if the file is missing; None if the name is invalid."""
        return f"{self.before}{user}{self.behind}" if is_user(user) else None

    def find(self, user: str, name: str = "") -> str | None:
        """Return the real path of a user's model, or of the file `name` beside it; None if it is missing.

        Users may write in these folders, so a link that leads out of the user's own folder raises ModelError,
        and so does anything but a regular file.
        """
        path = self.path(user)
        if path is None:
            return None
        if name:
            path = os.path.join(os.path.dirname(path), name)
        try:
            os.lstat(path)  # takes a tenth of the time of what follows, and most users have no lists
            found = os.path.realpath(path)
            if not self._is_own(user, found):
                raise ModelError(path, f"a link leads out of the user's folder, to {found}")
            if not stat.S_ISREG(os.lstat(found).st_mode):
                raise ModelError(path, "is not a regular file")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise NoInput(f"{path}: {error.strerror}") from error
        return found

    def owner(self, user: str) -> Rights:
        """Return the first owner who is not root, going down from the user's folder to the model's."""
        own, path = own_part(self.before + USER + self.behind, user)
        folder = os.path.dirname(path)
        while not (folder.startswith(own) and os.path.lexists(own)):
            own = folder = os.path.dirname(own) or "."
        return owner_of(own, folder)

    def _is_own(self, user: str, found: str) -> bool:
        """Return whether the path `found` is in the folder that belongs to this user."""
        folder, name = os.path.split(own_part(self.before + USER + self.behind, user)[0])
        own = os.path.join(os.path.realpath(folder), name)
        return found == own or found.startswith(own + "/")


def own_part(path: str, user: str) -> tuple[str, str]:
    """Replace %u in a path; return the user's own folder or file (the first with %u), and the whole path."""
    before, _, behind = path.partition(USER)
    whole = path.replace(USER, user)
    return (before + user + behind.partition("/")[0] if USER in path else whole), whole


def users_of(name: str) -> list[str]:
    """Return the names under which a user's model may be stored: one for a login name, four for an address.

    For `ann+news@example.org`: itself, `ann@example.org` (the user's address), `ann+news` and `ann`.
    """
    local, at, domain = name.lower().rpartition("@")
    if not at:
        return [name]
    if local.startswith('"') and local.endswith('"'):
        local = local[1:-1].replace("\\", "")
    short = local.partition("+")[0]
    return [f"{local}@{domain}", f"{short}@{domain}", local, short]


def is_user(name: str) -> bool:
    """Return whether a name is safe in a path: it cannot lead to another folder or to a hidden file."""
    return 0 < len(name) <= MAX_USER_LENGTH and name[0] not in ".-" and USER_CHARACTERS.issuperset(name)
