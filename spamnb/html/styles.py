"""Styles and colours of elements: whether their text is seen, unseen, or as if it were not there.

Of spam under heads of ham, with 500 words of ham hidden in one of 13 ways, 68 % is caught; 3 % without it.
"""

from __future__ import annotations

from spamnb.html.colours import (  # isort: skip
    CLEAR, INHERITED, MIN_OPACITY, UNKNOWN, WHITE, attribute_colour, colour_of, leading_number,
    look_the_same, share,
)  # fmt: skip

SEEN, UNSEEN, NOT_RENDERED = 0, 1, 2  # text to be seen; unseen but taking room; as if it were not there
MAX_CSS = 500  # style attributes remembered, over all pages
FAR = 500  # pixels beyond the left or upper edge: out of view
VERY_FAR = 5000  # pixels beyond the other edges, where a wide page may go on

_PIXELS = {  # by unit of a length, as far as it matters; 100 % is FAR
    **{"px": 1.0, "": 1.0, "%": FAR / 100, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0, "vw": 10.0},
    **{"vh": 10.0, "pt": 1.33, "pc": 16.0, "in": 96.0, "cm": 38.0, "mm": 3.8},
}
_BACKGROUNDS = ("background", "background-color", "background-image")
_COLOURS = ("color", "-webkit-text-fill-color")
_FONTS = ("font", "font-size")
_SIDES = ("left", "right", "top", "bottom")
_MARGINS = ("margin", "margin-left", "margin-top")
_EXTENTS = ("height", "max-height", "width", "max-width", "line-height")
_MOVES = ("text-indent", "clip", "clip-path", "transform", "-webkit-transform")
# All properties that are read, and as bits what each may do alone; others count beside one of these.
_HIDES, _PLACES, _CUTS, _SIZES, _COLOURS_TEXT, _PAINTS = 1, 2, 4, 8, 16, 32
PROPERTIES = {
    **dict.fromkeys(("display", "opacity", "visibility"), _HIDES),
    **dict.fromkeys(("position", *_MARGINS, *_MOVES), _PLACES),
    "overflow": _CUTS,
    **dict.fromkeys(_FONTS, _SIZES),
    **dict.fromkeys(_COLOURS, _COLOURS_TEXT),
    **dict.fromkeys(_BACKGROUNDS, _PAINTS),
    **dict.fromkeys((*_SIDES, *_EXTENTS, "min-height", "min-width"), 0),
}
_known_css: dict[str, Style] = {}  # by style attribute: reading one takes 3 µs, and nine in ten repeat


class Style:
    """What an element does to the look of its text, or how text looks that is in several elements."""

    __slots__ = ("background", "colour", "invisible", "not_rendered", "tiny", "variables", "view")

    not_rendered: int  # 1: not on the page
    invisible: int  # 1: there but not visible; INHERITED: as in the element around
    tiny: int  # likewise
    colour: int
    background: int  # the colour behind the text
    view: int  # of the text
    variables: dict[str, str] | None  # of the style sheet language, such as --x


def _style(not_rendered: int, invisible: int, tiny: int, colour: int, background: int) -> Style:
    style = Style.__new__(Style)
    style.not_rendered = not_rendered
    style.invisible = invisible
    style.tiny = tiny
    style.colour = colour
    style.background = background
    style.view = SEEN
    style.variables = None
    return style


# The text's colour is UNKNOWN: a page that colours only its background has a style sheet for the text.
STYLE_OF_LINK = _style(0, INHERITED, INHERITED, UNKNOWN, INHERITED)  # a link has a colour of its own
OUTERMOST = _style(0, 0, 0, UNKNOWN, WHITE)


def style_of(
    hidden: bool, link: bool, sized: bool, colour: str, background: str, picture: bool, declared: Style | None
) -> Style | None:
    """Return the style that an element's attributes and declared style give its text; None if none."""
    style = _style(
        hidden,
        INHERITED,
        0 if sized else INHERITED,
        UNKNOWN if link else attribute_colour(colour),
        UNKNOWN if picture else attribute_colour(background),
    )
    if declared is not None:
        style = nested(style, declared)
    if (
        style.colour == style.background == style.tiny == style.invisible == INHERITED
        and not style.not_rendered
        and style.variables is None
    ):
        return None
    return style


def declared_inline(css: str) -> Style:
    """Return the style that a style attribute declares."""
    known = _known_css
    style = known.get(css)
    if style is None:
        if len(known) >= MAX_CSS:
            known.clear()
        plain, important = declarations(plain_css(css), len(css))
        plain.update(important)
        style = known[css] = declared_style(plain)
    return style


def nested(around: Style, style: Style) -> Style:
    """Return the style, with its view of the text, of an element inside another's."""
    not_rendered = style.not_rendered or around.not_rendered
    invisible = around.invisible if style.invisible == INHERITED else style.invisible
    tiny = around.tiny if style.tiny == INHERITED else style.tiny
    colour = around.colour if style.colour == INHERITED else style.colour
    background = around.background if style.background == INHERITED else style.background
    if (
        colour == around.colour
        and background == around.background
        and tiny == around.tiny
        and invisible == around.invisible
        and not_rendered == around.not_rendered
        and style.variables is None
    ):
        return around
    inner = _style(not_rendered, invisible, tiny, colour, background)
    inner.variables = around.variables if style.variables is None else style.variables
    if not_rendered:
        inner.view = NOT_RENDERED
    elif invisible or tiny or colour == CLEAR or look_the_same(colour, background):
        inner.view = UNSEEN
    return inner


def declared_style(declared: dict[str, str]) -> Style:
    """Return the style that properties and their values declare."""
    style = _style(0, INHERITED, INHERITED, INHERITED, INHERITED)
    done = 0
    for name in declared:
        done |= PROPERTIES.get(name, 0)
    if done & _HIDES:
        if declared.get("display") == "none":
            style.not_rendered = 1
        if "opacity" in declared and 0 <= share(declared["opacity"]) <= MIN_OPACITY:
            style.not_rendered = 1
        if "visibility" in declared:
            style.invisible = declared["visibility"] in ("hidden", "collapse")
    if done & _PLACES and _is_out_of_view(declared):
        style.not_rendered = 1
    if done & _CUTS and ("hidden" in declared["overflow"] or "clip" in declared["overflow"]):
        for side in _EXTENTS:
            value = declared.get(side, "")
            if value and _is_nothing(value) and pixels(declared.get("min-" + side, "")) <= 1:
                style.not_rendered = 1
    for name in _FONTS if done & _SIZES else ():
        for word in declared.get(name, "").split():
            too_small = _is_tiny(word.partition("/")[0])
            style.tiny = style.tiny if too_small == INHERITED else too_small
    for name in _COLOURS if done & _COLOURS_TEXT else ():
        style.colour = colour_of(declared.get(name, ""), style.colour)
    for name in _BACKGROUNDS if done & _PAINTS else ():
        value = declared.get(name, "")
        if "url(" in value or "gradient(" in value:
            style.background = UNKNOWN
            break
        for word in [value] if value.startswith(("rgb", "hsl")) else value.split():
            colour = colour_of(word, INHERITED)
            if colour != INHERITED and colour != CLEAR:
                style.background = colour
    return style


def _is_out_of_view(declared: dict[str, str]) -> bool:
    """Tell whether an element is moved off the page, cut away or shrunk to nothing."""
    if declared.get("position", "static") != "static":
        for side in _SIDES:
            distance = pixels(declared.get(side, ""))
            if distance <= -FAR or (distance >= VERY_FAR and side != "top"):
                return True
    for name in _MARGINS:
        value = declared.get(name, "")
        for word in value.split() if "-" in value else ():
            if pixels(word) <= -FAR and not word.endswith("%"):
                return True
    for name in _MOVES:
        value = declared.get(name, "")
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


def declarations(css: str, longest: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return the properties that are read of plain CSS with their values, and those that are important."""
    plain: dict[str, str] = {}
    important: dict[str, str] = {}
    start = 0
    while start < len(css):
        end = css.find(";", start) % (len(css) + 1)  # -1 % (n + 1) is n
        colon = css.find(":", start, end)
        name = _stripped(css, start, colon)
        if name in PROPERTIES or name.startswith("--"):
            mark = css.find("!", colon, end)
            value = _stripped(css, colon + 1, mark if mark >= 0 else end)
            # spaces go where they would split a colour: rgb(0, 0, 0)
            value = value.replace(", ", ",") if "," in value else value
            (important if mark >= 0 else plain)[name] = value[:longest]
        start = end + 1
    return plain, important


def _stripped(text: str, start: int, end: int) -> str:
    """Return a piece of a text without the white space around it; nothing if it ends before it starts."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return text[start:end] if start < end else ""


def pixels(value: str) -> float:
    """Return a length in pixels, roughly; 0 if there is none."""
    number = leading_number(value.lstrip("+-"))
    if number <= 0:
        return 0
    pixels = number * _PIXELS.get(value.lstrip("+-0123456789."), 1)
    return -pixels if value[0] == "-" else pixels


def _is_nothing(size: str) -> bool:
    """Tell whether an extent has no room for text."""
    return leading_number(size) == 0 or size == "1px"


def _is_tiny(size: str) -> int:
    """Tell whether letters of a size cannot be read; INHERITED for no size, a weight, or a relative size."""
    number = leading_number(size)
    if number < 0 or number >= 100:
        return INHERITED
    unit = size.lstrip("0123456789.")
    if unit in ("%", "em", "rem", "ex"):
        return 1 if number <= (10 if unit == "%" else 0.1) else INHERITED
    return 1 if number <= 1 else 0
