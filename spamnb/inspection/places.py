"""Places of a message where tokens stand, as a reader knows them: subject, body, link …"""

from __future__ import annotations

HEADER, BODY, NUMBER = "header", "body", "number"

# In the order in which a message is read.
PLACES = (
    "subject",
    "from",
    "to",
    "received",
    HEADER,
    BODY,
    "link",
    "markup",
    "attachment",
    "hidden",
    NUMBER,
)
_PLACE_OF_TAG = {
    "subject": "subject",
    "from": "from",
    "sender": "from",
    "reply-to": "from",
    "errors-to": "from",
    "to": "to",
    "cc": "to",
    "received": "received",
    "x-originating-ip": "received",
    "url": "link",
    "html": "markup",
    "type": "attachment",
    "charset": "attachment",
    "file": "attachment",
    "hidden": "hidden",
    "trick": BODY,
}


def place_of(token: str) -> str:
    """The place where a token stands, by its tag; of a pair of neighbours, that of the first word."""
    tag, colon, _ = token.partition(":")
    return _PLACE_OF_TAG.get(tag, HEADER) if colon else BODY
