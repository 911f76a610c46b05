"""Elements and attributes of HTML, by their names: what a tag does to the text before, in and behind it."""

from __future__ import annotations

MAX_NAME = 40  # characters of an element's name

# Elements that separate the words before and after them, and by what.
_GAPS = dict.fromkeys(
    (
        "address article aside blockquote br button caption center dd details dialog dir div dl dt "
        "fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hr legend "
        "li listing main marquee menu nav ol optgroup option p plaintext pre section select summary table "
        "tbody textarea tfoot thead title tr ul xmp"
    ).split(),
    "\n",
) | {"td": "\t", "th": "\t"}
GAP_AT_ANY_END = frozenset(("br", "h1", "h2", "h3", "h4", "h5", "h6", "p"))  # even if none is open
# Elements without an end are NEVER followed, blocks ALWAYS: their end ends what they hold; others if STYLED.
NEVER, STYLED, ALWAYS = 0, 1, 2
_VOID = (
    "area base basefont bgsound br col embed frame hr img image input keygen link meta param source track wbr"
).split()
# Elements that stay open when an element around them ends, and whose own end leaves open what they hold.
_FORMATTING = "a b big code em font form i nobr s small strike strong tt u".split()
_CELLS = "caption table tbody td tfoot th thead tr".split()  # their end ends all that they hold
_IN_ROW = ("td", "th", "caption", "tr")
_IN_TABLE = (*_IN_ROW, "tbody", "thead", "tfoot")
# By element: which open ones its start ends. The start of any block not named here ends a paragraph.
_ENDS: dict[str, tuple[str, ...]] = {
    **{"td": ("td", "th"), "th": ("td", "th"), "tr": _IN_ROW},
    **{"tbody": _IN_TABLE, "thead": _IN_TABLE, "tfoot": _IN_TABLE},
    **{"li": ("p", "li"), "dt": ("p", "dt", "dd"), "dd": ("p", "dt", "dd")},
    **{"a": ("a",), "option": ("option",), "br": (), "button": (), "select": ()},
    "table": (),  # in mail, rarely declared as strict HTML, a paragraph may hold a table
}
# Elements whose content is no markup, and where it goes.
DROPPED, HIDDEN, SHOWN = 1, 2, 3
_RAW = dict.fromkeys(("script", "style", "template"), DROPPED)
_RAW |= dict.fromkeys(("title", "iframe", "noembed", "noframes"), HIDDEN)
_RAW |= dict.fromkeys(("textarea", "xmp", "plaintext"), SHOWN)
_PICTURES = "img image input v:imagedata v:fill td table body".split()  # their "src" is an image
# Elements whose attributes mean something of their own.
ROOT, BODY, LINK, FONT, IMAGE, INPUT, META, SHEET = range(1, 9)
_ROLES = dict(zip("html body a font img input meta style".split(), range(1, 9), strict=True))
BEFORE_TEXT = frozenset(("html", "head", "meta", "title", "style", "link", "base", "script"))

# First, so that nothing keeps them from being found at once.
_FREQUENT = "br font td a img tr p b table input div li option span html i center strong body head".split()

# The attributes that are read: where the element leads, in the order of the targets; what is seen.
ATTRIBUTES = (
    b"href action formaction src background bgcolor color hidden size style text alt content http-equiv type "
    b"value media class id"
).split()
HREF, _, _, SRC, BACKGROUND, BGCOLOR, COLOR, IS_HIDDEN, SIZE, STYLE, TEXT = range(11)
ALT, CONTENT, HTTP_EQUIV, TYPE, VALUE, MEDIA, CLASS, ID = range(11, 19)
TARGETS = (1 << BACKGROUND + 1) - 1  # as bits of a set of attributes
LOOKS = (1 << TEXT + 1) - (1 << BACKGROUND)

_LOWER = bytes(range(256)).lower()


class Kind:
    """What the tags of an element do, known by its name."""

    __slots__ = ("cell", "ends", "followed", "formatting", "gap", "name", "number", "picture", "raw", "role")

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number  # 0: any element that is not known
        self.gap: str = _GAPS.get(name, "")
        self.followed = NEVER if name in _VOID else ALWAYS if self.gap else STYLED
        self.ends: tuple[int, ...] = ()  # numbers of the elements that its start ends
        self.formatting = name in _FORMATTING
        self.cell = name in _CELLS
        self.raw: int = _RAW.get(name, 0)
        self.picture = name in _PICTURES
        self.role: int = _ROLES.get(name, 0)


_NAMES = list(dict.fromkeys(("", *_FREQUENT, *_VOID, *_FORMATTING, *_RAW, *_PICTURES, *_ROLES, *_GAPS)))
KINDS = [Kind(name, number) for number, name in enumerate(_NAMES)]
NUMBERS = {name: number for number, name in enumerate(_NAMES)}
# By slot: the element or attribute that may be meant.
_SPELLED = [b""] * 256
_KIND_SLOTS = bytearray(256)
_ATTRIBUTE_SLOTS = bytearray(256)  # number plus 1; 0 if none is


def _slot(first: int, last: int, length: int) -> int:
    """Return a number below 256 that differs for nearly all names that mean something here."""
    return 4 * (first | 32) + 35 * (last | 32) + 50 * length & 255


def _fill_slots() -> None:
    for number in range(len(ATTRIBUTES)):
        spelled = ATTRIBUTES[number]
        _ATTRIBUTE_SLOTS[_slot(spelled[0], spelled[-1], len(spelled))] = number + 1
    for kind in KINDS[1:]:
        kind.ends = tuple([NUMBERS[name] for name in _ENDS.get(kind.name, ("p",) if kind.gap else ())])
        spelled = kind.name.encode()
        slot = _slot(spelled[0], spelled[-1], len(spelled))
        if not _SPELLED[slot]:
            _SPELLED[slot], _KIND_SLOTS[slot] = spelled, kind.number


_fill_slots()


def element_number(data: bytes, html: str, start: int, end: int) -> int:
    """Return the number of the element whose name stands in a page, given as bytes and text; 0: not known."""
    slot = _slot(data[start], data[end - 1], end - start)
    if equal(data, start, end, _SPELLED[slot]):
        return _KIND_SLOTS[slot]
    return NUMBERS.get(html[start : min(end, start + MAX_NAME)].lower(), 0)


def attribute_number(data: bytes, start: int, end: int) -> int:
    """Return the number of the attribute that may be meant by a name; -1 if none is."""
    return _ATTRIBUTE_SLOTS[_slot(data[start], data[end - 1], end - start)] - 1


def equal(data: bytes, start: int, end: int, name: bytes) -> bool:
    """Tell whether a name in lower case stands in the data."""
    if len(name) != end - start or end > len(data):
        return False
    text, sought, lower, at = data, name, _LOWER, 0
    while at < end - start and lower[text[start + at]] == sought[at]:
        at += 1
    return at == end - start
