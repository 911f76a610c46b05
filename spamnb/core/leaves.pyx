# Messages read whole: the head, and the leaves with their texts decoded.
#
# ASCII texts stay where they are in the message. A leaf that is no text is sniffed here by its first bytes, so that
# Python's reader of attachments is asked only for what it reads: for 75 leaves of 10,554 real messages.
# Texts are cut to MAX_TEXT_BYTES before they are decoded.

from cpython.ref cimport Py_DECREF, Py_INCREF

cpdef enum:
    MAX_TEXT_BYTES = 4 * 1024 * 1024  # of all texts as they were sent; of longer ones, the largest are cut

cdef enum:
    MAX_ATTACHED_BYTES = 4 * 1024 * 1024  # of all attachments, as attachments/contents.py has it
    BYTES_FOR_A_SPACE = 20  # a text with fewer spaces is looked at closely: it may be base64
    MIN_BASE64 = 60
    MAX_START = 40  # characters that say whether a text is a file, with the white space before it
    SNIFFED = 1024  # bytes of an attachment, as attachments/__init__.py has it


cdef int read_mail(Mail *mail, Arena *arena, Text raw) except -1 nogil:
    """Read a message. Any bytes are one: without a header block, all of them are body."""
    cdef Walk walk
    cdef Size start
    end_mail(mail)
    mail.arena = arena
    make_canonical(arena, raw, &mail.data)
    start_context(&mail.context, arena, mail.data)
    mail.codec = NOWHERE
    start_block(mail, &mail.head, 0)
    start = start_of_headers(mail.data)
    mail.has_headers = start >= 0
    if not mail.has_headers:
        mail.leaves = <Leaf *>allot(arena, sizeof(Leaf))
        mail.leaf_count = 1
        return read_leaf(mail, &mail.leaves[0], nothing(), &mail.head, mail.data.size, MAX_TEXT_BYTES)
    find_leaves(&walk, mail, start)
    read_leaves(mail, &walk)
    if mail.head.is_raw and mail.codec >= 0 and mail.context.finds_left > 0:
        readable_fields(&mail.context, mail.head.fields, mail.head.count, mail.codec)
    return 0


cdef int read_head_only(Mail *mail, Arena *arena, Text raw) except -1 nogil:
    """Read the header block of a message, and nothing else of it."""
    cdef Size start
    end_mail(mail)
    mail.arena = arena
    make_canonical(arena, piece(raw, 0, MAX_HEADER_BYTES), &mail.data)
    start_context(&mail.context, arena, mail.data)
    start_block(mail, &mail.head, 0)
    start = start_of_headers(mail.data)
    mail.has_headers = start >= 0
    return read_block(mail, &mail.head, start, mail.data.size) if mail.has_headers else 0


cdef void end_mail(Mail *mail) noexcept nogil:
    """Forget a message; its arena is the caller's."""
    if mail.attachments is not NULL:
        with gil:
            Py_DECREF(<object>mail.attachments)
    memset(mail, 0, sizeof(Mail))


cdef int read_leaves(Mail *mail, Walk *walk) except -1 nogil:
    """Read the leaves that were found, in order; if their texts are too long, the largest are cut."""
    cdef Size n
    cdef Share *shared = <Share *>allot(mail.arena, walk.count * sizeof(Share) + 1)
    cdef Size *allowed = <Size *>allot(mail.arena, walk.count * sizeof(Size) + 1)
    cdef FoundLeaf *found
    mail.leaves = <Leaf *>allot(mail.arena, walk.count * sizeof(Leaf) + 1)
    for n in range(walk.count):
        found = &walk.found[n]
        shared[n].which, shared[n].size = n, 0
        if is_textual(found.content_type):
            shared[n].size = max(found.end - found.head.body, <Size>0)
    share_out(mail.arena, shared, walk.count, MAX_TEXT_BYTES)
    for n in range(walk.count):
        allowed[shared[n].which] = shared[n].size
    for n in range(walk.count):
        found = &walk.found[n]
        read_leaf(mail, &mail.leaves[n], found.content_type, &found.head, found.end, allowed[n])
        mail.leaf_count = n + 1
    return 0


cdef int read_leaf(Mail *mail, Leaf *leaf, Text content_type, HeaderBlock *head, Size end, Size most) except -1 nogil:
    """Read the leaf with this header block, whose body ends at an offset; `most` bytes of its text."""
    cdef Parameters declared, named
    cdef Text disposition = raw_value(head, head.disposition), name
    cdef Size semicolon
    cdef bint has_file = False
    memset(leaf, 0, sizeof(Leaf))
    leaf.content_type, leaf.fields, leaf.field_count = content_type, head.fields, head.count
    leaf.charset = leaf.disposition = leaf.filename = leaf.text = nothing()
    leaf.is_embedded = end < 0
    if leaf.is_embedded:
        return 0
    read_parameters(mail.arena, raw_value(head, head.content_type), &declared)
    parameter_text(&mail.context, &declared, CHARSET_PARAMETER, mail.codec, &leaf.charset)
    lower_text(mail.arena, stripped(leaf.charset, b"'\" "), &leaf.charset)
    parameter_text(&mail.context, &declared, NAME_PARAMETER, mail.codec, &name)
    read_parameters(mail.arena, disposition, &named)
    parameter_text(&mail.context, &named, FILENAME_PARAMETER, mail.codec, &leaf.filename)
    if not leaf.filename.size:
        leaf.filename = name
    semicolon = find_byte(disposition, SEMICOLON, 0)
    disposition = piece(disposition, 0, semicolon) if semicolon >= 0 else disposition
    lower_latin(mail.arena, without_latin_space(disposition), &leaf.disposition)
    leaf.encoding = declared_encoding(head)
    leaf.size = end - head.body
    if is_textual(content_type):
        read_leaf_text(mail, leaf, head.body, end, most)
        has_file = begins_as_file(leaf.text, is_(content_type, b"text/plain") and leaf.filename.size > 0)
    if (not leaf.has_text or has_file) and end > head.body:
        return read_attachment(mail, leaf, piece(mail.data, head.body, end))
    return 0


# Texts

cdef int read_leaf_text(Mail *mail, Leaf *leaf, Size start, Size end, Size most) except -1 nogil:
    """Decode the text of a leaf, up to so many bytes."""
    cdef Text text = piece(mail.data, start, end)
    cdef Size feed
    if text.size > most:  # cut at a line end, not within a character
        feed = find_last(text, LF, most)
        text.size = feed + 1 if feed >= 0 else most
    leaf.has_text = True
    if leaf.encoding != AS_IT_IS or not is_ascii_charset(leaf.charset) or not is_plain_text(text):
        read_text(&mail.context, text, leaf.encoding, leaf.charset, &leaf.decoding)
        leaf.is_decoded = True
        text = leaf.decoding.text
        if mail.codec < 0 and not is_ascii(text):
            mail.codec = leaf.decoding.codec
    return with_line_feeds(mail.arena, text, &leaf.text)


cdef bint is_ascii_charset(Text charset) noexcept nogil:
    """Tell whether bytes below 0x80 are ASCII in a charset; four texts in five declare one of these, or none."""
    return (not charset.size or is_(charset, b"us-ascii") or is_(charset, b"utf-8") or is_(charset, b"iso-8859-1")
            or is_(charset, b"iso-8859-15") or is_(charset, b"windows-1252"))


cdef bint is_plain_text(Text text) noexcept nogil:
    """Tell whether a text is ASCII that stands for itself: base64 has few spaces, ISO-2022 escapes, UTF-16 zeros."""
    cdef Size spaces
    if not is_ascii(text):
        return False
    if text.size >= MIN_BASE64:
        spaces = count_byte(piece(text, 0, text.size // 2), 32)  # half of most texts has enough
        if spaces * BYTES_FOR_A_SPACE < text.size:
            spaces += count_byte(rest(text, text.size // 2), 32)
            if spaces * BYTES_FOR_A_SPACE < text.size:
                return False
    return not has(text, ESC) and not has(text, 0)


cdef bint begins_as_file(Text text, bint is_named) noexcept nogil:
    """Tell whether a text is a file of another kind by its start; a named one may be a page."""
    cdef Text start = first_chars(text, MAX_START)
    while True:
        if is_one_of(byte_at(start, 0), b" \t\n"):
            start = rest(start, 1)
        elif starts_with(start, b"\xef\xbb\xbf"):
            start = rest(start, 3)
        else:
            break
    return starts_with(start, b"%PDF-") or starts_with(start, b"PK\x03\x04") or (is_named and starts_with(start, b"<"))


# Attachments

cdef int read_attachment(Mail *mail, Leaf *leaf, Text body) except -1 nogil:
    """Read an attachment by what it is, whatever it is declared as."""
    cdef Undone head
    undo(mail.arena, piece(body, 0, 2 * SNIFFED), leaf.encoding, False, &head)
    if not may_be_read(piece(head.data, 0, SNIFFED), leaf.content_type):
        return 0
    return ask_attachments(mail, leaf, piece(body, 0, 2 * MAX_ATTACHED_BYTES))


cdef bint may_be_read(Text start, Text content_type) noexcept nogil:
    """Tell whether Python reads what begins so: no unknown kinds, no texts declared as pictures, no signatures."""
    cdef Size at
    cdef int byte
    if contains(start, b"%PDF-") or starts_with(start, b"PK\x03\x04") or starts_with(start, b"PK\x05\x06"):
        return True
    if starts_with(start, b"\x89PNG") or starts_with(start, b"\xff\xd8\xff"):
        return reads_pictures()
    if (starts_with(content_type, b"image/") or starts_with(content_type, b"audio/")
            or starts_with(content_type, b"video/") or starts_with(content_type, b"font/")):
        return False
    if starts_with(start, b"\xff\xfe") or starts_with(start, b"\xfe\xff"):
        return True
    for at in range(start.size):
        byte = byte_at(start, at)
        if byte < 32 and not 9 <= byte <= 13 and byte != ESC:
            return False
    return start.size > 0 and not (starts_with(start, b"-----BEGIN ") and is_ascii(start) and not has(start, 60))


cdef int ask_attachments(Mail *mail, Leaf *leaf, Text body) except -1 with gil:
    """Have Python read an attachment, and put what it finds into the leaf."""
    cdef object attachments, content
    cdef Text text
    if mail.attachments is NULL:
        from spamnb.reading.attachments import Attachments

        attachments = Attachments()
        Py_INCREF(attachments)
        mail.attachments = <void *>attachments
    attachments = <object>mail.attachments
    content = attachments.read(bytes_of(body), 0, body.size, ENCODING_NAMES[leaf.encoding], str_of(leaf.charset),
                               str_of(leaf.content_type))
    if content is None:
        return 0
    leaf.has_content, leaf.is_page, leaf.is_decoded = True, content.is_html, False
    leaf.has_text = content.text is not None
    text_of_str(mail.arena, content.text or "", &leaf.text)
    for link in content.links:
        text_of_str(mail.arena, link, &text)
        add_text(mail.arena, &leaf.links, text)
    for name in content.names:
        text_of_str(mail.arena, name, &text)
        add_text(mail.arena, &leaf.names, text)
    return 0


cdef bint reads_pictures() noexcept nogil:
    """Tell whether there is a reader of QR codes; Python is asked once, as loading it takes long."""
    global _reads_pictures
    if _reads_pictures < 0:
        with gil:
            from spamnb.reading.attachments.qr_codes import can_read

            _reads_pictures = can_read
    return _reads_pictures


ENCODING_NAMES = ("", "base64", "quoted")
cdef int _reads_pictures = NOWHERE  # the one thing that is written later; whoever comes first writes the same
