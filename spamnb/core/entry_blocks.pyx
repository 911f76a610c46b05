# Blocks of entries: how the counts of words and pairs lie in a model file. docs/model-file.md describes the format.
#
# A block has up to 64 entries in order of their fingerprints. Files may be damaged or forged: `open_block` checks all
# sizes against each other and against the bytes that were read, so that what it opened can be read without further
# checks.

cdef extern from *:
    int count_bits "__builtin_popcountll"(unsigned long long bits) noexcept nogil

cpdef enum:
    BLOCK_ENTRIES = 64  # at most
    MAX_BLOCK_TEXT = 60000  # bytes of all texts of a block; a longer text is cut

cdef enum:
    BLOCK_HEADER = 16  # bytes: how many entries, width of a count, words, size of the texts, which are words
    INDEX_BYTES = 16  # for each block: its first fingerprint, where it starts, its checksum


cdef struct EntryBlock:  # a block that was read: pointers to its columns
    int count  # of entries
    int width  # bytes of a count
    int words
    int labels
    uint64_t mask  # bit i: whether entry i is a word
    const Byte *keys
    const Byte *messages  # by entry and label
    const Byte *last_days
    const Byte *occurrences  # by word and label
    const Byte *first_days  # of words
    const Byte *text_ends
    const Byte *letters
    Size text_size


cdef inline Size block_size(Size count, Size words, Size width, Size text_size, Size labels) noexcept nogil:
    """Return how many bytes a block has: `count` entries (`words` of them words), counts of `width` bytes."""
    return BLOCK_HEADER + count * (8 + labels * width + 2) + words * (labels * width + 4) + text_size


cdef inline Size max_block_size(int labels) noexcept nogil:
    return block_size(BLOCK_ENTRIES, BLOCK_ENTRIES, 8, MAX_BLOCK_TEXT, labels)


# Reading

cdef bint open_block(EntryBlock *block, const Byte *at, Size size, int labels) noexcept nogil:
    """Set `block` to the columns in the `size` bytes at `at`; return False if these are not a valid block."""
    if size < BLOCK_HEADER:
        return False
    block.count, block.width, block.words, block.labels = at[0], at[1], number_at(at + 2, 2), labels
    block.text_size, block.mask = four_at(at + 4), eight_at(at + 8)
    if (
        not 1 <= block.count <= BLOCK_ENTRIES
        or block.width not in (1, 2, 4, 8)
        or count_bits(block.mask) != block.words
        or (block.count < BLOCK_ENTRIES and block.mask >> block.count)
        or block.text_size > MAX_BLOCK_TEXT
        or size != block_size(block.count, block.words, block.width, block.text_size, labels)
    ):
        return False
    block.keys = at + BLOCK_HEADER
    block.messages = block.keys + 8 * block.count
    block.last_days = block.messages + block.count * labels * block.width
    block.occurrences = block.last_days + 2 * block.count
    block.first_days = block.occurrences + block.words * labels * block.width
    block.text_ends = block.first_days + 2 * block.words
    block.letters = block.text_ends + 2 * block.words
    return is_in_order(block)


cdef bint is_in_order(const EntryBlock *block) noexcept nogil:
    """Return whether a block's fingerprints rise, and its texts, one after the other, fill their column."""
    cdef uint64_t key, last = block_key(block, 0)
    cdef int n, end = 0, next
    cdef bint fits = True
    for n in range(1, block.count):
        key = block_key(block, n)
        fits &= last < key
        last = key
    for n in range(block.words):
        next = number_at(block.text_ends + 2 * n, 2)
        fits &= end <= next
        end = next
    return fits and end == block.text_size


cdef inline uint64_t block_key(const EntryBlock *block, int entry) noexcept nogil:
    return eight_at(block.keys + 8 * entry)


cdef inline bint is_word(const EntryBlock *block, int entry) noexcept nogil:
    return block.mask >> entry & 1


cdef inline int word_number(const EntryBlock *block, int entry) noexcept nogil:
    """Return how many words come before a word in its block: its index in the columns for words."""
    return count_bits(block.mask & ((<uint64_t>1 << entry) - 1))


cdef inline uint64_t fixed_number_at(const Byte *at, int width) noexcept nogil:
    """Return the little-endian number in `width` bytes (1, 2, 4 or 8); this is fast if the compiler knows `width`."""
    cdef uint64_t number = 0
    memcpy(&number, at, width)
    return SPAMNB_FIRST_LOWEST(number)


cdef inline int64_t count_at(const Byte *counts, Size place, int width) noexcept nogil:
    """Return the count at index `place` of an array of counts that have `width` bytes each."""
    if width == 1:
        return counts[place]
    if width == 2:
        return fixed_number_at(counts + 2 * place, 2)
    if width == 4:
        return fixed_number_at(counts + 4 * place, 4)
    return min(fixed_number_at(counts + 8 * place, 8), <uint64_t>MAX_SUMMED)


cdef inline void read_row(const EntryBlock *block, int entry, int64_t *row) noexcept nogil:
    """Write the counts of an entry to `row`: its messages in each label, then its occurrences in each (pairs: 0)."""
    cdef int k, labels = block.labels, word
    for k in range(labels):
        row[k] = count_at(block.messages, entry * labels + k, block.width)
        row[labels + k] = 0
    if is_word(block, entry):
        word = word_number(block, entry)
        for k in range(labels):
            row[labels + k] = count_at(block.occurrences, word * labels + k, block.width)


cdef inline Text block_text(const EntryBlock *block, int entry) noexcept nogil:
    """Return the text of an entry if it is a word; for a pair, whose text is not stored, an empty text."""
    cdef Text text = nothing()
    cdef int word, start
    if is_word(block, entry):
        word = word_number(block, entry)
        start = number_at(block.text_ends + 2 * word - 2, 2) if word else 0
        text.at, text.size = block.letters + start, number_at(block.text_ends + 2 * word, 2) - start
    return text


cdef inline int last_day_at(const EntryBlock *block, int entry) noexcept nogil:
    return number_at(block.last_days + 2 * entry, 2)


cdef inline int first_day_at(const EntryBlock *block, int entry) noexcept nogil:
    """Return the first day on which a word was seen; for a pair, the last day, as the first is not stored."""
    if is_word(block, entry):
        return number_at(block.first_days + 2 * word_number(block, entry), 2)
    return last_day_at(block, entry)


cdef inline int block_entry(const EntryBlock *block, uint64_t key) noexcept nogil:
    """Return the number of the entry with this key (fingerprint); NOWHERE if the block does not have the key."""
    cdef int first = 0, last = block.count, middle
    while first < last:
        middle = (first + last) >> 1
        if block_key(block, middle) < key:
            first = middle + 1
        else:
            last = middle
    return first if first < block.count and block_key(block, first) == key else NOWHERE


# Writing

cdef inline Byte *put_at(Byte *to, uint64_t number, int width) noexcept nogil:
    """Write a number in `width` bytes, little-endian; return the address after them."""
    number = SPAMNB_FIRST_LOWEST(number)
    memcpy(to, &number, width)
    return to + width


cdef inline int width_of(uint64_t highest) noexcept nogil:
    """Return how many bytes are needed for counts up to `highest`: 1, 2, 4 or 8."""
    if highest < 1 << 8:
        return 1
    return 2 if highest < 1 << 16 else (4 if highest <= 0xFFFFFFFFu else 8)


cdef struct NewBlock:  # entries of a block that is being made, as columns
    int labels
    int count
    Size text_size
    uint64_t[BLOCK_ENTRIES] keys
    uint16_t[BLOCK_ENTRIES] first_days
    uint16_t[BLOCK_ENTRIES] last_days
    uint16_t[BLOCK_ENTRIES] text_ends
    int64_t *counts  # [BLOCK_ENTRIES][2 * labels]
    Byte *letters  # [MAX_BLOCK_TEXT]


cdef Size write_block(const NewBlock *block, Byte *to) noexcept nogil:
    """Write a block to `to` (`max_block_size` bytes); return its size. Entries with occurrences are words."""
    cdef int n, k, labels = block.labels, words = 0, width
    cdef uint64_t highest = 0, mask = 0
    cdef int64_t *row
    cdef Byte *start = to
    cdef int[BLOCK_ENTRIES] which  # the words
    for n in range(block.count):
        row = block.counts + 2 * labels * n
        for k in range(2 * labels):
            highest |= <uint64_t>row[k]
        for k in range(labels, 2 * labels):
            if row[k]:
                mask |= <uint64_t>1 << n
                which[words] = n
                words += 1
                break
    width = width_of(highest)
    to[0], to[1] = block.count, width
    to = put_at(put_at(put_at(to + 2, words, 2), block.text_size, 4), mask, 8)
    for n in range(block.count):
        to = put_at(to, block.keys[n], 8)
    for n in range(block.count):
        to = put_counts(to, block.counts + 2 * labels * n, labels, width)
    for n in range(block.count):
        to = put_at(to, block.last_days[n], 2)
    for n in range(words):
        to = put_counts(to, block.counts + 2 * labels * which[n] + labels, labels, width)
    for n in range(words):
        to = put_at(to, block.first_days[which[n]], 2)
    for n in range(words):
        to = put_at(to, block.text_ends[which[n]], 2)
    memcpy(to, block.letters, block.text_size)
    return to + block.text_size - start


cdef inline Byte *put_counts(Byte *to, const int64_t *counts, int count, int width) noexcept nogil:
    cdef int k
    for k in range(count):
        if width == 1:
            to = put_at(to, counts[k], 1)
        elif width == 2:
            to = put_at(to, counts[k], 2)
        else:
            to = put_at(to, counts[k], 4 if width == 4 else 8)
    return to
