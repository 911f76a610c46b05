# Elements and attributes of HTML by their names: what a tag does to the text before, in and behind it.
#
# Tables of names are filled at import and never change. Their hash is seeded with Python's own secret, so that nobody
# can write names that collide; the tables that html_sheets.pyx makes of a page have the same hash.

from libc.stdint cimport int16_t

cdef enum:
    MAX_TABLE_NAMES = 256
    TABLE_SLOTS = 1024  # a power of 2
    MAX_KINDS = 128

cdef enum:  # elements without an end are never followed, blocks always: their end ends what they hold
    NEVER_FOLLOWED = 0
    FOLLOWED_IF_STYLED = 1
    ALWAYS_FOLLOWED = 2

cdef enum:  # elements whose content is no markup, and where it goes
    RAW_DROPPED = 1
    RAW_HIDDEN = 2
    RAW_SHOWN = 3

cdef enum:  # elements whose attributes mean something of their own, in the order of ROLES
    ROLE_ROOT = 1
    ROLE_BODY = 2
    ROLE_LINK = 3
    ROLE_IMAGE = 4
    ROLE_INPUT = 5
    ROLE_SHEET = 6

cdef enum:  # attributes that are read, in the order of ATTRIBUTES: where the element leads; what is seen
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
    TARGETS = (1 << ATTR_BACKGROUND + 1) - 1  # as bits of a set of attributes
    LOOKS = (1 << ATTR_TEXT + 1) - (1 << ATTR_BACKGROUND)


cdef struct NameTable:
    Text[MAX_TABLE_NAMES] names
    int16_t[TABLE_SLOTS] slots  # numbers of names, each + 1; 0 where there is nothing
    uint32_t[32] sizes  # of the names that start with a letter, as bits; most words are told apart by them


cdef struct ElementKind:
    int gap  # byte that separates the words before and after it; 0 if none does
    int followed
    int raw
    int role
    bint before_text  # stands before the text of a page
    bint ended_by_next  # the start of such an element ends one that is open
    bint gap_at_any_end  # even if none is open


cdef uint64_t HASH_SEED = <uint64_t><Py_ssize_t>hash(b"spamnb names")
cdef uint64_t HASH_FACTOR = <uint64_t><Py_ssize_t>hash(b"spamnb factor") | 1


cdef int fill_names(NameTable *table, list names) except -1:
    """Fill a table with names, which the list keeps in memory."""
    cdef Size slot
    if len(names) > MAX_TABLE_NAMES:
        raise ValueError(names)
    memset(table, 0, sizeof(NameTable))
    for number, name in enumerate(names):
        table.names[<Size>number] = text_of(name)
        table.sizes[(name[0] if name else 0) & 31] |= 1u << min(len(name), 31)
        slot = hash_of(text_of(name), HASH_SEED) & (TABLE_SLOTS - 1)
        while table.slots[slot]:
            slot = (slot + 1) & (TABLE_SLOTS - 1)
        table.slots[slot] = number + 1
    return 0


cdef int name_number(const NameTable *table, Text name, uint64_t hash) noexcept nogil:
    """Return the number of a name by its hash, NOWHERE if the table does not have it."""
    cdef Size slot = hash & (TABLE_SLOTS - 1)
    cdef int number
    while table.slots[slot]:
        number = table.slots[slot] - 1
        if equal(table.names[number], name):
            return number
        slot = (slot + 1) & (TABLE_SLOTS - 1)
    return NOWHERE


cdef inline bint may_have_name(const NameTable *table, Text name) noexcept nogil:
    """Tell whether a table has a name that is as long and starts with this letter, in either case."""
    return table.sizes[byte_at(name, 0) & 31] >> min(name.size, <Size>31) & 1


cdef inline int number_of_name(const NameTable *table, Text name) noexcept nogil:
    return name_number(table, name, hash_of(name, HASH_SEED)) if may_have_name(table, name) else NOWHERE


LINE_GAPS = (
    b"address article aside blockquote br button caption center dd details dialog dir div dl dt "
    b"fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hr legend "
    b"li listing main marquee menu nav ol optgroup option p plaintext pre section select summary table "
    b"tbody textarea tfoot thead title tr ul xmp"
).split()
VOID = (
    b"area base basefont bgsound br col embed frame hr img image input keygen link meta param source track wbr"
).split()
ENDED_BY_NEXT = b"p li dt dd option tr td th a".split()
RAW = {b"script": RAW_DROPPED, b"style": RAW_DROPPED, b"title": RAW_HIDDEN, b"iframe": RAW_HIDDEN,
       b"noframes": RAW_HIDDEN, b"textarea": RAW_SHOWN, b"xmp": RAW_SHOWN}
ROLES = b"html body a img input style".split()
BEFORE_TEXT = b"html head meta title style link base script".split()
ELEMENTS = [b"", *dict.fromkeys([*LINE_GAPS, *VOID, *ENDED_BY_NEXT, *RAW, *ROLES, *BEFORE_TEXT])]
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
    kind.role = ROLES.index(name) + 1 if name in ROLES else 0
    kind.before_text = name in BEFORE_TEXT
    kind.ended_by_next = name in ENDED_BY_NEXT
    kind.gap_at_any_end = name in (b"br", b"p")
    return kind


cdef int fill_element_kinds() except -1:
    cdef Size number
    if len(ELEMENTS) > MAX_KINDS:
        raise ValueError(ELEMENTS)
    for number in range(len(ELEMENTS)):
        ELEMENT_KINDS[number] = element_kind(ELEMENTS[number])
    fill_names(&ELEMENT_NAMES, ELEMENTS)
    return fill_names(&ATTRIBUTE_NAMES, ATTRIBUTES)


fill_element_kinds()
