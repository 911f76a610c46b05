# Computes from styles whether the text of an element is seen.
#
# Of spam with the headers of ham and 500 words of ham hidden in one of 24 ways, 13 % is missed; without this file 97 %.

cdef enum:  # how text is shown: seen; unseen, but it takes up space; not there at all
    SEEN = 0
    UNSEEN = 1
    NOT_RENDERED = 2

cdef enum:
    MAX_CSS_VALUE = 300  # bytes of a value
    IMPORTANT = 1 << 30  # added to the order of a value that is !important, which is then above all others
    INLINE = 1 << 29  # the order of a style attribute, above that of all rules

cdef enum:  # properties that are read, in the order of PROPERTIES
    CSS_DISPLAY = 0
    CSS_OPACITY
    CSS_VISIBILITY
    CSS_OVERFLOW
    CSS_POSITION
    CSS_TEXT_INDENT
    CSS_CLIP_PATH
    CSS_TRANSFORM
    CSS_FONT_SIZE
    CSS_COLOR
    CSS_BACKGROUND
    CSS_BACKGROUND_COLOR
    CSS_LEFT
    CSS_BOTTOM = 15
    CSS_MARGIN
    CSS_MARGIN_TOP = 18
    CSS_HEIGHT
    CSS_LINE_HEIGHT = 23
    PROPERTY_COUNT = 24

PROPERTIES = (
    b"display opacity visibility overflow position text-indent clip-path transform font-size color "
    b"background background-color left right top bottom margin margin-left margin-top "
    b"height max-height width max-width line-height"
).split()
cdef NameTable PROPERTY_NAMES
fill_names(&PROPERTY_NAMES, PROPERTIES)


cdef struct Style:  # of one element (which may have INHERITED), or of the text in nested elements
    int not_rendered  # 1: not on the page
    int invisible  # 1: there but not visible; or INHERITED
    int tiny  # 1: too small to read; or INHERITED
    int colour
    int background  # the colour behind the text
    int view  # SEEN, UNSEEN or NOT_RENDERED


cdef struct Declared:  # values of CSS properties
    int[PROPERTY_COUNT] orders  # of two values of a property, the one with the higher order wins; 0: no value
    Text[PROPERTY_COUNT] values


cdef inline Style make_style(int not_rendered, int invisible, int tiny, int colour, int background) noexcept nogil:
    cdef Style style
    style.not_rendered, style.invisible, style.tiny = not_rendered, invisible, tiny
    style.colour, style.background, style.view = colour, background, SEEN
    return style


cdef Style nested(Style around, Style style) noexcept nogil:
    """Return the style of text in an element, from the element's own `style` and the style `around` it."""
    style.not_rendered = style.not_rendered or around.not_rendered
    if style.invisible == INHERITED:
        style.invisible = around.invisible
    if style.tiny == INHERITED:
        style.tiny = around.tiny
    if style.colour == INHERITED:
        style.colour = around.colour
    if style.background == INHERITED:
        style.background = around.background
    style.view = SEEN
    if style.not_rendered:
        style.view = NOT_RENDERED
    elif style.invisible or style.tiny or style.colour == CLEAR or look_the_same(style.colour, style.background):
        style.view = UNSEEN
    return style


cdef inline bint is_unstyled(Style style) noexcept nogil:
    """Return whether a style sets nothing, so that everything is inherited."""
    return (
        not style.not_rendered and style.invisible == INHERITED and style.tiny == INHERITED
        and style.colour == INHERITED and style.background == INHERITED
    )


# Declarations

cdef int read_declarations(Arena *arena, Text css, Declared *declared, Texts *variables) except -1 nogil:
    """Read CSS properties into `declared`, with order 1 or IMPORTANT; list name, value … in `variables`."""
    cdef Size at = 0, colon, mark
    cdef Text name, value
    cdef int property, order
    memset(declared, 0, sizeof(Declared))
    memset(variables, 0, sizeof(Texts))
    while at < css.size:
        value = until(css, c";", at)
        at += value.size + 1
        colon = find_byte(value, c":", 0)
        name = without_space(piece(value, 0, colon))
        property = number_of_name(&PROPERTY_NAMES, name)
        if property < 0 and not starts_with(name, b"--"):
            continue
        mark = find_byte(value, c"!", colon + 1)
        order = IMPORTANT if mark >= 0 else 1
        value = without_space(piece(value, colon + 1, or_end(value, mark)))
        # spaces go where they would split a colour: rgb(0, 0, 0)
        replaced(arena, value, literal(b", "), literal(b","), &value)
        value = piece(value, 0, MAX_CSS_VALUE)
        if property < 0:
            add_text(arena, variables, name)
            add_text(arena, variables, value)
        elif order >= declared.orders[property]:
            declared.orders[property], declared.values[property] = order, value
    return 0


cdef void override(Declared *declared, const Declared *other, int order) noexcept nogil:
    """Copy the properties of `other` to `declared` with this order, unless `declared` has a higher order."""
    cdef int property, its
    for property in range(PROPERTY_COUNT):
        its = other.orders[property] & IMPORTANT | order
        if other.orders[property] and its >= declared.orders[property]:
            declared.orders[property], declared.values[property] = its, other.values[property]


cdef int plain_css(Arena *arena, Text css, Text *result) except -1 nogil:
    """Set `result` to a copy of CSS in lower case, without comments and escapes."""
    lowered(arena, css, result)
    if contains(result[0], b"/*"):
        drop_comments(arena, result[0], result)
    if has(result[0], c"\\"):
        replace_escapes(arena, result[0], result)
    return 0


cdef int drop_comments(Arena *arena, Text css, Text *result) except -1 nogil:
    """Set `result` to CSS without comments; an unclosed comment is removed up to the start of the next."""
    cdef Writer to
    cdef Size start = find(css, literal(b"/*"), 0), next, end
    start_writer(&to, arena, css.size)
    put(&to, piece(css, 0, start))
    while start < css.size:
        start += 2
        next = or_end(css, find(css, literal(b"/*"), start))
        end = find(piece(css, 0, next), literal(b"*/"), start)
        if end >= 0:
            put(&to, piece(css, end + 2, next))
        start = next
    result[0] = written(&to)
    return 0


cdef int replace_escapes(Arena *arena, Text css, Text *result) except -1 nogil:
    """Set `result` to CSS with escapes (a backslash and a character or hexadecimal number) replaced."""
    cdef Writer to
    cdef Size at = or_end(css, find_byte(css, c"\\", 0)), start
    cdef Char code
    start_writer(&to, arena, css.size)
    put(&to, piece(css, 0, at))
    while at < css.size:
        at += 1
        start, code = at, 0
        while at - start < 6 and hex_digit(byte_at(css, at)) >= 0:
            code = code * 16 + hex_digit(byte_at(css, at))
            at += 1
        if 32 < code < 0x80:  # names and keywords are ASCII
            put_byte(&to, lower(code))
        start = at + 1 if byte_at(css, at) == c" " else at
        at = or_end(css, find_byte(css, c"\\", start))
        put(&to, piece(css, start, at))
    result[0] = written(&to)
    return 0


# Styles of declarations

cdef inline bint has_value(const Declared *declared, int property) noexcept nogil:
    return declared.orders[property] > 0


cdef inline Text value_of(const Declared *declared, int property) noexcept nogil:
    """Return the value of a property; an empty text if it has no value."""
    return declared.values[property] if has_value(declared, property) else nothing()


cdef Style declared_style(const Declared *declared) noexcept nogil:
    """Return the style of an element with these properties."""
    cdef Style style = make_style(is_out_of_view(declared), INHERITED, INHERITED, INHERITED, INHERITED)
    cdef int property, colour
    cdef Text value, word
    cdef Size at
    if is_(value_of(declared, CSS_DISPLAY), b"none") or 0 <= share(value_of(declared, CSS_OPACITY)) <= MIN_OPACITY:
        style.not_rendered = 1
    if contains(value_of(declared, CSS_OVERFLOW), b"hidden"):
        for property in range(CSS_HEIGHT, CSS_LINE_HEIGHT + 1):
            value = value_of(declared, property)
            if leading_number(value, &at) == 0 or is_(value, b"1px"):
                style.not_rendered = 1
    if has_value(declared, CSS_VISIBILITY):
        value = value_of(declared, CSS_VISIBILITY)
        style.invisible = is_(value, b"hidden") or is_(value, b"collapse")
    if has_value(declared, CSS_FONT_SIZE):
        style.tiny = tininess(value_of(declared, CSS_FONT_SIZE))
    if has_value(declared, CSS_COLOR):
        style.colour = colour_of(value_of(declared, CSS_COLOR))
    for property in range(CSS_BACKGROUND, CSS_BACKGROUND_COLOR + 1):
        value, at = value_of(declared, property), 0
        if contains(value, b"url(") or contains(value, b"gradient("):
            style.background = COLOUR_UNKNOWN
            break
        while next_of(value, b" \t\n\v\f\r", &at, &word):
            if is_colour_function(value):
                word, at = value, value.size
            colour = colour_of(word)
            if colour != INHERITED and colour != CLEAR:
                style.background = colour
    return style


cdef bint is_out_of_view(const Declared *declared) noexcept nogil:
    """Return whether an element with these properties is off the page, clipped or shrunk to nothing."""
    cdef int property
    cdef Text value, word
    cdef Size at
    if has_value(declared, CSS_POSITION) and not is_(value_of(declared, CSS_POSITION), b"static"):
        for property in range(CSS_LEFT, CSS_BOTTOM + 1):
            if pixels(value_of(declared, property)) <= -FAR:
                return True
    for property in range(CSS_MARGIN, CSS_MARGIN_TOP + 1):
        value, at = value_of(declared, property), 0
        while next_of(value, b" ", &at, &word):
            if pixels(word) <= -FAR and not ends_with(word, b"%"):
                return True
    if abs(pixels(value_of(declared, CSS_TEXT_INDENT))) >= FAR:
        return True
    value, at = argument_of(value_of(declared, CSS_CLIP_PATH), b"inset("), 0
    if next_of(value, b" ", &at, &word) and pixels(word) >= FAR / 2:
        return True
    return leading_number(argument_of(value_of(declared, CSS_TRANSFORM), b"scale("), &at) == 0
