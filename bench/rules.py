"""The rules of the tokenizer that `make ablation` leaves out, one at a time.

A rule that adds tokens is left out by dropping its tokens. A rule that changes how mail is read is left out
by replacing a text in a copy of the source.
"""

from __future__ import annotations

from dataclasses import dataclass

ADDRESSES = "(?:from|to|cc|reply-to|sender|errors-to)"
IDENTIFIERS = "(?:message-id|in-reply-to|references|resent-message-id)"
BODY_TAGS = "url|html|type|charset|file|hidden"
HEADS = f"{ADDRESSES}|{IDENTIFIERS}|{BODY_TAGS}|subject|received|x-originating-ip|date|header|auth"

# By name, the tokens that a rule makes.
TOKENS = {
    "tokens for the presence of a header": "header:.*",
    "words of other headers": f"(?!(?:{HEADS}):)[^:]+:.*",
    "words of names beside addresses": f"{ADDRESSES}:[^@=]*",
    "addresses": f"{ADDRESSES}:[^@]+@.*",
    "domains of addresses": f"{ADDRESSES}:@.*",
    "Reply-To beside From": "from:reply-to=.*",
    "results of the receiving server's checks (Authentication-Results)": "auth:.*",
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
    "extensions of file names": r"file:\..*",
    "hidden words as evidence": "hidden:.*",
    "emoji and signs": "[\u23e9-\u23fa\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001faff]+",
    "over-long words": r".{1,30}~\d+",
}


@dataclass(frozen=True)
class Change:
    """A replacement of one text in the source of a module; `module` is its path in the package."""

    module: str
    text: str
    without: str
    other: Change | None = None  # that belongs to it, in another module

    def changed(self, source: str) -> str:
        """Return the source of the module with this change."""
        if source.count(self.text) != 1:
            raise ValueError(f"{self.module} must have this text exactly once: {self.text}")
        return source.replace(self.text, self.without)


PAGE, STYLES, SHEETS = "core/html_page.pyx", "core/html_styles.pyx", "core/html_sheets.pyx"
COLOURS, TOKENIZER, LEAVES = "core/html_colours.pyx", "core/tokenizer.pyx", "core/leaves.pyx"
# The core reads most letters; what it leaves to Python has the same rule there.
SCRIPTS, ODD_SCRIPTS = "core/scripts.pyx", "reading/normalizing.py"
PAIRED = "if cut == PAIRS and end - start > 1"
FOLDED = """        ("ΆΈΉΊΌΎΏΐΪΫάέήίΰϊϋόύώς", "αεηιουωιιυαεηιυιυουωσ"),
        ("ȘșȚțЁёİ", "şşţţееi"),
        ("ىیکۀ", "ييكه"),
"""
# By name, the change without which a rule changes what is read.
CHANGES = {
    "hidden text": Change(PAGE, "if reader.style.view != reader.view", "if False"),
    "style sheets": Change(PAGE, "elif element.kind.role == ROLE_SHEET and", "elif False and"),
    "style sheets after the text": Change(PAGE, "reader.sheet_is_late |= reader.has_text_tags", "pass"),
    "styles of attributes": Change(PAGE, "css = attribute(scanner, ATTR_STYLE)", "css = nothing()"),
    "text like its background": Change(STYLES, " or look_the_same(style.colour, style.background)", ""),
    "transparent colours": Change(STYLES, " or style.colour == CLEAR", ""),
    "invalid names of colours": Change(
        COLOURS, "return colour if colour != CLEAR else INHERITED", "pass\n    return max(colour, INHERITED)"
    ),
    "colours written as functions": Change(COLOURS, "if is_colour_function(word)", "if False"),
    "elements moved out of view": Change(STYLES, "make_style(is_out_of_view(declared), ", "make_style(0, "),
    "positions in CSS": Change(STYLES, "if has_value(declared, CSS_POSITION) and", "if False and"),
    "margins": Change(STYLES, "range(CSS_MARGIN, CSS_MARGIN_TOP + 1)", "range(0)"),
    "opacity": Change(STYLES, " or 0 <= share(value_of(declared, CSS_OPACITY)) <= MIN_OPACITY", ""),
    "boxes of size zero": Change(STYLES, "range(CSS_HEIGHT, CSS_LINE_HEIGHT + 1)", "range(0)"),
    "visibility": Change(STYLES, "if has_value(declared, CSS_VISIBILITY)", "if False"),
    "tiny letters": Change(STYLES, "if has_value(declared, CSS_FONT_SIZE)", "if False"),
    "comments and escapes in styles": Change(
        STYLES, 'if contains(result[0], b"/*")', 'return 0\n    if contains(result[0], b"/*")'
    ),
    "media queries": Change(SHEETS, "is_for_all(rest(prelude, 6))", "True"),
    "styles of outer elements": Change(SHEETS, "if not rule.around[k].open and", "if False and"),
    "variables": Change(SHEETS, "if has_value(&declared, property)", "if False"),
    "importance of styles": Change(STYLES, "order = IMPORTANT if mark >= 0 else 1", "order = 1"),
    "alternative texts of pictures": Change(PAGE, "text = attribute(&reader.scanner, ATTR_ALT)", "pass"),
    "values of inputs": Change(PAGE, "text = attribute(&reader.scanner, ATTR_VALUE)", "pass"),
    "hidden words left out": Change(
        TOKENIZER, "spaced(words, arena, pages[n].hidden, &text)", "text = nothing()"
    ),
    "invisible characters": Change(
        SCRIPTS,
        "if kind == INVISIBLE:\n            continue",
        "if kind == INVISIBLE:\n            kind = SEPARATOR",
        Change(ODD_SCRIPTS, "piece.translate(PLAINER)", "piece"),
    ),
    "one form of each letter (NFKC)": Change(
        SCRIPTS,
        ", (0xFF01, 0xFF5E)),",
        "),",
        Change(ODD_SCRIPTS, 'normalize("NFKC", piece.translate(PLAINER))', "piece.translate(PLAINER)"),
    ),
    "variants of letters (case, accents)": Change(
        SCRIPTS, FOLDED, "", Change(ODD_SCRIPTS, "unmasked(without_marks(word))", "unmasked(word)")
    ),
    "look-alike letters": Change(ODD_SCRIPTS, "unmasked(without_marks(word))", "without_marks(word)"),
    "pairs of Chinese, Japanese, Korean": Change(SCRIPTS, PAIRED, "if False"),
    "typography": Change("core/words.pyx", "        if form:", "        if False:"),
    "links in plain text": Change(TOKENIZER, "links_in(arena, text, &links[link_lists])", "pass"),
    "links in attachments": Change(
        TOKENIZER, "if leaf.has_content:\n            links[", "if False:\n            links["
    ),
    "subjects of embedded messages": Change(
        TOKENIZER, "range(leaf.field_count if leaf.is_embedded else 0)", "range(0)"
    ),
    "pairs of the subject": Change(TOKENIZER, "subject, True)", "subject, False)"),
    "PDF": Change(LEAVES, "        return A_PDF", "        return NO_KIND"),
    "HTML as an attachment": Change(LEAVES, "        return A_PAGE", "        return NO_KIND"),
    "text as an attachment": Change(LEAVES, "    return A_TEXT", "    return NO_KIND"),
    "ZIP and Office files": Change(LEAVES, "        return A_ZIP", "        return NO_KIND"),
    "QR codes": Change(LEAVES, "return A_PICTURE if reads_pictures() else NO_KIND", "return NO_KIND"),
}
