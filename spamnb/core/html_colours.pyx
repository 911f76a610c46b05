# Colours and lengths, as style sheets and attributes write them.
#
# A value that is none is INHERITED, a length 0 and a number -1. Values are in lower case.

cdef enum:  # in place of a colour
    COLOUR_UNKNOWN = -1  # that of a picture
    CLEAR = -2
    INHERITED = -3

cdef enum:
    CSS_WHITE = 0xFFFFFF
    MAX_DIFFERENCE = 16  # of 255 levels: channels of two colours that look the same differ by no more
    MAX_COLOUR_WORD = 128  # characters of a colour in an attribute
    FAR = 500  # pixels beyond an edge: out of view
    EXACT_DIGITS = 15  # a double has every number of so many
    EXACT_TENS = 22  # and ten to this power

cdef double MIN_OPACITY = MAX_DIFFERENCE / 255.0  # what is no more opaque is not seen

COLOURS = (
    b"black 000000 white ffffff red ff0000 green 008000 blue 0000ff yellow ffff00 gray 808080 grey 808080 "
    b"silver c0c0c0 maroon 800000 purple 800080 fuchsia ff00ff magenta ff00ff lime 00ff00 olive 808000 "
    b"navy 000080 teal 008080 aqua 00ffff cyan 00ffff orange ffa500 pink ffc0cb gold ffd700 brown a52a2a "
    b"ivory fffff0 snow fffafa whitesmoke f5f5f5 ghostwhite f8f8ff floralwhite fffaf0 azure f0ffff "
    b"lightgrey d3d3d3 darkblue 00008b darkred 8b0000 darkgreen 006400 midnightblue 191970"
).split()
COLOUR_WORDS = COLOURS[::2] + [b"transparent"]

cdef NameTable COLOUR_NAMES
cdef int[MAX_TABLE_NAMES] COLOUR_VALUES
cdef double[EXACT_TENS + 1] TENS


cdef int fill_colours() except -1:
    cdef Size number
    fill_names(&COLOUR_NAMES, COLOUR_WORDS)
    for number in range(len(COLOUR_WORDS)):
        COLOUR_VALUES[number] = int(COLOURS[2 * number + 1], 16) if 2 * number < len(COLOURS) else CLEAR
    for number in range(EXACT_TENS + 1):
        TENS[number] = float(10 ** number)
    return 0


fill_colours()


cdef bint look_the_same(int one, int other) noexcept nogil:
    """Tell whether nobody sees text of one colour on the other."""
    return (
        one >= 0 and other >= 0
        and abs((one >> 16) - (other >> 16)) <= MAX_DIFFERENCE
        and abs((one >> 8 & 255) - (other >> 8 & 255)) <= MAX_DIFFERENCE
        and abs((one & 255) - (other & 255)) <= MAX_DIFFERENCE
    )


cdef bint next_css_word(Text text, Size *at, Text *word) noexcept nogil:
    """Find the next word between spaces, as str.split() does, from an offset on."""
    cdef Size start = at[0], after = 0
    while start < text.size and is_white(char_at(text, start, &after)):
        start = after
    at[0] = start
    while at[0] < text.size and not is_white(char_at(text, at[0], &after)):
        at[0] = after
    word[0] = piece(text, start, at[0])
    return word.size > 0


cdef Text argument_of(Text value, const char *function) noexcept nogil:
    """Return what is behind the name of a function and "(" in a value."""
    cdef Size at = find(value, literal(function), 0)
    return rest(value, at + <Size>strlen(function)) if at >= 0 else nothing()


cdef Text without_brackets(Text value) noexcept nogil:
    """Return a value without closing brackets at its end."""
    while byte_at(value, value.size - 1) == c")":
        value.size -= 1
    return value


cdef inline bint is_colour_function(Text word) noexcept nogil:
    return starts_with(word, b"rgb") or starts_with(word, b"hsl")


cdef int colour_of(Text word, int default) except -9 nogil:
    """Return a colour as style sheets write it."""
    cdef Char[8] digits
    cdef Size at = 0, count = 0, k
    cdef int number = number_of_name(&COLOUR_NAMES, word), colour = 0
    if number >= 0:
        return COLOUR_VALUES[number]
    if is_colour_function(word):
        return function_colour(word, default)
    if starts_with(word, b"#"):
        at = 1
    while at < word.size:
        if count == 8:
            return default
        digits[count] = char_at(word, at, &at)
        count += 1
    if 3 <= count <= 4 and starts_with(word, b"#"):
        for k in range(count - 1, -1, -1):
            digits[2 * k] = digits[2 * k + 1] = digits[k]
        count *= 2
    if count != 6 and count != 8:
        return default
    for k in range(count):  # of any script, as int() and str.isalnum() have it
        number = hex_digit(<int>digits[k]) if digits[k] < 0x80 else Py_UNICODE_TODECIMAL(digits[k])
        if k == 1 and digits[1] == c"x" and colour == 0:
            number = 0  # int() reads 0x1234, too
        if number < 0 and (k < 6 or not Py_UNICODE_ISALNUM(digits[k])):
            return default
        if k < 6:
            colour = colour << 4 | number
    return colour


cdef int function_colour(Text word, int default) except -9 nogil:
    """Return the colour that rgb() or rgba() makes of its channels; of hsl() the grey that is as light."""
    cdef Text written = without_brackets(argument_of(word, b"(")), one
    cdef Size at = 0, start, end, unused
    cdef int count = 0
    cdef double[3] channels
    while count < 4 and next_css_word(written, &at, &one):
        start = 0
        while count < 4 and start < one.size:
            end = start
            while end < one.size and byte_at(one, end) != c"," and byte_at(one, end) != c"/":
                end += 1
            if end > start:
                if count == 3 and 0 <= share(piece(one, start, end)) <= MIN_OPACITY:
                    return CLEAR
                if count < 3:
                    channels[count] = leading_number(piece(one, start, end), &unused)
                count += 1
            start = end + 1
    if count < 3 or min(channels[0], min(channels[1], channels[2])) < 0:
        return default
    if starts_with(word, b"hsl"):
        channels[0] = channels[1] = channels[2] = 2.55 * channels[2]
    return <int>min(channels[0], 255.0) << 16 | <int>min(channels[1], 255.0) << 8 | <int>min(channels[2], 255.0)


cdef int attribute_colour(Arena *arena, Text word) except -9 nogil:
    """Return the colour that HTML makes of any word in an attribute: "#FFFFFX" is nearly white."""
    cdef Byte[MAX_COLOUR_WORD + 2] digits
    cdef Size at = 0, count = 0, third, k, first
    cdef int colour
    word = without_white(word)
    if not word.size:
        return INHERITED
    lower_text(arena, word, &word)
    if is_(word, b"transparent"):
        return INHERITED
    colour = colour_of(word, INHERITED)
    if colour != INHERITED:
        return colour
    word = first_chars(word, MAX_COLOUR_WORD)
    if starts_with(word, b"#"):
        at = 1
    while at < word.size and count < MAX_COLOUR_WORD:
        digits[count] = max(hex_digit(byte_at(word, at)), 0)
        count += 1
        char_at(word, at, &at)
    third = (count + 2) // 3  # digits of a channel, of which two count
    digits[count] = digits[count + 1] = 0
    colour = 0
    for k in range(3):
        first = k * third
        if third >= 2:
            colour = colour << 4 | digits[min(first, count)]
            first += 1
        else:
            colour <<= 4
        colour = colour << 4 | (digits[min(first, count)] if third else 0)
    return colour


cdef double pixels(Text value) except? -9 nogil:
    """Return a length in pixels, roughly; 0 if there is none."""
    cdef bint is_negative = byte_at(value, 0) == c"-"
    cdef Size unused
    cdef double number
    while is_one_of(byte_at(value, 0), b"+-"):
        value = rest(value, 1)
    number = leading_number(value, &unused)
    if number <= 0:
        return 0
    while is_one_of(byte_at(value, 0), b"+-0123456789."):
        value = rest(value, 1)
    if is_(value, b"%"):
        number *= FAR / 100.0
    elif is_(value, b"em") or is_(value, b"rem"):
        number *= 16
    elif is_(value, b"in"):
        number *= 96
    return -number if is_negative else number


cdef int is_tiny(Text size) except -9 nogil:
    """Tell whether letters of a size cannot be read; INHERITED for no size, or a relative one."""
    cdef Size end
    cdef double number = leading_number(size, &end)
    cdef Text unit = rest(size, end)
    if number < 0 or (number > 0 and unit.size and not is_(unit, b"px") and not is_(unit, b"pt")):
        return INHERITED
    return number <= 1


cdef double share(Text value) except? -9 nogil:
    """Return a share, written as a number or in percent; -1 if there is none."""
    cdef Size end
    cdef double number = leading_number(value, &end)
    return number / 100 if ends_with(value, b"%") else number


cdef double leading_number(Text value, Size *end) except? -9 nogil:
    """Return the number a length begins with, and where its digits end; -1 if there is none."""
    cdef uint64_t number = 0
    cdef int byte, digits = 0, significant = 0, decimals = 0, dots = 0
    cdef Size at = 0
    while True:
        byte = byte_at(value, at)
        if is_digit(byte):
            digits = 1
            decimals += dots
            significant += significant > 0 or byte != c"0"
            if significant <= EXACT_DIGITS:
                number = 10 * number + <uint64_t>(byte - 48)
        elif byte == c".":
            dots += 1
        else:
            break
        at += 1
    end[0] = at
    if not digits or dots > 1:
        return -1
    if significant <= EXACT_DIGITS and decimals <= EXACT_TENS:
        return <double>number / TENS[decimals]
    with gil:
        return float(bytes_of(piece(value, 0, at)))
