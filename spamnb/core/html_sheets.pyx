# Reads the style sheets of a page, and finds the rules that an element matches.
#
# A trait is a name of elements, a class, an id or a variable. A rule is found by the last trait of its selector; then
# its other traits are compared, those of elements around in any order. Of two rules the later one wins, unless the
# other is !important; a variable has the same value on the whole page.
#
# Mail is read in wide windows and on phones: text that is hidden in only one of them is seen. So rules for some widths,
# for print or dark screens are ignored. So are selectors with attributes, states and neighbours, and @import, @supports
# and the like: with them, the text of one of 289 phishing messages would differ.
#
# Memory is in the arena of the page, and bounded by the limits below; `work` bounds how often rules are compared.

cdef enum:
    MAX_SHEETS = 256 * 1024  # bytes of the style sheets of a page, without comments
    STEPS_OF_CHARACTER = 4  # as html_page.pyx counts them
    MAX_SELECTORS = 10000  # of a page
    MAX_SELECTOR = 300  # bytes of one
    MAX_CLASSES = 20  # of an element
    MAX_TRAITS = MAX_CLASSES + 3  # … and "*", its name, its id
    MAX_REPLACED = 8  # variables replaced in one value
    MAX_QUERIES = 300  # bytes of a list of media queries
    NARROW = 360  # pixels: of the windows that mail is read in
    WIDE = 1000
    TRAIT_SLOTS = 1024  # a power of 2

cdef enum:  # kinds of traits
    IS_NAME = 0
    IS_CLASS = 46  # "."
    IS_ID = 35  # "#"
    IS_VARIABLE = 45  # "-"


cdef struct StyleRule:
    int number  # in the order of the page
    StyleRule *next  # the next rule whose selector ends with the same trait
    Trait **own  # traits that its selector asks for, but the last: of the element
    Size own_count
    Trait **around  # … and of elements around it
    Size around_count
    Declared *declared


cdef struct Trait:
    Text name
    int kind
    Trait *next  # in the same slot
    StyleRule *rules  # those whose selector ends with it
    Size rule_count
    Size open  # how many of the open elements have it
    Size element  # number of the last element that had it
    Text value  # of a variable


cdef struct StyleSheet:
    Arena *arena
    bint is_used
    (Trait *)[TRAIT_SLOTS] slots
    Size selector_count
    Size size  # bytes of style sheets read
    Size work  # steps used, as html_page.pyx counts them
    Size element_count  # number of the last element
    (Trait *)[MAX_TRAITS] own  # traits of the last element that rules ask for
    Size own_count


# Traits

cdef Trait *find_trait(StyleSheet *sheet, Text name, int kind, bint is_added) except? NULL nogil:
    """Return the trait (class, id …) of this name and kind; if new, add it (`is_added`) or return NULL."""
    cdef Trait **slot = &sheet.slots[hash_of(name, HASH_SEED + kind) & (TRAIT_SLOTS - 1)]
    cdef Trait *trait = slot[0]
    while trait is not NULL and not (trait.kind == kind and equal(trait.name, name)):
        trait = trait.next
    if trait is NULL and is_added:
        trait = <Trait *>allot(sheet.arena, sizeof(Trait))
        memset(trait, 0, sizeof(Trait))
        trait.name, trait.kind, trait.next = name, kind, slot[0]
        slot[0] = trait
    return trait


cdef int set_variables(StyleSheet *sheet, Texts variables) except -1 nogil:
    """Store the values of CSS variables; `variables`: name, value, name, value …"""
    cdef Size at
    for at in range(0, variables.count - 1, 2):
        find_trait(sheet, variables.items[at], IS_VARIABLE, True).value = variables.items[at + 1]
    return 0


# Rules

cdef int add_sheet(StyleSheet *sheet, Text css, Text media, Size most) except -1 nogil:
    """Read the rules of one more style sheet, which is for the devices in `media`; use at most `most` steps."""
    cdef Size at = 0, opening = -1, closing = -1, depth = 0, left_out
    cdef Text prelude
    sheet.is_used = True
    plain_css(sheet.arena, css, &css)
    replaced(sheet.arena, css, literal(b"<!--"), literal(b" "), &css)
    replaced(sheet.arena, css, literal(b"-->"), literal(b" "), &css)
    css = piece(css, 0, max(<Size>0, min(MAX_SHEETS - sheet.size, most // STEPS_OF_CHARACTER)))
    sheet.size += css.size
    sheet.work += STEPS_OF_CHARACTER * css.size
    lowered(sheet.arena, media, &media)
    left_out = NOWHERE if is_for_all(media) else 0  # depth of the outermost block that is ignored
    while True:
        if opening < at:
            opening = find_byte(css, c"{", at)
            if opening < 0:
                return 0
        if closing < at:
            closing = or_end(css, find_byte(css, c"}", at))
        if closing < opening:
            depth = max(depth - 1, <Size>0)
            if depth < left_out:
                left_out = NOWHERE
            at = closing + 1
            continue
        prelude = piece(css, at, opening)
        prelude = without_space(rest(prelude, find_last(prelude, c";", prelude.size) + 1))
        at = opening + 1
        if byte_at(prelude, 0) == c"@":
            depth += 1
            if left_out < 0 and not (starts_with(prelude, b"@media") and is_for_all(rest(prelude, 6))):
                left_out = depth
            continue
        if left_out < 0:
            add_rule(sheet, prelude, piece(css, at, closing))
        at = closing + 1


cdef int add_rule(StyleSheet *sheet, Text selectors, Text block) except -1 nogil:
    """Add a CSS rule: for each of `selectors` the declarations in `block`, such as "color: red"."""
    cdef Declared *declared = <Declared *>allot(sheet.arena, sizeof(Declared))
    cdef Texts variables
    cdef Text selector
    cdef Size at = 0
    read_declarations(sheet.arena, block, declared, &variables)
    set_variables(sheet, variables)
    while at < selectors.size and sheet.selector_count < MAX_SELECTORS:
        sheet.selector_count += 1
        selector = until(selectors, c",", at)
        at += selector.size + 1
        selector = piece(selector, 0, MAX_SELECTOR)
        if not (has(selector, c"[") or has(selector, c":") or has(selector, c"+") or has(selector, c"~")):
            add_selector(sheet, selector, declared)
    return 0


cdef int add_selector(StyleSheet *sheet, Text selector, Declared *declared) except -1 nogil:
    """Add a CSS rule for one selector. Elements look it up by the last name, class or id in the selector."""
    cdef Trait **traits = <Trait **>allot(sheet.arena, selector.size * sizeof(Trait *))
    cdef Size count = 0, own = 0, at = 0, start, end  # `own`: where the traits of the last word start
    cdef Text word
    cdef StyleRule *rule
    cdef Trait *trait
    cdef int kind
    while next_of(selector, b" \t\n\v\f\r>", &at, &word):
        own, start = count, 0
        while start < word.size:
            kind = byte_at(word, start)
            end = start + 1
            while end < word.size and byte_at(word, end) != IS_CLASS and byte_at(word, end) != IS_ID:
                end += 1
            if kind == IS_CLASS or kind == IS_ID:
                start += 1
            else:
                kind = IS_NAME
            traits[count] = find_trait(sheet, piece(word, start, end), kind, True)
            count += 1
            start = end
    if not count:
        return 0
    rule = <StyleRule *>allot(sheet.arena, sizeof(StyleRule))
    trait = traits[count - 1]
    rule.number, rule.declared, rule.next = sheet.selector_count, declared, trait.rules
    rule.around, rule.around_count, rule.own, rule.own_count = traits, own, traits + own, count - 1 - own
    trait.rules = rule
    trait.rule_count += 1
    return 0


# What an element matches

cdef int set_traits(StyleSheet *sheet, Text name, Text identity, Text classes) except -1 nogil:
    """Go to the next element, and set the traits that selectors ask for: "*", its name, id and classes."""
    cdef Size at = 0, count = 0
    cdef Text one
    sheet.element_count += 1
    sheet.own_count = 0
    add_own(sheet, literal(b"*"), IS_NAME)
    add_own(sheet, name, IS_NAME)
    if identity.size:
        lowered(sheet.arena, identity, &one)
        add_own(sheet, without_space(one), IS_ID)
    lowered(sheet.arena, classes, &classes)
    while count < MAX_CLASSES and next_of(classes, b" \t\n\v\f\r", &at, &one):
        count += 1
        add_own(sheet, one, IS_CLASS)
    sheet.work += 18 + 4 * ((identity.size > 0) + count)
    return 0


cdef int add_own(StyleSheet *sheet, Text name, int kind) except -1 nogil:
    """Add a trait (name, class or id) to the current element, unless the element has it or no rule asks for it."""
    cdef Trait *trait = find_trait(sheet, name, kind, False)
    if trait is not NULL and trait.element != sheet.element_count:
        sheet.work += trait.rule_count
        trait.element = sheet.element_count
        sheet.own[sheet.own_count] = trait
        sheet.own_count += 1
    return 0


cdef uint64_t find_matched(const StyleSheet *sheet, Declared *declared) noexcept nogil:
    """Return a hash of the rules for the current element; add their properties to `declared`, unless NULL."""
    cdef uint64_t found = 0
    cdef const StyleRule *rule
    cdef Size k
    for k in range(sheet.own_count):
        rule = sheet.own[k].rules
        while rule is not NULL:
            if is_matched(sheet, rule):
                found += HASH_FACTOR * rule.number
                if declared is not NULL:
                    override(declared, rule.declared, rule.number)
            rule = rule.next
    return found


cdef bint is_matched(const StyleSheet *sheet, const StyleRule *rule) noexcept nogil:
    """Return whether a CSS rule matches the current element and the open elements around it."""
    cdef Size k
    for k in range(rule.own_count):
        if rule.own[k].element != sheet.element_count:
            return False
    for k in range(rule.around_count):
        if not rule.around[k].open and not is_around_all(rule.around[k]):
            return False
    return True


cdef inline bint is_around_all(const Trait *trait) noexcept nogil:
    """Return whether every element is inside an element with this trait: "*", html or body."""
    return trait.kind == IS_NAME and (is_(trait.name, b"*") or is_(trait.name, b"html") or is_(trait.name, b"body"))


cdef int compute_style(StyleSheet *sheet, Text css, Style *style) except -1 nogil:
    """Compute the style of the current element from CSS rules and the element's style attribute, `css`."""
    cdef Declared declared, own
    cdef Texts variables
    cdef int property
    memset(&declared, 0, sizeof(Declared))
    plain_css(sheet.arena, css, &css)
    read_declarations(sheet.arena, css, &own, &variables)
    set_variables(sheet, variables)
    find_matched(sheet, &declared)
    override(&declared, &own, INLINE)
    for property in range(PROPERTY_COUNT):
        if has_value(&declared, property):
            replace_variables(sheet, &declared.values[property])
    style[0] = declared_style(&declared)
    return 0


cdef int replace_variables(StyleSheet *sheet, Text *value) except -1 nogil:
    """Replace each `var(--name)` in a CSS value by the value of this variable."""
    cdef Size start, end, comma, replacements = 0
    cdef Text inside, replacement
    cdef Writer to
    cdef Trait *variable
    while replacements < MAX_REPLACED:
        replacements += 1
        start = find(value[0], literal(b"var("), 0)
        if start < 0:
            break
        end = or_end(value[0], find_byte(value[0], c")", start))
        inside = piece(value[0], start + 4, end)
        comma = or_end(inside, find_byte(inside, c",", 0))
        variable = find_trait(sheet, without_space(piece(inside, 0, comma)), IS_VARIABLE, False)
        replacement = without_space(rest(inside, comma + 1)) if variable is NULL else variable.value
        start_writer(&to, sheet.arena, value.size + replacement.size)
        put(&to, piece(value[0], 0, start))
        put(&to, replacement)
        put(&to, rest(value[0], end + 1))
        value[0] = piece(written(&to), 0, MAX_CSS_VALUE)
    return 0


# Media queries

cdef bint is_for_all(Text media) noexcept nogil:
    """Return whether `media` is empty, or one of its queries is true for all screens that mail is read on."""
    cdef Size at = 0
    cdef Text query
    media = piece(media, 0, MAX_QUERIES)
    while next_of(media, b",", &at, &query):
        if is_true(query):
            return True
    return not without_space(media).size


cdef bint is_true(Text query) noexcept nogil:
    """Return whether a media query is true for every screen that mail is read on."""
    cdef Text word
    cdef Size at = 0
    cdef bint is_least
    while next_of(query, b" \t\n\v\f\r():", &at, &word):
        is_least = is_(word, b"min-width")
        if is_least or is_(word, b"max-width"):
            next_of(query, b" \t\n\v\f\r():", &at, &word)
            if pixels(word) > NARROW if is_least else pixels(word) < WIDE:
                return False
        elif not (is_(word, b"only") or is_(word, b"and") or is_(word, b"all") or is_(word, b"screen")):
            return False
    return True
