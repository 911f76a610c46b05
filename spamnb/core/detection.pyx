# Finds the charset of bytes from the bytes themselves, where none is declared or it does not fit.
#
# In each charset bytes have a cost (letter_costs.pyx). The charset with the lowest cost is taken: naive Bayes, with
# charsets as labels. A charset that the message names costs less. At most 512 bytes are read,
# for each of 29 charsets and their languages.

cdef enum:
    SAMPLED_PIECE = 256  # bytes
    MAX_PIECES = 16  # pieces that a sample is taken from, without those that are all ASCII
    MAX_SAMPLE = 512  # bytes of a sample
    SHORT_SAMPLE = 40  # bytes: so few may be UTF-8 by chance
    FEW_WRONG = 8  # one character in so many may be invalid
    NAMED_IN = 64 * 1024  # bytes of a message that are searched for names of charsets
    FEW_LETTERS = 1  # bytes above 0x7f: with so few, a declared charset is believed if they fit it
    # By how much a charset costs less that is declared, that the text itself names, that the message names elsewhere.
    DECLARED_LESS = 80 * NAT
    IN_TEXT_LESS = 30 * NAT
    NEARBY_LESS = 12 * NAT
    WESTERN_DIVISOR = 16  # divides these for Western charsets, which programs name by default
    HIGH_LETTER = 18  # letters cost less on average, ideographs read as letters more
    ASCII_LETTER = 10
    WESTERN_LETTER = 106  # tenths: Western text costs less per byte; of 1,600 other texts declared as Western, none did
    MAX_COST = 1 << 30

cdef enum:  # why a charset is not the declared one; AS_DECLARED if it is
    IS_UTF8 = 1
    HAS_BYTE_ORDER_MARK = 2
    HAS_ESCAPES = 3
    HAS_ZEROS = 4
    IS_ASCII_ONLY = 5
    FOUND_BY_BYTES = 6
    NAMED_IN_TEXT = 7
    NAMED_IN_MESSAGE = 8

# Marks that have the same bytes in all of Windows' charsets; letters of ISO-8859-15 that are marks in windows-1252.
cdef const char *PLAIN_MARKS = b"\x85\x91\x92\x93\x94\x95\x96\x97\x99\xa0\xa9\xae"
cdef const char *ONLY_IN_15 = b"\xa4\xa6\xa8\xb4\xb8\xbc\xbd\xbe"


cdef int find_charset(Context *context, Text data, int declared, int *why) except -1 nogil:
    """Return the codec that fits the bytes `data` best; if it is not `declared`, set `why` to the reason."""
    cdef Arena *arena = context.arena
    cdef int marked = marked_codec(data, why)
    cdef Text sample
    if (is_codec(declared, IS_TWO_BYTES) and has(data, 0)) or (
        marked and CODEC_FAMILIES[marked] == CODEC_FAMILIES[declared]
    ):
        why[0] = AS_DECLARED
        return declared
    if marked:
        return marked
    why[0] = AS_DECLARED
    if is_ascii(data):
        if is_codec(declared, IS_STATEFUL) and not is_codec(declared, IS_TWO_BYTES):
            return declared
        why[0] = IS_ASCII_ONLY
        return ASCII
    if declared in (GUESSED, CP1252) and has_only_marks(data):
        why[0] = AS_DECLARED if declared else FOUND_BY_BYTES
        return CP1252
    if has(data, 60):
        without_tags(arena, piece(data, 0, NAMED_IN), &sample)
        take_sample(arena, sample, &sample)
    else:
        take_sample(arena, data, &sample)
    if is_utf8(data) or is_nearly_utf8(sample):
        if not (is_codec(declared, IS_MULTI_BYTE) and data.size <= SHORT_SAMPLE and fits(arena, data, declared)):
            why[0] = AS_DECLARED if declared == UTF_8 else IS_UTF8
            return UTF_8
    if declared and (candidate_of(declared) is NULL or count_high(sample) <= FEW_LETTERS):
        if fits(arena, sample, declared):
            return declared
    return cheapest_codec(context, sample, declared, data, why)


cdef int marked_codec(Text data, int *why) noexcept nogil:
    """Return the codec if a byte order mark, ISO-2022 escapes or zero bytes show it, otherwise GUESSED."""
    cdef Text zeros = piece(data, 0, MAX_SAMPLE)
    cdef Size at, big = 0, little = 0
    why[0] = HAS_BYTE_ORDER_MARK
    if starts_with(data, b"\xef\xbb\xbf"):
        return UTF_8
    if starts_with(data, b"\xff\xfe"):
        return UTF_32 if byte_at(data, 2) == 0 and byte_at(data, 3) == 0 else UTF_16
    if starts_with(data, b"\xfe\xff"):
        return UTF_16
    if data.size >= 4 and byte_at(data, 0) == 0 and byte_at(data, 1) == 0 and ends_with(piece(data, 0, 4), b"\xfe\xff"):
        return UTF_32
    why[0] = HAS_ESCAPES
    if has(data, 27) and is_ascii(data):
        if contains(data, b"\x1b$)C"):
            return ISO2022_KR
        if contains(data, b"\x1b$"):
            return ISO2022_JP_2
        if contains(data, b"\x1b("):
            return ISO2022_JP_EXT
    why[0] = HAS_ZEROS
    for at in range(zeros.size):
        if byte_at(zeros, at) == 0:
            big += at % 2 == 0
            little += at % 2
    if max(big, little) * 4 > zeros.size and zeros.size > 8 and min(big, little) * 8 < max(big, little):
        return UTF_16_BE if big > little else UTF_16_LE
    return GUESSED


cdef bint has_only_marks(Text text) noexcept nogil:
    """Return whether bytes above 0x7f are only marks, such as quotes, that all Windows charsets share."""
    cdef Size at = first_high(text, 0)
    while at < text.size:
        if not is_one_of(byte_at(text, at), PLAIN_MARKS):
            return False
        at = first_high(text, at + 1)
    return True


cdef bint has_any_of(Text text, const char *letters) noexcept nogil:
    """Return whether a text contains at least one of the bytes in `letters`."""
    cdef Size at
    for at in range(text.size):
        if is_one_of(byte_at(text, at), letters):
            return True
    return False


cdef int without_tags(Arena *arena, Text data, Text *result) except -1 nogil:
    """Set `result` to a text without its HTML tags, whose letters say nothing about the language."""
    cdef Size at = find_byte(data, 60, 0), end
    cdef Text tag
    cdef Writer to
    start_writer(&to, arena, data.size)
    put(&to, piece(data, 0, or_end(data, at)))
    while 0 <= at < data.size:
        tag = until(data, 60, at + 1)
        end = find_byte(tag, 62, 0)
        put_byte(&to, 32)
        put(&to, rest(tag, end + 1))
        at += 1 + tag.size
    result[0] = written(&to)
    return 0


cdef int take_sample(Arena *arena, Text data, Text *result) except -1 nogil:
    """Set `result` to a sample of `data`: the first words that are not all ASCII, and their neighbours."""
    cdef Writer pieces, near
    cdef Size at = 0
    cdef Text part, word, before = nothing()
    cdef bint was_high = False, is_high
    start_writer(&pieces, arena, SAMPLED_PIECE)
    while at < data.size and pieces.size < MAX_PIECES * SAMPLED_PIECE:
        part = piece(data, at, at + SAMPLED_PIECE)
        if not is_ascii(part):
            put(&pieces, part)
        at += SAMPLED_PIECE
    data, at = written(&pieces), 0
    start_writer(&near, arena, MAX_SAMPLE)
    while near.size <= MAX_SAMPLE and next_of(data, b" \t\n\v\f\r", &at, &word):
        is_high = not is_ascii(word)
        if is_high and before.size:
            put(&near, before)
            put_byte(&near, 32)
        if is_high or was_high:
            put(&near, word)
            put_byte(&near, 32)
        before = nothing() if is_high or was_high else word
        was_high = is_high
    result[0] = piece(written(&near), 0, min(near.size - 1, MAX_SAMPLE))
    return 0


cdef bint is_nearly_utf8(Text sample) noexcept nogil:
    """Return whether a sample has non-ASCII UTF-8: FEW_WRONG or more valid characters per invalid one."""
    cdef Size at = 0, size, wrong = 0, right = 0
    while at < sample.size:
        size = utf8_size(sample, at)
        if size <= 0:
            if is_cut_utf8(sample, at):
                break
            wrong += 1
        elif size == 3 and is_at(sample, at, literal(b"\xef\xbf\xbd")):  # U+FFFD
            wrong += 1
        else:
            right += size > 1
        at += size if size > 0 else -size
    return right > 0 and wrong * FEW_WRONG <= right


cdef int fits(Arena *arena, Text data, int codec) except -1 nogil:
    """Return whether a codec fits: few of the non-ASCII characters that it finds are controls or U+FFFD."""
    cdef Size at = 0, strange = 0, others = 0
    cdef Text text
    cdef Char char
    decode_with_codec(arena, data, codec, &text)
    while at < text.size:
        char = char_at(text, at, &at)
        others += char > 0x7F
        strange += 0x7F < char < 0xA0 or char == WRONG
    return strange * FEW_WRONG <= others


cdef int cheapest_codec(Context *context, Text sample, int declared, Text data, int *why) except -1 nogil:
    """Return the codec in which a sample of `data` is most probable; if it is not `declared`, set `why`."""
    cdef Arena *arena = context.arena
    cdef LetterTables *known = tables()
    cdef Candidate *candidate = candidate_of(declared)
    cdef int[MAX_CODECS] less  # that each codec costs because it is named
    cdef int[64] names
    cdef int usual = declared if candidate is not NULL else CP1252, best = CP1252
    cdef int as_letters = 0, plainly, least = MAX_COST, cost, discount, count, which
    cdef Size high = count_high(sample)
    cdef Text text, other
    if candidate is NULL:
        candidate = candidate_of(CP1252)
    if high * 2 > sample.size:
        as_letters = HIGH_LETTER * high + ASCII_LETTER * (sample.size - high)
    plainly = as_letters
    if candidate.is_western and not as_letters and sample.size > SHORT_SAMPLE:
        plainly = WESTERN_LETTER * sample.size // 10
    if usual == declared or not has_any_of(sample, ONLY_IN_15):
        if cost_in(arena, sample, candidate, plainly) < plainly:  # no other charset needs to be compared
            why[0] = AS_DECLARED if usual == declared else FOUND_BY_BYTES
            return usual
    memset(less, 0, sizeof(less))
    if context.name_count < 0:
        context.name_count = names_in(piece(context.data, 0, NAMED_IN), context.names)
    for which in range(context.name_count):
        less[context.names[which]] = NEARBY_LESS
    count = names_in(piece(data, 0, NAMED_IN), names)
    for which in range(count):
        less[names[which]] = IN_TEXT_LESS
    less[declared] = DECLARED_LESS
    for which in range(known.count):
        candidate = &known.candidates[which]
        discount = less[candidate.codec] // (WESTERN_DIVISOR if candidate.is_western else 1)
        if not discount:
            if candidate.is_if_named:
                continue
            if candidate.ideographs is not NULL and (least < as_letters or not may_be_double(sample)):
                continue
        cost = cost_in(arena, sample, candidate, least + discount) - discount
        if cost < least:
            best, least = candidate.codec, cost
    if best != usual:
        decode_with_codec(arena, sample, usual, &text)
        decode_with_codec(arena, sample, best, &other)
        if equal(text, other):  # as where there are only marks that both have
            best = usual
    cost = less[best]
    if cost == DECLARED_LESS:
        why[0] = AS_DECLARED
    elif cost == IN_TEXT_LESS:
        why[0] = NAMED_IN_TEXT
    else:
        why[0] = NAMED_IN_MESSAGE if cost == NEARBY_LESS else FOUND_BY_BYTES
    return best


cdef bint may_be_double(Text sample) noexcept nogil:
    """Return whether a sample may have two-byte characters; if not, loading their codecs (1 ms) is saved."""
    cdef Size pairs = 0, wrong = 0, at  # pairs of bytes, and those that are no character
    cdef bint is_lead = False
    cdef int byte
    for at in range(sample.size):
        byte = byte_at(sample, at)
        if is_lead:
            is_lead = False
            pairs += 1
            wrong += byte < 64
        else:
            is_lead = byte > 127
    return wrong * FEW_WRONG <= pairs
