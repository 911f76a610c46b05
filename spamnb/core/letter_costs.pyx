# The cost of a text in a charset: minus the logarithm of its probability, by how often letters follow each other in the
# languages written in it. Costs are whole numbers, so that the result is the same on every machine.
#
# letter_tables.py is loaded for the first text, and checked then, so that the tables can be indexed without checks.
# Time is in proportion to the text, which has MAX_SAMPLE bytes, and to the number of a charset's languages.

cdef enum:
    MAX_CANDIDATES = 32
    MAX_IDEOGRAPH = 0x30000

    NAT = 4  # costs are counted in quarters of a nat
    COST_0 = 35  # the byte for cost 0 in the tables
    # Classes of characters in the tables: no letter, ASCII letters, other letters, then each of the language's own
    # letters.
    BETWEEN = 0
    OTHER_LETTER = 27
    # Costs of a character within its class.
    MARK_COST = 4 * NAT
    RARE_MARK_COST = 10 * NAT
    OTHER_COST = 5 * NAT
    UNDEFINED_COST = 12 * NAT
    # Costs of a capital after no letter, after a small letter, after a capital; of a small letter after a capital.
    FIRST_CAPITAL = 6
    INNER_CAPITAL = 5 * NAT
    NEXT_CAPITAL = 3
    AFTER_CAPITAL = 1
    OTHER_SCRIPT = 3 * NAT  # a letter of another writing system than the letter before
    RARE_IDEOGRAPH = 12 * NAT
    SIGN_BEHIND = 3 * NAT  # ASCII after an ideograph, if it is no letter
    LETTER_BEHIND = 6 * NAT

cdef enum:  # flags of a byte in a charset and a language
    IS_HIGH = 1  # above 0x7f
    IS_CAPITAL = 2
    IS_IN_WORD = 4  # a letter

# Charsets, each with a cost for being rare in mail; of those with ideographs, the language.
cdef tuple CANDIDATES = (
    *(("cp1252", 0, ""), ("cp1250", 10, ""), ("iso8859_15", 4, ""), ("iso8859_2", 12, ""), ("cp1254", 12, "")),
    *(("cp1257", 20, ""), ("iso8859_4", 28, ""), ("iso8859_13", 24, ""), ("cp1258", 20, ""), ("cp1251", 8, "")),
    *(("koi8_u", 10, ""), ("iso8859_5", 20, ""), ("cp866", 24, ""), ("mac_cyrillic", 32, ""), ("cp1253", 12, "")),
    *(("iso8859_7", 20, ""), ("cp1255", 12, ""), ("cp1256", 16, ""), ("iso8859_6", 20, ""), ("cp874", 16, "")),
    *(("gb18030", 6, "zh-Hans"), ("big5hkscs", 8, "zh-Hant"), ("cp932", 10, "ja"), ("euc_jp", 14, "ja")),
    ("cp949", 10, "ko"),
)
# Compared only where the message names them, as they are too similar to others.
cdef tuple IF_NAMED = (("koi8_r", 10, ""), ("iso8859_8", 12, ""), ("mac_roman", 20, ""), ("cp950", 8, "zh-Hant"))
cdef frozenset WESTERN_CHARSETS = frozenset(("cp1252", "iso8859_15", "mac_roman"))
cdef frozenset NOT_LATIN = frozenset("ru uk bg sr be mk el he ar fa th".split())
cdef str ASCII_LANGUAGE = "en"  # whose costs ASCII has beside ideographs


cdef struct ByteOf:  # a byte in a charset and a language
    Byte letter_class
    Byte cost  # within its class
    Byte flags
    Byte script  # writing system: 1 for ASCII letters, 2 for others; 0 if the language mixes them, or for no letter


cdef struct Language:  # in a charset
    ByteOf[256] bytes
    const Byte *costs  # of each class after each other
    Size width  # number of classes


cdef struct Candidate:
    int codec
    int rarity
    bint is_if_named
    bint is_western
    int language_count
    Language *languages  # of a charset of single bytes
    Byte *ideographs  # costs of the frequent ideographs by their numbers, else 0; NULL in charsets of single bytes


cdef struct LetterTables:
    Candidate[MAX_CANDIDATES] candidates
    int count
    Language english


cdef LetterTables *letter_tables = NULL  # until they are needed
cdef object letter_module  # which keeps the bytes of the tables
cdef Byte[64] PAIR_COST  # of capitals, by 8 * flags of the byte before + flags


cdef LetterTables *tables() except NULL nogil:
    """Return the letter tables of all charsets; the first call makes them."""
    cdef LetterTables *found = <LetterTables *>published(<void **>&letter_tables)
    if found is NULL:
        make_tables()
        found = letter_tables
    return found


cdef int make_tables() except -1 with gil:
    global letter_module
    cdef LetterTables *made
    cdef int before, flags
    from spamnb.core import letter_tables as module
    if letter_tables is not NULL:  # another thread made them
        return 0
    letter_module = module
    for before in range(8):
        for flags in range(8):
            PAIR_COST[8 * before + flags] = cost_of_pair(before, flags)
    made = <LetterTables *>zeros_of(sizeof(LetterTables))
    fill_language(&made.english, module, ASCII_LANGUAGE, b"-" * 128, bytes(128))
    for name, rarity, language in CANDIDATES + IF_NAMED:
        if made.count < MAX_CANDIDATES:
            fill_candidate(&made.candidates[made.count], module, name, rarity, language)
            made.count += 1
    publish(<void **>&letter_tables, made)
    return 0


cdef int cost_of_pair(int before, int flags) noexcept:
    """Return the cost of a letter being capital or small, from its `flags` and those of the byte `before`."""
    if not (before | flags) & IS_HIGH:
        return 0
    if flags & IS_CAPITAL:
        if not before & IS_IN_WORD:
            return FIRST_CAPITAL
        return NEXT_CAPITAL if before & IS_CAPITAL else INNER_CAPITAL
    return AFTER_CAPITAL if before & IS_CAPITAL and flags & IS_IN_WORD else 0


cdef int cost_of_kind(int kind) noexcept:
    """Return a character's cost by its kind: letter (s, C), frequent mark (.), rare mark (,), none (-)."""
    if kind == 46:
        return MARK_COST
    if kind == 44:
        return RARE_MARK_COST
    return UNDEFINED_COST if kind == 45 else OTHER_COST


cdef int fill_candidate(Candidate *candidate, object module, str name, int rarity, str language) except -1:
    cdef Size which
    cdef str frequent
    cdef bytes costs
    candidate.codec, candidate.rarity = CODECS.index(name), rarity
    candidate.is_if_named = any(name == one[0] for one in IF_NAMED)
    candidate.is_western = name in WESTERN_CHARSETS
    if language:
        frequent, costs = module.IDEOGRAPHS[language]
        candidate.ideographs = <Byte *>zeros_of(MAX_IDEOGRAPH)
        for which in range(min(len(frequent), len(costs))):
            if <Char>frequent[which] < MAX_IDEOGRAPH:
                candidate.ideographs[<Char>frequent[which]] = costs[which]
        return 0
    kinds, classes_in = module.CHARSETS[name]
    candidate.languages = <Language *>zeros_of(len(classes_in) * sizeof(Language))
    for which, (language, classes) in enumerate(classes_in.items()):
        fill_language(&candidate.languages[which], module, language, kinds, classes)
    candidate.language_count = len(classes_in)
    return 0


cdef int fill_language(Language *found, object module, str language, bytes kinds, bytes classes) except -1:
    """Fill `found`, the table of a language in a charset; `kinds` and `classes`: for each byte above 0x7f.

    Kinds: small letter (s), capital (C), frequent mark (.), rare mark (,), none (-). Classes: see BETWEEN.
    """
    cdef Size byte
    cdef ByteOf *one
    cdef bint is_latin = language not in NOT_LATIN
    cdef str letters
    cdef bytes costs
    cdef int kind
    letters, costs = module.LETTERS[language]
    found.width = OTHER_LETTER + 1 + len(letters)
    found.costs = text_of(costs).at
    if len(costs) != found.width * found.width or len(kinds) != 128 or len(classes) != 128:
        raise ValueError(f"the letter table of {language} has a wrong size")
    for byte in range(256):
        one = &found.bytes[byte]
        if byte < 128:
            one.letter_class = (byte | 32) - 96 if is_letter(byte) else BETWEEN
            one.flags = IS_CAPITAL if 65 <= byte <= 90 else 0
        else:
            kind = kinds[byte - 128]
            one.letter_class = classes[byte - 128]
            one.flags = IS_HIGH | IS_CAPITAL if kind == 67 else IS_HIGH
            if one.letter_class >= found.width:
                raise ValueError(f"the letter table of {language} has a wrong size")
            if one.letter_class <= OTHER_LETTER:
                one.cost = cost_of_kind(kind)
        if one.letter_class != BETWEEN:
            one.flags |= IS_IN_WORD
            if not is_latin:
                one.script = 2 if one.letter_class >= OTHER_LETTER else 1
    return 0


cdef Candidate *candidate_of(int codec) except? NULL nogil:
    """Return the letter tables of a charset; NULL if it has none, and cannot be found from bytes."""
    cdef LetterTables *known = tables()
    cdef int which
    for which in range(known.count):
        if known.candidates[which].codec == codec:
            return &known.candidates[which]
    return NULL


cdef int cost_in(Arena *arena, Text sample, Candidate *candidate, int most) except? -1 nogil:
    """Return how unlikely a sample is in a charset: the cost in its likeliest language, at most `most`."""
    cdef int which
    cdef Text text
    most -= candidate.rarity
    if candidate.ideographs is not NULL:
        decode_with_codec(arena, sample, candidate.codec, &text)
        return cost_of_ideographs(text, candidate.ideographs, &tables().english, most) + candidate.rarity
    for which in range(candidate.language_count):
        most = cost_of_letters(sample, &candidate.languages[which], most)
    return most + candidate.rarity


cdef int cost_of_ideographs(Text text, const Byte *ideographs, Language *english, int most) noexcept nogil:
    """Return how unlikely a decoded sample is in a language such as Chinese: its cost, but at most `most`."""
    cdef Size at = 0
    cdef int cost = 0, before = BETWEEN, now, script = 0, here, frequent
    cdef bint was_ideograph = False
    cdef Char char
    while at < text.size:
        char = char_at(text, at, &at)
        if char > 0x7F:
            frequent = ideographs[char] if char < MAX_IDEOGRAPH else 0
            cost += frequent - COST_0 if frequent else RARE_IDEOGRAPH
            if char == WRONG or 0xE000 <= char <= 0xF8FF:  # nothing, or for private use
                cost += UNDEFINED_COST
            now, was_ideograph, here = BETWEEN, True, 2 if Py_UNICODE_ISALPHA(char) else 0
        else:
            now = english.bytes[char].letter_class
            if was_ideograph:
                cost += LETTER_BEHIND if now else SIGN_BEHIND
            else:
                cost += english.costs[before * english.width + now] - COST_0
            was_ideograph, here = False, 1 if now else 0
        if here:
            if script and script != here:
                cost += OTHER_SCRIPT
            script = here
        if cost >= most:
            return most
        before = now
    return cost
