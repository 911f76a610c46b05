# Tables of HTML elements and attributes: how a tag affects the text before, in and after its element.

cdef enum:
    MAX_KINDS = 128

cdef enum:  # whether an element is kept among the open ones: void elements never, blocks always
    NEVER_FOLLOWED = 0
    FOLLOWED_IF_STYLED = 1
    ALWAYS_FOLLOWED = 2

cdef enum:  # where the text of an element goes whose content is no markup
    RAW_DROPPED = 1
    RAW_HIDDEN = 2
    RAW_SHOWN = 3

cdef enum:  # elements that are treated specially, in the order of ROLES
    ROLE_ROOT = 1
    ROLE_BODY = 2
    ROLE_LINK = 3
    ROLE_IMAGE = 4
    ROLE_INPUT = 5
    ROLE_SHEET = 6

cdef enum:  # attributes that are read, in the order of ATTRIBUTES: first addresses, then what affects the look
    ATTR_HREF = 0
    ATTR_SRC = 3
    ATTR_BACKGROUND = 4
    ATTR_BGCOLOR = 5
    ATTR_COLOR = 6
    ATTR_HIDDEN = 7
    ATTR_STYLE = 8
    ATTR_TEXT = 9
    ATTR_ALT = 10
    ATTR_TYPE = 11
    ATTR_VALUE = 12
    ATTR_MEDIA = 13
    ATTR_CLASS = 14
    ATTR_ID = 15
    ATTR_COUNT = 16
    MAX_ATTRIBUTE = 10  # bytes of the longest name
    TARGETS = (1 << ATTR_BACKGROUND + 1) - 1  # bits of the attributes that have addresses
    LOOKS = (1 << ATTR_TEXT + 1) - (1 << ATTR_BACKGROUND)


cdef struct ElementKind:
    int gap  # byte that separates the words before and after it; 0 for none
    int followed
    int raw
    int role
    bint before_text  # its tag can stand before the text of a page
    bint ended_by_next  # its start tag closes an open element of the same name
    bint gap_at_any_end  # its end tag makes a gap even if no such element is open


LINE_GAPS = frozenset((
    b"address article aside blockquote br button caption center dd details dialog dir div dl dt "
    b"fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hr legend "
    b"li listing main marquee menu nav ol optgroup option p plaintext pre section select summary table "
    b"tbody textarea tfoot thead title tr ul xmp"
).split())
VOID = frozenset((
    b"area base basefont bgsound br col embed frame hr img image input keygen link meta param source track wbr"
).split())
ENDED_BY_NEXT = frozenset(b"p li dt dd option tr td th a".split())
RAW = {b"script": RAW_DROPPED, b"style": RAW_DROPPED, b"title": RAW_HIDDEN, b"iframe": RAW_HIDDEN,
       b"noframes": RAW_HIDDEN, b"textarea": RAW_SHOWN, b"xmp": RAW_SHOWN}
ROLES = {name: number + 1 for number, name in enumerate(b"html body a img input style".split())}
BEFORE_TEXT = frozenset(b"html head meta title style link base script".split())
ELEMENTS = [b"", *{*LINE_GAPS, *VOID, *ENDED_BY_NEXT, *RAW, *ROLES, *BEFORE_TEXT}]
ATTRIBUTES = (
    b"href action formaction src background bgcolor color hidden style text alt type value media class id"
).split()

cdef NameTable ELEMENT_NAMES, ATTRIBUTE_NAMES
cdef ElementKind[MAX_KINDS] ELEMENT_KINDS  # by number in ELEMENTS; the first is any element that is not known


cdef ElementKind element_kind(bytes name):
    cdef ElementKind kind
    kind.gap = 9 if name in (b"td", b"th") else 10 if name in LINE_GAPS else 0
    kind.followed = NEVER_FOLLOWED if name in VOID else ALWAYS_FOLLOWED if kind.gap else FOLLOWED_IF_STYLED
    kind.raw = RAW.get(name, 0)
    kind.role = ROLES.get(name, 0)
    kind.before_text = name in BEFORE_TEXT
    kind.ended_by_next = name in ENDED_BY_NEXT
    kind.gap_at_any_end = name in (b"br", b"p")
    return kind


cdef int fill_element_kinds() except -1:
    cdef Size number
    for number in range(min(len(ELEMENTS), MAX_KINDS)):
        ELEMENT_KINDS[number] = element_kind(ELEMENTS[number])
    fill_names(&ELEMENT_NAMES, ELEMENTS)
    return fill_names(&ATTRIBUTE_NAMES, ATTRIBUTES)


fill_element_kinds()
