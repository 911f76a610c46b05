"""What spamnb remembers of the mail it has read, to save work: it must never change what is read."""

from __future__ import annotations

from spamnb.reading import header_rules
from spamnb.reading import links as urls
from spamnb.reading.html import styles, tags

MEMORIES: list[dict] = [
    styles._known_styles,
    styles._known_nested,
    tags.KNOWN,
    tags._leads,
    header_rules._known_rules,
    header_rules._known_hosts,
    urls._known_authorities,
]


def forget() -> None:
    for memory in MEMORIES:
        memory.clear()
