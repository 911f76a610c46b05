# Reads colours and lengths in style sheets and attributes.
#
# Values are in lower case. In place of an invalid one, a colour is INHERITED, a length 0 and a number -1.

cdef enum:  # in place of a colour
    COLOUR_UNKNOWN = -1  # a picture, or one that something else may set
    CLEAR = -2  # transparent
    INHERITED = -3

cdef enum:
    CSS_WHITE = 0xFFFFFF
    MAX_DIFFERENCE = 16  # of 255: two colours look the same if each of their channels differs by no more
    MAX_COLOUR_WORD = 128  # bytes of a colour in an attribute
    FAR = 500  # pixels beyond an edge: out of view
    MAX_DECIMALS = 15

cdef double MIN_OPACITY = MAX_DIFFERENCE / 255.0  # text that is no more opaque is not seen

COLOURS = (
    b"black 000000 white ffffff red ff0000 green 008000 blue 0000ff yellow ffff00 gray 808080 grey 808080 "
    b"silver c0c0c0 maroon 800000 purple 800080 fuchsia ff00ff magenta ff00ff lime 00ff00 olive 808000 "
    b"navy 000080 teal 008080 aqua 00ffff cyan 00ffff orange ffa500 pink ffc0cb gold ffd700 brown a52a2a "
    b"ivory fffff0 snow fffafa whitesmoke f5f5f5 ghostwhite f8f8ff floralwhite fffaf0 azure f0ffff "
    b"lightgrey d3d3d3 darkblue 00008b darkred 8b0000 darkgreen 006400 midnightblue 191970"
).split()

cdef NameTable COLOUR_NAMES
cdef int[MAX_TABLE_NAMES] COLOUR_VALUES


cdef int fill_colours() except -1:
    cdef Size number
    for number in range(len(COLOURS) // 2):
        COLOUR_VALUES[number] = int(COLOURS[2 * number + 1], 16)
    return fill_names(&COLOUR_NAMES, COLOURS[::2])


fill_colours()


cdef bint look_the_same(int one, int other) noexcept nogil:
    """Return whether text of one colour cannot be seen on the other colour; False if either is not a colour."""
    return (
        one >= 0 and other >= 0
        and abs((one >> 16) - (other >> 16)) <= MAX_DIFFERENCE
        and abs((one >> 8 & 255) - (other >> 8 & 255)) <= MAX_DIFFERENCE
        and abs((one & 255) - (other & 255)) <= MAX_DIFFERENCE
    )


cdef Text argument_of(Text value, const char *function) noexcept nogil:
    """Return the arguments of a CSS function in `value`, or an empty text. `function`: a name and "("."""
    cdef Size at = find(value, literal(function), 0)
    return stripped(rest(value, at + <Size>strlen(function)), b")") if at >= 0 else nothing()


cdef inline bint is_colour_function(Text word) noexcept nogil:
    """Return whether a value is rgb(…), rgba(…), hsl(…) or hsla(…)."""
    return starts_with(word, b"rgb") or starts_with(word, b"hsl")


cdef int colour_of(Text word) noexcept nogil:
    """Return the colour of a CSS word as 0xRRGGBB; CLEAR if transparent, INHERITED if it is no colour."""
    cdef bint has_sign = byte_at(word, 0) == c"#"
    cdef int number = number_of_name(&COLOUR_NAMES, word), colour = 0
    cdef Size k
    if number >= 0:
        return COLOUR_VALUES[number]
    if is_(word, b"transparent"):
        return CLEAR
    if is_colour_function(word):
        return function_colour(word)
    word = rest(word, has_sign)
    if word.size != 6 and word.size != 8 and not (has_sign and 3 <= word.size <= 4):
        return INHERITED
    for k in range(6):
        number = hex_digit(byte_at(word, k if word.size >= 6 else k // 2))
        if number < 0:
            return INHERITED
        colour = colour << 4 | number
    return colour


cdef int function_colour(Text word) noexcept nogil:
    """Return the colour of rgb(…) or, as a grey, of hsl(…); CLEAR if transparent, INHERITED if invalid."""
    cdef Text written = argument_of(word, b"("), one
    cdef Size at = 0, unused
    cdef int count = 0
    cdef double[3] channels
    while count < 3 and next_of(written, b" ,/", &at, &one):
        channels[count] = leading_number(one, &unused)
        count += 1
    if count < 3 or min(channels[0], min(channels[1], channels[2])) < 0:
        return INHERITED
    if next_of(written, b" ,/", &at, &one) and 0 <= share(one) <= MIN_OPACITY:
        return CLEAR
    if starts_with(word, b"hsl"):
        channels[0] = channels[1] = channels[2] = 2.55 * channels[2]
    return <int>min(channels[0], 255.0) << 16 | <int>min(channels[1], 255.0) << 8 | <int>min(channels[2], 255.0)


cdef int attribute_colour(Arena *arena, Text word) except -9 nogil:
    """Return the colour that browsers make of any word in an HTML attribute: "#FFFFFX" becomes 0xFFFFF0."""
    cdef Size third, k
    cdef int colour
    word = stripped(word, b" \t\n\f\r")
    if not word.size:
        return INHERITED
    lowered(arena, word, &word)
    colour = colour_of(word)
    if colour != INHERITED:
        return colour if colour != CLEAR else INHERITED
    word = piece(word, byte_at(word, 0) == c"#", MAX_COLOUR_WORD)
    third = (word.size + 2) // 3  # digits of a channel, of which two count
    colour = 0
    for k in range(3):
        if third >= 2:
            colour = colour << 4 | max(hex_digit(byte_at(word, k * third)), 0)
        else:
            colour <<= 4
        colour = colour << 4 | max(hex_digit(byte_at(word, k * third + (third >= 2))), 0)
    return colour


cdef double pixels(Text value) noexcept nogil:
    """Return a CSS length in pixels, roughly; 0 if the value is not a length."""
    cdef double sign = -1 if byte_at(value, 0) == c"-" else 1, number
    cdef Size end
    value = rest(value, is_one_of(byte_at(value, 0), b"+-"))
    number = leading_number(value, &end)
    if number <= 0:
        return 0
    value = rest(value, end)
    if is_(value, b"%"):
        number *= FAR / 100.0
    elif is_(value, b"em") or is_(value, b"rem"):
        number *= 16
    elif is_(value, b"in"):
        number *= 96
    return sign * number


cdef int tininess(Text size) noexcept nogil:
    """Return 1 for a font size too small to read, 0 for other sizes, INHERITED for a relative or invalid size."""
    cdef Size end
    cdef double number = leading_number(size, &end)
    cdef Text unit = rest(size, end)
    if number < 0 or (number > 0 and unit.size and not is_(unit, b"px") and not is_(unit, b"pt")):
        return INHERITED
    return number <= 1


cdef double share(Text value) noexcept nogil:
    """Return a value such as 0.5 or 50% as a fraction; below 0 if the value is not a number."""
    cdef Size end
    cdef double number = leading_number(value, &end)
    return number / 100 if ends_with(value, b"%") else number


cdef double leading_number(Text value, Size *end) noexcept nogil:
    """Return the number at the start of a value, and set `end` to the offset after it; -1 if there is no number."""
    cdef double number = 0, place = 1
    cdef int byte, digits = 0, decimals = 0, dots = 0
    cdef Size at = 0
    while True:
        byte = byte_at(value, at)
        if byte == c".":
            dots += 1
        elif not is_digit(byte):
            break
        elif decimals < MAX_DECIMALS:
            number = 10 * number + (byte - 48)
            digits += 1
            if dots:
                decimals += 1
                place *= 10
        at += 1
    end[0] = at
    return number / place if digits and dots <= 1 else -1
