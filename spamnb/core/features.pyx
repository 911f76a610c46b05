# Features of one message: its distinct tokens, pairs of neighbouring words and grams, collected while it is read.
#
# A token is identified by its fingerprint, a hash of 64 bits. It takes eight bytes of the token at a time: the hash so
# far is XORed with them, multiplied by an odd factor, its upper half XORed into the lower, and multiplied again. A
# sender can make two tokens collide, and gains nothing: he could as well write the word of ham itself. The slot of a
# fingerprint in the hash tables below depends on a secret of the process, so nobody can make them slow.
#
# Memory is reused for the next message, and bounded by the limits on tokens in tokenizer.pyx.

from os import urandom

cpdef enum:
    BODY = 0
    HEAD = 1
    COUNTER_BITS = 18  # (1-AUC)% by half splits of spamassassin: 0.0149 without grams, 2^16: 0.0138, 2^18: 0.0113
    COUNTERS = 1 << COUNTER_BITS
    GRAM_BYTES = 4
    MAX_WORDS = 20000  # read of one text; further words are ignored

cdef enum:
    NO_LIMIT = 1 << 30
    MAX_WORD = 32  # characters; longer words (file names, encoded data, random strings) are shortened
    FIRST_ENTRIES = 512  # size of a new table, enough for most messages: its slots fit into the cache of a core
    FIRST_LETTERS = 1 << 16
    NUMBER_COUNT = 8  # of numeric features
    PART_BIT = COUNTER_BITS - 1  # the highest bit of a counter's number: grams of the body 0, of the head 1
    MAX_GRAMS = 4096  # distinct grams kept of one message

cdef uint64_t FACTOR = 0x9E3779B97F4A7C15u
cdef uint64_t PAIR_FACTOR = 0xB5D3C96A1F84E27Du
cdef uint64_t ONES = 0x0101010101010101u  # a one in each of eight bytes
cdef uint64_t SECRET_FACTOR = int.from_bytes(urandom(8), "little") | 1


cdef struct Tag:  # the prefix of a kind of tokens, such as "subject:", and the state of their hash behind it
    Text text
    uint64_t state
    uint64_t eight  # bytes not yet hashed into `state`, fewer than eight
    int shift  # how many bits of `eight` are used


cdef struct Entry:
    uint64_t fingerprint
    uint32_t times  # how often the token occurs in the message; 0 for a pair
    uint32_t start  # where the token's text starts in `letters`; of a pair, the number of its first token
    uint32_t end  # where that text ends; of a pair, the number of its second token
    uint32_t part  # HEAD or BODY: where it was found first


cdef struct EntryTable:  # a hash table of entries, numbered in the order in which they were added
    Entry *entries
    Size used
    Size room  # entries that fit before the number of slots is doubled; a power of two
    Size most  # entries for which memory is allocated: the largest `room` of any message so far
    uint32_t *slots  # 2 * room of them: the number of an entry + `before`; a lower value means that the slot is free
    uint32_t before  # above all values that earlier messages left in slots, so that clearing a table writes no slots
    int shift  # a slot's number is the top 64 - shift bits of a product


cdef struct Features:
    EntryTable tokens
    EntryTable pairs
    Byte *letters  # texts of the tokens, one after the other
    Size size  # bytes used of `letters`
    Size room  # bytes allocated for `letters`
    Size added  # tokens added so far, repeated ones included
    Size left  # how many tokens may still be added; callers set it for each kind of tokens
    uint64_t fingerprint  # of the token added last
    uint32_t[MAX_GRAMS] grams  # numbers of the counters of the grams, each once
    Size gram_count
    uint32_t *seen  # a bit for each counter: set if it is in `grams`
    Text[2] gram_texts  # the bytes of body and head that the grams were taken from
    int64_t[NUMBER_COUNT] numbers  # numeric features; MISSING where the message does not have one
    bint keeps_order  # whether `order` is filled
    uint32_t *order  # entry number of each token in the order of the message, repeated ones included
    Size ordered
    Size order_room
    Arena *arena  # memory for texts made while this message is read


cdef inline uint64_t mixed(uint64_t state, uint64_t eight) noexcept nogil:
    """Return the state of a hash after eight more bytes of a token; `state` is that before them."""
    state = (state ^ eight) * FACTOR
    return (state ^ state >> 32) * FACTOR


cdef Tag tag_of(Text text) noexcept nogil:
    """Return the `Tag` for a prefix of tokens such as `subject:`; the tag points to the memory of `text`."""
    cdef Tag tag
    cdef Size at
    tag.text, tag.state, tag.eight, tag.shift = text, 0, 0, 0
    for at in range(text.size):
        tag.eight |= <uint64_t>byte_at(text, at) << tag.shift
        tag.shift = (tag.shift + 8) & 63
        if not tag.shift:
            tag.state = mixed(tag.state, tag.eight)
            tag.eight = 0
    return tag


cdef uint64_t fingerprint_of_text(Text token) noexcept nogil:
    """Return the fingerprint (hash) of a token, its prefix included."""
    cdef Tag whole = tag_of(token)
    return mixed(whole.state, whole.eight) if whole.shift else whole.state


# Memory

cdef extern from *:
    """
    #include <sys/mman.h>

    /* Huge pages save most page faults of large arrays, and misses of the TLB: 6 % of a cross-validation's time. */
    static void spamnb_use_huge_pages(void *start, size_t size) {
    #ifdef MADV_HUGEPAGE
        uintptr_t page = 4095, first = ((uintptr_t)start + page) & ~page;
        if (size >= (size_t)1 << 22) madvise((void *)first, ((uintptr_t)start + size - first) & ~page, MADV_HUGEPAGE);
    #endif
    }
    """
    void spamnb_use_huge_pages(void *start, size_t size) nogil


cdef void *memory_of(void *before, Size size) except NULL nogil:
    """Enlarge or shrink the memory `before` (may be NULL) to `size` bytes and return it, as realloc does."""
    cdef void *memory = realloc(before, size)
    if memory is NULL:
        with gil:
            raise MemoryError
    spamnb_use_huge_pages(memory, size)
    return memory


cdef int start_table(EntryTable *table) except -1 nogil:
    memset(table, 0, sizeof(EntryTable))
    table.before = 1
    return set_room(table, FIRST_ENTRIES)


cdef int set_room(EntryTable *table, Size room) except -1 nogil:
    """Enlarge a table for `room` entries (a power of two), and put its entries into new slots."""
    cdef Size number
    if room > table.most:
        table.entries = <Entry *>memory_of(table.entries, room * sizeof(Entry))
        table.slots = <uint32_t *>memory_of(table.slots, 2 * room * sizeof(uint32_t))
        memset(table.slots, 0, 2 * room * sizeof(uint32_t))
        table.most = room
    table.before += table.used
    use_slots(table, room)
    for number in range(table.used):
        table.slots[slot_of(table, table.entries[number].fingerprint)] = table.before + number
    return 0


cdef void use_slots(EntryTable *table, Size room) noexcept nogil:
    """Make a table use 2 * `room` slots, which must be allocated and empty."""
    table.room, table.shift = room, 63
    while room > 1:
        table.shift -= 1
        room >>= 1


cdef inline Size slot_of(EntryTable *table, uint64_t fingerprint) noexcept nogil:
    """Return the slot of the entry with this fingerprint; if there is none, the free slot to add it in."""
    cdef Size at = fingerprint * SECRET_FACTOR >> table.shift
    cdef uint32_t slot = table.slots[at]
    while slot >= table.before and table.entries[slot - table.before].fingerprint != fingerprint:
        at = (at + 1) & (2 * table.room - 1)
        slot = table.slots[at]
    return at


cdef inline int make_table_room(EntryTable *table) except -1 nogil:
    """Enlarge a table if it is full, so that one more entry can be added."""
    return set_room(table, 2 * table.room) if table.used == table.room else 0


cdef inline Size entry_of(EntryTable *table, uint64_t fingerprint) noexcept nogil:
    """Return the number of the entry with this fingerprint; if there is none, add one with `times` 0.

    Call `make_table_room` first; a new entry must then be filled in with `set_entry`.
    """
    cdef Size at = slot_of(table, fingerprint), number = table.slots[at]
    if number >= table.before:
        return number - table.before
    number = table.used
    table.slots[at] = table.before + number
    table.used = number + 1
    table.entries[number].fingerprint, table.entries[number].times = fingerprint, 0
    return number


cdef inline void set_entry(Entry *entry, uint32_t start, uint32_t end, int part) noexcept nogil:
    entry.start, entry.end, entry.part = start, end, part


cdef void clear_table(EntryTable *table) noexcept nogil:
    table.before += table.used
    table.used = 0
    if table.room > FIRST_ENTRIES:
        use_slots(table, FIRST_ENTRIES)
    if table.before >= <uint32_t>1 << 30:
        memset(table.slots, 0, 2 * table.most * sizeof(uint32_t))
        table.before = 1


cdef int start_features(Features *features) except -1 nogil:
    start_table(&features.tokens)
    start_table(&features.pairs)
    features.letters = <Byte *>memory_of(NULL, FIRST_LETTERS)
    features.room = FIRST_LETTERS
    features.seen = <uint32_t *>memory_of(NULL, COUNTERS // 8)
    memset(features.seen, 0, COUNTERS // 8)
    clear_features(features)
    return 0


cdef void free_features(Features *features) noexcept nogil:
    free(features.tokens.entries)
    free(features.tokens.slots)
    free(features.pairs.entries)
    free(features.pairs.slots)
    free(features.letters)
    free(features.seen)
    free(features.order)
    memset(features, 0, sizeof(Features))


cdef void clear_features(Features *features) noexcept nogil:
    """Remove all features, so that another message can be read into this memory."""
    cdef Size at
    clear_table(&features.tokens)
    clear_table(&features.pairs)
    memset(features.seen, 0, COUNTERS // 8)
    features.gram_count = features.size = features.added = features.ordered = 0
    features.gram_texts[BODY] = features.gram_texts[HEAD] = nothing()
    for at in range(NUMBER_COUNT):
        features.numbers[at] = -1
    features.left = NO_LIMIT
    features.fingerprint = 0


cdef inline int make_letter_room(Features *features, Size size) except -1 nogil:
    """Give `letters` memory for `size` more bytes, and eight spare ones, which `store_eight` may write."""
    if features.size + size + 8 > features.room:
        features.room = 2 * (features.room + size)
        features.letters = <Byte *>memory_of(features.letters, features.room)
    return 0


cdef inline Text text_of_entry(Features *features, Size number) noexcept nogil:
    """Return the text of the token with this number; the text is valid until another token is added."""
    cdef Entry *entry = &features.tokens.entries[number]
    cdef Text text
    text.at, text.size = features.letters + entry.start, entry.end - entry.start
    return text


# Tokens

cdef inline Size add_hashed_token(
    Features *features, uint64_t fingerprint, Tag *tag, Size end, int part, Size times
) except -2 nogil:
    """Add a token (a tag and a text) and return its number; the text is already in `letters`, up to `end`."""
    cdef Size number, used = features.tokens.used
    cdef Entry *entry
    make_table_room(&features.tokens)
    number = entry_of(&features.tokens, fingerprint)
    entry = &features.tokens.entries[number]
    if number == used:  # a new token: its text stays in `letters`
        if tag.text.size:
            memcpy(features.letters + features.size, tag.text.at, tag.text.size)
        set_entry(entry, features.size, end, part)
        features.size = end
    entry.times += times
    features.left -= times
    features.added += times
    features.fingerprint = fingerprint
    if features.keeps_order:
        add_to_order(features, number)
    return number


cdef int add_to_order(Features *features, Size number) except -1 nogil:
    if features.ordered == features.order_room:
        features.order_room = 2 * features.order_room + 1024
        features.order = <uint32_t *>memory_of(features.order, features.order_room * sizeof(uint32_t))
    features.order[features.ordered] = number
    features.ordered += 1
    return 0


cdef Size add_token(Features *features, Tag *tag, Text token, int part, Size times) except -2 nogil:
    """Add the token that consists of a tag and a text; return its number, or -1 if no more tokens are allowed."""
    cdef uint64_t state = tag.state, eight = tag.eight, letters
    cdef int shift = tag.shift, bits
    cdef Size at = 0, to = features.size + tag.text.size
    make_letter_room(features, tag.text.size + token.size)
    while at < token.size:
        bits = 64 if at + 8 <= token.size else 8 * <int>(token.size - at)
        letters = load_eight(token, at) & (~<uint64_t>0 >> (64 - bits))
        store_eight(features.letters + to + at, letters)
        eight |= letters << shift
        if shift + bits >= 64:
            state = mixed(state, eight)
            eight = letters >> 8 >> (56 - shift)
        shift = (shift + bits) & 63
        at += 8
    times = min(times, min(features.left, NO_LIMIT - features.added))
    state = mixed(state, eight) if shift else state
    return add_hashed_token(features, state, tag, to + token.size, part, times) if times > 0 else -1


cdef Size add_words(
    Features *features, Tag *tag, Text spaced, Size most, int part, int ngrams, bint paired
) except -1 nogil:
    """Add the first words of `spaced`, at most `most`, as tokens with a tag; return how many were added.

    Spaces separate words. Also add n-grams of 2 to `ngrams` words and, if `paired`, word pairs.
    """
    cdef Size at = 0, start, to, words = 0, number, before = -1, pair, pairs
    cdef uint64_t state, eight, letters, found, last = 0
    cdef int shift, bits
    cdef uint32_t *run = NULL
    if ngrams > 1:
        run = <uint32_t *>allot(features.arena, min(most, spaced.size) * sizeof(uint32_t) + 1)
    most = min(most, min(features.left, NO_LIMIT - features.added))
    while words < most:
        while byte_at(spaced, at) == 32 or byte_at(spaced, at) == 39:  # a space, a quote
            at += 1
        if at >= spaced.size:
            break
        make_letter_room(features, tag.text.size + MAX_WORD)
        start, to, found = at, features.size + tag.text.size, 0
        state, eight, shift = tag.state, tag.eight, tag.shift
        while not found:  # as `add_token` does, up to the next space
            letters, bits = load_eight(spaced, at), 64
            found = letters ^ 0x2020202020202020u
            found = (found - ONES) & ~found & 0x8080808080808080u  # the lowest bit is that of the first space
            if found:
                found = ((found - 1) & ~found) >> 7  # all bits of those before it
                letters &= found
                bits = (found & ONES) * ONES >> 53 & 120
                found = 1
            if at - start < MAX_WORD:
                store_eight(features.letters + to + at - start, letters)
            eight |= letters << shift
            if shift + bits >= 64:
                state = mixed(state, eight)
                eight = letters >> 8 >> (56 - shift)
            shift = (shift + bits) & 63
            at += bits >> 3
        if at - start > MAX_WORD or byte_at(spaced, at - 1) == 39:
            number = add_long_or_quoted_word(features, tag, piece(spaced, start, at), part)
        else:
            state = mixed(state, eight) if shift else state
            number = add_hashed_token(features, state, tag, to + at - start, part, 1)
        if paired and before >= 0:
            make_table_room(&features.pairs)
            pairs = features.pairs.used
            pair = entry_of(&features.pairs, last * PAIR_FACTOR + features.fingerprint)
            if pair == pairs:
                set_entry(&features.pairs.entries[pair], before, number, part)
        if run is not NULL:
            run[words] = number
        before, last = number, features.fingerprint
        words += 1
    for bits in range(2, ngrams + 1):
        add_ngrams(features, tag, run, words, bits, part)
    return words


cdef Size add_long_or_quoted_word(Features *features, Tag *tag, Text word, int part) except -2 nogil:
    """Add a word without the quotes at its end; return the token's number.

    A word of more than MAX_WORD characters becomes its first six, "~", and how many bits its length has.
    """
    cdef Writer short
    cdef Size chars
    cdef int bits = 0
    while byte_at(word, word.size - 1) == 39:
        word.size -= 1
    chars = count_chars(word)
    if chars <= MAX_WORD:
        return add_token(features, tag, word, part, 1)
    while chars >> bits:
        bits += 1
    start_writer(&short, features.arena, 32)
    put(&short, first_chars(word, 6))
    put_byte(&short, 126)  # ~
    put_number(&short, bits)
    return add_token(features, tag, written(&short), part, 1)


cdef int add_ngrams(Features *features, Tag *tag, uint32_t *run, Size words, int n, int part) except -1 nogil:
    """Add each `n` neighbouring words, joined by spaces, as one token; `run`: the words' token numbers."""
    cdef Size start, at
    cdef Writer gram
    cdef Text word
    start_writer(&gram, features.arena, 256)
    for start in range(words - n + 1):
        gram.size = 0
        for at in range(start, start + n):
            word = text_of_entry(features, run[at])
            if at > start:
                put_byte(&gram, 32)
            put(&gram, rest(word, tag.text.size))
        add_token(features, tag, written(&gram), part, 1)
    return 0


# Grams: four neighbouring bytes, counted by one of COUNTERS counters; chosen by a hash of the bytes

cdef inline uint32_t counter_of_gram(uint32_t gram, int part) noexcept nogil:
    """Return the number of the counter for a gram; `gram`: four bytes as one number, `part`: HEAD or BODY."""
    return gram * 0x9E3779B1u >> (32 - PART_BIT) | <uint32_t>part << PART_BIT


cdef int add_grams(Features *features, Text text, int part) noexcept nogil:
    """Add the counters of a text's grams (runs of four bytes), each once, until there are MAX_GRAMS."""
    cdef uint32_t counter, bit, seen
    cdef Size at, used = features.gram_count
    features.gram_texts[part] = text
    text = piece(text, 0, MAX_GRAMS - used)
    for at in range(text.size - GRAM_BYTES + 1):  # without branches, for speed
        counter = counter_of_gram(load_four(text.at + at), part)
        bit, seen = <uint32_t>1 << (counter & 31), features.seen[counter >> 5]
        features.grams[used] = counter
        used += not seen & bit
        features.seen[counter >> 5] = seen | bit
    features.gram_count = used
    return 0
