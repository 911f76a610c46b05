# Styles of elements: whether their text is seen, unseen, or as if it were not there.
#
# Of spam under heads of ham with 500 words of ham, hidden in one of 24 ways, 13 % is missed; 97 % without it.
# Style attributes are remembered for the page: reading one takes 0.6 µs, and nine in ten repeat.


cdef enum:  # text to be seen; unseen but taking up space; as if it were not there
    SEEN = 0
    UNSEEN = 1
    NOT_RENDERED = 2

cdef enum:
    MAX_KNOWN = 500  # styles remembered
    KNOWN_SLOTS = 1024  # a power of 2

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
    # as bits of a set of properties
    CSS_MOVES = 1 << CSS_POSITION | 1 << CSS_TEXT_INDENT | 1 << CSS_CLIP_PATH | 1 << CSS_TRANSFORM | 7 << CSS_MARGIN
    CSS_BACKGROUNDS = 1 << CSS_BACKGROUND | 1 << CSS_BACKGROUND_COLOR

PROPERTIES = (
    b"display opacity visibility overflow position text-indent clip-path transform font-size color "
    b"background background-color left right top bottom margin margin-left margin-top "
    b"height max-height width max-width line-height"
).split()
cdef NameTable PROPERTY_NAMES
fill_names(&PROPERTY_NAMES, PROPERTIES)


cdef struct Style:  # what an element does to the look of its text, or how text looks that is in several elements
    int not_rendered  # 1: not on the page
    int invisible  # 1: there but not visible; INHERITED: as in the element around
    int tiny  # 1: too small to read; INHERITED as well
    int colour
    int background  # the colour behind the text
    int view  # of the text


cdef struct KnownStyle:  # that a style attribute declared, and rules of style sheets, given by their addresses
    uint64_t hash
    Text css
    Text rules
    Style style


cdef struct KnownStyles:
    KnownStyle *items
    Size count
    int16_t[KNOWN_SLOTS] slots  # numbers of items, each + 1


cdef struct Declared:  # values of properties
    uint32_t names  # of the properties that have one, as bits
    Text[PROPERTY_COUNT] values


cdef inline Style make_style(int not_rendered, int invisible, int tiny, int colour, int background) noexcept nogil:
    cdef Style style
    style.not_rendered, style.invisible, style.tiny = not_rendered, invisible, tiny
    style.colour, style.background, style.view = colour, background, SEEN
    return style


cdef inline Style outermost_style() noexcept nogil:
    """Return the style of a page; its text's colour is unknown, as it may be in a style sheet elsewhere."""
    return make_style(0, 0, 0, COLOUR_UNKNOWN, CSS_WHITE)


cdef Style nested(Style around, Style style) noexcept nogil:
    """Return the style, with its view of the text, of an element inside another's."""
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
    """Tell whether a style leaves text as it is in the element around."""
    return (
        not style.not_rendered and style.invisible == INHERITED and style.tiny == INHERITED
        and style.colour == INHERITED and style.background == INHERITED
    )


# Known styles

cdef const Style *known_style(const KnownStyles *known, Text css, Text rules, uint64_t hash) noexcept nogil:
    """Return a style that is remembered, NULL if it is not."""
    cdef Size slot = hash & (KNOWN_SLOTS - 1)
    cdef const KnownStyle *item
    while known.slots[slot]:
        item = &known.items[known.slots[slot] - 1]
        if item.hash == hash and equal(item.css, css) and equal(item.rules, rules):
            return &item.style
        slot = (slot + 1) & (KNOWN_SLOTS - 1)
    return NULL


cdef int remember_style(
    Arena *arena, KnownStyles *known, Text css, Text rules, uint64_t hash, Style style
) except -1 nogil:
    """Remember a style, which is not yet; when there are too many, all others are forgotten."""
    cdef Size slot
    cdef KnownStyle *item
    if known.items is NULL:
        known.items = <KnownStyle *>allot(arena, MAX_KNOWN * sizeof(KnownStyle))
    if known.count == MAX_KNOWN:
        forget_styles(known)
    slot = hash & (KNOWN_SLOTS - 1)
    while known.slots[slot]:
        slot = (slot + 1) & (KNOWN_SLOTS - 1)
    item = &known.items[known.count]
    item.hash, item.css, item.style = hash, css, style
    joined(arena, rules, nothing(), &item.rules)
    known.count += 1
    known.slots[slot] = known.count
    return 0


cdef void forget_styles(KnownStyles *known) noexcept nogil:
    known.count = 0
    memset(known.slots, 0, sizeof(known.slots))


# Declarations

cdef inline bint has_value(const Declared *declared, int property) noexcept nogil:
    return declared.names >> property & 1


cdef inline Text value_of(const Declared *declared, int property) noexcept nogil:
    return declared.values[property] if has_value(declared, property) else nothing()


cdef inline void declare(Declared *declared, int property, Text value) noexcept nogil:
    declared.names |= 1u << property
    declared.values[property] = value


cdef int read_declarations(
    Arena *arena, Text css, Size longest, Declared *plain, Declared *important, Texts *variables
) except -1 nogil:
    """Read properties of plain CSS and their values; return how many. Names and values of variables go to a list."""
    cdef Size start = 0, end, colon, mark
    cdef Text name, value
    cdef int property, found = 0
    plain.names = important.names = 0
    while start < css.size:
        end = or_end(css, find_byte(css, c";", start))
        value = piece(css, start, end)
        start = end + 1
        colon = find_byte(value, c":", 0)
        name = without_white(piece(value, 0, colon))
        property = number_of_name(&PROPERTY_NAMES, name)
        if property < 0 and not starts_with(name, b"--"):
            continue
        found += 1
        mark = find_byte(value, c"!", colon + 1)
        value = without_white(piece(value, colon + 1, or_end(value, mark)))
        # spaces go where they would split a colour: rgb(0, 0, 0)
        replaced(arena, value, literal(b", "), literal(b","), &value)
        value = first_chars(value, longest)
        if property >= 0:
            declare(plain if mark < 0 else important, property, value)
        elif mark < 0 and variables is not NULL:
            add_text(arena, variables, name)
            add_text(arena, variables, value)
    return found


cdef int plain_css(Writer *to, Text css, Text *result) except -1 nogil:
    """Make CSS in lower case, without comments and escapes; it stays until the next is written."""
    cdef Arena *arena = to.arena
    to.size = 0
    make_room(to, css.size)
    to.size = css.size
    if lower_ascii(css, to.at):
        result[0] = written(to)
    else:
        lower_text(arena, css, result)
    if contains(result[0], b"/*"):
        drop_comments(arena, result[0], result)
    if has(result[0], c"\\"):
        replace_escapes(arena, result[0], result)
    return 0


cdef int drop_comments(Arena *arena, Text css, Text *result) except -1 nogil:
    """Make a copy without comments; what is behind a "/*" up to the next is dropped if it has no end."""
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
    """Make a copy without backslashes: behind one stands a character or its number in hexadecimal, and a space."""
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
        if 32 < code < 0xD800:
            put_char(&to, Py_UNICODE_TOLOWER(code))
            if code == 0x130:  # the one capital that is two characters in lower case
                put_char(&to, 0x307)
        start = at + 1 if byte_at(css, at) == c" " else at
        at = or_end(css, find_byte(css, c"\\", start))
        put(&to, piece(css, start, at))
    result[0] = written(&to)
    return 0


# What is declared

cdef int declared_inline(
    Writer *scratch, KnownStyles *known, Text css, Size css_chars, Style *style
) except -1 nogil:
    """Find the style that a style attribute of so many characters declares."""
    cdef uint64_t hash = hash_of(css, HASH_SEED)
    cdef const Style *found = known_style(known, css, nothing(), hash)
    cdef Declared plain, important
    cdef Text text
    if found is not NULL:
        style[0] = found[0]
        return 0
    plain_css(scratch, css, &text)
    read_declarations(scratch.arena, text, css_chars, &plain, &important, NULL)
    override(&plain, &important)
    declared_style(&plain, style)
    return remember_style(scratch.arena, known, css, nothing(), hash, style[0])


cdef inline void override(Declared *declared, const Declared *other) noexcept nogil:
    """Take the values of others for the properties that they have."""
    cdef int property
    if other.names:
        for property in range(PROPERTY_COUNT):
            if has_value(other, property):
                declare(declared, property, other.values[property])


cdef int declared_style(const Declared *declared, Style *style) except -1 nogil:
    """Return the style that properties and their values declare."""
    cdef int property, colour
    cdef Text value, word
    cdef Size at
    style[0] = make_style(0, INHERITED, INHERITED, INHERITED, INHERITED)
    if not declared.names:
        return 0
    if is_(value_of(declared, CSS_DISPLAY), b"none") or 0 <= share(value_of(declared, CSS_OPACITY)) <= MIN_OPACITY:
        style.not_rendered = 1
    elif declared.names & CSS_MOVES and is_out_of_view(declared):
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
        style.tiny = is_tiny(value_of(declared, CSS_FONT_SIZE))
    if has_value(declared, CSS_COLOR):
        style.colour = colour_of(value_of(declared, CSS_COLOR), INHERITED)
    for property in range(CSS_BACKGROUND, CSS_BACKGROUND_COLOR + 1 if declared.names & CSS_BACKGROUNDS else 0):
        value = value_of(declared, property)
        if contains(value, b"url(") or contains(value, b"gradient("):
            style.background = COLOUR_UNKNOWN
            break
        at = 0
        while next_css_word(value, &at, &word):
            if is_colour_function(value):
                word, at = value, value.size
            colour = colour_of(word, INHERITED)
            if colour != INHERITED and colour != CLEAR:
                style.background = colour
    return 0


cdef int is_out_of_view(const Declared *declared) except -1 nogil:
    """Tell whether an element is moved off the page, cut away or shrunk to nothing."""
    cdef int property
    cdef Text value, word
    cdef Size at
    if has_value(declared, CSS_POSITION) and not is_(value_of(declared, CSS_POSITION), b"static"):
        for property in range(CSS_LEFT, CSS_BOTTOM + 1):
            if pixels(value_of(declared, property)) <= -FAR:
                return True
    for property in range(CSS_MARGIN, CSS_MARGIN_TOP + 1):
        value, at = value_of(declared, property), 0
        while has(value, c"-") and next_css_word(value, &at, &word):
            if pixels(word) <= -FAR and not ends_with(word, b"%"):
                return True
    if abs(pixels(value_of(declared, CSS_TEXT_INDENT))) >= FAR:
        return True
    value = argument_of(value_of(declared, CSS_CLIP_PATH), b"inset(")
    value = without_brackets(value)
    if pixels(piece(value, 0, or_end(value, find_byte(value, c" ", 0)))) >= FAR / 2:
        return True
    return leading_number(argument_of(value_of(declared, CSS_TRANSFORM), b"scale("), &at) == 0
