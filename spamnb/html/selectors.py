"""Selectors of a style sheet: the names, classes and ids that a rule asks for."""

from __future__ import annotations

_STATES = (  # of an element, or pieces of it
    ":", "hover", "active", "focus", "visited", "link", "target", "checked", "before", "after", "empty",
    "first-l", "placeholder", "selection", "disabled", "invalid", "-",
)  # fmt: skip


def compounds_of(selector: str) -> list[list[str]]:
    """Return the traits of a selector, of each element it names; none if it cannot be followed."""
    for mark in (">", "+", "~"):
        if mark in selector:
            selector = selector.replace(mark, f" {mark} ")
    compounds: list[list[str]] = []
    for word in selector.split():
        if word in "+~":
            if not compounds:
                return []
            compounds.pop()
        elif word != ">":
            traits = _traits(word)
            if not traits:
                return []
            compounds.append(traits)
    return compounds


def without_attributes(selector: str) -> tuple[str, tuple[str, ...]]:
    """Return a selector with [class=x] as .x and [id=x] as #x, and other names and values in its brackets.

    Without a selector if the others are not of the last element.
    """
    if "[" not in selector:
        return selector, ()
    first, *others = selector.split("[")
    written: list[str] = []
    for other in others:
        attribute, _, behind = other.partition("]")
        name, _, value = attribute.partition("=")
        name, value = name.strip(), value.strip(" \"'")
        mark = {"class": ".", "class~": ".", "id": "#"}.get(name) if value else None
        if mark is not None:
            first += "".join([mark + word for word in value.split()])
        else:
            written += [name.rstrip("~|^$* "), value]
            first += "" if first and first[-1] not in " >+~" else "*"
        if written and (" " in behind or ">" in behind or "+" in behind or "~" in behind):
            return "", ()
        first += behind
    return first, tuple(written)


def _traits(compound: str) -> list[str]:
    """Return the name, classes and id of an element that a selector asks for, the most telling last."""
    if ":" in compound:
        compound, *states = compound.split(":")
        if states == ["root"]:
            compound = "body"
        for state in states:
            if state.startswith(_STATES) or not state or not compound:
                return []
    names, classes, ids = [], [], []
    start, size = 0, len(compound)
    for at in range(1, size + 1):
        if at == size or compound[at] == "." or compound[at] == "#":
            trait = compound[start:at]
            if compound[start] == "#":
                ids.append(trait)
            elif compound[start] == ".":
                classes.append(trait)
            else:
                names.append("body" if trait == "html" else trait)
            start = at
    return names + classes + ids
