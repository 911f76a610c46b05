"""Elements of a page that are open, one in another, and the style that they give the text in them."""

from __future__ import annotations

from spamnb.html.elements import KINDS, MAX_NAME, NUMBERS, element_number
from spamnb.html.styles import OUTERMOST, nested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.html.elements import Kind
    from spamnb.html.sheets import Sheet
    from spamnb.html.styles import Style

MAX_DEPTH = 512  # open elements; deeper ones are not followed (browsers stop there, too)
MAX_NAMES = 100  # distinct elements of no known kind, of a page; further ones are one without a name
MAX_REOPENED = 16  # elements that one end tag in the wrong place leaves open
_TABLE, _UL, _OL, _LI = [NUMBERS[name] for name in ("table", "ul", "ol", "li")]


class Element:
    """An element of a page, by its name."""

    __slots__ = ("innermost", "kind", "name", "tags")

    name: str
    kind: Kind
    tags: int  # how many there are
    innermost: int  # depth of the innermost open one; 0 if none is open


class _Frame:
    """An open element, and what is around it."""

    __slots__ = ("element", "innermost", "own_style", "style", "traits")

    element: Element
    own_style: Style | None
    style: Style  # that the elements around give
    innermost: int  # depth of the innermost element of the same name around
    traits: tuple[str, ...]  # name, classes and id of the element that rules of the style sheet ask for


class Nesting:
    """The elements of a page, and which of them are open."""

    __slots__ = ("by_name", "by_number", "depth", "frames", "ol", "sheet", "style", "table", "too_deep", "ul")

    def __init__(self, sheet: Sheet | None) -> None:
        self.sheet = sheet  # None as long as there is none
        self.by_name: dict[str, Element] = {}  # those of no known kind
        self.by_number: list[Element | None] = [None] * len(KINDS)  # those known
        self.table, self.ul, self.ol = self.known(_TABLE), self.known(_UL), self.known(_OL)
        self.frames: list[_Frame] = []  # of the open elements, and behind them frames for later ones
        self.depth = 0  # number of open elements
        self.too_deep = 0  # number of elements that are open but not followed
        self.style = OUTERMOST  # that the open elements give

    def element(self, data: bytes, html: str, start: int, end: int) -> Element:
        """Return the element whose name stands in a page, given as bytes and as text."""
        number = element_number(data, html, start, end)
        if number:
            return self.known(number)
        name = html[start : min(end, start + MAX_NAME)].lower()
        element = self.by_name.get(name)
        if element is None:
            if len(self.by_name) >= MAX_NAMES:
                name = ""
            element = self.by_name[name] = self.by_name.get(name) or _new_element(name, KINDS[0])
        return element

    def known(self, number: int) -> Element:
        """Return an element by the number of its kind."""
        element = self.by_number[number]
        if element is None:
            kind = KINDS[number]
            element = self.by_number[number] = _new_element(kind.name, kind)
        return element

    def is_open(self, element: Element) -> bool:
        """Tell whether an element is open: in the innermost table and, if a list's item, in that list."""
        depth = element.innermost
        if depth == 0 or depth < self.table.innermost:
            return False
        if element.kind.number != _LI:
            return True
        return depth > self.ul.innermost and depth > self.ol.innermost

    def end_others(self, kind: Kind) -> None:
        """End the open elements that the start of a kind ends."""
        for number in kind.ends:
            other = self.by_number[number]
            if other is not None and self.is_open(other):
                self.leave(other)

    def enter(self, element: Element, own_style: Style | None, traits: tuple[str, ...]) -> None:
        """Open an element."""
        if self.depth == MAX_DEPTH:
            self.too_deep += 1
            return
        if self.depth == len(self.frames):
            self.frames.append(_Frame.__new__(_Frame))
        frame = self.frames[self.depth]
        frame.element = element
        frame.own_style = own_style
        frame.style = self.style
        frame.traits = traits
        if len(traits) > 0 and self.sheet is not None:
            self.sheet.enter(traits)
        frame.innermost = element.innermost
        self.depth += 1
        element.innermost = self.depth
        if own_style is not None:
            self.style = nested(self.style, own_style)

    def leave(self, element: Element) -> None:
        """End the innermost open element of a name; what it held ends too, or stays, as in browsers."""
        if self.too_deep:
            self.too_deep -= 1
            return
        end = self.depth
        self.depth = element.innermost - 1
        for at in range(end - 1, self.depth - 1, -1):
            frame = self.frames[at]
            frame.element.innermost = frame.innermost
            if len(frame.traits) > 0 and self.sheet is not None:
                self.sheet.leave(frame.traits)
            self.style = frame.style
        if end - self.depth > 1 and not element.kind.cell:
            held = self.frames[self.depth + 1 : end]
            stay = [frame for frame in held if element.kind.formatting or frame.element.kind.formatting]
            for frame in stay[-MAX_REOPENED:]:  # each in a frame further out than its own
                self.enter(frame.element, frame.own_style, frame.traits)


def _new_element(name: str, kind: Kind) -> Element:
    element = Element.__new__(Element)
    element.name = name
    element.kind = kind
    element.tags = element.innermost = 0
    return element
