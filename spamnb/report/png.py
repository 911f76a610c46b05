"""A drawing as a PNG file, by an extra: resvg, which needs nothing but a font."""

from __future__ import annotations

from spamnb.errors import CannotCreate, UsageError

DOTS_PER_UNIT = 2  # sharp on screens with small dots, too
SANS = ("DejaVu Sans", "Noto Sans", "Liberation Sans", "Helvetica", "Arial")
SVG = "http://www.w3.org/2000/svg"
# Drawn as M and as a space: both look the same where the font is missing.
LETTER = '<svg xmlns="{}" width="9" height="9"><text y="9" font-family="{}">{}</text></svg>'


def png(svg: str) -> bytes:
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        why = "PNG needs an extra: pip install 'spamnb[plot]'; SVG does not: name FILE.svg"
        raise UsageError(why) from None

    def is_there(font: str) -> bool:
        return svg_to_bytes(LETTER.format(SVG, font, "M")) != svg_to_bytes(LETTER.format(SVG, font, " "))

    sans = next(filter(is_there, SANS), None)
    if sans is None:
        raise CannotCreate("no font to write a PNG with: install fonts-dejavu-core, or name FILE.svg")
    return svg_to_bytes(svg, zoom=DOTS_PER_UNIT, sans_serif_family=sans)
