"""The mbox format: a stream of many messages, cut by the core in linear time and bounded memory."""

from spamnb.core.native import Mailbox, is_deleted, is_envelope

__all__ = ["MAX_MESSAGE", "is_deleted", "is_envelope", "messages"]

MAX_MESSAGE = 64 << 20  # bytes of a message that are kept; larger than any mail server accepts by default
messages = Mailbox
