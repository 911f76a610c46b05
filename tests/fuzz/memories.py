"""What spamnb remembers of the mail it has read, to save work: it must never change what is read."""

from __future__ import annotations

from spamnb.reading import header_rules, headers, identity, styles
from spamnb.reading import links as urls

MEMORIES: list[dict] = [
    headers._known_names,
    identity._known_names,
    styles._known_css,
    header_rules._known_rules,
    header_rules._known_hosts,
    urls._known_authorities,
]


def forget() -> None:
    for memory in MEMORIES:
        memory.clear()
