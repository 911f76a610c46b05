"""Colours as style sheets and attributes write them, and whether two of them look the same."""

from __future__ import annotations

UNKNOWN, CLEAR, INHERITED = -1, -2, -3  # in place of a colour; UNKNOWN is that of a picture
MAX_DIFFERENCE = 16  # of 255 levels: channels of two colours that look the same differ by no more
MIN_OPACITY = MAX_DIFFERENCE / 255  # what is no more opaque is not seen

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
WHITE = _COLOURS["white"]


def look_the_same(one: int, other: int) -> bool:
    """Tell whether nobody sees text of one colour on the other."""
    return (
        one >= 0 <= other
        and abs((one >> 16) - (other >> 16)) <= MAX_DIFFERENCE
        and abs((one >> 8 & 255) - (other >> 8 & 255)) <= MAX_DIFFERENCE
        and abs((one & 255) - (other & 255)) <= MAX_DIFFERENCE
    )


def colour_of(word: str, default: int) -> int:
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
    if len(words) > 3 and 0 <= share(words[3]) <= MIN_OPACITY:
        return CLEAR
    channels = [leading_number(value) for value in words[:3]]
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
        channel = lightness - saturation * min(lightness, 1 - lightness) * max(-1, min(turn - 3, 9 - turn, 1))
        colour = colour << 8 | int(255 * channel + 0.5)
    return colour


def attribute_colour(word: str) -> int:
    """Return the colour that HTML makes of any word in an attribute: "#FFFFFX" is nearly white."""
    if not word:
        return INHERITED
    colour = colour_of(word, INHERITED)
    if colour < 0:  # not a plain one
        word = word.strip().lower()
        if not word or word == "transparent":
            return INHERITED
        colour = colour_of(word, INHERITED)
    if colour != INHERITED:
        return colour
    digits = "".join([char if char in "0123456789abcdef" else "0" for char in word[:128].removeprefix("#")])
    third = -(-len(digits) // 3) or 1  # digits of a channel, rounded up
    digits = digits.ljust(3 * third, "0")
    channels = [digits[i * third : (i + 1) * third][-8:] for i in range(3)]
    while len(channels[0]) > 2 and channels[0][0] == channels[1][0] == channels[2][0] == "0":
        channels = [channel[1:] for channel in channels]
    return int("".join([channel[:2].rjust(2, "0") for channel in channels]), 16)


def share(value: str) -> float:
    """Return a share, written as a number or in percent; -1 if there is none."""
    number = leading_number(value)
    return number / 100 if value.endswith("%") else number


def leading_number(value: str) -> float:
    """Return the number a length begins with; -1 if there is none."""
    end = 0
    while end < len(value) and ("0" <= value[end] <= "9" or value[end] == "."):
        end += 1
    try:
        return float(value[:end]) if end > 0 else -1
    except ValueError:
        return -1
