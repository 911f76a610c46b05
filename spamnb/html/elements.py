"""Elements and attributes of HTML, by their names: what a tag does to the text before, in and behind it."""

from __future__ import annotations

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
_GAP_AT_ANY_END = ("br", "p")  # even if none is open
# Elements without an end are NEVER followed, blocks ALWAYS: their end ends what they hold; others if STYLED.
NEVER, STYLED, ALWAYS = 0, 1, 2
_VOID = (
    "area base basefont bgsound br col embed frame hr img image input keygen link meta param source track wbr"
).split()
# The start of such an element ends one that is open.
_ENDED_BY_NEXT = "p li dt dd option tr td th a".split()
# Elements whose content is no markup, and where it goes.
DROPPED, HIDDEN, SHOWN = 1, 2, 3
_RAW = dict.fromkeys(("script", "style"), DROPPED)
_RAW |= dict.fromkeys(("title", "iframe", "noframes"), HIDDEN)
_RAW |= dict.fromkeys(("textarea", "xmp"), SHOWN)
# Elements whose attributes mean something of their own.
ROOT, BODY, LINK, IMAGE, INPUT, SHEET = range(1, 7)
_ROLES = dict(zip("html body a img input style".split(), range(1, 7), strict=True))
_BEFORE_TEXT = ("html", "head", "meta", "title", "style", "link", "base", "script")

# The attributes that are read: where the element leads, in the order of the targets; what is seen.
_ATTRIBUTES = (
    b"href action formaction src background bgcolor color hidden style text alt type value media class id"
).split()
ATTRIBUTES = {name: number for number, name in enumerate(_ATTRIBUTES)}
HREF, _, _, SRC, BACKGROUND, BGCOLOR, COLOR, IS_HIDDEN, STYLE, TEXT = range(10)
ALT, TYPE, VALUE, MEDIA, CLASS, ID = range(10, 16)
TARGETS = (1 << BACKGROUND + 1) - 1  # as bits of a set of attributes
LOOKS = (1 << TEXT + 1) - (1 << BACKGROUND)


class Kind:
    """What the tags of an element do, known by its name."""

    __slots__ = ("before_text", "ended_by_next", "followed", "gap", "gap_at_any_end", "raw", "role")

    def __init__(self, name: str) -> None:
        self.gap: str = _GAPS.get(name, "")
        self.gap_at_any_end = name in _GAP_AT_ANY_END
        self.followed = NEVER if name in _VOID else ALWAYS if self.gap else STYLED
        self.ended_by_next = name in _ENDED_BY_NEXT
        self.raw: int = _RAW.get(name, 0)
        self.role: int = _ROLES.get(name, 0)
        self.before_text = name in _BEFORE_TEXT


KINDS = {name: Kind(name) for name in (*_GAPS, *_VOID, *_ENDED_BY_NEXT, *_RAW, *_ROLES, *_BEFORE_TEXT)}
OTHER = Kind("")  # any element that is not known
