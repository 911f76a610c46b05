"""One HTML page on why a message is judged as it is; it needs no network, no font and no script."""

from spamnb.inspection.explanation import Explanation
from spamnb.pages.elements import element
from spamnb.pages.message_sections import message_sections
from spamnb.pages.parts import SHEETS, SUBJECT, document, path_text, subject_text, verdict_text


def message_page(why: Explanation, path: str) -> str:
    """Make the page."""
    subject = why.message.get("subject") or ""
    masthead = element(
        "header",
        element("h1", verdict_text(why.verdict.label), ": ", subject_text(subject)),
        element("p", path_text(path), class_="path"),
    )
    title = f"{why.verdict.label}: {subject or path}"[:SUBJECT]
    return document(title, masthead, *message_sections(why), sheets=SHEETS)
