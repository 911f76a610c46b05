# Turns a text into words separated by spaces. ASCII is read here, other characters in scripts.pyx; Python removes
# stop words and replaces words by their stems.
#
# The result of an ASCII text is as long as the text, that of Chinese up to 7/3 as long; a character that Python
# normalises may become 18. Of a text that is not ASCII, only the first MAX_WORDS runs between spaces are read.

cdef struct WordRules:  # a model's rules for words; with a cache, so each thread has its own
    int ngrams  # up to how many neighbouring words make one token
    bint is_simple  # no stop words are left out, and no words are stemmed
    bint dotless  # Turkish: ı is another letter than i, and its capital is I; else i, ı, I and İ are the same letter
    void *filter  # the object that removes stop words and stems (`Words` of reading/settings.py); NULL if is_simple
    RunCache runs


cdef int start_rules(WordRules *rules, words) except -1:
    """Set `rules` by `words`: a `Words` (reading/settings.py), which the caller must keep; None: defaults."""
    memset(rules, 0, sizeof(WordRules))
    rules.ngrams, rules.is_simple = 1, True
    if words is not None:
        rules.ngrams, rules.is_simple, rules.dotless = words.ngrams, words.is_simple, words.dotless
        rules.filter = NULL if rules.is_simple else <void *>words
    return 0


cdef void free_rules(WordRules *rules) noexcept nogil:
    free(rules.runs.slots)
    rules.runs.slots = NULL


cdef int spaced(WordRules *rules, Arena *arena, Text text, Text *result) except -1 nogil:
    """Set `result` to the words of a text, in lower case, separated by spaces; keep quotes and long words."""
    cdef Byte *copy
    cdef bint is_plain
    if rules.dotless:
        replaced(arena, text, literal(b"I"), literal(b"\xc4\xb1"), &text)
    is_plain = is_ascii(text)
    if not is_plain:
        plain_typography(arena, text, &text)
        if not rules.dotless:
            replaced(arena, text, literal(b"\xc4\xb1"), literal(b"i"), &text)
        is_plain = is_ascii(text)
    copy = <Byte *>allot(arena, text.size)
    put_spaced(copy, text.at, text.size)
    result.at, result.size = copy, text.size
    if not is_plain:
        read_scripts(&rules.runs, arena, result[0], result)
    if rules.filter is not NULL:
        filter_words(rules, arena, result)
    return 0


cdef int filter_words(WordRules *rules, Arena *arena, Text *words) except -1 with gil:
    """Remove stop words from `words`, and replace the others by their stems, by the rules of a model."""
    cdef bytes left = (<object>rules.filter).filtered(bytes_of(words[0]))
    return joined(arena, text_of(left), nothing(), words)


cdef int read_scripts(RunCache *cache, Arena *arena, Text text, Text *result) except -1 nogil:
    """Set `result` to a text with its non-ASCII pieces cut into words; only MAX_WORDS pieces are read."""
    cdef Writer to
    cdef Size at, start, copied = 0
    text = first_runs(text)
    start_writer(&to, arena, text.size + (text.size >> 1))
    at = first_high(text, 0)
    while at < text.size:
        start = find_last(text, 32, at) + 1
        at = find_byte(text, 32, at)
        if at < 0:
            at = text.size
        put(&to, piece(text, copied, start))
        add_run(cache, &to, piece(text, start, at))
        copied = at
        at = first_high(text, at)
    put(&to, rest(text, copied))
    result[0] = written(&to)
    return 0


cdef Text first_runs(Text text) noexcept nogil:
    """Return the start of a text: at most MAX_WORDS pieces between spaces, or the whole text if it has fewer."""
    cdef Size at, runs = 0
    if text.size >= 2 * MAX_WORDS - 1:  # else there are no more
        for at in range(text.size):
            if byte_at(text, at) != 32 and (byte_at(text, at + 1) == 32 or at + 1 == text.size):
                runs += 1
                if runs == MAX_WORDS:
                    return piece(text, 0, at + 2)
    return text


cdef int plain_typography(Arena *arena, Text text, Text *result) except -1 nogil:
    """Set `result` to a text with ASCII instead of typographic quotes, dashes, bullets and the like.

    In two thirds of non-ASCII texts, only these are not ASCII; the result is then read four times as fast.
    """
    cdef Writer to
    cdef Size at, after = 0, copied = 0
    cdef Size latin = find_byte(text, 0xC2, 0), mark = find_byte(text, 0xE2, 0)  # the first bytes of all of them
    cdef int form
    to.at = NULL
    while latin >= 0 or mark >= 0:
        if mark < 0 or 0 <= latin < mark:
            at = latin
            latin = find_byte(text, 0xC2, at + 1)
        else:
            at = mark
            mark = find_byte(text, 0xE2, at + 1)
        form = typographic_form(char_at(text, at, &after))
        if form:
            if to.at is NULL:
                start_writer(&to, arena, text.size)
            put(&to, piece(text, copied, at))
            put_byte(&to, form)
            copied = after
    if to.at is not NULL:
        put(&to, rest(text, copied))
        text = written(&to)
    result[0] = text
    return 0


cdef inline int typographic_form(Char char) noexcept nogil:
    """Return the ASCII character that replaces a typographic character; 0 for any other character."""
    if char == 0x2018 or char == 0x2019:
        return 39  # a quote
    if char == 0xA0 or char == 0xA9 or char == 0xAE:
        return 32
    if char == 0x2013 or char == 0x2014 or char == 0x201C or char == 0x201D or char == 0x2022 or char == 0x2026:
        return 32
    return 0


cdef Size count_words(Text spaced) noexcept nogil:
    """Return how many words, separated by spaces, a text has."""
    cdef Size at, words = 0
    cdef int byte, before = 32
    for at in range(spaced.size):
        byte = byte_at(spaced, at)
        words += (byte != 32) & (before == 32)
        before = byte
    return words


# For Python

cdef class Cutting(Memory):
    """Memory for one call from Python, and the rules of a `Words` object that the caller must keep alive."""

    cdef WordRules rules

    def __cinit__(self, words=None):
        start_rules(&self.rules, words)

    def __dealloc__(self):
        free_rules(&self.rules)


def spaced_words(str text, words=None) -> bytes:
    """Return the words of a text, separated by spaces. `words`: a model's rules; None for the default rules."""
    cdef Cutting cutting = Cutting(words)
    cdef Text source, result
    text_of_str(&cutting.arena, text, &source)
    spaced(&cutting.rules, &cutting.arena, source, &result)
    return bytes_of(result)
