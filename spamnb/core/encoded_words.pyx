# Decodes bodies, encoded words (RFC 2047) and parameters (RFC 2231) into text as a reader sees it.
#
# Only a lack of memory makes these functions fail. A value is read once, from start to end; a byte becomes three at
# most. Charsets are found by their bytes for MAX_FOUND texts of a message, each of which takes up to 2 ms. A codec is a
# number of charsets.pyx; NOWHERE, GUESSED and ASCII all say nothing about bytes above 0x7f.

cdef enum:
    MAX_FOUND = 100  # texts of one message whose charset is found by their bytes
    UNLIMITED = 1 << 30


cdef void start_context(Context *context, Arena *arena, Text data) noexcept nogil:
    """Prepare `context` for decoding the texts of the message with the raw bytes `data`."""
    context.arena, context.data = arena, data
    context.finds_left, context.name_count = MAX_FOUND, NOWHERE


cdef int read_text(Context *context, Text body, int encoding, Text charset, Decoding *result) except -1 nogil:
    """Decode the body of a message part into `result`; `encoding`, `charset`: what its headers declare."""
    decode_transfer(context.arena, body, encoding, True, &result.how)
    return text_and_charset(
        context, result.how.data, codec_of(charset), &result.text, &result.codec, &result.why_charset
    )


cdef int decode(Context *context, Text data, int declared, Text *result) except -1 nogil:
    """Decode bytes into `result` by the codec `declared`; if it does not fit, by one found from the bytes."""
    cdef int codec = 0, why = 0
    return text_and_charset(context, data, declared, result, &codec, &why)


cdef int text_and_charset(
    Context *context, Text data, int declared, Text *result, int *codec, int *why
) except -1 nogil:
    """Decode bytes into `result`; set `codec` to the codec used, and `why` if this is not `declared`."""
    cdef bint is_done = False
    codec[0] = charset_of(context, data, declared, why, &is_done)
    result[0] = data
    return 0 if is_done else decode_with_codec(context.arena, data, codec[0], result)


cdef int charset_of(Context *context, Text data, int declared, int *why, bint *is_done) except -1 nogil:
    """Return the codec of bytes; set `why` if it is not `declared`, `is_done` if they are UTF-8 already."""
    why[0], is_done[0] = AS_DECLARED, False
    declared = usable_codec(declared)
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


cdef inline int usable_codec(int codec) noexcept nogil:
    """Return `codec`, or GUESSED for ASCII or an unknown codec: they say nothing about bytes above 0x7f."""
    return GUESSED if codec == ASCII or codec < 0 else codec


cdef int readable_fields(Context *context, Field *fields, Size count, int codec) except -1 nogil:
    """Decode header fields: `raw` to `value`. Bytes above 0x7f are probably in `codec`, as in the body."""
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
    """Decode the value `raw` of a header into `result`, with its encoded words (`=?charset?B or Q?text?=`).

    Neighbouring encoded words in one charset are decoded together, as senders split characters between words.
    """
    cdef Writer to, words  # words: bytes of encoded words, to be decoded together
    cdef Text between, decoded
    cdef Size copied = 0, start = find(raw, literal(b"=?"), 0), mark, end
    cdef int coding, charset = GUESSED, named  # charset: of `words`
    codec = usable_codec(codec)
    result[0] = raw
    if start < 0:
        if is_ascii(raw) and not has(raw, 27) and not has(raw, 0) and not is_codec(codec, IS_STATEFUL):
            return 0
        return decode(context, raw, codec, result)
    start_writer(&to, context.arena, raw.size)
    start_writer(&words, context.arena, raw.size)
    while start >= 0:
        mark = find_byte(raw, 63, start + 2)
        if mark < 0:
            break
        coding = lower(byte_at(raw, mark + 1)) if byte_at(raw, mark + 2) == 63 else END
        if coding != c"b" and coding != c"q":
            start = find(raw, literal(b"=?"), start + 2)
            continue
        end = find(raw, literal(b"?="), mark + 3)
        if end < 0:
            break
        between = piece(raw, copied, start)
        if copied and not stripped(between, b" \t\r\n").size:  # white space between two words only separates them
            between = nothing()
        named = codec_of(until(piece(raw, start + 2, mark), c"*", 0))
        if between.size or named != charset:
            put_decoded(context, &to, written(&words), charset)
            put_decoded(context, &to, between, codec)
            words.size, charset = 0, named
        if coding == c"b":
            decode_base64(context.arena, piece(raw, mark + 3, end), &decoded)
        else:
            decode_quoted(context.arena, piece(raw, mark + 3, end), c"=", True, &decoded)
        put(&words, decoded)
        copied = end + 2
        start = find(raw, literal(b"=?"), copied)
    put_decoded(context, &to, written(&words), charset)
    put_decoded(context, &to, rest(raw, copied), codec)
    result[0] = written(&to)
    return 0


cdef int put_decoded(Context *context, Writer *to, Text data, int codec) except -1 nogil:
    """Decode bytes that are probably in `codec`, and append the text to `to`."""
    cdef Text text
    if data.size:
        decode(context, data, codec, &text)
        put(to, text)
    return 0


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


cdef tuple encoding_and_reason(DecodedBody *body):
    """Return the name of a body's transfer encoding, and why it is not the declared one ("" if it is)."""
    name = ENCODINGS[body.encoding]
    if body.other_encoding >= 0:
        name += f" and {ENCODINGS[body.other_encoding]}"
    return name, WHY_ENCODING[body.why].format(body.high_bytes)


cdef class MessageContext(Memory):
    """The message that texts are from; it may name their charsets. Without `data`, MAX_FOUND is ignored."""

    cdef Context context
    cdef bytes data

    def __cinit__(self, bytes data=None):
        self.data = data or b""
        start_context(&self.context, &self.arena, text_of(self.data))
        if data is None:
            self.context.finds_left, self.context.name_count = UNLIMITED, 0


def found_text(bytes data not None, str declared="", MessageContext message=None):
    """Decode bytes; return text, Python's name of the charset, and why it is not `declared` ("" if it is)."""
    cdef int codec = declared_codec(declared), why = 0
    cdef Text text = text_of(data), result
    message = message or MessageContext()
    clear_arena(&message.arena)
    with nogil:
        text_and_charset(&message.context, text, codec, &result, &codec, &why)
    return str_of(result), codec_name(codec), WHY_CHARSET[why]


def decode_transfer_encoding(bytes data not None, str declared="", bint is_text=True):
    """Decode a body; return bytes, the encoding's name, and why this is not `declared` ("" if it is)."""
    cdef Memory memory = Memory()
    cdef int encoding = BASE64 if declared == "base64" else QUOTED if declared == "quoted" else AS_IT_IS
    cdef Text body = text_of(data)
    cdef DecodedBody decoded
    with nogil:
        decode_transfer(&memory.arena, body, encoding, is_text, &decoded)
    return bytes_of(decoded.data), *encoding_and_reason(&decoded)


def readable(str value not None, str charset=""):
    """Return a header's value as mail programs show it; `value`: raw, with one character for each byte."""
    cdef bytes raw = value.encode("latin-1")
    cdef Text text = text_of(raw), result
    cdef int codec = declared_codec(charset)
    cdef MessageContext message = MessageContext()
    with nogil:
        readable_value(&message.context, text, codec, &result)
    return str_of(result)
