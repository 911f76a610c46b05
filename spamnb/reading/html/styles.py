"""Styles and colours of elements: whether their text is seen, unseen, or as if it were not there."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Gone, veiled (there but not visible), tiny, colour, background; None: as in the element around.
    Style = tuple[bool | None, bool | None, bool | None, int | None, int | None]

SEEN, UNSEEN, GONE = 0, 1, 2  # text to be seen; unseen but taking room; as if it were not there
# The attributes that `style_of` reads.
STYLE_ATTRIBUTES = frozenset(("background", "bgcolor", "color", "hidden", "size", "style", "text"))
UNKNOWN, CLEAR = -1, -2  # in place of a colour: not known, as of a picture; transparent
MAX_STYLES = 500  # remembered, over all pages: the style attributes of a tag, with their values
MAX_NESTED = 1000  # remembered, over all pages: an outer style and an inner one
MAX_DIFFERENCE = 16  # of 255 levels: channels of two colours that look the same differ by no more

_HEXADECIMAL = "0123456789abcdef"
_COLOUR_NAMES = (
    "black 000000 white ffffff red ff0000 green 008000 blue 0000ff yellow ffff00 gray 808080 grey 808080 "
    "silver c0c0c0 maroon 800000 purple 800080 fuchsia ff00ff magenta ff00ff lime 00ff00 olive 808000 "
    "navy 000080 teal 008080 aqua 00ffff cyan 00ffff orange ffa500 pink ffc0cb gold ffd700 brown a52a2a "
    "ivory fffff0 snow fffafa whitesmoke f5f5f5 ghostwhite f8f8ff floralwhite fffaf0 azure f0ffff "
    "beige f5f5dc aliceblue f0f8ff mintcream f5fffa seashell fff5ee honeydew f0fff0 linen faf0e6 "
    "lavender e6e6fa "
    "lightgrey d3d3d3 lightgray d3d3d3 gainsboro dcdcdc darkgray a9a9a9 darkgrey a9a9a9 dimgray 696969 "
    "darkblue 00008b darkred 8b0000 darkgreen 006400 midnightblue 191970 royalblue 4169e1 steelblue 4682b4 "
    "lightyellow ffffe0 lightblue add8e6 tan d2b48c crimson dc143c indigo 4b0082 violet ee82ee khaki f0e68c"
).split()
_COLOURS = {
    name: int(digits, 16) for name, digits in zip(_COLOUR_NAMES[::2], _COLOUR_NAMES[1::2], strict=True)
}
_COLOURS["transparent"] = CLEAR

_PLAIN: Style = (None, None, None, None, None)
LINK: Style = (None, None, None, UNKNOWN, None)  # a link has a colour of its own
# The text's colour is UNKNOWN: a page that colours only its background has a style sheet for the text.
OUTERMOST: Style = (False, False, False, UNKNOWN, _COLOURS["white"])

_known_styles: dict[tuple[str | bool | None, ...], Style | None] = {}
_known_nested: dict[tuple[Style, Style], tuple[Style, int]] = {}


def style_of(name: str, attributes: dict[str, str]) -> Style | None:
    """Return the style that an element's attributes give its text; None if they change nothing."""
    key = name, "href" in attributes, *map(attributes.get, STYLE_ATTRIBUTES)
    if key in _known_styles:
        return _known_styles[key]
    if len(_known_styles) >= MAX_STYLES:
        _known_styles.clear()
    style = _known_styles[key] = _style_of(name, attributes)
    return style


def _style_of(name: str, attributes: dict[str, str]) -> Style | None:
    get = attributes.get
    gone: bool | None = "hidden" in attributes or None
    veiled = tiny = None
    colour = _attribute_colour(get("text" if name == "body" else "color", ""))
    ground = UNKNOWN if get("background") else _attribute_colour(get("bgcolor", ""))
    if name == "a" and "href" in attributes:
        colour = UNKNOWN
    elif name == "font" and "size" in attributes:
        tiny = False
    if "style" in attributes:
        declared = _declarations(get("style", "").lower())
        gone = gone or _is_gone(declared)
        if "visibility" in declared:
            veiled = declared["visibility"] in ("hidden", "collapse")
        for word in f"{declared.get('font', '')} {declared.get('font-size', '')}".split():
            too_small = _is_tiny(word.partition("/")[0])
            tiny = tiny if too_small is None else too_small
        colour = _colour(declared.get("color", ""), colour)
        ground = _background(declared, ground)
    style = (gone, veiled, tiny, colour, ground)
    return None if style == _PLAIN else style


def nested(around: Style, style: Style) -> tuple[Style, int]:
    """Return the style of an element inside another's, and its view of the text: SEEN, UNSEEN or GONE."""
    known = _known_nested.get((around, style))
    if known is None:
        if len(_known_nested) >= MAX_NESTED:
            _known_nested.clear()
        gone, veiled, tiny, colour, ground = style
        inner = (
            gone or around[0],
            around[1] if veiled is None else veiled,
            around[2] if tiny is None else tiny,
            around[3] if colour is None else colour,
            around[4] if ground is None else ground,
        )
        known = _known_nested[around, style] = inner, _view(inner)
    return known


def _is_gone(declared: dict[str, str]) -> bool | None:
    """Tell whether a style takes its element from the page."""
    get = declared.get
    if get("display") == "none" or get("mso-hide") == "all" or _length(get("opacity", "")) == 0:
        return True
    if "hidden" in get("overflow", ""):
        sides = (get(side, "") for side in ("height", "max-height", "width", "max-width"))
        return 0 in map(_length, sides) or None
    return None


def _background(declared: dict[str, str], default: int | None) -> int | None:
    """Return the colour behind the text; UNKNOWN for a picture."""
    for name in ("background", "background-color", "background-image"):
        value = declared.get(name, "")
        if "url(" in value or "gradient(" in value:
            return UNKNOWN
        for word in value.split():
            colour = _colour(word, None)
            if colour is not None and colour != CLEAR:
                default = colour
    return default


def _declarations(css: str) -> dict[str, str]:
    """Return the properties of a style attribute and their values."""
    if "/*" in css:
        first, *others = css.split("/*")
        css = first + "".join(other.partition("*/")[2] for other in others)
    declared = {}
    for declaration in css.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:  # spaces go where they would split a colour: rgb(0, 0, 0)
            declared[name.strip()] = value.partition("!")[0].strip().replace(", ", ",")
    return declared


def _length(value: str) -> float | None:
    """Return the number a length begins with; None if there is none."""
    unit = value.lstrip("0123456789.")
    try:
        return float(value[: len(value) - len(unit)])
    except ValueError:
        return None


def _is_tiny(size: str) -> bool | None:
    """Tell whether letters of a size cannot be read; None for no size, a weight, or a relative size."""
    number = _length(size)
    if number is None or number >= 100:
        return None
    unit = size.lstrip("0123456789.")
    if unit in ("%", "em", "rem", "ex"):
        return number <= (10 if unit == "%" else 0.1) or None
    return number <= 1


def _colour(word: str, default: int | None) -> int | None:
    """Return a colour as style sheets write it."""
    if not word:
        return default
    if word in _COLOURS:
        return _COLOURS[word]
    if word.startswith("rgb"):
        channels = [_length(value.strip()) for value in word[word.find("(") + 1 :].rstrip(")").split(",")]
        if len(channels) > 3 and channels[3] == 0:
            return CLEAR
        if len(channels) < 3 or None in channels:
            return default
        red, green, blue = (min(int(value or 0), 255) for value in channels[:3])
        return red << 16 | green << 8 | blue
    digits = word.removeprefix("#")
    if digits.strip(_HEXADECIMAL):
        return default
    if len(digits) in (3, 4) and digits != word:
        digits = "".join(digit * 2 for digit in digits)
    return int(digits[:6], 16) if len(digits) in (6, 8) else default


def _attribute_colour(word: str) -> int | None:
    """Return the colour that HTML makes of any word in an attribute: "#FFFFFX" is nearly white."""
    word = word.strip().lower()
    if not word or word == "transparent":
        return None
    known = _colour(word, None)
    if known is not None:
        return known
    digits = "".join(letter if letter in _HEXADECIMAL else "0" for letter in word[:128].removeprefix("#"))
    third = -(-len(digits) // 3) or 1  # digits of a channel, rounded up
    digits = digits.ljust(3 * third, "0")
    channels = [digits[i * third : (i + 1) * third][-8:] for i in range(3)]
    while len(channels[0]) > 2 and all(channel[0] == "0" for channel in channels):
        channels = [channel[1:] for channel in channels]
    return int("".join(channel[:2].rjust(2, "0") for channel in channels), 16)


def _view(style: Style) -> int:
    """Tell how a text of a style is seen: SEEN, UNSEEN or GONE."""
    gone, veiled, tiny, colour, ground = style
    if gone:
        return GONE
    if veiled or tiny or colour == CLEAR:
        return UNSEEN
    if colour is None or ground is None or colour < 0 or ground < 0:
        return SEEN
    differences = [abs((colour >> shift & 255) - (ground >> shift & 255)) for shift in (16, 8, 0)]
    return UNSEEN if max(differences) <= MAX_DIFFERENCE else SEEN
