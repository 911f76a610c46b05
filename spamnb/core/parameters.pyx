# Parameters of a header's raw value: those that decide how a part is read, and no others.
#
# One pass over at most MAX_VALUE bytes; a real spam has 14 KB of "; ; ;" before its parameters. Those of RFC 2231 may
# come in sections, which are put in order by their numbers.

cdef enum:
    MAX_VALUE = 256 * 1024  # bytes
    MAX_SECTION_DIGITS = 9
    PARAMETERS = 4
    BOUNDARY_PARAMETER = 0
    CHARSET_PARAMETER = 1
    FILENAME_PARAMETER = 2
    NAME_PARAMETER = 3

cdef Text[PARAMETERS] PARAMETER_NAMES
PARAMETER_NAMES[:] = [literal(b"boundary"), literal(b"charset"), literal(b"filename"), literal(b"name")]


cdef struct Section:  # of `name*0=…; name*1*=…`
    Size number
    Text text
    bint is_escaped  # has %41 for A


cdef struct Parameter:
    bint has_plain  # `name=…`
    Text plain
    bint has_extended  # `name*=…`
    Text extended
    Section *sections
    Size count
    Size room


cdef struct Parameters:
    Parameter[PARAMETERS] named
    bint is_plain  # nothing in the value has to be decoded


cdef int read_parameters(Arena *arena, Text value, Parameters *found) except -1 nogil:
    """Find the parameters of a raw value; of several of one name, the first."""
    cdef Size semicolon, at, end, equals, start
    cdef Text text
    memset(found, 0, sizeof(Parameters))
    value = piece(value, 0, MAX_VALUE)
    semicolon = find_byte(value, SEMICOLON, 0)
    if semicolon < 0:
        return 0
    found.is_plain = is_ascii(value) and not has(value, 42) and not has_encoded_word(value)
    while semicolon >= 0:
        at = semicolon + 1
        semicolon = find_byte(value, SEMICOLON, at)
        end = semicolon if semicolon >= 0 else value.size
        equals = find_byte(piece(value, 0, end), EQUALS, at)
        if equals < 0:
            continue
        start = equals + 1
        while start < end and is_latin_space(byte_at(value, start)):
            start += 1
        if start < end and byte_at(value, start) == 34:
            quoted_text(arena, value, start + 1, &text, &end)
            semicolon = find_byte(value, SEMICOLON, end)
        else:
            text = piece(value, equals + 1, end)
            start = find(text, literal(b" ("), 0)  # a comment may follow
            text = stripped(piece(text, 0, start) if start >= 0 else text, b" \t\r\n")
        keep_parameter(arena, found, without_latin_space(piece(value, at, equals)), text)
    return 0


cdef inline bint is_latin_space(int byte) noexcept nogil:
    """Tell whether a Latin-1 character is white space to str.strip()."""
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31 or byte == 0x85 or byte == 0xA0


cdef Text without_latin_space(Text text) noexcept nogil:
    """Return Latin-1 as str.strip() does."""
    cdef Size start = 0, end = text.size
    while start < end and is_latin_space(byte_at(text, start)):
        start += 1
    while start < end and is_latin_space(byte_at(text, end - 1)):
        end -= 1
    return piece(text, start, end)


cdef int quoted_text(Arena *arena, Text value, Size start, Text *text, Size *end) except -1 nogil:
    """Find the quoted string whose text starts at an offset, and where it ends."""
    cdef Size quote = find_byte(value, 34, start), at = start, semicolon
    cdef Writer to
    cdef int following
    if quote < 0:  # never closed: it probably ends where the next parameter begins
        semicolon = find_byte(value, SEMICOLON, start)
        text[0] = without_end_space(piece(value, start, semicolon if semicolon >= 0 else value.size))
        end[0] = start
        return 0
    if not has(piece(value, start, quote), 92):
        text[0], end[0] = piece(value, start, quote), quote + 1
        return 0
    start_writer(&to, arena, quote - start)
    while at < value.size and byte_at(value, at) != 34:
        # Only quotes and backslashes are unescaped: else C:\new\file would lose its backslashes.
        if byte_at(value, at) == 92:
            following = byte_at(value, at + 1)
            if following == 34 or following == 92:
                at += 1
        put_byte(&to, byte_at(value, at))
        at += 1
    text[0], end[0] = written(&to), at + 1
    return 0


cdef Text without_end_space(Text text) noexcept nogil:
    while is_one_of(byte_at(text, text.size - 1), b" \t\r\n"):
        text.size -= 1
    return text


cdef int keep_parameter(Arena *arena, Parameters *found, Text name, Text text) except -1 nogil:
    """Keep a parameter if somebody asks for its name."""
    cdef Size star = find_byte(name, 42, 0)
    cdef Text base = piece(name, 0, star) if star >= 0 else name
    cdef Parameter *parameter = NULL
    cdef Section section
    cdef int which
    for which in range(PARAMETERS):
        if is_in_any_case(base, PARAMETER_NAMES[which]):
            parameter = &found.named[which]
    if parameter is NULL:
        return 0
    if star < 0:
        if not parameter.has_plain:
            parameter.has_plain, parameter.plain = True, text
    elif star == name.size - 1:
        if not parameter.has_extended:
            parameter.has_extended, parameter.extended = True, text
    else:
        section.text = text
        section.is_escaped = byte_at(name, name.size - 1) == 42
        section.number = number_of(piece(name, star + 1, name.size - section.is_escaped))
        if section.number >= 0:
            parameter.sections = <Section *>with_room(arena, parameter.sections, parameter.count, &parameter.room,
                                                      sizeof(Section))
            parameter.sections[parameter.count] = section
            parameter.count += 1
    return 0


cdef Size number_of(Text digits) noexcept nogil:
    """Return a decimal number; NOWHERE if there are other bytes, zeros before it, or too many digits."""
    cdef Size number = 0, at
    if not 0 < digits.size <= MAX_SECTION_DIGITS or (byte_at(digits, 0) == 48 and digits.size > 1):
        return NOWHERE
    for at in range(digits.size):
        if not is_digit(byte_at(digits, at)):
            return NOWHERE
        number = 10 * number + byte_at(digits, at) - 48
    return number


cdef int parameter_text(Context *around, Parameters *found, int which, int codec, Text *result) except -1 nogil:
    """Find the readable text of a parameter, nothing if it is missing; what is beyond ASCII is perhaps of this codec.

    A boundary stays as it came, unless it is encoded.
    """
    cdef Parameter *parameter = &found.named[which]
    cdef Text charset = nothing()
    cdef Writer to
    result[0] = nothing()
    if is_encoded(parameter):
        start_writer(&to, around.arena, parameter.extended.size)
        if parameter.has_extended:
            put_section(&to, parameter.extended, True, &charset)
        else:
            put_sections(&to, parameter, &charset)
        return decode(around, written(&to), charset, result)
    if parameter.has_plain and (found.is_plain or which == BOUNDARY_PARAMETER):
        result[0] = parameter.plain
    elif parameter.has_plain:
        readable_value(around, parameter.plain, codec, result)
    return 0


cdef bint is_encoded(Parameter *parameter) noexcept nogil:
    """Tell whether a parameter comes by RFC 2231; if in sections, there is a first one."""
    cdef Size at
    for at in range(parameter.count):
        if parameter.sections[at].number == 0:
            return True
    return parameter.has_extended


cdef int put_sections(Writer *to, Parameter *parameter, Text *charset) except -1 nogil:
    """Put the sections in order, as far as there is no gap."""
    cdef Size at, number, place, count = parameter.count
    cdef Section **first = <Section **>allot(to.arena, 2 * count * sizeof(Section *))
    cdef Section *section
    memset(first, 0, 2 * count * sizeof(Section *))  # by number: without escapes, and with them
    for at in range(count):
        section = &parameter.sections[at]
        place = 2 * section.number + section.is_escaped
        if section.number < count and first[place] is NULL:
            first[place] = section
    for number in range(count):
        section = first[2 * number] if first[2 * number] is not NULL else first[2 * number + 1]
        if section is NULL:
            break
        put_section(to, section.text, section.is_escaped, charset if number == 0 else NULL)
    return 0


cdef int put_section(Writer *to, Text text, bint is_escaped, Text *charset) except -1 nogil:
    """Put the bytes of a section; the first names its charset if it is escaped: charset'language'text."""
    cdef Size quote
    if is_escaped and charset is not NULL:
        quote = find_byte(text, 39, 0)
        charset[0] = piece(text, 0, quote) if quote >= 0 else text
        quote = find_byte(text, 39, quote + 1) if quote >= 0 else NOWHERE
        text = rest(text, quote + 1) if quote >= 0 else nothing()
    if is_escaped:
        percent_decoded(to.arena, text, &text)
    return put(to, text)
