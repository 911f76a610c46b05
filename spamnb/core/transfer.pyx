# Decodes transfer encodings by looking at the body, because the encoding that the message declares may be wrong.
#
# Some programs declare base64 and do not encode, some gateways decode a body and keep its header, mailing lists add a
# plain footer. A wrong decoding shows by control characters, which text does not have. Every step takes linear time,
# and no result is larger than the body.

cdef enum:
    LONG_BASE64_LINE = 40  # characters: in a line as long, one in eight may be no letter of base64
    SHORT_BASE64 = 24  # letters: fewer are base64 only if they decode to UTF-8, where base64 is declared
    UNDECLARED_BASE64 = 60  # … where it is not declared
    CERTAIN_BASE64 = 120  # letters: so many hardly ever decode to bytes without control characters by chance

cdef enum:  # why a body is not encoded as declared
    AS_DECLARED = 0
    HAS_HIGH_BYTES = 1
    IS_BASE64 = 2
    IS_PARTLY_BASE64 = 3
    IS_NOT_BASE64 = 4
    IS_PARTLY_QUOTED = 5
    IS_NOT_QUOTED = 6


cdef int decode_transfer(Arena *arena, Text body, int declared, bint is_text, DecodedBody *result) except -1 nogil:
    """Decode a body that is base64 or quoted-printable, even if this is not what the message declares."""
    result.data, result.encoding, result.other_encoding = body, declared, NOWHERE
    result.why, result.high_bytes = AS_DECLARED, 0
    if declared == BASE64:
        return decode_base64_body(arena, body, is_text, result)
    if declared == QUOTED:
        return decode_quoted_body(arena, body, is_text, result)
    if is_text and body.size >= UNDECLARED_BASE64 and is_ascii(body):
        return decode_lines(arena, body, AS_IT_IS, result)
    return 0


cdef int decode_base64(Arena *arena, Text text, Text *result) except -1 nogil:
    """Decode base64, which may be cut off or have other characters in it."""
    cdef Byte *to = <Byte *>allot(arena, text.size)
    result.at, result.size = to, base64_into(text, to)
    return 0


cdef int decode_blocks(Arena *arena, Text text, Text *result) except -1 nogil:
    """Decode one or more pieces of base64, each of which may end with "="."""
    cdef Size at = 0, end, size = 0
    cdef Byte *to
    to = <Byte *>allot(arena, text.size)
    while at < text.size:
        end = or_end(text, find(text, literal(b"=\n"), at))
        size += base64_into(piece(text, at, end), to + size)
        at = end + 2
    result.at, result.size = to, size
    return 0


cdef int decode_quoted(Arena *arena, Text text, int sign, bint is_header, Text *result) except -1 nogil:
    """Decode quoted-printable as binascii.a2b_qp does, with `sign` in place of "="; in headers "_" is a space."""
    cdef Writer to
    cdef Size at = 0, end
    cdef Text plain
    cdef int byte, high, low
    start_writer(&to, arena, text.size)
    while at < text.size:
        plain = until(text, sign, at)
        if is_header:
            replaced(arena, plain, literal(b"_"), literal(b" "), &plain)
        put(&to, plain)
        at += plain.size + 1
        byte = byte_at(text, at)
        high, low = hex_digit(byte), hex_digit(byte_at(text, at + 1))
        if byte == 10 or byte == 13:  # a soft break, with all that is behind a carriage return
            end = find_byte(text, 10, at)
            at = end + 1 if end >= 0 else text.size
        elif byte == sign:
            put_byte(&to, sign)
            at += 1
        elif high >= 0 and low >= 0:
            put_byte(&to, high << 4 | low)
            at += 2
        elif byte != END:
            put_byte(&to, sign)
    result[0] = written(&to)
    return 0


cdef int decode_base64_body(Arena *arena, Text body, bint is_text, DecodedBody *result) except -1 nogil:
    """Decode a body that is declared as base64: all of it, or only those lines that are base64."""
    body = without_space(body)
    if is_all_base64(body) if is_text else is_ascii(body):
        return decode_blocks(arena, body, &result.data)
    if is_text:
        return decode_lines(arena, body, BASE64, result)
    result.encoding = AS_IT_IS
    return 0


cdef bint is_all_base64(Text body) noexcept nogil:
    """Return whether a body has only letters of base64 (a multiple of four, or very many), not prose."""
    cdef Size at, letters = 0
    cdef int byte
    for at in range(body.size):
        byte = byte_at(body, at)
        if byte != 10 and byte != 13:
            if BASE64_VALUE[<Byte>byte] == NOT_BASE64 and byte != c"=":
                return False
            letters += 1
    return (letters % 4 == 0 or letters > CERTAIN_BASE64) and not is_prose(body)


cdef int decode_quoted_body(Arena *arena, Text body, bint is_text, DecodedBody *result) except -1 nogil:
    """Decode a body that is declared as quoted-printable: all of it, or only those lines that are encoded."""
    decode_quoted(arena, body, c"=", False, &result.data)
    if not is_text or (is_ascii(body) and is_quoted(body, result.data)):
        return 0
    return decode_lines(arena, body, QUOTED, result)


cdef int decode_lines(Arena *arena, Text body, int declared, DecodedBody *result) except -1 nogil:
    """Decode the encoded lines, copy the others; if some are not as declared, set `why` to the reason."""
    cdef int encoding = declared if declared != AS_IT_IS else BASE64, used
    cdef Size start = 0, end, copied = 0
    cdef bint may_be = False
    cdef Text decoded
    cdef Writer to
    start_writer(&to, arena, 0)
    result.encoding = result.other_encoding = NOWHERE
    while start <= body.size:
        end = end_of_lines(body, start, encoding, &may_be)
        used = AS_IT_IS
        if may_be and decode_if_encoded(arena, piece(body, start, end), declared, &decoded):
            used = encoding
            put(&to, piece(body, copied, start))
            put(&to, decoded)
            copied = end
        if end > start and result.encoding < 0:
            result.encoding = used
        elif end > start and result.encoding != used:
            result.other_encoding = used
        start = end + 1
    result.data = body
    if encoding == result.encoding or encoding == result.other_encoding:
        put(&to, rest(body, copied))
        result.data = written(&to)
    if result.encoding == declared and result.other_encoding < 0:
        return 0
    result.high_bytes = count_high(body)
    if result.high_bytes:
        result.why = HAS_HIGH_BYTES
    elif result.other_encoding >= 0:
        result.why = IS_PARTLY_QUOTED if encoding == QUOTED else IS_PARTLY_BASE64
    elif result.encoding == encoding:
        result.why = IS_BASE64
    else:
        result.why = IS_NOT_QUOTED if encoding == QUOTED else IS_NOT_BASE64
    return 0


cdef Size end_of_lines(Text body, Size at, int encoding, bint *may_be) noexcept nogil:
    """Find the next lines that all may be encoded, or all cannot: set `may_be`, return where they end."""
    cdef Text line = until(body, c"\n", at)
    may_be[0] = may_be_encoded(line, encoding)
    at += line.size
    while at < body.size:
        line = until(body, c"\n", at + 1)
        if may_be_encoded(line, encoding) != may_be[0]:
            break
        at += 1 + line.size
    return at


cdef inline bint may_be_encoded(Text line, int encoding) noexcept nogil:
    """Return whether a line may be encoded: quoted-printable if it is ASCII, base64 by `is_base64_line`."""
    return is_ascii(line) if encoding == QUOTED else is_base64_line(line)


cdef bint is_base64_line(Text line) noexcept nogil:
    """Return whether a line may be base64; a long one may have other characters, which gateways add."""
    cdef Size at, others = 0, signs = 0, strange = 0
    cdef int byte
    line = stripped(line, b" \t\r")
    for at in range(line.size):
        byte = byte_at(line, at)
        if BASE64_VALUE[<Byte>byte] == NOT_BASE64:
            others += 1
            signs += byte == 61
            strange += byte > 127 or byte == 32
    if others == signs and others <= 2:
        return line.size > 0 and (others < 1 or ends_with(line, b"=")) and (others < 2 or ends_with(line, b"=="))
    return line.size >= LONG_BASE64_LINE and others * 8 <= line.size and not strange and not contains(line, b"://")


cdef bint is_prose(Text text) noexcept nogil:
    """Return whether a text is short, and has only words in small letters, perhaps with a first capital."""
    cdef Size at, size = 0, words = 0
    cdef int byte
    if text.size >= CERTAIN_BASE64:
        return False
    for at in range(text.size + 1):
        byte = byte_at(text, at)
        if byte == END or is_space(byte):
            if size == 1:
                return False
            words += size > 0
            size = 0
        elif not is_letter(byte) or (size and byte < 97):
            return False
        else:
            size += 1
    return words > 0


cdef int decode_if_encoded(Arena *arena, Text block, int declared, Text *result) except -1 nogil:
    """Decode lines that look encoded; return whether the decoded text shows that they really are."""
    if declared == QUOTED:
        return decode_quoted_block(arena, block, result)
    if is_prose(block) if declared == BASE64 else not is_like_base64(block):
        return False
    decode_blocks(arena, block, result)
    if count_controls(result[0]) * 50 > result.size and not begins_as_utf16(result[0]):
        return False
    if block.size >= (SHORT_BASE64 if declared == BASE64 else UNDECLARED_BASE64):
        return True
    return is_cut_utf8(result[0], end_of_utf8(result[0], 0)) and not count_controls(result[0])


cdef bint is_like_base64(Text block) noexcept nogil:
    """Return whether lines look like base64: long, all but the last of equal length, not in one case only."""
    cdef Size at, size = 0, first = NOWHERE, last = NOWHERE  # bytes of the lines
    cdef bint has_small = False, has_capital = False
    cdef int byte
    for at in range(block.size + 1):
        byte = byte_at(block, at)
        if byte != END and not is_space(byte):
            has_small |= 97 <= byte <= 122
            has_capital |= 65 <= byte <= 90
            size += 1
        elif size:
            if last >= 0 and first < 0:
                first = last
            if last >= 0 and last != first:
                return False
            last, size = size, 0
    if block.size < UNDECLARED_BASE64 or has_small != has_capital:  # hexadecimal digits are in one case
        return False
    return max(last, <Size>LONG_BASE64_LINE) <= (first if first >= 0 else last)


cdef int decode_quoted_block(Arena *arena, Text block, Text *result) except -1 nogil:
    """Decode the quoted-printable lines of `block`, copy the others; return whether any line changed."""
    cdef Size at = 0
    cdef Text line, decoded
    cdef Writer to
    decode_quoted(arena, block, c"=", False, result)
    # Raw text has width=20 and id=80: only a soft break, a sign or a letter beyond ASCII is sure.
    if not (contains(block, b"=\n") or contains(block, b"=3D") or contains(block, b"=20\n")
            or count_range(result[0].at, result[0].size, 0xC0, 0x40)):
        return False
    if not is_quoted(block, result[0]):
        start_writer(&to, arena, block.size)
        while at <= block.size:
            line = until(block, c"\n", at)
            decode_quoted(arena, line, c"=", False, &decoded)
            put(&to, decoded if is_quoted(line, decoded) else line)
            at += line.size + 1
            if at <= block.size:
                put_byte(&to, 10)
        result[0] = written(&to)
    return not equal(result[0], block)


cdef bint is_quoted(Text text, Text decoded) noexcept nogil:
    """Return whether most "=" in `text` begin escapes of quoted-printable, few of control characters."""
    cdef Size escapes = 0, signs = 0, controls, at = find_byte(text, 61, 0)
    cdef bint is_second = False  # of two signs: "==" stands for one, as "=3D" does
    cdef int next
    if begins_as_utf16(decoded):
        return True
    while at >= 0:
        escapes += 1
        next = byte_at(text, at + 1)
        is_second = next == 61 and not is_second
        signs += is_second
        signs -= next == 51 and lower(byte_at(text, at + 2)) == 100
        at = find_byte(text, 61, at + 1)
    at = find_byte(decoded, 61, 0)
    while at >= 0:
        signs += 1
        at = find_byte(decoded, 61, at + 1)
    if signs * 2 > escapes:
        return False
    controls = count_controls(decoded)
    return controls == 0 or (controls - count_controls(text)) * 8 <= escapes


cdef inline bint begins_as_utf16(Text text) noexcept nogil:
    """Return whether a text begins as UTF-16 does; UTF-16 has bytes that look like control characters."""
    return starts_with(text, b"\xff\xfe") or starts_with(text, b"\xfe\xff")

