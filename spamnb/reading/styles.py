"""Styles and colours of elements: whether their text is seen, unseen, or as if it were not there."""

from __future__ import annotations

SEEN, UNSEEN, GONE = 0, 1, 2  # text to be seen; unseen but taking room; as if it were not there
UNKNOWN, CLEAR, INHERITED = -1, -2, -3  # in place of a colour; UNKNOWN is that of a picture
MAX_CSS = 500  # style attributes remembered, over all pages
MAX_DIFFERENCE = 16  # of 255 levels: channels of two colours that look the same differ by no more

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
_known_css: dict[str, Style] = {}  # by style attribute: reading one takes 3 µs, and nine in ten repeat


class Style:
    """What an element does to the look of its text, or how text looks that is in several elements."""

    __slots__ = ("colour", "gone", "ground", "tiny", "veiled", "view")

    gone: int  # 1: not on the page
    veiled: int  # 1: there but not visible; INHERITED: as in the element around
    tiny: int  # likewise
    colour: int
    ground: int  # the colour behind the text
    view: int  # of the text


def _style(gone: int, veiled: int, tiny: int, colour: int, ground: int) -> Style:
    style = Style.__new__(Style)
    style.gone = gone
    style.veiled = veiled
    style.tiny = tiny
    style.colour = colour
    style.ground = ground
    style.view = SEEN
    return style


# The text's colour is UNKNOWN: a page that colours only its background has a style sheet for the text.
LINK = _style(0, INHERITED, INHERITED, UNKNOWN, INHERITED)  # a link has a colour of its own
OUTERMOST = _style(0, 0, 0, UNKNOWN, _COLOURS["white"])


def style_of(
    hidden: bool, link: bool, sized: bool, colour: str, ground: str, picture: bool, css: str
) -> Style | None:
    """Return the style that an element's attributes give its text; None if they change nothing."""
    style = _style(
        hidden,
        INHERITED,
        0 if sized else INHERITED,
        UNKNOWN if link else _attribute_colour(colour),
        UNKNOWN if picture else _attribute_colour(ground),
    )
    if css:
        declared = _known_css.get(css)
        if declared is None:
            if len(_known_css) >= MAX_CSS:
                _known_css.clear()
            declared = _known_css[css] = _declared(css.lower())
        style = nested(style, declared)
    if style.colour == style.ground == style.tiny == style.veiled == INHERITED and not style.gone:
        return None
    return style


def nested(around: Style, style: Style) -> Style:
    """Return the style, with its view of the text, of an element inside another's."""
    gone = style.gone or around.gone
    veiled = around.veiled if style.veiled == INHERITED else style.veiled
    tiny = around.tiny if style.tiny == INHERITED else style.tiny
    colour = around.colour if style.colour == INHERITED else style.colour
    ground = around.ground if style.ground == INHERITED else style.ground
    if (
        colour == around.colour
        and ground == around.ground
        and tiny == around.tiny
        and veiled == around.veiled
        and gone == around.gone
    ):
        return around
    inner = _style(gone, veiled, tiny, colour, ground)
    if gone:
        inner.view = GONE
    elif veiled or tiny or colour == CLEAR or _look_the_same(colour, ground):
        inner.view = UNSEEN
    return inner


def _look_the_same(one: int, other: int) -> bool:
    return (
        one >= 0 <= other
        and abs((one >> 16) - (other >> 16)) <= MAX_DIFFERENCE
        and abs((one >> 8 & 255) - (other >> 8 & 255)) <= MAX_DIFFERENCE
        and abs((one & 255) - (other & 255)) <= MAX_DIFFERENCE
    )


def _declared(css: str) -> Style:
    """Return the style that a style attribute declares."""
    style = _style(0, INHERITED, INHERITED, INHERITED, INHERITED)
    declared = _declarations(css)
    get = declared.get
    if get("display") == "none" or get("mso-hide") == "all" or _length(get("opacity", "")) == 0:
        style.gone = 1
    if "hidden" in get("overflow", ""):
        for side in ("height", "max-height", "width", "max-width"):
            if _length(get(side, "")) == 0:
                style.gone = 1
    if "visibility" in declared:
        style.veiled = get("visibility") in ("hidden", "collapse")
    for name in ("font", "font-size"):
        for word in get(name, "").split():
            too_small = _is_tiny(word.partition("/")[0])
            style.tiny = style.tiny if too_small == INHERITED else too_small
    style.colour = _colour(get("color", ""), style.colour)
    for name in ("background", "background-color", "background-image"):
        value = get(name, "")
        if "url(" in value or "gradient(" in value:
            style.ground = UNKNOWN
            break
        for word in value.split():
            colour = _colour(word, INHERITED)
            if colour != INHERITED and colour != CLEAR:
                style.ground = colour
    return style


def _declarations(css: str) -> dict[str, str]:
    """Return the properties of a style attribute and their values."""
    if "/*" in css:
        first, *others = css.split("/*")
        css = first + "".join([other.partition("*/")[2] for other in others])
    declared = {}
    for declaration in css.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:  # spaces go where they would split a colour: rgb(0, 0, 0)
            declared[name.strip()] = value.partition("!")[0].strip().replace(", ", ",")
    return declared


def _length(value: str) -> float:
    """Return the number a length begins with; -1 if there is none."""
    digits = value[: len(value) - len(value.lstrip("0123456789."))]
    try:
        return float(digits) if digits else -1
    except ValueError:
        return -1


def _is_tiny(size: str) -> int:
    """Tell whether letters of a size cannot be read; INHERITED for no size, a weight, or a relative size."""
    number = _length(size)
    if number < 0 or number >= 100:
        return INHERITED
    unit = size.lstrip("0123456789.")
    if unit in ("%", "em", "rem", "ex"):
        return 1 if number <= (10 if unit == "%" else 0.1) else INHERITED
    return 1 if number <= 1 else 0


def _colour(word: str, default: int) -> int:
    """Return a colour as style sheets write it."""
    size = len(word)
    if size == 0:
        return default
    start = 1 if word[0] == "#" else 0
    if start == 0:
        if word in _COLOURS:
            return _COLOURS[word]
        if word.startswith("rgb"):
            return _rgb(word, default)
    size -= start
    short = start == 1 and (size == 3 or size == 4)
    if not short and size != 6 and size != 8:
        return default
    colour = 0
    for at in range(start, start + size):
        char = word[at]
        if "0" <= char <= "9":
            digit = ord(char) - 48
        elif "a" <= char <= "f":
            digit = ord(char) - 87
        elif "A" <= char <= "F":
            digit = ord(char) - 55
        else:
            return default
        if short and at < 4:
            colour = colour << 8 | digit * 17
        elif not short and at < start + 6:
            colour = colour << 4 | digit
    return colour


def _rgb(word: str, default: int) -> int:
    channels = [_length(value.strip()) for value in word[word.find("(") + 1 :].rstrip(")").split(",")]
    if len(channels) > 3 and channels[3] == 0:
        return CLEAR
    if len(channels) < 3 or min(channels) < 0:
        return default
    red, green, blue = [int(min(value, 255)) for value in channels[:3]]
    return red << 16 | green << 8 | blue


def _attribute_colour(word: str) -> int:
    """Return the colour that HTML makes of any word in an attribute: "#FFFFFX" is nearly white."""
    if not word:
        return INHERITED
    colour = _colour(word, INHERITED)
    if colour < 0:  # not a plain one
        word = word.strip().lower()
        if not word or word == "transparent":
            return INHERITED
        colour = _colour(word, INHERITED)
    if colour != INHERITED:
        return colour
    digits = "".join([char if char in "0123456789abcdef" else "0" for char in word[:128].removeprefix("#")])
    third = -(-len(digits) // 3) or 1  # digits of a channel, rounded up
    digits = digits.ljust(3 * third, "0")
    channels = [digits[i * third : (i + 1) * third][-8:] for i in range(3)]
    while len(channels[0]) > 2 and channels[0][0] == channels[1][0] == channels[2][0] == "0":
        channels = [channel[1:] for channel in channels]
    return int("".join([channel[:2].rjust(2, "0") for channel in channels]), 16)
