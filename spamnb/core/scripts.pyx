# Reads words that are not all ASCII: words that look the same to a reader become the same.
#
# Words are normalised (NFKC), without marks and in lower case. For most letters a table is enough, or they do not
# change: these are read here. A piece between two separators that has any other character is normalised by Python
# (reading/normalizing.py), then read here, and its words are remembered. A text is read in pieces of MAX_PIECE
# characters, as normalising a run of marks takes quadratic time.

cdef enum:
    MAX_PIECE = 512  # characters
    FORM_COUNT = 0x700  # characters below this are in FORMS
    RUN_SLOTS = 4096  # pieces that are remembered
    MAX_RUN = 60  # bytes of a piece that is remembered
    MAX_RUN_WORDS = 120  # bytes of its words
    SHARP_S = 0xDF
    SARA_A = 0xE30  # Thai letters from here on
    SARA_AA = 0xE32
    SARA_AM = 0xE33
    SARA_U = 0xE38
    SARA_UU = 0xE39
    NIKHAHIT = 0xE4D

cdef enum:  # how words are cut further, as the writing system needs it
    WHOLE
    PAIRS  # of characters
    SYLLABLES

cdef enum:  # kinds of characters
    ODD = 0  # left to Python
    SEPARATOR
    WHITE  # white space to str.split()
    LETTER
    ALIKE  # a letter of a writing system with letters that look like Latin ones
    REPLACED  # by an ASCII character
    DROPPED  # part of a word that is also written without it
    INVISIBLE
    NON_JOINER  # separates Arabic letters without a space
    PICTURE

cdef Byte[0x10000] CHAR_KINDS
cdef uint16_t[FORM_COUNT] FORMS  # each letter without marks and in lower case


cdef struct CachedRun:  # a piece that Python normalised, and its words
    Byte run_size
    Byte words_size
    Byte[MAX_RUN] run
    Byte[MAX_RUN_WORDS] words


cdef struct RunCache:
    CachedRun *slots  # NULL until there is a run


cdef int fill_char_kinds() except -1:
    """Fill CHAR_KINDS and FORMS. The ranges have only characters whose kind no version of Unicode will change."""
    cdef int first, last, code, kind
    ranges = {
        SEPARATOR: (
            (0x80, 0x84), (0x86, 0x9F), (0xA1, 0xA7), 0xA9, (0xAB, 0xAC), 0xAE, (0xB0, 0xB1), (0xB6, 0xB7), 0xBB, 0xBF,
            0xD7, 0xF7, (0x55A, 0x55F), (0x589, 0x58A), 0x5C0, 0x5C3, 0x5C6, 0x5F4, (0x606, 0x60F), 0x61B,
            (0x61E, 0x61F), (0x66A, 0x66D), 0x6D4, 0xE3F, 0xE4F, (0xE5A, 0xE5B), (0x2012, 0x2016), (0x2018, 0x2027),
            (0x2030, 0x203B), 0x203D, (0x203F, 0x2046),
            (0x204A, 0x2056), (0x2058, 0x205E), (0x20A0, 0x20A7), (0x20A9, 0x20BF), 0x2120, 0x2122, (0x2190, 0x222B),
            (0x2300, 0x2328), (0x232B, 0x23E8), (0x2500, 0x25FF), (0x3001, 0x3004), (0x3008, 0x3020), 0x3030, 0x30A0,
            0x30FB, (0xE000, 0xF8FF), 0xFFFD,
        ),
        WHITE: (0x85, 0xA0, 0x1680, (0x2000, 0x200A), (0x2028, 0x2029), 0x202F, 0x205F, 0x3000),
        LETTER: (
            (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x131), (0x134, 0x13E), (0x141, 0x148), (0x14A, 0x17E), (0x180, 0x1C3),
            (0x1CD, 0x1EF), (0x1F4, 0x24F), (0x5D0, 0x5EA), (0x620, 0x63F), (0x641, 0x64A), (0x660, 0x669),
            (0x66E, 0x66F), (0x671, 0x674), (0x679, 0x6D3), 0x6D5, (0x6EE, 0x6FC), (0xE01, 0xE39), (0xE40, 0xE4E),
            (0xE50, 0xE59), (0x10D0, 0x10FA), (0x1E00, 0x1E95),
            (0x1EA0, 0x1EFF), (0x3005, 0x3007), (0x3041, 0x3096), (0x309D, 0x309E), (0x30A1, 0x30FA), (0x30FC, 0x30FE),
            (0x3105, 0x312F), (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFC), (0xAC00, 0xD7A3),
        ),
        ALIKE: (
            0x386, (0x388, 0x38A), 0x38C, (0x38E, 0x3A1), (0x3A3, 0x3CE), (0x400, 0x481), (0x48A, 0x52F),
            (0x531, 0x556), (0x561, 0x586),
        ),
        REPLACED: (0xB4, 0x2BC, 0x5BE, 0x5F3, (0x2010, 0x2011), (0xFF01, 0xFF5E)),
        DROPPED: (  # Hebrew points, Arabic vowels, and the stroke that lengthens a word
            (0x591, 0x5BD), 0x5BF, (0x5C1, 0x5C2), (0x5C4, 0x5C5), 0x5C7, (0x610, 0x61A), 0x640, (0x64B, 0x652),
            (0x656, 0x65F), 0x670,
        ),
        INVISIBLE: (
            0xAD, 0x61C, 0x200B, (0x200D, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0xFE00, 0xFE0F), 0xFEFF,
        ),
        NON_JOINER: (0x200C,),
        PICTURE: ((0x23E9, 0x23FA), (0x2600, 0x2775), (0x2794, 0x27BF), (0x2B05, 0x2B55)),
    }
    for code in range(0x80):
        CHAR_KINDS[code] = LETTER if is_letter(code) or is_digit(code) or is_one_of(code, b"'$!-_") else SEPARATOR
    for kind, found in ranges.items():
        for item in found:
            first, last = item if isinstance(item, tuple) else (item, item)
            memset(CHAR_KINDS + first, kind, last - first + 1)
    for code in range(FORM_COUNT):
        FORMS[code] = Py_UNICODE_TOLOWER(code)
    for letters, forms in (
        ("ΆΈΉΊΌΎΏΐΪΫάέήίΰϊϋόύώς", "αεηιουωιιυαεηιυιυουωσ"),
        ("ȘșȚțЁёİ", "şşţţееi"),
        ("ىیکۀ", "ييكه"),
        ("´ʼ׳־", "'''-"),
    ):
        for letter, form in zip(letters, forms, strict=True):
            code = ord(letter)
            FORMS[code] = ord(form)
    return 0


fill_char_kinds()


cdef inline int char_kind(Char char) noexcept nogil:
    if char < 0x10000:
        return CHAR_KINDS[char]
    if 0x1F300 <= char <= 0x1FAFF or is_flag_letter(char):
        return PICTURE
    return LETTER if 0x20000 <= char <= 0x2A6DD else ODD


cdef inline bint is_flag_letter(Char char) noexcept nogil:
    """Return whether a character is a regional indicator: a pair of these letters is displayed as a flag."""
    return 0x1F1E6 <= char <= 0x1F1FF


cdef inline bint is_skin_colour(Char char) noexcept nogil:
    return 0x1F3FB <= char <= 0x1F3FF


cdef inline bint is_arabic(Char char) noexcept nogil:
    return 0x600 <= char <= 0x8FF or 0xFB50 <= char <= 0xFEFC


cdef inline bint is_thai_tone(Char char) noexcept nogil:
    return 0xE48 <= char <= 0xE4B


cdef inline Char ascii_form(Char char) noexcept nogil:
    """Return the ASCII character that replaces a character of the kind REPLACED."""
    if char >= 0xFF01:
        return char - 0xFEE0  # of full width
    return FORMS[char] if char < FORM_COUNT else 45  # a hyphen


cdef inline Char form_of(Char char) noexcept nogil:
    """Return a letter in lower case and without marks."""
    if char < FORM_COUNT:
        return FORMS[char]
    return Py_UNICODE_TOLOWER(char) if char < 0x2000 else char


cdef int is_mark(Char char) except -1 nogil:
    """Return whether a character beyond ASCII is a combining mark, such as an accent."""
    cdef int kind = char_kind(char)
    if kind == LETTER or kind == DROPPED:  # characters of words are alphanumeric or marks
        return not Py_UNICODE_ISALNUM(char)
    if kind != ODD and kind != INVISIBLE:
        return False
    with gil:
        from unicodedata import category

        return category(chr(char))[0] == "M"


cdef inline bint is_white_at(Text text, Size at, Size *after) noexcept nogil:
    """Return whether non-ASCII white space is at offset `at`; set `after` to that of the next character."""
    cdef int first = byte_at(text, at)
    after[0] = at + char_size(first)
    return (first == 0xC2 or 0xE1 <= first <= 0xE3) and char_kind(char_at(text, at, after)) == WHITE


cdef int add_run(RunCache *cache, Writer *to, Text run) except -1 nogil:
    """Append to `to` the words of `run`, a text without ASCII spaces that has characters beyond ASCII."""
    cdef Size at = 0, start, after = 0, words = 0
    while at < run.size:
        start = at
        while at < run.size and not is_white_at(run, at, &after):
            at = after
        if at > start:
            add_chunk(cache, to, stripped(piece(run, start, at), b"'"), &words)
        at = after
    return 0


cdef int add_chunk(RunCache *cache, Writer *to, Text chunk, Size *words) except -1 nogil:
    """Append the words of `chunk`, a text without white space; for an empty chunk, append an empty word."""
    cdef Text part
    cdef Size start, end, after = 0
    if is_ascii(chunk):
        start_word(to, words)
        return put(to, chunk)
    chunk = first_chars(chunk, MAX_WORDS)
    while chunk.size:
        part = first_chars(chunk, MAX_PIECE)
        chunk = rest(chunk, part.size)
        start = 0
        while start < part.size:
            start += add_plain_words(to, rest(part, start), words, False)
            end = start
            while end < part.size and (kind_at(part, end, &after) != SEPARATOR or end == start):
                end = after
            if end > start:
                add_odd_words(cache, to, piece(part, start, end), words)
            start = end
    return 0


cdef inline Char letter_at(Text text, Size at, Size *after) noexcept nogil:
    """Do what `char_at` does, but faster for letters of two bytes: 15.4 ns a byte of Russian, not 18.1."""
    cdef int first = byte_at(text, at), second = byte_at(text, at + 1)
    if 0xC2 <= first < 0xE0 and second & 0xC0 == 0x80 and second >= 0:
        after[0] = at + 2
        return (first & 0x1F) << 6 | (second & 0x3F)
    return char_at(text, at, after)


cdef inline int kind_at(Text text, Size at, Size *after) noexcept nogil:
    """Return the kind of a character, such as LETTER; if it is REPLACED, the kind of its replacement."""
    cdef Char char = char_at(text, at, after)
    cdef int kind = char_kind(char)
    return CHAR_KINDS[ascii_form(char)] if kind == REPLACED else kind


cdef inline int start_word(Writer *to, Size *words) except -1 nogil:
    """Begin a word: append a space, unless it is the first word, and add 1 to the number `words`."""
    if words[0]:
        put_byte(to, 32)
    words[0] += 1
    return 0


cdef Size add_plain_words(Writer *to, Text text, Size *words, bint is_normal) except -1 nogil:
    """Append words up to one that Python must normalise (all if `is_normal`); return where the rest starts.

    The rest starts with the separator before that word, because a mark behind the separator may change it.
    """
    cdef Char[2 * MAX_PIECE] word
    cdef Char char = 0, before = 0
    cdef Size at = 0, start, size = 0, safe = 0, safe_size = to.size, safe_words = words[0]
    cdef int kind
    cdef bint has_latin = False, has_alike = False, is_split = False, is_picture = False, is_half_flag = False
    while at < text.size:
        start = at
        char = letter_at(text, at, &at)
        kind = char_kind(char)
        if is_normal and kind == ODD:
            kind = PICTURE if 0x1F000 <= char <= 0x1FAFF and not Py_UNICODE_ISALNUM(char) else LETTER
        if kind == NON_JOINER:
            is_split = True
            continue
        if is_split and is_arabic(before) and is_arabic(char):  # many people type a space there
            add_letters(to, word, size, words)
            size = 0
            has_latin = has_alike = False
        is_split = False
        before = char
        if kind == REPLACED:
            char = ascii_form(char)
            kind = CHAR_KINDS[char]
        if kind == INVISIBLE:
            continue
        if kind == LETTER or kind == ALIKE:
            char = form_of(char)
            has_latin |= 97 <= char <= 122
            has_alike |= kind == ALIKE
            if char == SARA_AM and size < MAX_PIECE * 2 - 1:  # it becomes two characters
                word[size] = NIKHAHIT
                size += 1
                char = SARA_AA
            elif (char == SARA_U or char == SARA_UU) and size and is_thai_tone(word[size - 1]) and not is_normal:
                kind = ODD  # vowel and tone are in the wrong order
            if size < MAX_PIECE * 2:
                word[size] = char
                size += 1
        if kind == ODD or (has_latin and has_alike and not is_normal):  # it may be a Latin word in disguise
            to.size, words[0] = safe_size, safe_words
            return safe
        if kind == SEPARATOR or kind == PICTURE:
            add_letters(to, word, size, words)
            size = 0
            has_latin = has_alike = False
        if kind == SEPARATOR:
            safe, safe_size, safe_words = start, to.size, words[0]
        if kind == PICTURE and not (is_picture and is_skin_colour(char)):
            is_half_flag = is_half_flag and is_flag_letter(char)
            if not is_half_flag:  # a flag is two letters
                start_word(to, words)
            put_char(to, char)
            is_half_flag = is_flag_letter(char) and not is_half_flag
        else:
            is_half_flag = False
        is_picture = kind == PICTURE
    add_letters(to, word, size, words)
    return text.size


cdef inline int cut_of(Char char) noexcept nogil:
    """Return how to cut words of the writing system that has this character: into PAIRS, SYLLABLES or not (WHOLE)."""
    if char < 0x2E80:  # Thai and Lao, Burmese, Khmer
        if 0xE00 <= char <= 0xEFF or 0x1000 <= char <= 0x109F or 0x1780 <= char <= 0x17FF:
            return WHOLE if Py_UNICODE_ISDECIMAL(char) else SYLLABLES
        return WHOLE
    if char < 0xF900:  # Chinese and Japanese, Korean
        return PAIRS if char <= 0x9FFF or 0xAC00 <= char <= 0xD7AF else WHOLE
    return PAIRS if char <= 0xFAFF or 0x20000 <= char <= 0x3FFFF else WHOLE  # Chinese


cdef int add_letters(Writer *to, Char *word, Size size, Size *words) except -1 nogil:
    """Append a word without quotes around it; cut it into syllables or pairs of letters as `cut_of` says."""
    cdef Size start = 0, end, stop
    cdef int cut
    while size and word[size - 1] == 39:
        size -= 1
    while start < size and word[start] == 39:
        start += 1
    while start < size:
        cut = cut_of(word[start])
        end = start + 1
        while end < size and cut_of(word[end]) == cut:
            end += 1
        if cut == PAIRS and end - start > 1:
            while start < end - 1:
                put_word(to, word + start, 2, words)
                start += 1
        elif cut == SYLLABLES:
            while start < end:
                stop = syllable_end(word, start, end)
                put_word(to, word + start, stop - start, words)
                start = stop
        else:
            put_word(to, word + start, end - start, words)
        start = end
    return 0


cdef inline int put_word(Writer *to, Char *word, Size size, Size *words) except -1 nogil:
    make_room(to, 4 * size + 1)
    start_word(to, words)
    to.size = write_chars(to.at, to.size, word, size)
    return 0


cdef Size syllable_end(Char *word, Size start, Size end) noexcept nogil:
    """Return about where the syllable at `start` ends; outside Burmese, this is after a closing consonant."""
    cdef Size at = cluster_end(word, start, end)
    if start + 1 < at < end and word[at - 1] & ~<Char>0x80 != SARA_A and not 0x1000 <= word[at] <= 0x109F:
        return at + 1 if cluster_end(word, at, end) == at + 1 else at
    return at


cdef Size cluster_end(Char *word, Size start, Size end) noexcept nogil:
    """Return where the cluster at `start` ends: a consonant with its vowels, signs and letters below it."""
    cdef Size at = start + 1
    while at < end and is_bound(word[at - 1], word[at], word[at + 1] if at + 1 < end else 32):
        at += 1
    return at


cdef inline bint is_bound(Char before, Char char, Char after) noexcept nogil:
    """Return whether `char` belongs to the same cluster (a letter with its signs) as the character `before`."""
    cdef Char place = char & 0x7F
    if char < 0xF00:  # Thai and Lao have the same order; some vowels stand before their consonant
        return 0x30 <= place <= 0x3C or 0x47 <= place <= 0x4E or 0x40 <= before & 0x7F <= 0x44
    # Burmese and Khmer: signs; a letter below the one before; one that closes or has another below it
    return not Py_UNICODE_ISALNUM(char) or before == 0x1039 or before == 0x17D2 or 0x1039 <= after <= 0x103A


cdef int add_odd_words(RunCache *cache, Writer *to, Text text, Size *words) except -1 nogil:
    """Append words that Python must normalise; take them from `cache` if an earlier call stored them."""
    cdef CachedRun *slot
    cdef Text found
    cdef Size start = to.size + (words[0] > 0)
    if cache.slots is NULL:
        cache.slots = <CachedRun *>calloc(RUN_SLOTS, sizeof(CachedRun))
        if cache.slots is NULL:
            with gil:
                raise MemoryError
    slot = &cache.slots[fingerprint_of_text(text) % RUN_SLOTS]
    if slot.run_size == text.size and memcmp(slot.run, text.at, text.size) == 0:
        if slot.words_size:
            start_word(to, words)
            found.at, found.size = slot.words, slot.words_size
            put(to, found)
        return 0
    with gil:
        from spamnb.reading.normalizing import normalized

        text_of_str(to.arena, normalized(str_of(text)), &found)
    add_plain_words(to, found, words, True)
    found = rest(written(to), start)
    if text.size <= MAX_RUN and found.size <= MAX_RUN_WORDS:
        slot.run_size, slot.words_size = text.size, found.size
        memcpy(slot.run, text.at, text.size)
        memcpy(slot.words, found.at, found.size)
    return 0
