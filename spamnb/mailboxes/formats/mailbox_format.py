"""Facts that a mailbox format has to tell about itself."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Recognise = Callable[[bytes], bool]
    Cut = Callable[[Iterable[bytes]], Iterator[tuple[bytes, int]]]
    FindBoundary = Callable[[Iterable[bytes], int], tuple[int, Iterator[bytes]]]


class MailboxFormat:
    """A format of files that hold any number of messages.

    `recognises` a file by its first bytes; `messages` yields each message of a file, and how many bytes it
    takes there. A boundary is the start of a message: `boundary` finds the first one in a file from anywhere
    on, of which it sees `lead` bytes more; None if only reading from the file's start tells where they are.
    """

    __slots__ = ("boundary", "lead", "messages", "name", "name_endings", "recognises")

    def __init__(
        self,
        name: str,
        name_endings: tuple[str, ...],
        recognises: Recognise,
        messages: Cut,
        boundary: FindBoundary | None = None,
        lead: int = 0,
    ) -> None:
        self.name = name
        self.name_endings = name_endings
        self.recognises = recognises
        self.messages = messages
        self.boundary = boundary
        self.lead = lead
