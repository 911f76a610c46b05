# Reads many messages in a row without the interpreter's lock, and keeps the features of each (tokens, pairs, grams).
#
# A `BatchReader` belongs to one thread at a time, and reuses its memory for every batch. A batch has fewer
# than 2^31 entries; an entry is a token or a pair of one message.

cdef enum:
    MAX_DATE = 200  # characters kept of a Date header; the longest real date has 43, and remarks may follow
    MAX_OCCURRENCES = 65535  # of one token in one message: the number is stored in two bytes


cdef struct Rows:  # features of many messages, as arrays
    uint64_t *fingerprints
    uint32_t *ends  # where the text of an entry ends in `letters`; it starts where the text of the entry before ends
    uint16_t *times  # how often the token occurs in the message; 0 for a pair of neighbouring words
    uint8_t *parts  # HEAD or BODY; of a pair, 2 more
    Size entries
    Size entry_room  # entries that the arrays above can hold
    Byte *letters  # texts of all tokens, one after the other
    Size size  # bytes used of `letters`
    Size room  # bytes allocated for `letters`
    uint32_t *grams  # numbers of the counters of the grams
    Size gram_count
    Size gram_room
    int64_t *starts  # number of each message's first entry; behind the last message, the number of all entries
    int64_t *gram_starts  # as `starts`, in `grams`
    int64_t *numbers  # numeric features: NUMBER_COUNT for each message
    uint64_t *hashes  # the hash of each message
    int64_t *date_ends  # as `starts`, in `dates`
    Byte *dates  # values of the Date headers, in UTF-8
    Size date_room
    Size messages
    Size message_room  # messages that the arrays for messages can hold


cdef int make_message_room(Rows *rows, Size more) except -1 nogil:
    """Enlarge, if needed, the arrays of `rows` with one item per message, so that `more` messages fit."""
    cdef Size needed = rows.messages + more, room
    if needed <= rows.message_room:
        return 0
    room = max(needed, 2 * rows.message_room)
    rows.starts = <int64_t *>memory_of(rows.starts, (room + 1) * sizeof(int64_t))
    rows.gram_starts = <int64_t *>memory_of(rows.gram_starts, (room + 1) * sizeof(int64_t))
    rows.date_ends = <int64_t *>memory_of(rows.date_ends, (room + 1) * sizeof(int64_t))
    rows.numbers = <int64_t *>memory_of(rows.numbers, room * NUMBER_COUNT * sizeof(int64_t))
    rows.hashes = <uint64_t *>memory_of(rows.hashes, room * sizeof(uint64_t))
    rows.message_room = room
    rows.starts[0] = rows.gram_starts[0] = rows.date_ends[0] = 0
    return 0


cdef void free_rows(Rows *rows) noexcept nogil:
    free(rows.fingerprints)
    free(rows.ends)
    free(rows.letters)
    free(rows.times)
    free(rows.parts)
    free(rows.grams)
    free(rows.starts)
    free(rows.gram_starts)
    free(rows.numbers)
    free(rows.hashes)
    free(rows.date_ends)
    free(rows.dates)
    memset(rows, 0, sizeof(Rows))


cdef int make_entry_room(Rows *rows, Size more) except -1 nogil:
    """Enlarge, if needed, the arrays of `rows` with one item per token or pair, so that `more` items fit."""
    cdef Size needed = rows.entries + more, room
    if needed <= rows.entry_room:
        return 0
    if needed > MAX_INT32:
        with gil:
            raise OverflowError("too many words for one batch; read less mail at once")
    room = rows.entry_room
    rows.times = <uint16_t *>grown(rows.times, &room, needed, sizeof(uint16_t))
    room = rows.entry_room
    rows.parts = <uint8_t *>grown(rows.parts, &room, needed, sizeof(uint8_t))
    room = rows.entry_room
    rows.ends = <uint32_t *>grown(rows.ends, &room, needed, sizeof(uint32_t))
    rows.fingerprints = <uint64_t *>grown(rows.fingerprints, &rows.entry_room, needed, sizeof(uint64_t))
    return 0


cdef int add_entries(Rows *rows, EntryTable *table, bint are_tokens) except -1 nogil:
    """Append `table` to `rows`: a message's tokens (if `are_tokens`) or word pairs. Texts are not copied."""
    cdef Size n, to = rows.entries
    cdef Entry *entry
    make_entry_room(rows, table.used)
    for n in range(table.used):
        entry = &table.entries[n]
        if entry.times > MAX_OCCURRENCES:
            with gil:
                raise OverflowError("a token occurs more than 65535 times in one message")
        rows.fingerprints[to + n] = entry.fingerprint
        rows.ends[to + n] = rows.size + entry.end if are_tokens else rows.size
        rows.times[to + n] = entry.times
        rows.parts[to + n] = entry.part | (not are_tokens) << 1
    rows.entries += table.used
    return 0


cdef int copy_letters(Rows *rows, Features *features) except -1 nogil:
    """Append the texts of a message's tokens to `rows.letters`."""
    if rows.size + features.size > MAX_ENTRIES:
        with gil:
            raise OverflowError("too many words for one batch; read less mail at once")
    if not features.size:
        return 0
    if rows.room - rows.size < features.size:
        rows.letters = <Byte *>grown(rows.letters, &rows.room, rows.size + features.size, 1)
    memcpy(rows.letters + rows.size, features.letters, features.size)
    rows.size += features.size
    return 0


cdef int copy_grams(Rows *rows, Features *features) except -1 nogil:
    cdef Size count = features.gram_count
    if not count:
        return 0
    if rows.gram_room - rows.gram_count < count:
        rows.grams = <uint32_t *>grown(rows.grams, &rows.gram_room, rows.gram_count + count, sizeof(uint32_t))
    memcpy(rows.grams + rows.gram_count, features.grams, count * sizeof(uint32_t))
    rows.gram_count += count
    return 0


cdef int add_row(Rows *rows, Features *features) except -1 nogil:
    """Append to `rows` a message with these features; if `features` is NULL, a message without features."""
    cdef Size n
    cdef int64_t *numbers = &rows.numbers[rows.messages * NUMBER_COUNT]
    rows.entries, rows.gram_count = rows.starts[rows.messages], rows.gram_starts[rows.messages]  # undoes a failed call
    rows.size = rows.ends[rows.entries - 1] if rows.entries else 0
    for n in range(NUMBER_COUNT):
        numbers[n] = features.numbers[n] if features is not NULL else -1
    if features is not NULL:
        add_entries(rows, &features.tokens, True)
        copy_letters(rows, features)
        add_entries(rows, &features.pairs, False)
        copy_grams(rows, features)
    rows.messages += 1
    rows.starts[rows.messages] = rows.entries
    rows.gram_starts[rows.messages] = rows.gram_count
    return 0


cdef int add_date(Rows *rows, Text date) except -1 nogil:
    """Store the Date header, at most MAX_DATE characters, of the message that the next `add_row` appends."""
    cdef Size size = rows.date_ends[rows.messages]
    date = first_chars(date, MAX_DATE)
    if rows.date_room - size < date.size:
        rows.dates = <Byte *>grown(rows.dates, &rows.date_room, size + date.size, 1)
    if date.size:
        memcpy(rows.dates + size, date.at, date.size)
    rows.date_ends[rows.messages + 1] = size + date.size
    return 0


cdef bint is_among(uint64_t value, const uint64_t *sorted, Size count) noexcept nogil:
    """Return whether `value` is in `sorted`, an array of `count` numbers in ascending order."""
    cdef Size first = 0, middle
    while first < count:
        middle = first + (count - first) // 2
        if sorted[middle] < value:
            first = middle + 1
        elif sorted[middle] > value:
            count = middle
        else:
            return True
    return False


cdef inline Size room_after(Size used) noexcept nogil:
    """Return the size to allocate for the next batch: twice what the last one used, at most MAX_KEPT."""
    return min(2 * used, <Size>MAX_KEPT)


cdef class BatchReader:
    """Reads raw messages and collects their features, with the tokenizer settings of a model."""

    cdef Reader reader
    cdef Rows it  # messages that were read since the last call of `rows`
    cdef object words  # keeps alive what `reader` points to: the rules for words of the settings

    def __cinit__(self, settings):
        self.words = start_reader(&self.reader, settings)

    def __dealloc__(self):
        free_reader(&self.reader)
        free_rows(&self.it)

    def add(self, list messages not None, known=None, bint hashes=True, bint numbers=True):
        """Read raw messages, and collect the features of each; `rows` then returns them.

        `known`: sorted hashes (64 bits each) of learned messages; these messages get no features. If `hashes`
        is false, no hash is computed: all are 0. If `numbers` is false, no numeric feature is computed.
        """
        cdef Size count = len(messages), n, known_count = 0
        cdef Text *texts
        cdef Numbers learned_hashes
        cdef const uint64_t *known_at = NULL
        if known is not None and len(known):
            learned_hashes = Numbers(known, sizeof(uint64_t))
            known_at, known_count = <const uint64_t *>learned_hashes.at, learned_hashes.count
        texts = <Text *>memory_of(NULL, count * sizeof(Text) + 1)
        try:
            for n in range(count):
                texts[n] = text_of(messages[n])
            with nogil:
                make_message_room(&self.it, count)
                for n in range(count):
                    self.read(texts[n], known_at, known_count, hashes, numbers)
        finally:
            free(texts)

    def rows(self):
        """Return the messages added since the last call as a `MessageRows`, which takes over their memory."""
        cdef MessageRows rows = MessageRows()
        cdef Rows *it = &rows.it
        if self.it.messages:
            free_rows(it)
            it[0] = self.it
            memset(&self.it, 0, sizeof(Rows))
            reserve(it, 0, it.entries, it.size, it.gram_count, it.date_ends[it.messages], True)
            reserve(&self.it, it.messages, room_after(it.entries), room_after(it.size), room_after(it.gram_count), 0, True)
        return rows

    cdef int read(
        self, Text raw, const uint64_t *known, Size known_count, bint with_hash, bint with_numbers
    ) except -1 nogil:
        """Read a raw message and append it; if its hash is in `known` (a sorted array), without features."""
        cdef Reader *reader = &self.reader
        cdef Rows *rows = &self.it
        cdef uint64_t hash = 0
        cdef Field *date
        clear_arena(&reader.arena)
        read_mail(&reader.mail, &reader.arena, raw)
        if with_hash:
            hash_mail(&reader.mail, &hash)
        rows.hashes[rows.messages] = hash
        date = first_field(reader.mail.head.fields, reader.mail.head.count, b"date")
        add_date(rows, date.value if date is not NULL else nothing())
        if known_count and is_among(hash, known, known_count):
            return add_row(rows, NULL)
        make_features(&reader.features, &reader.cutter, &reader.mail, with_numbers)
        return add_row(rows, &reader.features)
