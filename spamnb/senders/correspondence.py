"""Collect the people that the user wrote to, and the networks that their mail comes from, for `known.txt`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from spamnb.core.native import Message, read_head
from spamnb.labels import SPAM
from spamnb.mailboxes.chunks import RawMessage
from spamnb.mailboxes.sources import chunks_by_label
from spamnb.reading.envelope import addresses_in, read_envelope
from spamnb.reading.route import SUBMITTED, route_of
from spamnb.senders.people import OWN, People, address_of, ids_in

if TYPE_CHECKING:
    from spamnb.mailboxes.sources import Sources

MAX_VALUE = 64 << 10  # characters of a header with recipients


def lines_of_sent(head: Message) -> Iterator[str]:
    """Yield the lines of `known.txt` for a sent message: its author, its Message-ID, and its recipients."""
    for name, value in head.headers:
        if name in ("to", "cc", "bcc"):
            yield from addresses_in(value[:MAX_VALUE])
        elif name == "from":
            yield from (OWN + address for address in addresses_in(value))
        elif name == "message-id":
            yield from ids_in(value)


def note_people(people: People, sent: Sequence[str], sources: Sources) -> int:
    """Add the people in `sent` mail and the networks of their ham (in `sources`); return how many are new."""
    new = people.add(line for raw in ham_in({"sent": sent}) for line in lines_of_sent(read_head(raw)))
    routes = {(address_of(one), route_of(one.received)) for one in map(read_envelope, ham_in(sources))}
    noted = people.lines
    return new + people.add(
        f"{address} {route}"
        for address, route in routes
        if route not in ("", SUBMITTED) and not noted.isdisjoint((address, OWN + address))
    )


def ham_in(sources: Sources) -> Iterator[bytes]:
    for chunk, label in chunks_by_label(sources):
        for message in chunk.messages() if label != SPAM else ():
            if isinstance(message, RawMessage):
                yield message.data
