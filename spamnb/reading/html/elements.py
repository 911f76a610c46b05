"""Elements of HTML: the gaps they make, what ends them, what their content and attributes are for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Gap around the element; elements its start ends; when it is followed; where content without markup goes.
    Behaviour = tuple[str, tuple[str, ...], int, str]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Elements that separate the words before and after them, and by what.
_GAPS = dict.fromkeys(
    _words(
        "address article aside blockquote br button caption center dd details dialog dir div dl dt "
        "fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hr legend "
        "li listing main marquee menu nav ol optgroup option p plaintext pre section select summary table "
        "tbody textarea tfoot thead title tr ul xmp"
    ),
    "\n",
) | {"td": "\t", "th": "\t"}
GAP_AT_ANY_END = _words("br h1 h2 h3 h4 h5 h6 p")  # their end tag makes a gap even if none is open
_VOID = _words(
    "area base basefont bgsound br col embed frame hr img image input keygen link meta param source track wbr"
)
# Elements that stay open when an element around them ends, and whose own end leaves open what they hold.
LOOSE = _words("a b big code em font form i nobr s small strike strong tt u")
CELLS = _words("caption table tbody td tfoot th thead tr")  # their end ends all that they hold
LISTS = ("ul", "ol")
_IN_ROW = ("td", "th", "caption", "tr")
_IN_TABLE = (*_IN_ROW, "tbody", "thead", "tfoot")
# By element: which open ones its start ends. The start of any block not named here ends a paragraph.
_ENDS = {
    **{"td": ("td", "th"), "th": ("td", "th"), "tr": _IN_ROW},
    **{"tbody": _IN_TABLE, "thead": _IN_TABLE, "tfoot": _IN_TABLE},
    **{"li": ("p", "li"), "dt": ("p", "dt", "dd"), "dd": ("p", "dt", "dd")},
    **{"a": ("a",), "option": ("option",), "br": (), "button": (), "select": ()},
    "table": (),  # in mail, rarely declared as strict HTML, a paragraph may hold a table
}
# Elements without an end are NEVER followed, blocks ALWAYS: their end ends what they hold; others if STYLED.
NEVER, STYLED, ALWAYS = 0, 1, 2

# Elements whose content is no markup, and where it goes.
_RAW = dict.fromkeys(("script", "style", "template"), "dropped")
_RAW |= dict.fromkeys(("title", "iframe", "noembed", "noframes"), "hidden")
_RAW |= dict.fromkeys(("textarea", "xmp", "plaintext"), "shown")


def _behaviour(name: str) -> Behaviour:
    gap = _GAPS.get(name, "")
    followed = NEVER if name in _VOID else ALWAYS if gap else STYLED
    return gap, _ENDS.get(name, ("p",) if gap else ()), followed, _RAW.get(name, "")


BEHAVIOURS = {name: _behaviour(name) for name in {*_GAPS, *_VOID, *_ENDS, *_RAW}}
DEFAULT_BEHAVIOUR = _behaviour("")  # of elements that are not in BEHAVIOURS

# The attributes that are read: for what is seen, or where it leads.
READ_ATTRIBUTES = _words(
    "action alt background bgcolor color content formaction hidden href http-equiv size src style text type "
    "value"
)
LINK_ATTRIBUTES = ("href", "action", "formaction", "src", "background")
PICTURES = _words("img image input v:imagedata v:fill td table body")  # their "src" is an image
LABELLED = frozenset(("submit", "button", "reset", "text", ""))  # types of <input> that show their value
