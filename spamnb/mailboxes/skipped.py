"""Reports of mail that was not read: because of a failure, or on purpose."""

from __future__ import annotations

from spamnb.errors import DataError, NoInput
from spamnb.files import counted
from spamnb.mailboxes.streams import DENIED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from spamnb.errors import SpamnbError


class Unreadable:
    """A report of a file or folder that could not be read, or only in part."""

    __slots__ = ("path", "why")

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        self.why = why

    @property
    def error(self) -> type[SpamnbError]:
        """The class of error to raise: NoInput if permission is denied, otherwise DataError."""
        return NoInput if self.why == DENIED else DataError


class Missing(Unreadable):
    """A report of a path that the user named but that does not exist."""

    __slots__ = ()

    @property
    def error(self) -> type[SpamnbError]:
        return NoInput


class SkippedMail(Unreadable):
    """A report of a file that was found in a folder but is not mail; this is not an error."""

    __slots__ = ()


class LeftOutFolder(SkippedMail):
    """A report of a folder or mailbox not read because of its name, such as Trash in a folder of ham."""

    __slots__ = ()


class Deleted(SkippedMail):
    """A report of messages that are marked as deleted but are still in their mailbox."""

    __slots__ = ("count",)

    def __init__(self, path: str, count: int = 1) -> None:
        super().__init__(path, counted(count, "deleted message"))
        self.count = count


def failures(found: Iterable[Unreadable]) -> list[Unreadable]:
    """Return the reports of files and folders that should have been read but could not be."""
    return [item for item in found if not isinstance(item, SkippedMail)]


def skipped_mail(found: Iterable[Unreadable]) -> list[SkippedMail]:
    """Return the reports of files, folders and deleted messages that were skipped on purpose."""
    return [item for item in found if isinstance(item, SkippedMail)]
