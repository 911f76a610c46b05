"""Where mail is now, and whether it will be moved: what the state of its account tells the review page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from spamnb.errors import SpamnbError
from spamnb.imap.state import State, head_of, key_of

if TYPE_CHECKING:
    from spamnb.history.schema import Entry
    from spamnb.imap.state import Known

SOURCE = "imap "  # and ACCOUNT/FOLDER


class Place(NamedTuple):
    """Where a message is."""

    words: str
    is_final: bool = True  # or it will be moved


def is_news(known: Known, entry: Entry) -> bool:
    """Whether its owner gave a message a label, or took it back, since it was last dealt with."""
    return entry.corrected is not None and known.label != (entry.correction or "")


def is_elsewhere(known: Known, entry: Entry, homes: Mapping[str, str]) -> bool:
    """Whether a message is to be moved to where its owner says that it belongs."""
    is_ours = entry.correction is not None or known.ours  # it goes back where we put it
    return bool(homes) and is_ours and homes.get(known.folder) != (entry.correction or known.verdict)


def places(entries: Iterable[Entry], message: Callable[[int], bytes | None]) -> dict[int, Place]:
    """Tell where each message is, by the number of its entry; of others than IMAP's, nothing."""
    by_account: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.source.startswith(SOURCE):
            account = entry.source.removeprefix(SOURCE).partition("/")[0]
            by_account.setdefault(account, []).append(entry)
    found = {}
    for account, some in by_account.items():
        with suppress(SpamnbError), State.to_read(account) as state:  # it may be gone, or damaged
            homes = state.homes()
            for entry in some:
                raw = message(entry.id)
                if raw and (known := state.known(key_of(head_of(raw)))):
                    found[entry.id] = place_of(known, entry, account, homes)
    return found


def place_of(known: Known, entry: Entry, account: str, homes: Mapping[str, str]) -> Place:
    if not known.uid:
        return Place(f"no longer in {known.folder} at {account}")
    is_begun = bool(homes and known.target and known.target_uid >= 0)
    waits = is_begun or (is_news(known, entry) and is_elsewhere(known, entry, homes))
    was_moved = known.ours and entry.correction is not None and homes.get(known.folder) == entry.correction
    words = f"{'moved to' if was_moved and not waits else 'in'} {known.folder} at {account}"
    return Place(words + (", will be moved at the next run" if waits else ""), not waits)
