"""What `spamnb imap` says: of accounts, and of each message."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from spamnb.cli.render.terminal import print_json_lines
from spamnb.files import complain, counted, printable

if TYPE_CHECKING:
    from spamnb.imap.mailbox import Event

WIDEST = 60  # characters of a subject


def show_accounts(found: Iterable[dict[str, Any]]) -> None:
    """Say of each account what its server can do, which folder is which, and what would be done."""
    from spamnb.imap.setup import USEFUL

    for facts in found:
        print(f"{facts['account']}: {facts['server']}, TLS {facts['tls']}")
        for name, there in facts["can"].items():
            print(f"  has {name}" if there else f"  lacks {name}: {USEFUL[name].partition('; ')[2]}")
        for folder in facts["folders"]:
            messages = counted(folder["messages"], "message")
            print(f"  {folder['is']}: {printable(folder['folder'])}, {messages}")
        print(f"  action {facts['action']}: {printable(facts['would'])}")
        missing = "" if os.path.exists(facts["model"]) else " (not there yet)"
        print(f"  model: {printable(facts['model'])}{missing}")


def print_event(event: Event, as_json: bool, private: bool, quiet: bool) -> None:
    """Print a line about a message, if quiet only of a failure; `private`: without what is written in it."""
    if as_json:
        facts = event.as_map()
        if private:
            facts = {name: value for name, value in facts.items() if name not in ("sender", "subject")}
        print_json_lines([facts])
        return
    place = f"{event.account}/{event.folder}" + (f"/{event.uid}" if event.uid else "")
    if event.failed:
        complain(f"{place}: {event.what}")
        return
    if quiet:
        return
    found = event.learned or event.verdict
    score = "" if event.score is None else f"{event.score:.4f}"
    texts = [] if private else [event.sender[:WIDEST], event.subject[:WIDEST]]
    print("\t".join(printable(text) for text in (found, score, place, event.what, *texts)), flush=True)
