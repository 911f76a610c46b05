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
    """A file or folder that could not be read, or only in part."""

    __slots__ = ("path", "why")

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        self.why = why

    @property
    def error(self) -> type[SpamnbError]:
        """The error to raise: NoInput if permission is denied, else DataError."""
        return NoInput if self.why == DENIED else DataError


class Missing(Unreadable):
    """A path that the user named and that does not exist."""

    __slots__ = ()

    @property
    def error(self) -> type[SpamnbError]:
        return NoInput


class SkippedMail(Unreadable):
    """A file in a folder that holds no mail, which is reported, but not as an error."""

    __slots__ = ()


class LeftOutFolder(SkippedMail):
    """A folder or mailbox below a path of a label, whose name says that its mail has another label."""

    __slots__ = ()


class Deleted(SkippedMail):
    """Messages that are marked as deleted but still in their mailbox."""

    __slots__ = ("count",)

    def __init__(self, path: str, count: int = 1) -> None:
        super().__init__(path, counted(count, "deleted message"))
        self.count = count


def failures(found: Iterable[Unreadable]) -> list[Unreadable]:
    """Select the files and folders that should have been read but could not be."""
    return [item for item in found if not isinstance(item, SkippedMail)]


def skipped_mail(found: Iterable[Unreadable]) -> list[SkippedMail]:
    """Select the files, folders and deleted messages that were skipped on purpose."""
    return [item for item in found if isinstance(item, SkippedMail)]
