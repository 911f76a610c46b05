"""Style sheets of a page: which rules an element's name, id, classes and the elements around it match.

Loaded by pages that have one. A rule is found by the name, class or id that its selector ends with; what else
it asks for is then compared, of elements around whatever their order. Of two rules the later one counts, an
important one more, and a variable has one value on the whole page.

Mail is read in a wide window or on a phone: what only one of them hides is text that people see. So rules for
some widths, for print or dark screens are left out. So are selectors of attributes, states and neighbours,
and all of @import, @supports and the like: of 289 phishing messages one reads otherwise with them.
"""

from __future__ import annotations

from spamnb.html.styles import MAX_CSS, declarations, declared_style, pixels, plain_css

TYPE_CHECKING = False
if TYPE_CHECKING:
    from spamnb.html.styles import Style

MAX_SHEETS = 256 * 1024  # characters of the style sheets of a page, without comments
STEPS_OF_CHARACTER = 4  # as `html.page` counts them
MAX_SELECTORS = 10_000  # of a page
MAX_SELECTOR = 300  # characters of one
MAX_CLASSES = 20  # of an element
MAX_VALUE = 300  # characters of a value
MAX_REPLACED = 8  # variables in one value
MAX_QUERIES = 300  # characters of a list of media queries
NARROW, WIDE = 360, 1000  # pixels: of the windows that mail is read in


class Rule:
    """What a rule asks of an element beside the last trait of its selector, and what it declares."""

    __slots__ = ("around", "important", "number", "own", "plain")

    def __init__(
        self, number: int, own: list[str], around: list[str], plain: dict[str, str], important: dict[str, str]
    ) -> None:
        self.number = number
        self.own = own  # traits of the element: its name, its classes, its id
        self.around = around  # those of elements around it
        self.plain = plain
        self.important = important


class Sheet:
    """The style sheets of a page, and what is open while it is read."""

    __slots__ = ("ancestors", "known", "open", "rules", "selectors", "size", "traits", "variables", "work")

    def __init__(self) -> None:
        self.rules: dict[str, list[Rule]] = {}  # by the last trait of their selectors
        self.ancestors: set[str] = set()  # traits that rules want around an element
        self.known: dict[tuple[tuple[int, ...], str], Style] = {}  # by what matched and the style attribute
        self.variables: dict[str, str] = {}
        self.selectors = 0
        self.size = 0
        self.work = 0  # steps, as of `html.page`
        self.restart()

    def restart(self) -> None:
        """Forget what was open, to read the page once more."""
        self.open: dict[str, int] = {}  # by ancestor: how many are
        self.traits: tuple[str, ...] = ()  # ancestors that the last matched element is

    def add(self, css: str, media: str, most: int) -> None:
        """Read the rules of one more style sheet, for so many steps."""
        css = plain_css(css).replace("<!--", " ").replace("-->", " ")
        css = css[: max(0, min(MAX_SHEETS - self.size, most // STEPS_OF_CHARACTER))]
        self.size += len(css)
        self.work += STEPS_OF_CHARACTER * len(css)
        self.known.clear()
        around = [is_for_all(media.lower())]  # of the blocks that are open, whether their rules count
        at, opening, closing = 0, -1, -1
        while True:
            if opening < at:
                opening = css.find("{", at)
                if opening < 0:
                    return
            if closing < at:
                closing = css.find("}", at)
                if closing < 0:
                    closing = len(css)
            if closing < opening:
                if len(around) > 1:
                    around.pop()
                at = closing + 1
                continue
            prelude = css[at:opening].rpartition(";")[2].strip()
            at = opening + 1
            if prelude.startswith("@"):
                around.append(around[-1] and prelude.startswith("@media") and is_for_all(prelude[6:]))
                continue
            if around[-1]:
                self._add_rule(prelude, css[at:closing])
            at = closing + 1

    def _add_rule(self, selectors: str, block: str) -> None:
        plain, important = declarations(block, MAX_VALUE)
        if not plain and not important:
            return
        if "--" in block:
            self._note_variables(plain)
        for selector in selectors.split(","):
            if self.selectors >= MAX_SELECTORS:
                return
            self.selectors += 1
            selector = selector[:MAX_SELECTOR].replace(">", " ")
            if "[" in selector or ":" in selector or "+" in selector or "~" in selector:
                continue
            *others, last = selector.split() or [""]
            *own, key = last.replace(".", " .").replace("#", " #").split() or [""]
            traits = " ".join(others).replace(".", " .").replace("#", " #").split()
            around = [trait for trait in traits if trait not in ("*", "html", "body")]
            self.ancestors.update(around)
            rule = Rule(self.selectors, own, around, plain, important)
            self.rules.setdefault(key, []).append(rule)

    def _note_variables(self, declared: dict[str, str]) -> None:
        for name, value in declared.items():
            if name.startswith("--"):
                self.variables[name] = value

    def matching(self, name: str, identity: str, classes: str) -> list[Rule]:
        """Return the rules that an element matches, in their order."""
        traits = ["*", name]
        if identity:
            traits.append("#" + identity.lower().strip())
        for one in classes.lower().split()[:MAX_CLASSES]:
            traits.append("." + one)
        self.traits = tuple([trait for trait in traits if trait in self.ancestors])
        self.work += 10 + 4 * len(traits)
        found = {}
        for trait in traits:
            for rule in self.rules.get(trait, ()):
                self.work += 1
                if _all_in(rule.own, traits) and _all_in(rule.around, self.open):
                    found[rule.number] = rule
        return [found[number] for number in sorted(found)]

    def style(self, matched: list[Rule], css: str) -> Style:
        """Return the style of an element by the rules that it matches and its style attribute."""
        key = tuple([rule.number for rule in matched]), css
        style = self.known.get(key)
        if style is not None:
            return style
        plain, important = declarations(plain_css(css), MAX_VALUE)
        if "--" in css:
            self._note_variables(plain)
        values: dict[str, str] = {}
        for rule in matched:
            values |= rule.plain
        values |= plain
        for rule in matched:
            values |= rule.important
        values |= important
        for name, value in values.items():
            if "var(" in value:
                values[name] = self._replaced(value)
        if len(self.known) >= MAX_CSS:
            self.known.clear()
        style = self.known[key] = declared_style(values)
        return style

    def _replaced(self, value: str) -> str:
        """Return a value with its variables replaced."""
        for _ in range(MAX_REPLACED):
            before, found, rest = value.partition("var(")
            if not found:
                break
            inside, _, behind = rest.partition(")")
            name, _, default = inside.partition(",")
            value = (before + self.variables.get(name.strip(), default.strip()) + behind)[:MAX_VALUE]
        return value

    def enter(self, traits: tuple[str, ...]) -> None:
        """Note that an element with these traits is open."""
        for trait in traits:
            self.open[trait] = self.open.get(trait, 0) + 1

    def leave(self, traits: tuple[str, ...]) -> None:
        """Note that an element with these traits has ended."""
        for trait in traits:
            self.open[trait] -= 1
            if self.open[trait] == 0:
                del self.open[trait]


def _all_in(wanted: list[str], traits: list[str] | dict[str, int]) -> bool:
    for trait in wanted:  # noqa: SIM110 (a generator is ten times as slow)
        if trait not in traits:
            return False
    return True


def is_for_all(media: str) -> bool:
    """Tell whether one of some media queries is true on every screen."""
    return any(map(_is_true, media[:MAX_QUERIES].split(",")))


def _is_true(query: str) -> bool:
    kind, *features = query.replace("only", "").replace("and", "").split("(")
    if kind.strip() not in ("", "all", "screen"):
        return False
    for feature in features:
        name, _, value = feature.partition(")")[0].partition(":")
        width = pixels(value.strip())
        if name.strip() not in ("min-width", "max-width"):
            return False
        if width > NARROW if name.strip() == "min-width" else width < WIDE:
            return False
    return True
