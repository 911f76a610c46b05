# Characters of UTF-8 texts, with the properties that Python's str gives them.
#
# Decoded texts are valid UTF-8; in others, each invalid byte is read as U+FFFD.

cdef extern from "Python.h":
    bint Py_UNICODE_ISSPACE(Char char) noexcept nogil
    bint Py_UNICODE_ISALNUM(Char char) noexcept nogil
    bint Py_UNICODE_ISALPHA(Char char) noexcept nogil
    bint Py_UNICODE_ISDIGIT(Char char) noexcept nogil
    bint Py_UNICODE_ISDECIMAL(Char char) noexcept nogil
    bint Py_UNICODE_ISPRINTABLE(Char char) noexcept nogil
    bint Py_UNICODE_ISUPPER(Char char) noexcept nogil
    bint Py_UNICODE_ISLOWER(Char char) noexcept nogil
    Char Py_UNICODE_TOLOWER(Char char) noexcept nogil

cdef enum:
    WRONG = 0xFFFD  # the character U+FFFD, in place of invalid bytes


cdef inline Size char_size(int first) noexcept nogil:
    """Return how many bytes a UTF-8 character has, given its first byte."""
    return 1 if first < 0xC0 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4


cdef inline Char char_at(Text text, Size at, Size *after) noexcept nogil:
    """Return the character at an offset (WRONG at the text's end), and set `after` to the offset after it."""
    cdef int first = byte_at(text, at)
    if first < 0x80:
        after[0] = at + 1
        return first if first >= 0 else WRONG
    return long_char_at(text, at, after)


cdef Char long_char_at(Text text, Size at, Size *after) noexcept nogil:
    """Return the non-ASCII character at an offset, WRONG if invalid; set `after` to the offset after it."""
    cdef int first = byte_at(text, at), byte
    cdef Size size = char_size(first), k
    cdef Char char
    after[0] = at + 1
    if first < 0xC2 or first > 0xF4 or at + size > text.size:
        return WRONG
    char = first & (0xFF >> (size + 1))
    for k in range(1, size):
        byte = byte_at(text, at + k)
        if byte & 0xC0 != 0x80:
            return WRONG
        char = char << 6 | (byte & 0x3F)
    after[0] = at + size
    return char


cdef inline Size char_before(Text text, Size at) noexcept nogil:
    """Return where the character before this offset starts; below 0 if there is none."""
    at -= 1
    while at > 0 and byte_at(text, at) & 0xC0 == 0x80:
        at -= 1
    return at


cdef inline Size count_chars(Text text) noexcept nogil:
    return text.size - count_range(text.at, text.size, 0x80, 0x40)  # without bytes that continue a character


cdef Text first_chars(Text text, Size most) noexcept nogil:
    """Return the first `most` characters of a text."""
    cdef Size at = 0
    if text.size <= most:
        return text
    while at < text.size:
        if text.at[at] & 0xC0 != 0x80:
            if not most:
                break
            most -= 1
        at += 1
    return piece(text, 0, at)


cdef int put_char(Writer *to, Char char) except -1 nogil:
    """Append a character to `to` as UTF-8."""
    if char < 0x80:
        put_byte(to, char)
    elif char < 0x800:
        put_byte(to, 0xC0 | char >> 6)
        put_byte(to, 0x80 | (char & 0x3F))
    elif char < 0x10000:
        put_byte(to, 0xE0 | char >> 12)
        put_byte(to, 0x80 | (char >> 6 & 0x3F))
        put_byte(to, 0x80 | (char & 0x3F))
    else:
        put_byte(to, 0xF0 | char >> 18)
        put_byte(to, 0x80 | (char >> 12 & 0x3F))
        put_byte(to, 0x80 | (char >> 6 & 0x3F))
        put_byte(to, 0x80 | (char & 0x3F))
    return 0


cdef inline bint is_white(Char char) noexcept nogil:
    """Return whether a character is white space for str.strip()."""
    return Py_UNICODE_ISSPACE(char)


cdef Text without_white(Text text) noexcept nogil:
    """Return a text without white space at its start and end, as str.strip() does."""
    cdef Size start = 0, end = text.size, after = 0, before
    while start < end and is_white(char_at(text, start, &after)):
        start = after
    while end > start:
        before = char_before(text, end)
        if not is_white(char_at(text, before, &after)):
            break
        end = before
    return piece(text, start, end)


cdef int lower_text(Arena *arena, Text text, Text *result) except -1 nogil:
    """Set `result` to a text in lower case, by str.lower() itself if there are capitals beyond ASCII."""
    cdef Size at = 0
    cdef Char char
    while at < text.size:
        char = char_at(text, at, &at)
        if char >= 0x80 and Py_UNICODE_TOLOWER(char) != char:
            with gil:
                return text_of_str(arena, str_of(text).lower(), result)
    return lowered(arena, text, result)
