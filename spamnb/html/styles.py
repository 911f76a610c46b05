"""Styles and colours of elements: whether their text is seen, unseen, or as if it were not there."""

from __future__ import annotations

SEEN, UNSEEN, GONE = 0, 1, 2  # text to be seen; unseen but taking room; as if it were not there
UNKNOWN, CLEAR, INHERITED = -1, -2, -3  # in place of a colour; UNKNOWN is that of a picture
MAX_CSS = 500  # style attributes remembered, over all pages
MAX_DIFFERENCE = 16  # of 255 levels: channels of two colours that look the same differ by no more
MIN_OPACITY = MAX_DIFFERENCE / 255  # what is no more opaque is not seen
FAR = 500  # pixels beyond the left or upper edge: out of view
VERY_FAR = 5000  # pixels beyond the other edges, where a wide page may go on

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
_PIXELS = {  # by unit of a length, as far as it matters; 100 % is FAR
    **{"px": 1.0, "": 1.0, "%": FAR / 100, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "vw": 10.0},
    **{"vh": 10.0, "pt": 1.33, "pc": 16.0, "in": 96.0, "cm": 38.0, "mm": 3.8},
}
_BACKGROUNDS = ("background", "background-color", "background-image")
_SIDES = ("left", "right", "top", "bottom")
_MARGINS = ("margin", "margin-left", "margin-top")
_EXTENTS = ("height", "max-height", "width", "max-width", "line-height")
_MOVES = ("text-indent", "clip", "clip-path", "transform", "-webkit-transform")
PROPERTIES = frozenset(  # all that are read
    (
        *_BACKGROUNDS, *_SIDES, *_MARGINS, *_EXTENTS, *_MOVES, "min-height", "min-width", "position",
        "overflow", "display", "mso-hide", "opacity", "visibility", "font", "font-size", "color",
        "-webkit-text-fill-color",
    )
)  # fmt: skip
_known_css: dict[str, Style] = {}  # by style attribute: reading one takes 3 µs, and nine in ten repeat


class Style:
    """What an element does to the look of its text, or how text looks that is in several elements."""

    __slots__ = ("colour", "gone", "ground", "tiny", "variables", "veiled", "view")

    gone: int  # 1: not on the page
    veiled: int  # 1: there but not visible; INHERITED: as in the element around
    tiny: int  # likewise
    colour: int
    ground: int  # the colour behind the text
    view: int  # of the text
    variables: dict[str, str] | None  # of the style sheet language, such as --x


def _style(gone: int, veiled: int, tiny: int, colour: int, ground: int) -> Style:
    style = Style.__new__(Style)
    style.gone = gone
    style.veiled = veiled
    style.tiny = tiny
    style.colour = colour
    style.ground = ground
    style.view = SEEN
    style.variables = None
    return style


# The text's colour is UNKNOWN: a page that colours only its background has a style sheet for the text.
LINK = _style(0, INHERITED, INHERITED, UNKNOWN, INHERITED)  # a link has a colour of its own
OUTERMOST = _style(0, 0, 0, UNKNOWN, _COLOURS["white"])


def style_of(
    hidden: bool, link: bool, sized: bool, colour: str, ground: str, picture: bool, declared: Style | None
) -> Style | None:
    """Return the style that an element's attributes and declared style give its text; None if none."""
    style = _style(
        hidden,
        INHERITED,
        0 if sized else INHERITED,
        UNKNOWN if link else _attribute_colour(colour),
        UNKNOWN if picture else _attribute_colour(ground),
    )
    if declared is not None:
        style = nested(style, declared)
    if (
        style.colour == style.ground == style.tiny == style.veiled == INHERITED
        and not style.gone
        and style.variables is None
    ):
        return None
    return style


def declared_inline(css: str) -> Style:
    """Return the style that a style attribute declares."""
    style = _known_css.get(css)
    if style is None:
        if len(_known_css) >= MAX_CSS:
            _known_css.clear()
        plain, important = declarations(plain_css(css))
        plain.update(important)
        style = _known_css[css] = declared_style(plain)
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
        and style.variables is None
    ):
        return around
    inner = _style(gone, veiled, tiny, colour, ground)
    inner.variables = around.variables if style.variables is None else style.variables
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


def declared_style(declared: dict[str, str]) -> Style:
    """Return the style that properties and their values declare."""
    style = _style(0, INHERITED, INHERITED, INHERITED, INHERITED)
    get = declared.get
    if get("display") == "none" or get("mso-hide") == "all" or _is_out_of_view(declared):
        style.gone = 1
    if "opacity" in declared and 0 <= _share(declared["opacity"]) <= MIN_OPACITY:
        style.gone = 1
    if "hidden" in get("overflow", "") or "clip" in get("overflow", ""):
        for side in _EXTENTS:
            if side in declared and _is_nothing(declared[side]) and pixels(get("min-" + side, "")) <= 1:
                style.gone = 1
    if "visibility" in declared:
        style.veiled = get("visibility") in ("hidden", "collapse")
    for name in ("font", "font-size"):
        for word in get(name, "").split():
            too_small = _is_tiny(word.partition("/")[0])
            style.tiny = style.tiny if too_small == INHERITED else too_small
    for name in ("color", "-webkit-text-fill-color"):
        style.colour = _colour(get(name, ""), style.colour)
    for name in _BACKGROUNDS:
        value = get(name, "")
        if "url(" in value or "gradient(" in value:
            style.ground = UNKNOWN
            break
        for word in [value] if value.startswith(("rgb", "hsl")) else value.split():
            colour = _colour(word, INHERITED)
            if colour != INHERITED and colour != CLEAR:
                style.ground = colour
    return style


def _is_out_of_view(declared: dict[str, str]) -> bool:
    """Tell whether an element is moved off the page, cut away or shrunk to nothing."""
    get = declared.get
    if get("position", "static") != "static":
        for side in _SIDES:
            distance = pixels(get(side, ""))
            if distance <= -FAR or (distance >= VERY_FAR and side != "top"):
                return True
    for name in _MARGINS:
        for word in get(name, "").split():
            if pixels(word) <= -FAR and not word.endswith("%"):
                return True
    for name in _MOVES:
        value = get(name, "")
        if name == "text-indent":
            if abs(pixels(value)) >= FAR:
                return True
        elif "(" in value:
            for function in value.split(")")[:-1]:
                kind, _, written = function.partition("(")
                if _leaves_nothing(kind.strip(), written.replace(",", " ").split()):
                    return True
    return False


def _leaves_nothing(function: str, written: list[str]) -> bool:
    """Tell whether a function of clip, clip-path or transform leaves nothing of an element in view."""
    if not written:
        return False
    values = [pixels(word) for word in written[:16]]
    if function == "rect" and len(values) == 4:  # top, right, bottom, left
        return "auto" not in written and (values[2] - values[0] <= 1 or values[1] - values[3] <= 1)
    if function == "inset":  # top, right, bottom, left; those not given are as the opposite
        sides = [word for word in written[:4] if word != "round"]
        top, right = values[0], values[min(1, len(sides) - 1)]
        bottom = values[2] if len(sides) > 2 else top
        left = values[3] if len(sides) > 3 else right
        return top + bottom >= FAR or right + left >= FAR
    if function in ("circle", "ellipse"):
        return _is_nothing(written[0])
    if function == "polygon":
        return len({*values[::2]}) == 1 or len({*values[1::2]}) == 1
    if function.startswith("scale"):
        return 0 in values
    if function == "matrix":
        return values[:2] == [0, 0] or values[2:4] == [0, 0]
    if function.startswith("translate"):
        return min(values) <= -FAR or max(values) >= VERY_FAR
    return function in ("rotatex", "rotatey") and written[0] in ("90deg", "-90deg", "270deg")


def plain_css(css: str) -> str:
    """Return a style sheet or attribute in lower case, without comments and escapes."""
    css = css.lower()
    if "/*" in css:
        first, *others = css.split("/*")
        css = first + "".join([other.partition("*/")[2] for other in others])
    if "\\" in css:
        first, *others = css.split("\\")
        css = first + "".join([_unescaped(other) for other in others])
    return css


def _unescaped(text: str) -> str:
    """Return a text behind a backslash, which stands before a character or its number in hexadecimal."""
    size = 0
    while size < 6 and size < len(text) and text[size] in "0123456789abcdef":
        size += 1
    number = int(text[:size], 16) if size else 0
    if not 32 < number < 0xD800:
        return text[size:]
    return chr(number).lower() + (text[size + 1 :] if text[size : size + 1] == " " else text[size:])


def declarations(css: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the properties that plain CSS declares and their values, and those that are important."""
    plain: dict[str, str] = {}
    important: dict[str, str] = {}
    for declaration in css.split(";"):
        name, colon, value = declaration.partition(":")
        if colon:
            value, mark, _ = value.partition("!")
            # spaces go where they would split a colour: rgb(0, 0, 0)
            (important if mark else plain)[name.strip()] = value.strip().replace(", ", ",")
    return plain, important


def pixels(value: str) -> float:
    """Return a length in pixels, roughly; 0 if there is none."""
    number = _length(value.lstrip("+-"))
    if number <= 0:
        return 0
    pixels = number * _PIXELS.get(value.lstrip("+-0123456789."), 1)
    return -pixels if value[0] == "-" else pixels


def _share(value: str) -> float:
    """Return a share, written as a number or in percent; -1 if there is none."""
    number = _length(value)
    return number / 100 if value.endswith("%") else number


def _is_nothing(size: str) -> bool:
    """Tell whether an extent has no room for text."""
    return _length(size) == 0 or size == "1px"


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
        if word.startswith(("rgb", "hsl")):
            return _function_colour(word, default)
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


def _function_colour(word: str, default: int) -> int:
    """Return the colour that rgb(), rgba(), hsl() or hsla() makes of its channels."""
    function, _, written = word.partition("(")
    words = written.rstrip(")").replace(",", " ").replace("/", " ").split()
    if len(words) > 3 and 0 <= _share(words[3]) <= MIN_OPACITY:
        return CLEAR
    channels = [_length(value) for value in words[:3]]
    if len(channels) < 3 or min(channels) < 0:
        return default
    if function.startswith("hsl"):
        return _hsl(min(channels[0], 3600) % 360, min(channels[1], 100) / 100, min(channels[2], 100) / 100)
    colour = 0
    for at in range(3):
        channel = channels[at] * 2.55 if words[at].endswith("%") else channels[at]
        colour = colour << 8 | int(min(channel, 255))
    return colour


def _hsl(hue: float, saturation: float, lightness: float) -> int:
    colour = 0
    for shift in (0, 8, 4):
        turn = (shift + hue / 30) % 12
        part = lightness - saturation * min(lightness, 1 - lightness) * max(-1, min(turn - 3, 9 - turn, 1))
        colour = colour << 8 | int(255 * part + 0.5)
    return colour


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
