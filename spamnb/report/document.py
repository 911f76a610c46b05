"""One HTML file that needs no network, no font and no script."""

from __future__ import annotations

from importlib.resources import files

from spamnb.report.elements import Child, Markup, element

# Nothing is fetched and nothing runs, whatever a message brought with it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def document(title: str, *body: Child, sheets: tuple[str, ...] = ()) -> str:
    """Make a page with our style sheets, and more of them if named."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        [element("style", Markup(sheet(name))) for name in ("colours.css", "style.css", *sheets)],
    )
    return "<!doctype html>\n" + element("html", head, element("body", *body), lang="en") + "\n"


def sheet(name: str) -> str:
    """Read a style sheet of this folder."""
    return files(__package__).joinpath(name).read_text("utf-8")
