"""Media queries of a style sheet: which readers the rules in it are for.

Mail is read in a wide window or on a phone: what only one of them hides is text that people see.
"""

from __future__ import annotations

from spamnb.html.styles import pixels

MAX_QUERIES = 300  # characters of a list of media queries
NARROWEST, NARROW, WIDE, WIDEST = 320, 360, 1000, 2000  # pixels: of windows and, between, of all windows
NEVER, PARTLY, ALWAYS = 0, 1, 2  # how many readers a rule is for
_SCREENS = ("", "all", "screen")


def block_audience(prelude: str) -> int:
    """Return which readers the rules in a block are for, as its first words say."""
    name, *words = prelude.replace("(", " (").split(None, 1)
    condition = words[0] if words else ""
    if name == "@media":
        return audience(condition)
    if name in ("@supports", "@layer"):
        return NEVER if condition.startswith("not") else ALWAYS
    return NEVER  # a font, pages to print, an animation


def audience(media: str) -> int:
    """Return which readers a list of media queries is for."""
    return max([_query_audience(query.strip()) for query in media[:MAX_QUERIES].split(",")])


def _query_audience(query: str) -> int:
    kinds, *features = query.split("(")
    words = [word for word in kinds.split() if word not in ("and", "only")]
    if "not" in words:
        return NEVER if words[-1] in ("not", *_SCREENS) and not features else ALWAYS
    if words and words[-1] not in _SCREENS:
        return NEVER
    least, most = 0.0, 1e9
    for feature in features:
        name, _, value = feature.partition(")")[0].partition(":")
        if name.strip() == "prefers-color-scheme" and value.strip() == "dark":
            return NEVER
        if name.strip() in ("max-width", "max-device-width"):
            most = min(most, pixels(value.strip()))
        elif name.strip() in ("min-width", "min-device-width"):
            least = max(least, pixels(value.strip()))
    if least > min(most, WIDEST) or most < NARROWEST:
        return NEVER
    return ALWAYS if least <= NARROW and most >= WIDE else PARTLY
