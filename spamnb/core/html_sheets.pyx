# Style sheets of a page: which rules an element's name, id, classes and the elements around it match.
#
# A rule is found by the name, class or id that its selector ends with; what else it asks for is then compared, of
# elements around whatever their order. Of two rules the later one counts, an important one more, and a variable has one
# value on the whole page.
#
# Mail is read in a wide window or on a phone: what only one of them hides is text that people see. So rules for some
# widths, for print or dark screens are left out. So are selectors of attributes, states and neighbours, and all of
# @import, @supports and the like: of 289 phishing messages one reads otherwise with them.
#
# All of it lies in the arena of the page. The limits below bound it, and `work` bounds how often rules are compared.

from libc.stdlib cimport qsort

cdef enum:
    MAX_SHEETS = 256 * 1024  # characters of the style sheets of a page, without comments
    STEPS_OF_CHARACTER = 4  # as html_page.pyx counts them
    MAX_SELECTORS = 10000  # of a page
    MAX_SELECTOR = 300  # characters of one
    MAX_CLASSES = 20  # of an element
    MAX_TRAITS = MAX_CLASSES + 3  # and "*", its name, its id
    MAX_CSS_VALUE = 300  # characters of a value
    MAX_REPLACED = 8  # variables in one value
    MAX_QUERIES = 300  # characters of a list of media queries
    NARROW = 360  # pixels: of the windows that mail is read in
    WIDE = 1000

cdef enum:  # kinds of traits
    IS_NAME = 0
    IS_CLASS = 46  # "."
    IS_ID = 35  # "#"
    IS_VARIABLE = 45  # "-"


cdef struct StyleRule:
    Size number
    StyleRule *next  # whose selector ends with the same trait
    int *traits  # the rest of its selector: of the element, then of elements around it
    Size own_count
    Size trait_count
    Declared *plain  # NULL if it declares nothing
    Declared *important


cdef struct Trait:  # a name, class or id in selectors, or a variable
    Text name
    uint64_t hash
    int kind
    StyleRule *first  # rule whose selector ends with it
    StyleRule *last
    Size rule_count
    bint is_ancestor  # rules ask for it around an element
    Size open  # how many of the open elements have it
    Size element  # number of the last element that had it
    Text value  # of a variable
    bint has_value


cdef struct StyleSheet:
    Arena *arena
    Trait *traits
    Size trait_count
    Size trait_room
    int *slots  # numbers of traits, each + 1
    Size slot_count  # a power of 2
    Size selector_count
    Size size
    Size work  # steps, as of html_page.pyx
    Size element_count
    StyleRule **matched  # by the last element
    Size matched_count
    Size matched_room
    int[MAX_TRAITS] ancestors  # traits of the last element that rules ask for around others
    Size ancestor_count
    KnownStyles known


cdef int new_sheet(Arena *arena, StyleSheet **sheet) except -1 nogil:
    sheet[0] = <StyleSheet *>allot(arena, sizeof(StyleSheet))
    memset(sheet[0], 0, sizeof(StyleSheet))
    sheet[0].arena = arena
    sheet[0].matched = <StyleRule **>with_room(arena, NULL, 0, &sheet[0].matched_room, sizeof(StyleRule *))
    return 0


cdef void restart_sheet(StyleSheet *sheet) noexcept nogil:
    """Forget what was open, to read the page once more."""
    cdef Size number
    sheet.ancestor_count = 0
    for number in range(sheet.trait_count):
        sheet.traits[number].open = 0


# Traits

cdef Size trait_slot(const StyleSheet *sheet, Text name, int kind, uint64_t hash) noexcept nogil:
    """Return the slot of a trait, or the empty one where it would be."""
    cdef Size slot = hash & <uint64_t>(sheet.slot_count - 1)
    cdef const Trait *trait
    while sheet.slots[slot]:
        trait = &sheet.traits[sheet.slots[slot] - 1]
        if trait.hash == hash and trait.kind == kind and equal(trait.name, name):
            break
        slot = (slot + 1) & (sheet.slot_count - 1)
    return slot


cdef int find_trait(const StyleSheet *sheet, Text name, int kind) noexcept nogil:
    """Return the number of a trait; below 0 if no rule has it."""
    if not sheet.slot_count:
        return NOWHERE
    return sheet.slots[trait_slot(sheet, name, kind, hash_of(name, HASH_SEED + kind))] - 1


cdef int add_trait(StyleSheet *sheet, Text name, int kind) except -1 nogil:
    """Return the number of a trait, which is added if it is new."""
    cdef uint64_t hash = hash_of(name, HASH_SEED + kind)
    cdef Size slot
    cdef Trait *trait
    if 2 * sheet.trait_count >= sheet.slot_count:
        grow_slots(sheet)
    slot = trait_slot(sheet, name, kind, hash)
    if not sheet.slots[slot]:
        sheet.traits = <Trait *>with_room(
            sheet.arena, sheet.traits, sheet.trait_count, &sheet.trait_room, sizeof(Trait)
        )
        trait = &sheet.traits[sheet.trait_count]
        memset(trait, 0, sizeof(Trait))
        trait.name, trait.kind, trait.hash = name, kind, hash
        sheet.trait_count += 1
        sheet.slots[slot] = sheet.trait_count
    return sheet.slots[slot] - 1


cdef int grow_slots(StyleSheet *sheet) except -1 nogil:
    cdef Size number
    cdef Trait *trait
    sheet.slot_count = max(4 * sheet.slot_count, <Size>64)
    sheet.slots = <int *>allot(sheet.arena, sheet.slot_count * sizeof(int))
    memset(sheet.slots, 0, sheet.slot_count * sizeof(int))
    for number in range(sheet.trait_count):
        trait = &sheet.traits[number]
        sheet.slots[trait_slot(sheet, trait.name, trait.kind, trait.hash)] = number + 1
    return 0


cdef int note_variables(StyleSheet *sheet, Texts variables) except -1 nogil:
    """Note the values of variables, given as a list of names and values."""
    cdef Size at
    cdef int number
    for at in range(0, variables.count - 1, 2):
        number = add_trait(sheet, variables.items[at], IS_VARIABLE)
        sheet.traits[number].value = variables.items[at + 1]
        sheet.traits[number].has_value = True
    return 0


# Rules

cdef int add_sheet(StyleSheet *sheet, Text css, Text media, Size most) except -1 nogil:
    """Read the rules of one more style sheet, for so many steps."""
    cdef Size at = 0, opening = -1, closing = -1, chars, depth = 0, left_out
    cdef Text prelude
    cdef Writer to
    start_writer(&to, sheet.arena, css.size)
    plain_css(&to, css, &css)
    replaced(sheet.arena, css, literal(b"<!--"), literal(b" "), &css)
    replaced(sheet.arena, css, literal(b"-->"), literal(b" "), &css)
    css = first_chars(css, max(<Size>0, min(MAX_SHEETS - sheet.size, most // STEPS_OF_CHARACTER)))
    chars = count_chars(css)
    sheet.size += chars
    sheet.work += STEPS_OF_CHARACTER * chars
    forget_styles(&sheet.known)
    lower_text(sheet.arena, media, &media)
    left_out = NOWHERE if is_for_all(sheet.arena, media) else 0  # depth of the outermost block whose rules do not count
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
        prelude = without_white(rest(prelude, find_last(prelude, c";", prelude.size) + 1))
        at = opening + 1
        if byte_at(prelude, 0) == c"@":
            depth += 1
            if left_out < 0 and not (starts_with(prelude, b"@media") and is_for_all(sheet.arena, rest(prelude, 6))):
                left_out = depth
            continue
        if left_out < 0:
            add_rule(sheet, prelude, piece(css, at, closing))
        at = closing + 1


cdef int add_rule(StyleSheet *sheet, Text selectors, Text block) except -1 nogil:
    cdef Declared plain, important
    cdef Declared *kept_plain = NULL
    cdef Declared *kept_important = NULL
    cdef Texts variables
    cdef Text selector
    cdef Size start = 0, end
    memset(&variables, 0, sizeof(variables))
    if not read_declarations(sheet.arena, block, MAX_CSS_VALUE, &plain, &important, &variables):
        return 0
    note_variables(sheet, variables)
    if plain.names and sheet.selector_count < MAX_SELECTORS:
        kept_plain = <Declared *>allot(sheet.arena, sizeof(Declared))
        kept_plain[0] = plain
    if important.names and sheet.selector_count < MAX_SELECTORS:
        kept_important = <Declared *>allot(sheet.arena, sizeof(Declared))
        kept_important[0] = important
    while start <= selectors.size and sheet.selector_count < MAX_SELECTORS:
        sheet.selector_count += 1
        end = or_end(selectors, find_byte(selectors, c",", start))
        selector = first_chars(piece(selectors, start, end), MAX_SELECTOR)
        start = end + 1
        if not (has(selector, c"[") or has(selector, c":") or has(selector, c"+") or has(selector, c"~")):
            replaced(sheet.arena, selector, literal(b">"), literal(b" "), &selector)
            add_selector(sheet, selector, kept_plain, kept_important)
    return 0


cdef int add_selector(StyleSheet *sheet, Text selector, Declared *plain, Declared *important) except -1 nogil:
    """Add a rule for what a selector asks for: traits of its last word are the element's own, the last is the key."""
    cdef int[MAX_SELECTOR] around, own
    cdef Size around_count = 0, own_count = 0, at = 0, start, end
    cdef Text word
    cdef StyleRule *rule
    cdef Trait *key
    cdef int number
    while next_css_word(selector, &at, &word):
        for start in range(own_count):  # of the word before, which is not the last
            key = &sheet.traits[own[start]]
            if key.kind != IS_NAME or not (is_(key.name, b"*") or is_(key.name, b"html") or is_(key.name, b"body")):
                key.is_ancestor = True
                if around_count < MAX_SELECTOR:
                    around[around_count] = own[start]
                    around_count += 1
        own_count = start = 0
        while start < word.size:
            end = start + 1
            while end < word.size and byte_at(word, end) != IS_CLASS and byte_at(word, end) != IS_ID:
                end += 1
            number = byte_at(word, start)
            if number == IS_CLASS or number == IS_ID:
                number = add_trait(sheet, piece(word, start + 1, end), number)
            else:
                number = add_trait(sheet, piece(word, start, end), IS_NAME)
            if own_count < MAX_SELECTOR:
                own[own_count] = number
                own_count += 1
            start = end
    if not own_count:
        own[0], own_count = add_trait(sheet, nothing(), IS_NAME), 1
    key = &sheet.traits[own[own_count - 1]]
    rule = <StyleRule *>allot(sheet.arena, sizeof(StyleRule))
    rule.number, rule.next, rule.plain, rule.important = sheet.selector_count, NULL, plain, important
    rule.own_count, rule.trait_count = own_count - 1, own_count - 1 + around_count
    rule.traits = <int *>allot(sheet.arena, rule.trait_count * sizeof(int))
    memcpy(rule.traits, own, rule.own_count * sizeof(int))
    memcpy(rule.traits + rule.own_count, around, around_count * sizeof(int))
    if key.first is NULL:
        key.first = rule
    else:
        key.last.next = rule
    key.last = rule
    key.rule_count += 1
    return 0


# What an element matches

cdef int match_rules(StyleSheet *sheet, Text name, Text identity, Text classes) except -1 nogil:
    """Find the rules that an element matches, in their order."""
    cdef int[MAX_TRAITS] own
    cdef Size own_count = 0, class_count = 0, at = 0, k
    cdef Text one
    cdef StyleRule *rule
    sheet.element_count += 1
    sheet.ancestor_count = sheet.matched_count = 0
    own_count = add_own(sheet, find_trait(sheet, literal(b"*"), IS_NAME), own, own_count)
    own_count = add_own(sheet, find_trait(sheet, name, IS_NAME), own, own_count)
    if identity.size:
        lower_text(sheet.arena, identity, &one)
        own_count = add_own(sheet, find_trait(sheet, without_white(one), IS_ID), own, own_count)
    if classes.size:
        lower_text(sheet.arena, classes, &classes)
    while class_count < MAX_CLASSES and next_css_word(classes, &at, &one):
        class_count += 1
        own_count = add_own(sheet, find_trait(sheet, one, IS_CLASS), own, own_count)
    sheet.work += 10 + 4 * (2 + (identity.size > 0) + class_count)
    for k in range(own_count):
        rule = sheet.traits[own[k]].first
        while rule is not NULL:
            if is_matched(sheet, rule):
                sheet.matched = <StyleRule **>with_room(
                    sheet.arena, sheet.matched, sheet.matched_count, &sheet.matched_room, sizeof(StyleRule *)
                )
                sheet.matched[sheet.matched_count] = rule
                sheet.matched_count += 1
            rule = rule.next
    if sheet.matched_count > 1:
        qsort(sheet.matched, sheet.matched_count, sizeof(StyleRule *), by_number)
    return 0


cdef Size add_own(StyleSheet *sheet, int number, int *own, Size count) noexcept nogil:
    """Note a trait of the last element, which may have it twice; return how many different ones there are."""
    cdef Trait *trait
    if number < 0:
        return count
    trait = &sheet.traits[number]
    sheet.work += trait.rule_count
    if trait.is_ancestor and sheet.ancestor_count < MAX_TRAITS:
        sheet.ancestors[sheet.ancestor_count] = number
        sheet.ancestor_count += 1
    if trait.element == sheet.element_count or count == MAX_TRAITS:
        return count
    trait.element = sheet.element_count
    own[count] = number
    return count + 1


cdef bint is_matched(const StyleSheet *sheet, const StyleRule *rule) noexcept nogil:
    """Tell whether the last element has the traits that a rule asks for, and the open ones those around it."""
    cdef Size k
    for k in range(rule.own_count):
        if sheet.traits[rule.traits[k]].element != sheet.element_count:
            return False
    for k in range(rule.own_count, rule.trait_count):
        if not sheet.traits[rule.traits[k]].open:
            return False
    return True


cdef int by_number(const void *one, const void *other) noexcept nogil:
    cdef Size first = (<StyleRule **>one)[0].number, second = (<StyleRule **>other)[0].number
    return (first > second) - (first < second)


cdef int matched_style(StyleSheet *sheet, Writer *scratch, Text css, Style *style) except -1 nogil:
    """Return the style of an element by the rules that it matches and its style attribute.

    It is remembered, also because variables may have another value later.
    """
    cdef Text rules
    cdef uint64_t hash
    cdef const Style *found
    rules.at, rules.size = <const Byte *>sheet.matched, sheet.matched_count * sizeof(StyleRule *)
    hash = hash_of(rules, hash_of(css, HASH_SEED))
    found = known_style(&sheet.known, css, rules, hash)
    if found is not NULL:
        style[0] = found[0]
        return 0
    compute_style(sheet, scratch, css, style)
    return remember_style(sheet.arena, &sheet.known, css, rules, hash, style[0])


cdef int compute_style(StyleSheet *sheet, Writer *scratch, Text css, Style *style) except -1 nogil:
    cdef Declared plain, important, all_values
    cdef Texts variables
    cdef Text text
    cdef Writer kept
    cdef Size k
    cdef int property
    memset(&variables, 0, sizeof(variables))
    if contains(css, b"--"):
        start_writer(&kept, sheet.arena, css.size)
        plain_css(&kept, css, &text)
        read_declarations(sheet.arena, text, MAX_CSS_VALUE, &plain, &important, &variables)
        note_variables(sheet, variables)
    else:
        plain_css(scratch, css, &text)
        read_declarations(sheet.arena, text, MAX_CSS_VALUE, &plain, &important, NULL)
    all_values.names = 0
    for k in range(sheet.matched_count):
        if sheet.matched[k].plain is not NULL:
            override(&all_values, sheet.matched[k].plain)
    override(&all_values, &plain)
    for k in range(sheet.matched_count):
        if sheet.matched[k].important is not NULL:
            override(&all_values, sheet.matched[k].important)
    override(&all_values, &important)
    for property in range(PROPERTY_COUNT):
        if has_value(&all_values, property):
            replace_variables(sheet, &all_values.values[property])
    return declared_style(&all_values, style)


cdef int replace_variables(const StyleSheet *sheet, Text *value) except -1 nogil:
    """Replace the variables in a value."""
    cdef Size start, end, comma, replacements = 0
    cdef Text inside, replacement
    cdef Writer to
    cdef int number
    while replacements < MAX_REPLACED:
        replacements += 1
        start = find(value[0], literal(b"var("), 0)
        if start < 0:
            break
        end = or_end(value[0], find_byte(value[0], c")", start))
        inside = piece(value[0], start + 4, end)
        comma = or_end(inside, find_byte(inside, c",", 0))
        number = find_trait(sheet, without_white(piece(inside, 0, comma)), IS_VARIABLE)
        if number >= 0 and sheet.traits[number].has_value:
            replacement = sheet.traits[number].value
        else:
            replacement = without_white(rest(inside, comma + 1))
        start_writer(&to, sheet.arena, value.size + replacement.size)
        put(&to, piece(value[0], 0, start))
        put(&to, replacement)
        put(&to, rest(value[0], end + 1))
        value[0] = first_chars(written(&to), MAX_CSS_VALUE)
    return 0


# Media queries

cdef int is_for_all(Arena *arena, Text media) except -1 nogil:
    """Tell whether one of some media queries is true on every screen."""
    cdef Size start = 0, end
    media = first_chars(media, MAX_QUERIES)
    while start <= media.size:
        end = or_end(media, find_byte(media, c",", start))
        if is_true(arena, piece(media, start, end)):
            return True
        start = end + 1
    return False


cdef int is_true(Arena *arena, Text query) except -1 nogil:
    cdef Text kind, name, feature
    cdef Size start, end, colon
    cdef double width
    replaced(arena, query, literal(b"only"), literal(b""), &query)
    replaced(arena, query, literal(b"and"), literal(b""), &query)
    end = or_end(query, find_byte(query, c"(", 0))
    kind = without_white(piece(query, 0, end))
    if kind.size and not is_(kind, b"all") and not is_(kind, b"screen"):
        return False
    while end < query.size:
        start = end + 1
        end = or_end(query, find_byte(query, c"(", start))
        feature = piece(query, start, end)
        feature = piece(feature, 0, or_end(feature, find_byte(feature, c")", 0)))
        colon = or_end(feature, find_byte(feature, c":", 0))
        name = without_white(piece(feature, 0, colon))
        width = pixels(without_white(rest(feature, colon + 1)))
        if is_(name, b"min-width"):
            if width > NARROW:
                return False
        elif not is_(name, b"max-width") or width < WIDE:
            return False
    return True
