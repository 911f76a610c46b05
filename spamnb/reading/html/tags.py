"""Tags of a page: the name, what the attributes say, and what the tag does to the text around it.

Reading a tag takes 5 to 10 µs, so tags are remembered: nine in ten have been seen before.
"""

from __future__ import annotations

from spamnb.reading.html.elements import (
    BEHAVIOURS,
    DEFAULT_BEHAVIOUR,
    LABELLED,
    LINK_ATTRIBUTES,
    PICTURES,
    READ_ATTRIBUTES,
)
from spamnb.reading.html.entities import unescape
from spamnb.reading.html.styles import LINK, STYLE_ATTRIBUTES, style_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.reading.html.styles import Style

MAX_TAG = 4096  # characters of one tag that are read; a quote not closed by then was never meant
MAX_NAME = 40  # characters of an element's name
MAX_TARGET = 2000  # characters of an address
MAX_REMEMBERED = 8000  # tags, over all pages: up to 6 MB
MAX_REMEMBERED_TAG = 200  # characters
MAX_LEADS = 1000  # remembered over all pages; a lead is what stands before a quoted value, as ` href=`
MAX_LEAD = 40  # characters of a remembered lead

LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


class Tag:
    """A start or end tag, and what it does to the text around it."""

    __slots__ = ("closing", "ends", "followed", "gap", "images", "label", "links", "name", "raw", "style")

    def __init__(self, name: str, closing: bool = False) -> None:
        # The end of the body ends nothing: what follows is still shown.
        self.name = "" if closing and name in ("body", "html") else name
        self.closing = closing
        self.gap, self.ends, self.followed, self.raw = BEHAVIOURS.get(name, DEFAULT_BEHAVIOUR)
        self.style: Style | None = None
        self.label = ""
        self.links: tuple[str, ...] = ()
        self.images: tuple[str, ...] = ()


NO_TAG = Tag("", closing=True)  # for a comment and the like: as an end tag of what was never open

KNOWN: dict[str, Tag] = {}  # by what stands between "<" and ">"
_leads: dict[str, str] = {}  # lead → the attribute it names, "" if it is not read


def read_tag(inside: str) -> Tag | None:
    """Return the tag between "<" and the first ">"; None if there is no tag, or that ">" is in quotes."""
    if inside[:1] == "/":
        if inside[1:2] not in LETTERS:
            return None
        tag = Tag(split_name(inside[1:])[0], closing=True)
    elif inside[:1] not in LETTERS:
        return None
    else:
        name, rest = split_name(inside[:MAX_TAG])
        tag = Tag(name)
        if rest:
            attributes = _attributes(rest)
            if attributes is None:
                return None
            if attributes:
                describe(tag, attributes)
    if len(inside) <= MAX_REMEMBERED_TAG:
        if len(KNOWN) >= MAX_REMEMBERED:
            KNOWN.clear()
        KNOWN[inside] = tag
    return tag


def split_name(tag: str) -> tuple[str, str]:
    """Split a tag into the element's name and the rest."""
    words = tag.split(None, 1)
    name = words[0]
    rest = words[1] if len(words) > 1 else ""
    if "/" in name:  # <br/>, <a/href=...>
        name = name.partition("/")[0]
        rest = tag[len(name) + 1 :]
    return name[:MAX_NAME].lower(), rest


def _attributes(rest: str) -> dict[str, str] | None:
    """Return the attributes that are read, of a text without ">"; None if a quote is not closed.

    Nearly all are written name="value" or name=value: splitting those takes a third of the time of a scan.
    """
    pieces = iter(rest.split('"'))
    found: dict[str, str] = {}
    for lead in pieces:
        value = next(pieces, None)
        if value is None:  # after the last quoted value
            if not lead or _unquoted(lead, found):
                return found
            break
        name = _leads.get(lead)
        if name is None:
            name = _attribute_before(lead, found)
            if name is None:
                break
        if name and name not in found:
            found[name] = unescape(value, attribute=True) if "&" in value else value
    found, end = scan(rest)
    return found if end >= 0 else None


def _attribute_before(lead: str, found: dict[str, str]) -> str | None:
    """Return the attribute named last before a quoted value, "" if it is not read, None if not clear."""
    before, equals, after = lead.rpartition("=")
    words = before.split()
    if not equals or not words or after.strip():
        return None
    name = words.pop().lower()
    if "=" in name or "/" in name or (words and not _unquoted(" ".join(words), found)):
        return None
    name = name if name in READ_ATTRIBUTES else ""
    if not words and len(lead) <= MAX_LEAD:
        if len(_leads) >= MAX_LEADS:
            _leads.clear()
        _leads[lead] = name
    return name


def _unquoted(text: str, found: dict[str, str]) -> bool:
    """Note the attributes in a text without double quotes; False if that is not as simple as splitting it."""
    if "'" in text:
        return False
    for word in text.split():
        name, equals, value = word.partition("=")
        name = name.lower()
        if equals:
            if not name or not value or "/" in name:  # say, spaces around the "="
                return False
            if name in READ_ATTRIBUTES and name not in found:
                found[name] = unescape(value, attribute=True) if "&" in value else value
        elif "hidden" in name:
            return False
    return True


def scan(rest: str) -> tuple[dict[str, str], int]:
    """Return the attributes up to ">", and its offset: len(rest) if there is no ">", -1 if a quote is open.

    Each step copies what is left, so the caller bounds the length of `rest`.
    """
    found: dict[str, str] = {}
    size = len(rest)
    while True:
        left = len(rest)
        names, equals, rest = rest.partition("=")
        cut = names.find(">")
        if cut >= 0:
            names, equals = names[:cut], ""
        name = names.strip().lower()
        if not equals or not name.isalpha():
            words = name.replace("/", " ").split()
            name = words.pop() if equals and words else ""
            if "hidden" in words:  # the only attribute read that needs no value
                found["hidden"] = ""
            if not equals:
                return found, size if cut < 0 else size - left + cut
        rest = rest.lstrip()
        left = len(rest)
        quote = rest[:1]
        if quote == '"' or quote == "'":
            value, closed, rest = rest[1:].partition(quote)
        else:
            value, *after = rest.split(None, 1) or ("",)
            rest = after[0] if after else ""
            cut = value.find(">")
            value, closed = value[:cut] if cut >= 0 else value, "yes"
        if name in READ_ATTRIBUTES and name not in found:
            found[name] = unescape(value, attribute=True) if "&" in value else value
        if not closed:
            return found, -1
        if cut >= 0:
            return found, size - left + cut


def describe(tag: Tag, attributes: dict[str, str]) -> None:
    """Note what the attributes say of an element's look, its targets and the words it shows."""
    name, get = tag.name, attributes.get
    if not STYLE_ATTRIBUTES.isdisjoint(attributes):
        tag.style = style_of(name, attributes)
    elif name == "a" and "href" in attributes:
        tag.style = LINK
    if name == "input":
        tag.label = get("value", "") if get("type", "").lower() in LABELLED else ""
    elif name == "meta":
        refresh = get("http-equiv", "").lower() == "refresh"
        tag.links = _targets(get("content", "").partition("=")[2] if refresh else "")
    elif name == "img":
        tag.label = get("alt", "")
    for attribute in LINK_ATTRIBUTES:
        if attribute in attributes:
            targets = _targets(attributes[attribute])
            if attribute == "background" or (attribute == "src" and name in PICTURES):
                tag.images += targets
            else:
                tag.links += targets


def _targets(value: str) -> tuple[str, ...]:
    """Return an address, if there is one, as a browser would follow it: no spaces around, no line ends."""
    target = value[:MAX_TARGET].strip()
    if "\n" in target or "\t" in target or "\r" in target:
        target = target.replace("\n", "").replace("\t", "").replace("\r", "")
    return (target,) if target else ()
