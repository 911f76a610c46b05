# Reads whole messages: the head, and the leaf parts with their texts decoded.
#
# ASCII texts stay where they are in the message. The first bytes of an attachment show what it is, whatever its name
# and declared type. Python reads PDF, ZIP and pictures: 75 leaf parts of 10,554 real messages. Texts are cut to
# MAX_TEXT_BYTES before they are decoded.

from cpython.ref cimport Py_DECREF, Py_INCREF

cpdef enum:
    MAX_TEXT_BYTES = 4 * 1024 * 1024  # of all texts as they were sent; if they have more, the largest are cut

cdef enum:
    MAX_ATTACHED_BYTES = 4 * 1024 * 1024  # of all attachments, decoded; of further ones only the first bytes are read
    BYTES_FOR_A_SPACE = 20  # a text with less than a space in so many bytes may be base64
    MIN_BASE64 = 60  # bytes: a shorter text is not taken for base64
    MAX_START = 40  # characters of a text by which a file is recognised, white space included
    SNIFFED = 1024  # bytes of an attachment by which it is recognised; a PDF may begin within them
    PAGE_NAME = 20  # bytes of the first tag of an HTML page that are compared


cdef int read_mail(Mail *mail, Arena *arena, Text raw) except -1 nogil:
    """Read the message `raw` (any bytes) into `mail`; if there is no header block, all bytes are the body."""
    cdef Walk walk
    cdef Size start
    end_mail(mail)
    mail.arena = arena
    make_canonical(arena, raw, &mail.data)
    start_context(&mail.context, arena, mail.data)
    mail.codec, mail.attached_left = NOWHERE, MAX_ATTACHED_BYTES
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
    """Read only the header block of the message `raw` into `mail`."""
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
    """Make `mail` empty, and release its Python object; the memory of the arena is left to the caller."""
    if mail.attachments is not NULL:
        with gil:
            Py_DECREF(<object>mail.attachments)
    memset(mail, 0, sizeof(Mail))


cdef int read_leaves(Mail *mail, Walk *walk) except -1 nogil:
    """Read the leaf parts that `walk` found, in order; if their texts together are too long, cut the largest."""
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
    share_out(shared, walk.count, MAX_TEXT_BYTES)
    for n in range(walk.count):
        allowed[shared[n].which] = shared[n].size
    for n in range(walk.count):
        found = &walk.found[n]
        read_leaf(mail, &mail.leaves[n], found.content_type, &found.head, found.end, allowed[n])
        mail.leaf_count = n + 1
    return 0


cdef int read_leaf(Mail *mail, Leaf *leaf, Text content_type, HeaderBlock *head, Size end, Size most) except -1 nogil:
    """Read a part into `leaf`. Its body ends at `end` (below 0: embedded message). `most`: bytes of text."""
    cdef Parameters declared, named
    cdef Text name
    cdef bint has_file = False
    memset(leaf, 0, sizeof(Leaf))
    leaf.content_type, leaf.fields, leaf.field_count = content_type, head.fields, head.count
    leaf.charset = leaf.filename = leaf.text = nothing()
    leaf.is_embedded = end < 0
    if leaf.is_embedded:
        return 0
    read_parameters(mail.arena, raw_value(head, CONTENT_TYPE), &declared)
    parameter_text(&mail.context, &declared, CHARSET_PARAMETER, mail.codec, &leaf.charset)
    lower_text(mail.arena, stripped(leaf.charset, b"'\" "), &leaf.charset)
    parameter_text(&mail.context, &declared, NAME_PARAMETER, mail.codec, &name)
    read_parameters(mail.arena, raw_value(head, DISPOSITION), &named)
    parameter_text(&mail.context, &named, FILENAME_PARAMETER, mail.codec, &leaf.filename)
    if not leaf.filename.size:
        leaf.filename = name
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
    """Decode the text of a part into `leaf`: of its bytes from `start` to `end`, at most the first `most`."""
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
    return replaced(mail.arena, text, literal(b"\r\n"), literal(b"\n"), &leaf.text)


cdef bint is_ascii_charset(Text charset) noexcept nogil:
    """Return whether a charset is not declared (""), or a common one in which bytes below 0x80 are ASCII."""
    return (not charset.size or is_(charset, b"us-ascii") or is_(charset, b"utf-8") or is_(charset, b"iso-8859-1")
            or is_(charset, b"iso-8859-15") or is_(charset, b"windows-1252"))


cdef bint is_plain_text(Text text) noexcept nogil:
    """Return whether a text is ASCII, but not base64 (few spaces), ISO-2022 (escapes) or UTF-16 (zeros)."""
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
    """Return whether a text begins like a PDF or ZIP file or, if `is_named` (as a file), like HTML."""
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

cdef enum:  # kinds of attachments, the first in the order of ATTACHMENT_KINDS
    NO_KIND  # not read
    A_PDF
    A_ZIP
    A_PICTURE
    A_PAGE
    A_TEXT

cdef tuple ATTACHMENT_KINDS = ("", "pdf", "zip", "picture")
# How browsers recognise HTML:
# https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type
cdef NameTable PAGE_STARTS
fill_names(&PAGE_STARTS, b"<!doctype <html <head <script <iframe <h1 <div <font <table <a <style <title <b <body <br <p <meta "
           b"<center <span <img".split())


cdef int read_attachment(Mail *mail, Leaf *leaf, Text body) except -1 nogil:
    """Read an attachment into `leaf` as the type that its first bytes show, whatever type it declares."""
    cdef DecodedBody decoded
    cdef int kind
    decode_transfer(mail.arena, piece(body, 0, 2 * SNIFFED), leaf.encoding, False, &decoded)
    kind = kind_of_file(mail.arena, piece(decoded.data, 0, SNIFFED), leaf.content_type)
    if kind == NO_KIND:
        return 0
    decode_transfer(mail.arena, piece(body, 0, 2 * mail.attached_left), leaf.encoding, False, &decoded)
    body = piece(decoded.data, 0, mail.attached_left)
    mail.attached_left -= body.size
    if kind != A_PAGE and kind != A_TEXT:
        return ask_attachments(mail, leaf, body, kind)
    leaf.has_content, leaf.has_text, leaf.is_page, leaf.is_decoded = True, True, kind == A_PAGE, False
    decode(&mail.context, body, codec_of(leaf.charset), &leaf.text)
    return replaced(mail.arena, leaf.text, literal(b"\r\n"), literal(b"\n"), &leaf.text)


cdef int kind_of_file(Arena *arena, Text start, Text content_type) except -1 nogil:
    """Return the kind of an attachment (A_PDF …) by its first bytes, `start`; NO_KIND if it is not read."""
    cdef Text name
    cdef Size at = 0
    if starts_with(without_space(start), b"%PDF-") or (contains(start, b"%PDF-") and contains(start, b"obj")):
        return A_PDF
    if starts_with(start, b"PK\x03\x04") or starts_with(start, b"PK\x05\x06"):  # the second is an empty one
        return A_ZIP
    if starts_with(start, b"\x89PNG") or starts_with(start, b"\xff\xd8\xff"):
        return A_PICTURE if reads_pictures() else NO_KIND
    # No program shows a text that is declared as a picture: good words could be put there.
    if (starts_with(content_type, b"image/") or starts_with(content_type, b"audio/")
            or starts_with(content_type, b"video/") or starts_with(content_type, b"font/")) or not is_text(start):
        return NO_KIND
    lowered(arena, start, &start)
    if begins_as_utf16(start):
        without_byte(arena, rest(start, 2), 0, &start)
    start = without_space(rest(start, 3 if starts_with(start, b"\xef\xbb\xbf") else 0))
    next_of(piece(start, 0, PAGE_NAME), b"> \n", &at, &name)
    if contains(start, b"<html") or starts_with(start, b"<!--") or number_of_name(&PAGE_STARTS, name) >= 0:
        return A_PAGE
    # Signatures and keys, PostScript and RTF are not for people.
    if starts_with(start, b"-----begin ") or starts_with(start, b"%!ps") or starts_with(start, b"{\\rt"):
        return NO_KIND
    return A_TEXT


cdef bint is_text(Text start) noexcept nogil:
    """Return whether bytes can begin a text: UTF-16, or free of controls and either UTF-8 or mostly ASCII."""
    cdef Size at
    cdef int byte
    if begins_as_utf16(start):
        return True
    for at in range(start.size):
        byte = byte_at(start, at)
        if byte < 32 and not 9 <= byte <= 13 and byte != ESC:
            return False
    return start.size > 0 and (is_cut_utf8(start, end_of_utf8(start, 0)) or 3 * count_high(start) < start.size)


cdef int ask_attachments(Mail *mail, Leaf *leaf, Text body, int kind) except -1 with gil:
    """Let Python code read the attachment `body`; store its text, links and file names in `leaf`."""
    cdef object attachments, content
    cdef Text text
    if mail.attachments is NULL:
        from spamnb.reading.attachments import Attachments

        attachments = Attachments()
        Py_INCREF(attachments)
        mail.attachments = <void *>attachments
    attachments = <object>mail.attachments
    content = attachments.read(ATTACHMENT_KINDS[kind], bytes_of(body))
    leaf.has_content, leaf.is_decoded, leaf.has_text = True, False, bool(content.text)
    text_of_str(mail.arena, content.text, &leaf.text)
    for link in content.links:
        text_of_str(mail.arena, link, &text)
        add_text(mail.arena, &leaf.links, text)
    for name in content.names:
        text_of_str(mail.arena, name, &text)
        add_text(mail.arena, &leaf.names, text)
    return 0


cdef bint reads_pictures() noexcept nogil:
    """Return whether QR codes can be read. Python is asked once, because importing the reader takes long."""
    global _reads_pictures
    if _reads_pictures < 0:
        with gil:
            from spamnb.reading.attachments.qr_codes import can_read

            _reads_pictures = can_read
    return _reads_pictures


ENCODING_NAMES = ("", "base64", "quoted")
cdef int _reads_pictures = NOWHERE  # until `reads_pictures` is called; all threads would write the same
