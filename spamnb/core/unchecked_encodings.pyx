# Loops of the decoders without bounds checks; each docstring says why the loop stays in bounds.

cdef Byte[256] BASE64_VALUE  # 0 to 63 for a letter of base64; NOT_BASE64 for other bytes
cdef Byte[256] IS_CONTROL  # 1 for control characters that text does not have; ISO-2022 and UTF-16 have some others

cdef enum:
    NOT_BASE64 = 64


cdef void fill_byte_tables():
    cdef int byte, value = 0
    memset(BASE64_VALUE, NOT_BASE64, 256)
    memset(IS_CONTROL, 0, 256)
    for byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/":
        BASE64_VALUE[byte] = value
        value += 1
    for byte in {*range(32), 127} - set(b"\t\n\f\r\x0e\x0f\x1b\0"):
        IS_CONTROL[byte] = 1


fill_byte_tables()


cdef Size base64_into(Text text, Byte *to) noexcept nogil:
    """Decode base64, up to the padding, and write it to `to`; return how many bytes were written.

    In bounds: `to` has the text's size; four letters, read together where four are left, give three bytes.
    """
    cdef const Byte *at = text.at
    cdef const Byte *end = text.at + text.size
    cdef Byte *start = to
    cdef uint32_t a, b, c, d, kept = 0
    cdef int held = 0, signs = 0  # letters of a group that is not full, and "=" behind them
    while at < end:
        while not held and end - at >= 4:
            a, b, c, d = BASE64_VALUE[at[0]], BASE64_VALUE[at[1]], BASE64_VALUE[at[2]], BASE64_VALUE[at[3]]
            if (a | b | c | d) & NOT_BASE64:
                break
            to[0], to[1], to[2] = <Byte>(a << 2 | b >> 4), <Byte>(b << 4 | c >> 2), <Byte>(c << 6 | d)
            to += 3
            at += 4
        if at == end:
            break
        a = BASE64_VALUE[at[0]]
        if a != NOT_BASE64:
            signs = 0
            kept = kept << 6 | a
            held = (held + 1) & 3
            if held != 1:
                to[0] = <Byte>(kept >> (4 if held == 2 else 2 if held == 3 else 0))
                to += 1
        elif at[0] == 61 and held >= 2:
            signs += 1
            if held + signs >= 4:
                break
        at += 1
    return to - start


cdef Size end_of_plain_utf8(Text text, Size at) noexcept nogil:
    """Return an offset, from `at` on, up to which a text is valid UTF-8; the valid part may be longer than that.

    Stops at what the caller must check: bytes E0, ED, characters of four bytes, the last eight bytes. Takes a
    third of the time of `utf8_size`. In bounds: eight bytes are read only where eight are left.
    """
    cdef const Byte *next
    cdef uint64_t eight = 0
    while 0 <= at <= text.size - 8:
        next = text.at + at
        memcpy(&eight, next, 8)
        if not eight & 0x8080808080808080u:
            at += 8
        elif next[0] < 0x80:
            at += 1
        elif 0xC2 <= next[0] < 0xE0 and next[1] & 0xC0 == 0x80:
            at += 2
        elif 0xE0 < next[0] < 0xF0 and next[0] != 0xED and next[1] & 0xC0 == 0x80 and next[2] & 0xC0 == 0x80:
            at += 3
        else:
            break
    return at


cdef Size count_controls(Text text) noexcept nogil:
    """Return how many bytes of a text are control characters that a real text does not have.

    Eight printable bytes are skipped at once, which takes a fifth of the time. In bounds: eight bytes are read only
    where eight are left.
    """
    cdef Size at = 0, k, found = 0
    cdef uint64_t eight = 0, ones = 0x0101010101010101u, deletes
    while at + 8 <= text.size:
        memcpy(&eight, text.at + at, 8)
        deletes = eight ^ 127 * ones  # zero where DEL is
        if ((eight - 32 * ones & ~eight) | (deletes - ones & ~deletes)) & 128 * ones:
            for k in range(at, at + 8):
                found += IS_CONTROL[text.at[k]]
        at += 8
    for k in range(at, text.size):
        found += IS_CONTROL[text.at[k]]
    return found


cdef Size put_forms(Text text, const Forms *table, Byte *to) noexcept nogil:
    """Decode a text in a charset of one byte per character into `to`, unless NULL; return the result's size.

    In bounds: `to` has four bytes more than the result needs; eight bytes are read only where eight are left.
    """
    cdef Size at = 0, size = 0
    cdef uint64_t eight = 0
    cdef uint32_t form
    while at < text.size:
        if table.has_ascii and at <= text.size - 8:
            memcpy(&eight, text.at + at, 8)
            if not eight & 0x8080808080808080u:
                if to is not NULL:
                    memcpy(to + size, &eight, 8)
                at += 8
                size += 8
                continue
        form = table.forms[text.at[at]]
        if to is not NULL:
            to[size], to[size + 1], to[size + 2] = <Byte>form, <Byte>(form >> 8), <Byte>(form >> 16)
        at += 1
        size += form >> 24
    return size


cdef int cost_of_letters(Text sample, const Language *language, int most) noexcept nogil:
    """Return a cost, at most `most`: how unlikely a sample is as text of a language in a single-byte charset.

    Branches only once in sixteen bytes: this takes a third of the time. In bounds: classes are below `width`
    and flags below 8, as was checked when the tables were loaded.
    """
    cdef const Byte *byte = sample.at
    cdef const Byte *end = sample.at + sample.size
    cdef const Byte *stop
    cdef Size before = 0
    cdef int cost = 0, flags = 0, script = 0
    cdef ByteOf now
    while byte < end:
        stop = byte + min(<Size>16, end - byte)
        while byte < stop:
            now = language.bytes[byte[0]]
            cost += language.costs[before + now.letter_class] - COST_0 + now.cost + PAIR_COST[8 * flags + now.flags]
            cost += OTHER_SCRIPT * (script ^ now.script == 3)
            script = now.script if now.script else script
            before = now.letter_class * language.width
            flags = now.flags
            byte += 1
        if cost >= most:
            return most
    return cost
