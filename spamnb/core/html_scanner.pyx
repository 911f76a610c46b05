# Finds the ends of tags and comments of an HTML page, and reads the attributes of tags.
#
# A page is scanned byte by byte, as in browsers: names and values end at ASCII bytes. Each byte is read a few times at
# most: if a quote does not end within MAX_TAG, the tag is read twice, and then no quotes are tried up to `unquoted`.

cdef enum:
    MAX_TAG = 4096  # bytes of a tag that are read; a quote that is not closed by then is no quote

cdef enum:  # flags of bytes: they end the name of an element, the name of an attribute, an unquoted value
    ENDS_NAME = 1
    ENDS_WORD = 2
    ENDS_VALUE = 4

cdef Byte[256] ENDINGS


cdef void fill_endings() noexcept:
    cdef int byte
    for byte in b" \t\n\v\f\r":
        ENDINGS[byte] = ENDS_NAME | ENDS_WORD | ENDS_VALUE
    ENDINGS[c"/"] = ENDS_NAME | ENDS_WORD
    ENDINGS[c"="] = ENDS_WORD
    ENDINGS[c">"] = ENDS_NAME | ENDS_WORD | ENDS_VALUE


fill_endings()


cdef struct TagScanner:
    Arena *arena
    Text html  # without NUL bytes, which browsers drop, too
    bint with_classes  # whether classes and ids are read: only style sheets need them
    Size unquoted  # offset up to which a quote that is opened is known to have no end
    int seen  # which attributes the last tag has: a bit for the number of each
    Text[ATTR_COUNT] values  # their values, by number


cdef int start_scanner(TagScanner *scanner, Arena *arena, Text html) except -1 nogil:
    memset(scanner, 0, sizeof(TagScanner))
    scanner.arena = arena
    return without_byte(arena, html, 0, &scanner.html)


cdef inline bint has_attribute(const TagScanner *scanner, int number) noexcept nogil:
    """Return whether the last tag has an attribute, given by its number (ATTR_…)."""
    return scanner.seen >> number & 1


cdef inline Text attribute(const TagScanner *scanner, int number) noexcept nogil:
    """Return the value of the attribute with this number (ATTR_…) of the last tag; an empty text if it is missing."""
    return scanner.values[number] if has_attribute(scanner, number) else nothing()


cdef inline Size skip_past_gt(Text html, Size at) noexcept nogil:
    """Return the offset after the next ">"; if there is none, the end of the text."""
    return min(or_end(html, find_byte(html, c">", at)) + 1, html.size)


cdef Size skip_comment(Text html, Size at) noexcept nogil:
    """Return the offset after a comment, whose "<!--" ends at `at`; a comment may be as short as <!-->."""
    at = find_byte(html, c">", at)
    while at >= 0 and not (byte_at(html, at - 1) == c"-" and byte_at(html, at - 2) == c"-"):
        at = find_byte(html, c">", at + 1)
    return at + 1 if at >= 0 else html.size


cdef inline Size skip_until(Text html, Size at, int ending) noexcept nogil:
    """Return the offset of the next byte that ends a name or value (`ending`: ENDS_…), or the text's end."""
    while at < html.size and not ENDINGS[<Byte>byte_at(html, at)] & ending:
        at += 1
    return at


cdef Size find_end_tag(Text html, Text name, Size start) noexcept nogil:
    """Return the offset of the next end tag with this name, or of the page's end; skip other tags as text."""
    cdef Size end = find(html, literal(b"</"), start)
    cdef int behind
    while end >= 0:
        behind = byte_at(html, end + 2 + name.size)
        if is_in_any_case(piece(html, end + 2, end + 2 + name.size), name):
            if behind == END or is_one_of(behind, b" \t\n\r\f/><"):
                return end
        end = find(html, literal(b"</"), end + 1)
    return html.size


cdef Size read_attributes(TagScanner *scanner, Size at, Size start) except -1 nogil:
    """Read the attributes of the tag that begins at `at`, from `start` on; return the offset after the tag.

    A tag ends at the first ">" outside quotes. If a quote does not end within MAX_TAG, quotes do not count.
    """
    cdef Text html = scanner.html
    cdef Size limit = min(at + 1 + MAX_TAG, html.size), end
    if at >= scanner.unquoted:
        end = scan_attributes(scanner, start, limit)
        if end >= 0:
            return end + 1
        scanner.unquoted = or_end(html, find_byte(html, c"<", limit - 1))
    end = or_end(html, find_byte(html, c">", start))
    scan_attributes(scanner, start, min(end, limit))
    return min(end + 1, html.size)


cdef Size scan_attributes(TagScanner *scanner, Size at, Size limit) except -2 nogil:
    """Read attributes up to a ">" outside of quotes; return its offset, NOWHERE if not before `limit`."""
    cdef Text html = piece(scanner.html, 0, limit)
    cdef Size name = at, name_end = at, start  # of the last word
    cdef int byte
    scanner.seen = 0
    while at < limit:
        byte = byte_at(html, at)
        if byte == c">":
            break
        if byte == c"=":
            at += 1
            while is_space(byte_at(html, at)):
                at += 1
            byte = byte_at(html, at)
            if byte == c'"' or byte == c"'":
                start = at + 1
                at = find_byte(html, byte, start)
                keep_attribute(scanner, piece(html, name, name_end), piece(html, start, or_end(html, at)))
                if at < 0:
                    return NOWHERE
                at += 1
            else:
                start = at
                at = skip_until(html, at, ENDS_VALUE)
                keep_attribute(scanner, piece(html, name, name_end), piece(html, start, at))
            name = name_end = at
        elif ENDINGS[byte]:
            at += 1
        else:
            keep_attribute(scanner, piece(html, name, name_end), nothing())
            name = at
            at = name_end = skip_until(html, at + 1, ENDS_WORD)
    keep_attribute(scanner, piece(html, name, name_end), nothing())
    return at if at < limit else NOWHERE


cdef inline int attribute_number(Text name) noexcept nogil:
    """Return the number (ATTR_…) of the attribute with this name; NOWHERE if this attribute is not needed."""
    cdef Byte[MAX_ATTRIBUTE] letters
    cdef Text lowered
    if name.size > MAX_ATTRIBUTE or not may_have_name(&ATTRIBUTE_NAMES, name) or not lower_ascii(name, letters):
        return NOWHERE
    lowered.at, lowered.size = letters, name.size
    return number_of_name(&ATTRIBUTE_NAMES, lowered)


cdef int keep_attribute(TagScanner *scanner, Text name, Text value) except -1 nogil:
    """Store an attribute of a tag if it is needed; of attributes with the same name, the first counts."""
    cdef int number = attribute_number(name)
    if number >= 0 and not has_attribute(scanner, number) and (number < ATTR_CLASS or scanner.with_classes):
        scanner.seen |= 1 << number
        unescaped(scanner.arena, value, &scanner.values[number])
    return 0
