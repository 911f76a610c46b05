# Renders HTML as a person would see it: its text, the text hidden from view, its links and images, and its tags.
#
# One pass over the page, with the rules of browsers that spam exploits: comments, quotes, missing end tags, words split
# by tags, unreadable colours. Where mail readers differ from browsers, it does as mail readers do: images are off
# (their alt text is shown, between spaces), scripts are off (noscript is shown). A title is hidden text. Text that
# something is painted over is not recognised. A style sheet is for the whole page: if it comes after text, the page is
# read again.
#
# On 1,936 HTML parts of real mail, the words are those of selectolax in all but one (a frameset). The page is UTF-8.
# Texts of the result are pieces of the page or of the arena.

cpdef enum:
    MAX_TARGETS = 1000  # links of a page, and as many images
    # Steps of about 0.1 µs: tags, and work on styles. When they are used up, further styles are ignored: text is shown
    # or hidden as the open elements have it.
    MAX_WORK = 2000000
    MAX_NAMES = 200  # distinct names of tags in a page; further unknown ones share an empty name
    MAX_ELEMENTS = MAX_NAMES + MAX_KINDS + 1

cdef enum:
    MAX_TARGET = 2000  # characters of an address
    MAX_DEPTH = 512  # open elements; deeper ones are ignored (as in browsers)
    MAX_NAME = 40  # bytes of an element's name
    ELEMENT_SLOTS = 256  # a power of 2
    STEPS_OF_SHEET = 30
    STEPS_OF_STYLE = 4
    KNOWN_SLOTS = 512  # style attributes that are remembered, as nine in ten repeat; a power of 2


cdef struct TagCount:
    Text name
    Size times


cdef struct Page:  # what is read of a page
    Text text
    Text hidden
    Texts links
    Texts images
    TagCount *tags
    Size tag_count
    Size work  # steps used


cdef struct Element:  # all elements of a page that have the same name
    Text name
    uint64_t hash  # of the name
    int next  # number + 1 of the next one in the same slot; 0 for none
    const ElementKind *kind
    Size tags  # how many start tags there are
    Size innermost  # depth of the innermost open one; 0 if none is open


cdef struct OpenElement:
    Element *element
    Style style  # of the text around it
    Size innermost  # depth of the innermost open element around it with the same name
    (Trait *)[MAX_TRAITS] traits  # those that rules of style sheets ask for
    Size trait_count


cdef struct KnownStyle:  # the style for the hash of a style attribute and of the matching rules
    uint64_t hash
    Style style


cdef struct PageReader:
    Arena *arena
    TagScanner scanner
    StyleSheet sheet
    bint sheet_is_whole  # `sheet` has all style sheets of the page
    bint sheet_is_late  # a style sheet came after text
    bint has_text_tags  # there was a tag that can only come with text
    Page *page
    Writer shown
    Writer hidden
    KnownStyle[KNOWN_SLOTS] known
    Element *elements  # the first is "table"
    int element_count
    int16_t[ELEMENT_SLOTS] slots  # by hash of the name: number of an element + 1; 0: free
    OpenElement *open
    Size depth  # how many elements are open
    Style style  # of the text here
    int view  # SEEN, UNSEEN or NOT_RENDERED: of the text here
    Size work  # steps used, but for those of the style sheet
    Size max_work


cdef int render(Arena *arena, Text html, Size max_work, Page *page) except -1 nogil:
    """Read an HTML page (any UTF-8 text) into `page`; after `max_work` steps, further styles are ignored."""
    cdef PageReader *reader = <PageReader *>allot(arena, sizeof(PageReader))
    memset(reader, 0, sizeof(PageReader))
    reader.arena, reader.sheet.arena, reader.page, reader.max_work = arena, arena, page, max_work
    start_scanner(&reader.scanner, arena, html)
    start_writer(&reader.shown, arena, html.size // 2)
    start_writer(&reader.hidden, arena, html.size // 16)
    reader.elements = <Element *>allot(arena, MAX_ELEMENTS * sizeof(Element))
    reader.open = <OpenElement *>allot(arena, MAX_DEPTH * sizeof(OpenElement))
    read_page(reader)
    if reader.sheet_is_late and may_style(reader):
        reader.sheet_is_whole = True
        read_page(reader)
    return 0


cdef int read_page(PageReader *reader) except -1 nogil:
    """Read the page from its start to its end."""
    cdef Text html = reader.scanner.html
    cdef Size start = 0, at = 0
    start_page(reader)
    while True:
        at = or_end(html, find_byte(html, c"<", at))
        if start < at:
            put_run(reader, piece(html, start, at))
        if at == html.size:
            break
        reader.work += 1
        start = after_markup(reader, at)
        at = start if start > at else at + 1
    reader.page.text = written(&reader.shown)
    reader.page.hidden = without_white(written(&reader.hidden))
    close_elements(reader, 1)
    reader.page.work = all_work(reader)
    return count_tags(reader)


cdef int start_page(PageReader *reader) except -1 nogil:
    """Prepare to read the page from its start: clear what was read, except style sheets and the count of steps."""
    cdef Element *table
    memset(reader.page, 0, sizeof(Page))
    memset(reader.slots, 0, sizeof(reader.slots))
    reader.scanner.unquoted = 0
    reader.shown.size = reader.hidden.size = 0
    reader.element_count = reader.depth = 0
    reader.style = make_style(0, 0, 0, COLOUR_UNKNOWN, CSS_WHITE)  # a style sheet elsewhere may colour the text
    reader.view = SEEN
    return find_element(reader, literal(b"table"), &table)


cdef int count_tags(PageReader *reader) except -1 nogil:
    cdef Page *page = reader.page
    cdef int number
    page.tags = <TagCount *>allot(reader.arena, reader.element_count * sizeof(TagCount))
    for number in range(reader.element_count):
        if reader.elements[number].name.size and reader.elements[number].tags:
            page.tags[page.tag_count].name = reader.elements[number].name
            page.tags[page.tag_count].times = reader.elements[number].tags
            page.tag_count += 1
    return 0


cdef inline Size all_work(const PageReader *reader) noexcept nogil:
    return reader.work + reader.sheet.work


cdef inline bint may_style(const PageReader *reader) noexcept nogil:
    """Return whether steps are left for computing styles."""
    return all_work(reader) < reader.max_work


# Text

cdef inline int put_run(PageReader *reader, Text text) except -1 nogil:
    """Append text to the visible or hidden text, as `reader.view` says; replace references such as &amp;."""
    return put_unescaped(&reader.shown if reader.view == SEEN else &reader.hidden, text, False)


cdef inline int put_gap(PageReader *reader, int gap) except -1 nogil:
    """Append `gap`, a byte between words, to the visible or hidden text or both, as `reader.view` says."""
    if reader.view != NOT_RENDERED:
        put_byte(&reader.shown, gap)
    if reader.view != SEEN:
        put_byte(&reader.hidden, gap)
    return 0


cdef inline int update_view(PageReader *reader) except -1 nogil:
    """Show or hide the text that follows, depending on the styles of the open elements."""
    if reader.style.view != reader.view:
        if reader.view == SEEN:
            put_byte(&reader.hidden, c"\n")
        reader.view = reader.style.view
    return 0


# Elements

cdef int find_element(PageReader *reader, Text name, Element **element) except -1 nogil:
    """Set `element` to the type of elements with this name (in any letter case); if there is none, add it."""
    cdef Byte[MAX_NAME] letters
    cdef Text lower_name
    name = piece(name, 0, MAX_NAME)
    lower_name.at, lower_name.size = letters, name.size
    lower_ascii(name, letters)
    return element_named(reader, lower_name, hash_of(lower_name, HASH_SEED), element)


cdef int element_named(PageReader *reader, Text name, uint64_t hash, Element **element) except -1 nogil:
    """Set `element` to the type of elements with this name (in lower case); if there is none, add it."""
    cdef int16_t *slot = &reader.slots[hash & (ELEMENT_SLOTS - 1)]
    cdef int number = slot[0], kind
    cdef Byte *kept
    while number:
        element[0] = &reader.elements[number - 1]
        if element[0].hash == hash and equal(element[0].name, name):
            return 0
        number = element[0].next
    kind = max(name_number(&ELEMENT_NAMES, name, hash), 0)
    if not kind and name.size and reader.element_count >= MAX_NAMES:
        return element_named(reader, nothing(), hash_of(nothing(), HASH_SEED), element)
    element[0] = &reader.elements[reader.element_count]
    memset(element[0], 0, sizeof(Element))
    kept = <Byte *>allot(reader.arena, name.size)
    memcpy(kept, name.at, name.size)
    element[0].name.at, element[0].name.size = kept, name.size
    element[0].hash, element[0].kind, element[0].next = hash, &ELEMENT_KINDS[kind], slot[0]
    reader.element_count += 1
    slot[0] = reader.element_count
    return 0


cdef inline bint is_open(const PageReader *reader, const Element *element) noexcept nogil:
    """Return whether an element of this type is open; elements around an open table do not count."""
    return element.innermost > 0 and element.innermost >= reader.elements[0].innermost


cdef void open_element(PageReader *reader, Element *element, const Style *own_style) noexcept nogil:
    """Open an element: what follows is inside it. `own_style` is NULL if the element itself sets no style."""
    cdef OpenElement *opened = &reader.open[reader.depth]
    cdef Size k
    if reader.depth == MAX_DEPTH:
        return
    opened.element, opened.style, opened.innermost = element, reader.style, element.innermost
    opened.trait_count = reader.sheet.own_count
    for k in range(opened.trait_count):
        opened.traits[k] = reader.sheet.own[k]
        opened.traits[k].open += 1
    reader.depth += 1
    element.innermost = reader.depth
    if own_style is not NULL:
        reader.style = nested(reader.style, own_style[0])


cdef void close_elements(PageReader *reader, Size depth) noexcept nogil:
    """Close the open element at this depth, and all elements inside it."""
    cdef OpenElement *opened
    cdef Size k
    while reader.depth >= depth:
        reader.depth -= 1
        opened = &reader.open[reader.depth]
        opened.element.innermost = opened.innermost
        for k in range(opened.trait_count):
            opened.traits[k].open -= 1
        reader.style = opened.style


# Tags

cdef Size after_markup(PageReader *reader, Size at) except -1 nogil:
    """Read the tag or comment whose "<" is at offset `at`; return where it ends, or `at` if it is neither."""
    cdef Text html = reader.scanner.html
    cdef int first = byte_at(html, at + 1), second
    if is_letter(first):
        return after_start_tag(reader, at)
    second = byte_at(html, at + 2)
    if first == c"/":
        if is_letter(second):
            return after_end_tag(reader, at)
        if second == c"<" or second == END:
            return at
    elif first == c"!":
        if second == c"-" and byte_at(html, at + 3) == c"-":
            return skip_comment(html, at + 4)
    elif first != c"?":
        return at
    return skip_past_gt(html, at)


cdef Size after_end_tag(PageReader *reader, Size at) except -1 nogil:
    cdef Text html = reader.scanner.html
    cdef Size end = skip_until(html, at + 2, ENDS_NAME)
    cdef Element *element
    find_element(reader, piece(html, at + 2, end), &element)
    if is_open(reader, element):
        if element.kind.role != ROLE_ROOT and element.kind.role != ROLE_BODY:  # what follows is still shown
            if element.kind.gap:
                put_gap(reader, element.kind.gap)
            close_elements(reader, element.innermost)
            update_view(reader)
    elif element.kind.gap_at_any_end:
        put_gap(reader, element.kind.gap)
    return skip_past_gt(html, end)


cdef Size after_start_tag(PageReader *reader, Size at) except -1 nogil:
    """Read the start tag at `at`, and the content of an element such as script; return where to read on."""
    cdef TagScanner *scanner = &reader.scanner
    cdef Text html = scanner.html
    cdef Size end = skip_until(piece(html, 0, at + 1 + MAX_TAG), at + 1, ENDS_NAME), after
    cdef Element *element
    cdef Style own_style
    cdef bint has_style = False
    cdef int followed
    find_element(reader, piece(html, at + 1, end), &element)
    element.tags += 1
    reader.has_text_tags |= not element.kind.before_text
    scanner.seen = 0
    after = end + 1 if byte_at(html, end) == c">" else read_attributes(scanner, at, end)
    if element.kind.ended_by_next and is_open(reader, element):
        close_elements(reader, element.innermost)
    reader.sheet.own_count = 0
    if (scanner.seen or reader.sheet.is_used) and may_style(reader):
        has_style = find_own_style(reader, element, &own_style)
    followed = element.kind.followed
    if followed == ALWAYS_FOLLOWED or (
        followed == FOLLOWED_IF_STYLED and (has_style or reader.sheet.own_count or is_open(reader, element))
    ):
        open_element(reader, element, &own_style if has_style else NULL)
    update_view(reader)
    if element.kind.gap:
        put_gap(reader, element.kind.gap)
    if scanner.seen:
        if scanner.seen & TARGETS:
            add_targets(reader, element.kind.role)
        put_text_in_place(reader, element.kind.role, has_style and own_style.not_rendered)
    return after_raw(reader, element, after) if element.kind.raw else after


cdef Size after_raw(PageReader *reader, const Element *element, Size start) except -1 nogil:
    """Read the content of an element such as script, where "<" is text; return the offset of the end tag."""
    cdef Text html = reader.scanner.html
    cdef Size end = find_end_tag(html, element.name, start)
    cdef Text content = piece(html, start, end)
    if element.kind.raw == RAW_HIDDEN:
        put_byte(&reader.hidden, c"\n")
        put_unescaped(&reader.hidden, content, False)
        put_byte(&reader.hidden, c"\n")
    elif element.kind.raw == RAW_SHOWN:
        put_run(reader, content)
    elif element.kind.role == ROLE_SHEET and not reader.sheet_is_whole and has(content, c"{") and may_style(reader):
        reader.work += STEPS_OF_SHEET
        reader.scanner.with_classes = True
        memset(reader.known, 0, sizeof(reader.known))
        add_sheet(&reader.sheet, content, attribute(&reader.scanner, ATTR_MEDIA), reader.max_work - all_work(reader))
        reader.sheet_is_late |= reader.has_text_tags
    return end


cdef int put_text_in_place(PageReader *reader, int role, bint is_not_rendered) except -1 nogil:
    """Append the text that is shown in place of an element: the alt text of an image, or an input field's value."""
    cdef Text text = nothing()
    cdef Writer *to = &reader.hidden if is_not_rendered or reader.view != SEEN else &reader.shown
    if role == ROLE_IMAGE:
        text = attribute(&reader.scanner, ATTR_ALT)
    elif role == ROLE_INPUT and shows_value(attribute(&reader.scanner, ATTR_TYPE)):
        text = attribute(&reader.scanner, ATTR_VALUE)
    if text.size:
        put_byte(to, c" ")
        put(to, text)
        put_byte(to, c" ")
    return 0


cdef bint shows_value(Text type) noexcept nogil:
    """Return whether an <input> of this type shows its value."""
    return (not type.size or is_in_any_case(type, literal(b"submit")) or is_in_any_case(type, literal(b"button"))
            or is_in_any_case(type, literal(b"reset")) or is_in_any_case(type, literal(b"text")))


cdef int add_targets(PageReader *reader, int role) except -1 nogil:
    """Append the addresses in the last tag's attributes to the links or the images of the page."""
    cdef int number
    cdef bint is_image
    for number in range(ATTR_BACKGROUND + 1):
        if has_attribute(&reader.scanner, number):
            is_image = number == ATTR_BACKGROUND
            if number == ATTR_SRC:
                is_image = role == ROLE_IMAGE or role == ROLE_INPUT
            add_target(
                reader.arena, &reader.page.images if is_image else &reader.page.links, reader.scanner.values[number]
            )
    return 0


cdef int add_target(Arena *arena, Texts *targets, Text value) except -1 nogil:
    """Append an address, if not empty, as browsers read it: without tabs, line ends and outer spaces."""
    value = without_space(first_chars(value, MAX_TARGET))
    without_byte(arena, value, c"\n", &value)
    without_byte(arena, value, c"\t", &value)
    without_byte(arena, value, c"\r", &value)
    if value.size and targets.count < MAX_TARGETS:
        add_text(arena, targets, value)
    return 0


# Styles

cdef int find_own_style(PageReader *reader, const Element *element, Style *style) except -1 nogil:
    """Set `style` to what style sheets and attributes set for an element; return False if that is nothing."""
    cdef TagScanner *scanner = &reader.scanner
    cdef int role = element.kind.role
    cdef Text css = attribute(scanner, ATTR_STYLE)
    cdef bint is_link = role == ROLE_LINK and has_attribute(scanner, ATTR_HREF)
    cdef Style declared = make_style(0, INHERITED, INHERITED, INHERITED, INHERITED)
    cdef uint64_t hash = 0
    cdef KnownStyle *known
    reader.work += STEPS_OF_STYLE + css.size // 2
    if reader.sheet.is_used:
        set_traits(&reader.sheet, element.name, attribute(scanner, ATTR_ID), attribute(scanner, ATTR_CLASS))
        hash = find_matched(&reader.sheet, NULL)
    if css.size or hash:
        hash = hash_of(css, HASH_SEED + hash)
        known = &reader.known[hash & (KNOWN_SLOTS - 1)]
        if known.hash != hash:
            compute_style(&reader.sheet, css, &known.style)
            known.hash = hash
        declared = known.style
    elif not is_link and not scanner.seen & LOOKS:
        return False
    style[0] = make_style(
        has_attribute(scanner, ATTR_HIDDEN),
        INHERITED,
        INHERITED,
        COLOUR_UNKNOWN if is_link
        else attribute_colour(reader.arena, attribute(scanner, ATTR_TEXT if role == ROLE_BODY else ATTR_COLOR)),
        COLOUR_UNKNOWN if attribute(scanner, ATTR_BACKGROUND).size
        else attribute_colour(reader.arena, attribute(scanner, ATTR_BGCOLOR)),
    )
    style[0] = nested(style[0], declared)
    return not is_unstyled(style[0])


# For Python

cdef class RenderedPage:
    """A rendered page: the text that a person would see, hidden text, links, images, and how often each tag occurs."""
    cdef readonly str text, hidden
    cdef readonly list links, images
    cdef readonly dict tags
    cdef readonly Size work


def render_page(html: str, most: int = MAX_WORK) -> RenderedPage:
    """Return what an HTML page shows, as a `RenderedPage`; after `most` steps, further styles are ignored."""
    cdef Memory memory = Memory()
    cdef Text text
    cdef Page page
    cdef Size k, max_work = most
    cdef RenderedPage rendered = RenderedPage()
    text_of_str(&memory.arena, html, &text)
    with nogil:
        render(&memory.arena, text, max_work, &page)
    rendered.text, rendered.hidden, rendered.work = str_of(page.text), str_of(page.hidden), page.work
    rendered.links = [str_of(page.links.items[k]) for k in range(page.links.count)]
    rendered.images = [str_of(page.images.items[k]) for k in range(page.images.count)]
    rendered.tags = {str_of(page.tags[k].name): page.tags[k].times for k in range(page.tag_count)}
    return rendered
