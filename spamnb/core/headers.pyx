# Reads header blocks: their fields, each with a raw and a readable value.
#
# A raw value is unfolded, with its bytes unchanged, so that those of a boundary or an encoded word are not lost; it is
# a piece of the message unless it was folded. encoded_words.pyx makes readable values, where a block is not plain
# ASCII. Each byte of a block is read a fixed number of times; of one block, MAX_FIELDS fields are kept.

cdef enum:
    LF = 10
    CR = 13
    ESC = 27
    DASH = 45
    COLON = 58
    SEMICOLON = 59
    EQUALS = 61
    MAX_FIRST_NAME = 1000  # bytes: if there is no colon in so many, a message has no header block
    MAX_SUBJECT_TAGS = 4  # tags removed from a subject
    MAX_SUBJECT_TAG = 30  # bytes of a tag
    TAG_WORDS = 5  # items of TAG_NAMES
    FIRST_FIELDS = 64  # for which memory is allocated at first

cpdef enum:
    # Of all header blocks of a message; in 8,000 real ones there were at most 15 KB.
    MAX_HEADER_BYTES = 1 << 20  # what follows is read as one text
    MAX_FIELDS = 10000  # kept of one header block; of further ones, only the first for each of NEEDED_NAMES

cdef enum:  # places in `HeaderBlock.first`, in the order of NEEDED_NAMES
    CONTENT_TYPE
    TRANSFER_ENCODING
    DISPOSITION
    SENDER
    SUBJECT

cdef NameTable NEEDED_NAMES
fill_names(
    &NEEDED_NAMES, [b"content-type", b"content-transfer-encoding", b"content-disposition", b"from", b"subject"]
)


cdef int make_canonical(Arena *arena, Text raw, Text *result) except -1 nogil:
    """Set `result` to `raw` with LF as the only line end, and no LF at the end, so that copies are equal."""
    result[0] = raw
    if has(raw, CR):
        if has(raw, LF):
            replaced(arena, raw, literal(b"\r\n"), literal(b"\n"), result)
        else:  # old Macs end lines with a carriage return alone
            replaced(arena, raw, literal(b"\r"), literal(b"\n"), result)
    while byte_at(result[0], result.size - 1) == LF:
        result.size -= 1
    return 0


cdef Size start_of_headers(Text data) noexcept nogil:
    """Return where the header block starts, after any mbox envelope line; NOWHERE if there is no header block."""
    cdef Size at = 0, colon
    if is_envelope_line(data, at):
        at = find_byte(data, LF, at) + 1
        if is_envelope_line(data, at):  # an mbox in an mbox leaves two envelope lines
            at = find_byte(data, LF, at) + 1
    if byte_at(data, at) == LF or (byte_at(data, at) == CR and byte_at(data, at + 1) == LF):
        return at
    colon = find_byte(piece(data, 0, at + MAX_FIRST_NAME + 1), COLON, at)
    if colon < 0 or is_at(data, colon + 1, literal(b"//")):
        return NOWHERE
    return at if is_name(piece(data, at, colon)) else NOWHERE


cdef bint is_envelope_line(Text data, Size at) noexcept nogil:
    """Return whether an mbox envelope line ("From ", or quoted ">From ") starts at this offset."""
    return is_at(data, at, literal(b"From ")) or is_at(data, at, literal(b">From "))


cdef bint is_name(Text name) noexcept nogil:
    """Return whether a text can be the name of a header: printable ASCII without spaces."""
    cdef Size at
    for at in range(name.size):
        if not 32 < byte_at(name, at) < 127:
            return False
    return name.size > 0


cdef int read_block(Mail *mail, HeaderBlock *block, Size start, Size limit) except -1 nogil:
    """Read the header block at `start`; set `block.body` to where the body starts, NOWHERE if beyond `limit`.

    A block ends at a blank line, a line that begins like a boundary, or the first line that cannot be a
    header. In doubt, a line belongs to the body: its words would be lost if it were read as a header.
    """
    cdef Text data = piece(mail.data, 0, limit)
    cdef Size at = start, here = start, colon = NOWHERE, feed, found  # start of the field, of the line
    cdef bint is_folded = False
    start_block(mail, block, end_of_block(mail.data, start))
    while block.body < 0 and here < data.size:
        feed = find_byte(data, LF, here)
        if colon < at:  # the first colon of a field ends its name
            found = find_byte(piece(data, 0, feed) if feed >= 0 else data, COLON, here)
            if found >= 0:
                colon = found
        if feed < 0:
            here = data.size
            break
        here = feed + 1
        if byte_at(data, here) == 32 or byte_at(data, here) == 9:
            is_folded = True
            continue
        if not add_field(mail, block, at, colon, feed, is_folded):
            break
        at = here
        is_folded = False
        block.body = end_of_block(mail.data, at)
    if block.body < 0 and at < here and here == data.size:
        add_field(mail, block, at, colon, here, is_folded)
    mail.free_fields += block.count
    mail.free_field_count -= block.count
    data = piece(data, start, here)
    block.is_raw = not is_ascii(data)
    if block.is_raw or has_encoded_word(data) or has(data, ESC):
        readable_fields(&mail.context, block.fields, block.count, NOWHERE)
    return 0


cdef void start_block(Mail *mail, HeaderBlock *block, Size body) noexcept nogil:
    """Make `block` an empty header block; `body`: the offset where the body after it starts, or NOWHERE."""
    block.fields, block.count, block.body = mail.free_fields, 0, body
    memset(block.first, NOWHERE, sizeof(block.first))
    block.is_raw = False


cdef Size end_of_block(Text data, Size at) noexcept nogil:
    """If a header block ends before the line at this offset, return where the body starts; otherwise NOWHERE."""
    cdef int byte = byte_at(data, at)
    if byte == END:
        return at
    if byte == LF:
        return at + 1
    if byte == CR and byte_at(data, at + 1) == LF:
        return at + 2
    return at if byte == DASH and at > 0 and byte_at(data, at + 1) == DASH else NOWHERE


cdef bint has_encoded_word(Text text) noexcept nogil:
    """Return whether a text has "=?" (an encoded word); search for "?", which is rarer than "="."""
    cdef Size mark = find_byte(text, 63, 0)
    while mark >= 0 and byte_at(text, mark - 1) != EQUALS:
        mark = find_byte(text, 63, mark + 1)
    return mark >= 0


cdef int add_field(Mail *mail, HeaderBlock *block, Size start, Size colon, Size end, bint is_folded) except -1 nogil:
    """Add the header field from `start` to `end` to `block`; return 1, or 0 if the body starts there."""
    cdef Text data = mail.data
    cdef Text name = piece(data, start, colon), raw
    cdef Field *field
    cdef Size *first
    if not is_name(name):
        if is_envelope_line(data, start):
            return 1
        while is_one_of(byte_at(name, name.size - 1), b" \t\r\n"):  # RFC 822 allowed a space before the colon
            name.size -= 1
        if not is_name(name):
            block.body = start
            return 0
    lowered(mail.arena, name, &name)
    raw = without_space(piece(data, colon + 1, end))
    if is_folded:
        replaced(mail.arena, raw, literal(b"\r\n"), nothing(), &raw)
        without_byte(mail.arena, raw, LF, &raw)
    if is_(name, b"subject") and is_one_of(byte_at(raw, 0), b"[{(*"):
        raw = rest(raw, after_tags(raw))
        if not raw.size:
            return 1  # a filter gave a message without a subject one that says "spam"
    first = place_of_first(block, name)
    if first is not NULL and first[0] < 0:
        first[0] = block.count
    elif block.count >= MAX_FIELDS:
        return 1
    if block.count == mail.free_field_count:
        mail.free_field_count = max(2 * block.count, <Size>FIRST_FIELDS)
        mail.free_fields = <Field *>allot(mail.arena, mail.free_field_count * sizeof(Field))
        if block.count:
            memcpy(mail.free_fields, block.fields, block.count * sizeof(Field))
        block.fields = mail.free_fields
    field = &block.fields[block.count]
    field.name, field.raw, field.value, field.rule = name, raw, raw, rule_of(name)
    block.count += 1
    return 1


cdef inline Size *place_of_first(HeaderBlock *block, Text name) noexcept nogil:
    """Return a pointer to the item of `block.first` for this header; NULL if NEEDED_NAMES lacks its name."""
    cdef int number = number_of_name(&NEEDED_NAMES, name)
    return &block.first[number] if number >= 0 else NULL


cdef inline Text raw_value(HeaderBlock *block, int needed) noexcept nogil:
    """Return the raw value of the header `needed`, such as CONTENT_TYPE; an empty text if it is missing."""
    cdef Size field = block.first[needed]
    return block.fields[field].raw if field >= 0 else nothing()


cdef int declared_encoding(HeaderBlock *block) noexcept nogil:
    """Return the transfer encoding that a header block declares: BASE64, QUOTED, or else AS_IT_IS."""
    cdef Text declared = piece(stripped(raw_value(block, TRANSFER_ENCODING), b"\" "), 0, 6)
    if is_in_any_case(declared, literal(b"base64")):
        return BASE64
    return QUOTED if is_in_any_case(declared, literal(b"quoted")) else AS_IT_IS


cdef bint is_in_any_case(Text text, Text sought) noexcept nogil:
    """Return whether a text is `sought` in upper or lower case; `sought` must be in lower case."""
    cdef Size at
    if text.size != sought.size:
        return False
    for at in range(text.size):
        if lower(byte_at(text, at)) != byte_at(sought, at):
            return False
    return True


cdef Field *first_field(Field *fields, Size count, const char *name) noexcept nogil:
    """Return the first field with this name; NULL if there is none."""
    cdef Text sought = literal(name)
    cdef Size at
    for at in range(count):
        if equal(fields[at].name, sought):
            return &fields[at]
    return NULL


# Tags that filters put before the subject of spam

cdef Text[TAG_WORDS] TAG_NAMES
TAG_NAMES[:] = [literal(b"spam"), literal(b"junk"), literal(b"suspected spam"), literal(b"possible spam"),
                literal(b"probable spam")]


cdef Size after_tags(Text subject) noexcept nogil:
    """Return where a subject starts after tags such as [spam] or ***SPAM***, which other filters put there.

    Tags of mailing lists, such as [spam-l], stay.
    """
    cdef Size at = 0, word, close
    cdef int tags, opening
    cdef Text start, brackets = literal(b"[]{}()**")
    for tags in range(MAX_SUBJECT_TAGS):
        start = piece(subject, at, at + MAX_SUBJECT_TAG)
        opening = byte_at(start, 0)
        word = 1
        while opening == 42 and byte_at(start, word) == 42:
            word += 1
        close = find_byte(start, byte_at(brackets, find_byte(brackets, opening, 0) + 1), word)
        if close < 0 or not is_tag(stripped(piece(start, word, close), b"*?!:-_ ")):
            break
        at += close + 1
        while is_one_of(byte_at(subject, at), b"* \t\r\n" if opening == 42 else b" \t\r\n"):
            at += 1
    return at


cdef bint is_tag(Text word) noexcept nogil:
    cdef int which
    for which in range(TAG_WORDS):
        if is_in_any_case(word, TAG_NAMES[which]):
            return True
    return False


# For Python

def canonical(bytes raw) -> bytes:
    """Return a message with LF as the only line end, and no LF at its end, so that copies are equal."""
    cdef Memory memory = Memory()
    cdef Text text
    make_canonical(&memory.arena, text_of(raw), &text)
    return raw if text.size == len(raw) and text.at == text_of(raw).at else bytes_of(text)


def header_start(bytes data) -> int:
    """Return where the header block starts, after any mbox envelope line; -1 if there is no header block."""
    return start_of_headers(text_of(data))


def without_tag(str subject) -> str:
    """Return a subject without tags that other filters added, such as [spam] or ***SPAM***."""
    cdef bytes letters = bytes([min(ord(char), 255) for char in subject])
    return subject[after_tags(text_of(letters)):]
