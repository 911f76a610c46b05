# Reads those parameters of a header's raw value that decide how a part is read, such as boundary and charset.
#
# One pass over at most MAX_VALUE bytes; a real spam has 14 KB of "; ; ;" before its parameters. A parameter of RFC 2231
# may come in sections, which are joined in the order of the value.

cdef enum:
    MAX_VALUE = 256 * 1024  # bytes
    PARAMETERS = 4
    BOUNDARY_PARAMETER = 0
    CHARSET_PARAMETER = 1
    FILENAME_PARAMETER = 2
    NAME_PARAMETER = 3

cdef NameTable PARAMETER_NAMES
fill_names(&PARAMETER_NAMES, [b"boundary", b"charset", b"filename", b"name"])


cdef struct Parameter:
    bint is_found
    Text text
    bint is_encoded  # by RFC 2231: `name*=…` or `name*0=…`
    bint is_whole  # … and not in sections
    Text charset  # declared for an encoded text
    Writer sections  # joined so far


cdef struct Parameters:
    Parameter[PARAMETERS] named


cdef int read_parameters(Arena *arena, Text value, Parameters *found) except -1 nogil:
    """Read the parameters that PARAMETER_NAMES lists from a raw header into `found`; ignore repetitions."""
    cdef Size semicolon, at, end, equals
    cdef Text text
    memset(found, 0, sizeof(Parameters))
    value = piece(value, 0, MAX_VALUE)
    semicolon = find_byte(value, SEMICOLON, 0)
    while semicolon >= 0:
        at = semicolon + 1
        semicolon = find_byte(value, SEMICOLON, at)
        end = or_end(value, semicolon)
        equals = find_byte(piece(value, 0, end), EQUALS, at)
        if equals < 0:
            continue
        text = without_space(piece(value, equals + 1, end))
        if byte_at(text, 0) == c'"':
            quoted_text(arena, value, text.at - value.at + 1, &text, &end)
            semicolon = find_byte(value, SEMICOLON, end)
        else:
            end = find(text, literal(b" ("), 0)  # a comment may follow
            text = without_space(piece(text, 0, or_end(text, end)))
        keep_parameter(arena, found, without_space(piece(value, at, equals)), text)
    return 0


cdef int quoted_text(Arena *arena, Text value, Size start, Text *text, Size *end) except -1 nogil:
    """Set `text` to the content of a quoted string from `start` on, and `end` to where to continue."""
    cdef Size quote = find_byte(value, c'"', start), at = start
    cdef Writer to
    cdef int following
    if quote < 0:  # never closed: it probably ends where the next parameter begins
        text[0], end[0] = without_space(until(value, SEMICOLON, start)), start
        return 0
    start_writer(&to, arena, quote - start)
    while at < value.size and byte_at(value, at) != c'"':
        # Only quotes and backslashes are unescaped: else C:\new\file would lose its backslashes.
        following = byte_at(value, at + 1)
        at += byte_at(value, at) == c"\\" and (following == c'"' or following == c"\\")
        put_byte(&to, byte_at(value, at))
        at += 1
    text[0], end[0] = written(&to), at + 1
    return 0


cdef int keep_parameter(Arena *arena, Parameters *found, Text name, Text text) except -1 nogil:
    """Store a parameter in `found` if its name is one of PARAMETER_NAMES."""
    cdef Text base, charset
    cdef Parameter *parameter
    cdef bint is_escaped = byte_at(name, name.size - 1) == c"*"  # has %41 for A
    cdef int number
    lowered(arena, until(name, c"*", 0), &base)
    number = number_of_name(&PARAMETER_NAMES, base)
    if number < 0:
        return 0
    parameter = &found.named[number]
    if base.size == name.size:
        if not parameter.is_found:
            parameter.is_found, parameter.text = True, text
        return 0
    if parameter.is_whole:
        return 0
    if not parameter.is_encoded:
        start_writer(&parameter.sections, arena, text.size)
        parameter.is_found = parameter.is_encoded = True
        parameter.is_whole = is_escaped and name.size == base.size + 1
        if is_escaped:  # charset'language'text
            charset = until(text, c"'", 0)
            parameter.charset = charset
            text = rest(text, charset.size + 1)
            text = rest(text, until(text, c"'", 0).size + 1)
    if is_escaped:
        decode_quoted(arena, text, c"%", False, &text)
    put(&parameter.sections, text)
    parameter.text = written(&parameter.sections)
    return 0


cdef int parameter_text(Context *context, Parameters *found, int which, int codec, Text *result) except -1 nogil:
    """Set `result` to parameter `which`, decoded, or to "" if missing; `codec`: for undeclared charsets."""
    cdef Parameter *parameter = &found.named[which]
    result[0] = nothing()
    if parameter.is_encoded:
        return decode(context, parameter.text, codec_of(parameter.charset), result)
    return readable_value(context, parameter.text, codec, result) if parameter.is_found else 0
