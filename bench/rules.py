"""Rules of the tokenizer, each with a name and a switch: what `make ablation` leaves out in turn.

A rule that adds tokens is switched off by dropping these. One that changes what is read is switched off in
a copy of the source, by another text in the place of one that is there once.
"""

from __future__ import annotations

from dataclasses import dataclass

ADDRESSES = "(?:from|to|cc|reply-to|sender|errors-to)"
IDENTIFIERS = "(?:message-id|in-reply-to|references|resent-message-id)"
BODY_TAGS = "url|html|type|charset|file|hidden"
HEADS = f"{ADDRESSES}|{IDENTIFIERS}|{BODY_TAGS}|subject|received|x-originating-ip|date|header|auth"

# By name, the tokens that a rule makes.
TOKENS = {
    "that a header is there": "header:.*",
    "words of other headers": f"(?!(?:{HEADS}):)[^:]+:.*",
    "words of names beside addresses": f"{ADDRESSES}:[^@=]*",
    "addresses": f"{ADDRESSES}:[^@]+@.*",
    "domains of addresses": f"{ADDRESSES}:@.*",
    "Reply-To beside From": "from:reply-to=.*",
    "what the server found": "auth:.*",
    "hosts of Received": r"(?:received|x-originating-ip):[^.](?:.*[^.])?",
    "domains and networks of Received": r"(?:received|x-originating-ip):(?:\..*|.*\.)",
    "hosts of identifiers": f"{IDENTIFIERS}:.*",
    "time zone": "date:.*",
    "words of the subject": "subject:.*",
    "hosts of links": r"url:(?!/|number).*",
    "words of paths": "url:/.*",
    "links to numbers": r"url:(?:number|[\d.]+)",
    "tags of HTML": "html:.*",
    "declared types": "type:.*",
    "declared charsets": "charset:.*",
    "words of file names": r"file:[^.].*",
    "endings of file names": r"file:\..*",
    "hidden words as evidence": "hidden:.*",
    "emoji and signs": "[\u23e9-\u23fa\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001faff]+",
    "over-long words": r".{1,30}~\d+",
}


@dataclass(frozen=True)
class Change:
    """Another text in the place of one of a module, by its path in the package."""

    module: str
    text: str
    without: str


def kind(reader: str, more: str = "") -> Change:
    """Return a change by which a kind of attachment is not read."""
    text = f"{reader}{more}),"
    return Change("reading/attachments/__init__.py", text, text.replace(reader, "lambda *_: Content()"))


STYLES, SHEETS, PAGE = "html/styles.py", "html/sheets.py", "html/page.py"
SCRIPTS, TOKENIZER = "reading/scripts.py", "reading/tokenizer.py"
# By name, the change without which a rule changes what is read.
CHANGES = {
    "hidden text": Change(PAGE, "view = self.nesting.style.view", "view = SEEN"),
    "style sheets": Change(
        PAGE, 'if not self.sheet_is_whole and html.find("{", start, end) >= 0', "if False"
    ),
    "style sheets behind the text": Change(PAGE, "self.sheet_is_late = True", "pass"),
    "styles of attributes": Change(PAGE, "css = scanner.value(STYLE)", 'css = ""'),
    "colours alike": Change(STYLES, " or look_the_same(colour, background)", ""),
    "transparent colours": Change(STYLES, " or colour == CLEAR", ""),
    "any word as a colour": Change(
        STYLES, 'digits = "".join([char', 'return INHERITED\n    digits = "".join([char'
    ),
    "colours as functions": Change(STYLES, 'if word.startswith(("rgb", "hsl"))', "if False"),
    "out of view": Change(STYLES, "or _is_out_of_view(declared)", ""),
    "positions": Change(STYLES, 'if declared.get("position", "static") != "static"', "if False"),
    "margins": Change(STYLES, "for name in _MARGINS:", "for name in ():"),
    "opacity": Change(STYLES, 'or 0 <= share(declared.get("opacity", "")) <= MIN_OPACITY', ""),
    "boxes without room": Change(STYLES, "for side in _EXTENTS:", "for side in ():"),
    "visibility": Change(STYLES, 'if "visibility" in declared', "if False"),
    "tiny letters": Change(STYLES, 'if "font-size" in declared', "if False"),
    "comments and escapes in styles": Change(STYLES, "css = css.lower()", "return css.lower()"),
    "media queries": Change(SHEETS, "is_for_all(prelude[6:])", "True"),
    "elements around": Change(SHEETS, " and _all_in(rule.around, self.open)", ""),
    "variables": Change(SHEETS, 'if "var(" in value', "if False"),
    "importance of styles": Change(SHEETS, "values |= rule.important", "pass"),
    "texts of pictures": Change(PAGE, "return self.scanner.value(ALT)", 'return ""'),
    "values of inputs": Change(PAGE, "return self.scanner.value(VALUE)", 'return ""'),
    "hidden words left out": Change(TOKENIZER, "[self.words.spaced(page.hidden) for", "[b'' for"),
    "characters that are not seen": Change(SCRIPTS, "if is_changed(_PLAINER, piece)", "if False"),
    "one form of each letter (NFKC)": Change(SCRIPTS, 'normalize("NFKC", piece)', "piece"),
    "folding": Change(SCRIPTS, "if is_changed(_FOLDED, word)", "if False"),
    "look-alike letters": Change(SCRIPTS, 'unmasked(word.strip("\'"))', 'word.strip("\'")'),
    "pairs of Chinese, Japanese, Korean": Change(SCRIPTS, "if cut == PAIRS and", "if False and"),
    "typography": Change(
        "reading/words.py", "for char, ascii_char in TYPOGRAPHY", "for char, ascii_char in ()"
    ),
    "links in plain text": Change(TOKENIZER, "links.append(links_in(plain))", "pass"),
    "links in attachments": Change(TOKENIZER, "links.append(leaf.content.links)", "pass"),
    "subjects of embedded messages": Change(TOKENIZER, "if leaf.content_type == EMBEDDED", "if False"),
    "pairs of the subject": Change(TOKENIZER, "paired and a_subject)", "False)"),
    "PDF": kind("read_pdf"),
    "HTML as an attachment": kind("read_page", ", is_plain=True"),
    "text as an attachment": kind("read_text", ", is_plain=True"),
    "ZIP and Office files": Change(
        "reading/attachments/archives.py",
        "def read_zip(",
        "def read_zip(*_):\n    return Content()\n\n\ndef _(",
    ),
    "QR codes": Change(
        "reading/attachments/__init__.py", "return can_read and self.allowance.pictures >= 0", "return False"
    ),
}
