"""Elements of a page that are open, one in another, and the style that they give the text in them."""

from __future__ import annotations

from spamnb.html.elements import KINDS, OTHER
from spamnb.html.styles import OUTERMOST, nested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.html.elements import Kind
    from spamnb.html.sheets import Sheet
    from spamnb.html.styles import Style

MAX_DEPTH = 512  # open elements; deeper ones are not followed (browsers stop there, too)
MAX_NAME = 40  # characters of an element's name
MAX_NAMES = 200  # distinct elements of a page; further ones of no known kind are one without a name


class Element:
    """An element of a page, by its name."""

    __slots__ = ("innermost", "kind", "name", "tags")

    def __init__(self, name: str, kind: Kind) -> None:
        self.name = name
        self.kind = kind
        self.tags = 0  # how many there are
        self.innermost = 0  # depth of the innermost open one; 0 if none is open


class _Frame:
    """An open element, and what is around it."""

    __slots__ = ("element", "innermost", "style", "traits")

    def __init__(self, element: Element, style: Style, innermost: int, traits: tuple[str, ...]) -> None:
        self.element = element
        self.style = style  # that the elements around give
        self.innermost = innermost  # depth of the innermost element of the same name around
        self.traits = traits  # name, classes and id of the element that rules of the style sheet ask for


class Nesting:
    """The elements of a page, and which of them are open."""

    __slots__ = ("elements", "frames", "sheet", "style", "table")

    def __init__(self, sheet: Sheet | None) -> None:
        self.sheet = sheet  # None as long as there is none
        self.elements: dict[str, Element] = {}
        self.table = self.element("table")
        self.frames: list[_Frame] = []  # of the open elements
        self.style = OUTERMOST  # that the open elements give

    def element(self, name: str) -> Element:
        """Return an element by its name as it stands in the page."""
        name = name[:MAX_NAME].lower()
        element = self.elements.get(name)
        if element is None:
            kind = KINDS.get(name, OTHER)
            if kind is OTHER and len(self.elements) >= MAX_NAMES:
                name = ""
            element = self.elements[name] = self.elements.get(name) or Element(name, kind)
        return element

    def is_open(self, element: Element) -> bool:
        """Tell whether an element is open in the innermost table."""
        return element.innermost > 0 and element.innermost >= self.table.innermost

    def enter(self, element: Element, own_style: Style | None, traits: tuple[str, ...]) -> None:
        """Open an element."""
        if len(self.frames) == MAX_DEPTH:
            return
        self.frames.append(_Frame(element, self.style, element.innermost, traits))
        element.innermost = len(self.frames)
        if len(traits) > 0 and self.sheet is not None:
            self.sheet.enter(traits)
        if own_style is not None:
            self.style = nested(self.style, own_style)

    def leave(self, element: Element) -> None:
        """End the innermost open element of a name, and all that it holds."""
        depth = element.innermost
        while len(self.frames) >= depth:
            frame = self.frames.pop()
            frame.element.innermost = frame.innermost
            if len(frame.traits) > 0 and self.sheet is not None:
                self.sheet.leave(frame.traits)
            self.style = frame.style
