# Text of what is encoded: bodies, encoded words (RFC 2047), parameters (RFC 2231), as a reader sees them.
#
# Nothing here fails but for want of memory. A value is read once, from its start to its end; of what is decoded, a byte
# becomes three at most. Charsets are found for MAX_FOUND texts of a message, each of which takes up to 2 ms.
# A codec is a number of charsets.pyx; NOWHERE, GUESSED and ASCII all say nothing about bytes above 0x7f.

cdef enum:
    MAX_FOUND = 100  # charsets of one message
    UNLIMITED = 1 << 30


cdef void start_context(Context *context, Arena *arena, Text data) noexcept nogil:
    """Begin to read the texts of a message."""
    context.arena, context.data = arena, data
    context.finds_left, context.name_count = MAX_FOUND, NOWHERE


cdef void start_without_context(Context *context, Arena *arena) noexcept nogil:
    """Begin to read texts that are in no message: as many charsets are found as there are."""
    context.arena, context.data = arena, nothing()
    context.finds_left, context.name_count = UNLIMITED, 0


cdef int read_text(Context *context, Text body, int encoding, Text charset, Decoding *result) except -1 nogil:
    """Read the body of a leaf, of an encoding and a charset as declared."""
    cdef Undone undone
    undo(context.arena, body, encoding, True, &undone)
    result.encoding, result.other_encoding = undone.encoding, undone.other_encoding
    result.why_encoding, result.high_bytes = undone.why, undone.high_bytes
    return text_and_charset(context, undone.data, codec_of(charset), &result.text, &result.codec, &result.why_charset)


cdef int decode(Context *context, Text data, Text charset, Text *result) except -1 nogil:
    """Decode bytes by their declared charset if they fit it, else by the one that is found."""
    return decode_by(context, data, codec_of(charset), result)


cdef int decode_by(Context *context, Text data, int declared, Text *result) except -1 nogil:
    cdef int codec = 0, why = 0
    result[0] = data
    return text_and_charset(context, data, declared, result, &codec, &why) if data.size else 0


cdef int text_and_charset(
    Context *context, Text data, int declared, Text *result, int *codec, int *why
) except -1 nogil:
    """Find the text of bytes, their codec, and why it is not the declared one."""
    cdef bint is_done = False
    codec[0] = charset_of(context, data, declared, why, &is_done)
    if is_done:
        result[0] = data
        return 0
    return by_codec(context.arena, data, codec[0], result)


cdef int charset_of(Context *context, Text data, int declared, int *why, bint *is_done) except -1 nogil:
    """Return the codec of bytes, why it is not the declared one, and whether they are already UTF-8."""
    why[0], is_done[0] = AS_DECLARED, False
    declared = believed(declared)
    if is_ascii(data):
        if not has(data, 27) and not has(data, 0) and not is_codec(declared, IS_TWO_BYTES):
            is_done[0] = not is_codec(declared, IS_STATEFUL)
            return ASCII if is_done[0] else declared
    elif declared in (GUESSED, UTF_8) and is_utf8(data):
        why[0] = AS_DECLARED if declared else IS_UTF8
        is_done[0] = True
        return UTF_8
    context.finds_left -= 1
    if context.finds_left < 0:
        return declared or CP1252
    return find_charset(context, data, declared, why)


cdef inline int believed(int codec) noexcept nogil:
    return GUESSED if codec == ASCII or codec < 0 else codec


cdef int readable_fields(Context *context, Field *fields, Size count, int codec) except -1 nogil:
    """Set the values of header fields as a person would see them; raw bytes are of one charset, if of any.

    `codec` is what the body was read by, if that is known.
    """
    cdef Writer raw
    cdef Size which, with_raw = 0
    cdef int why = 0
    cdef bint is_done = False
    for which in range(count):
        if not is_ascii(fields[which].raw):
            if not with_raw:
                start_writer(&raw, context.arena, fields[which].raw.size)
            else:
                put_byte(&raw, 10)
            put(&raw, fields[which].raw)
            with_raw += 1
    if with_raw:
        codec = charset_of(context, written(&raw), codec, &why, &is_done)
    for which in range(count):
        readable_value(context, fields[which].raw, codec, &fields[which].value)
    return 0


cdef int readable_value(Context *context, Text raw, int codec, Text *result) except -1 nogil:
    """Read a raw value of a header with each `=?charset?B or Q?text?=` replaced.

    Neighbours of one charset are decoded together: many senders cut a multi-byte character in two.
    """
    cdef Writer to, words  # words: bytes of encoded words that wait to be decoded together
    cdef Text charset = nothing(), name = nothing(), between, text, decoded  # charset: of all these words
    cdef Size copied = 0, start = find(raw, literal(b"=?"), 0), mark, end, blank
    cdef int coding
    codec = believed(codec)
    result[0] = raw
    if start < 0:
        if is_ascii(raw) and not has(raw, 27) and not has(raw, 0) and not is_codec(codec, IS_STATEFUL):
            return 0
        return decode_by(context, raw, codec, result)
    start_writer(&to, context.arena, raw.size)
    start_writer(&words, context.arena, raw.size)
    while start >= 0:
        mark = find_byte(raw, 63, start + 2)
        if mark < 0:
            break
        coding = lower(byte_at(raw, mark + 1)) if byte_at(raw, mark + 2) == 63 else END
        if coding != 98 and coding != 113:  # b, q
            start = find(raw, literal(b"=?"), start + 2)
            continue
        end = find(raw, literal(b"?="), mark + 3)
        if end < 0:
            break
        blank = copied
        while blank < start and is_one_of(byte_at(raw, blank), b" \t\r\n"):
            blank += 1
        # White space between two words only separates them.
        between = piece(raw, copied if not copied or blank < start else start, start)
        name = charset_name(piece(raw, start + 2, mark))
        if between.size or not same_letters(name, charset):
            put_decoded(context, &to, written(&words), codec_of(charset))
            put_decoded(context, &to, between, codec)
            words.size, charset = 0, name
        text = piece(raw, mark + 3, end)
        if coding == 98:
            decode_base64(context.arena, text, &decoded)
        else:
            decode_quoted(context.arena, text, True, &decoded)
        put(&words, decoded)
        copied = end + 2
        start = find(raw, literal(b"=?"), copied)
    put_decoded(context, &to, written(&words), codec_of(charset))
    put_decoded(context, &to, rest(raw, copied), codec)
    result[0] = written(&to)
    return 0


cdef int put_decoded(Context *context, Writer *to, Text data, int codec) except -1 nogil:
    cdef Text text
    decode_by(context, data, codec, &text)
    return put(to, text)


cdef Text charset_name(Text written) noexcept nogil:
    """Return the charset of charset*language, as str.strip() does with a character for each byte."""
    cdef Size start = 0, end = find_byte(written, 42, 0)
    end = end if end >= 0 else written.size
    while start < end and is_white(byte_at(written, start)):
        start += 1
    while end > start and is_white(byte_at(written, end - 1)):
        end -= 1
    return piece(written, start, end)


cdef bint same_letters(Text name, Text other) noexcept nogil:
    """Tell whether two names are the same in lower case, with a character for each byte."""
    cdef Size at
    if name.size != other.size or equal(name, other):
        return name.size == other.size
    for at in range(name.size):
        if Py_UNICODE_TOLOWER(byte_at(name, at)) != Py_UNICODE_TOLOWER(byte_at(other, at)):
            return False
    return True


cdef int percent_decoded(Arena *arena, Text text, Text *result) except -1 nogil:
    """Decode %41: quoted-printable (=41) with another sign."""
    cdef Writer quoted
    cdef Size at
    cdef int byte
    start_writer(&quoted, arena, text.size + 16)
    for at in range(text.size):
        byte = byte_at(text, at)
        if byte == 61:
            put_literal(&quoted, b"=3D")
        else:
            put_byte(&quoted, 61 if byte == 37 else byte)
    return decode_quoted(arena, written(&quoted), False, result)


# For Python

cdef tuple ENCODINGS = ("8bit", "base64", "quoted-printable")
cdef tuple WHY_ENCODING = (
    "",
    "{:,} bytes above 0x7f",
    "it is base64",
    "a part of it is base64",
    "it is not base64",
    "a part of it is quoted-printable",
    "it is not quoted-printable",
)
cdef tuple WHY_CHARSET = (
    "",
    "it is UTF-8",
    "byte order mark",
    "escapes",
    "zeros between the letters",
    "it is ASCII",
    "found by its bytes",
    "named in the text",
    "named in the message",
)


cdef str encoding_names(int encoding, int other):
    return ENCODINGS[encoding] if other < 0 else f"{ENCODINGS[encoding]} and {ENCODINGS[other]}"


cdef tuple described(Decoding *decoding):
    """Return the encoding and why it is not the declared one, Python's name of the charset and why it is not."""
    return (
        encoding_names(decoding.encoding, decoding.other_encoding),
        WHY_ENCODING[decoding.why_encoding].format(decoding.high_bytes),
        latin_of(codec_name(decoding.codec)),
        WHY_CHARSET[decoding.why_charset],
    )


cdef class Surroundings:
    """The message around texts: it may name charsets, and only so many are found in it."""

    cdef Arena arena
    cdef Context context
    cdef bytes data

    def __cinit__(self, bytes data not None):
        self.data = data
        start_arena(&self.arena)
        start_context(&self.context, &self.arena, text_of(self.data))

    def __dealloc__(self):
        free_arena(&self.arena)

    @property
    def finds_left(self):
        return self.context.finds_left


cdef Surroundings surroundings(Surroundings around):
    """Return the given ones, ready to decode one more text, or those of a text in no message."""
    if around is None:
        around = Surroundings(b"")
        start_without_context(&around.context, &around.arena)
    clear_arena(&around.arena)
    return around


def decode_bytes(bytes data not None, str declared="", Surroundings around=None):
    """Return the text of bytes by their declared charset if they fit it, else by the one that is found."""
    return found_text(data, declared, around)[0]


def found_text(bytes data not None, str declared="", Surroundings around=None):
    """Return the text of bytes, Python's name of their charset, and why it is not the declared one."""
    cdef int codec = declared_codec(declared), why = 0
    cdef Text text = text_of(data), result
    around = surroundings(around)
    with nogil:
        text_and_charset(&around.context, text, codec, &result, &codec, &why)
    return str_of(result), latin_of(codec_name(codec)), WHY_CHARSET[why]


def found_charset(bytes data not None, str declared="", Surroundings around=None):
    """Return Python's name of the charset of bytes that are not plain ASCII, and why it is not the declared one."""
    cdef int codec = declared_codec(declared), why = 0
    cdef Text text = text_of(data)
    around = surroundings(around)
    with nogil:
        codec = find_charset(&around.context, text, codec, &why)
    return latin_of(codec_name(codec)), WHY_CHARSET[why]


def decode_as(bytes data not None, str name not None):
    """Return the text of bytes by the codec of this name; what it has no characters for is replaced by U+FFFD."""
    cdef Surroundings around = surroundings(None)
    cdef int codec = CODECS.index(name)
    cdef Text text = text_of(data), result
    with nogil:
        by_codec(&around.arena, text, codec, &result)
    return str_of(result)


def undo_transfer(bytes data not None, str declared="", bint is_text=True):
    """Return a body as it was before it was encoded, how it was encoded, and why not as declared."""
    cdef Surroundings around = surroundings(None)
    cdef int encoding = BASE64 if declared == "base64" else QUOTED if declared == "quoted" else AS_IT_IS
    cdef Text body = text_of(data)
    cdef Undone undone
    with nogil:
        undo(&around.arena, body, encoding, is_text, &undone)
    names = encoding_names(undone.encoding, undone.other_encoding)
    return bytes_of(undone.data), names, WHY_ENCODING[undone.why].format(undone.high_bytes)


def readable(str value not None, str charset="", Surroundings around=None):
    """Return a raw value of a header, a character for each byte, as a person would see it."""
    cdef bytes raw = value.encode("latin-1")
    cdef Text text = text_of(raw), result
    cdef int codec = declared_codec(charset)
    around = surroundings(around)
    with nogil:
        readable_value(&around.context, text, codec, &result)
    return str_of(result)
