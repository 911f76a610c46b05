"""International domains: as people read them, however they are written."""

from __future__ import annotations

from unicodedata import normalize

from spamnb.reading.letters import PLAINER

ENCODED = "xn--"
LONGEST_CODE = 63 - len(ENCODED)  # of a label, by DNS: decoding takes quadratic time
MOST_LABELS = 200  # decoded of one text
LONGEST_ADDRESS = 320  # bytes
_LABEL_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")


def usual_host(host: str) -> str:
    """Return a host in its usual form: the letters that a reader sees."""
    return decoded(_plain(host)).strip(".")


def usual_addresses(pieces: list[bytes]) -> list[str]:
    """Return the addresses among pieces of a header, with their hosts in the usual form."""
    split = [piece[:LONGEST_ADDRESS].decode("utf-8", "ignore").rpartition("@") for piece in pieces]
    return [f"{_plain(local)}@{usual_host(host)}" for local, at, host in split if at]


def decoded(text: str) -> str:
    """Replace encoded labels (xn--…) of hosts, wherever they stand in a text, by what they encode."""
    first, *pieces = text.replace("XN--", ENCODED).split(ENCODED, MOST_LABELS)
    out = [first]
    for piece in pieces:
        end = 0
        while end < len(piece) and end <= LONGEST_CODE and piece[end] in _LABEL_LETTERS:
            end += 1
        out += (_label_of(piece[:end]), piece[end:])
    return "".join(out)


def _label_of(code: str) -> str:
    """Return the label that a code stands for; encoded as it was if no browser would show that."""
    try:
        label = _plain(code.lower().encode().decode("punycode") if len(code) <= LONGEST_CODE else "")
    except UnicodeError:
        label = ""
    # A code for a plain label is that of no domain, least of all of the one it looks like.
    an_odd_one = label.isascii() or not _LABEL_LETTERS.issuperset(char for char in label if char < "\x80")
    return ENCODED + code if an_odd_one else label


def _plain(text: str) -> str:
    """Return a host with one form of each letter, as browsers look it up."""
    text = normalize("NFKC", text.translate(PLAINER)).replace("。", ".").lower()
    return "".join([char for char in text if char.isprintable() and char != " "])
