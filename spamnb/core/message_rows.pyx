# The features of many messages, in the order in which a `BatchReader` read them.
#
# A `CountTable` counts them, a `FeatureScorer` scores them. The places of their entries in a table can be kept, so that
# messages are subtracted and added again without hashing. Cluster workers send rows as pickles with a checksum; their
# content is trusted, as anybody who can send a pickle can run any code.

cdef enum:
    HEAD_SIZES = 6  # how many numbers packed rows begin with
    PACKED_ARRAYS = 12


cdef class MessageRows:
    """The features, hashes and dates of many messages, which are numbered from 0."""

    cdef Rows it
    cdef int32_t *places  # each entry's number in a `CountTable`; -1 if its message was not added to it; NULL: unknown
    cdef Size place_end  # all places are below this
    cdef object owner  # `identity` of that table
    cdef bint stores_places  # `keeps_places`

    def __cinit__(self):
        make_message_room(&self.it, 1)

    def __dealloc__(self):
        free_rows(&self.it)
        free(self.places)

    def __len__(self):
        return self.it.messages

    @property
    def keeps_places(self):
        """Whether the first `CountTable` to count these messages stores its entry numbers here, for speed."""
        return self.stores_places

    @keeps_places.setter
    def keeps_places(self, bint keeps):
        free(self.places)
        self.places, self.owner, self.place_end, self.stores_places = NULL, None, 0, keeps

    @property
    def hashes(self):
        """The hashes of all messages, as an array of 64-bit numbers."""
        cdef Column hashes = new_column(self.it.messages * sizeof(uint64_t))
        if self.it.messages:
            memcpy(hashes.at, self.it.hashes, hashes.size)
        return hashes

    @property
    def dates(self):
        """The unchanged Date header of each message; "" for a message without this header."""
        cdef Size n, start, end
        cdef list dates = []
        for n in range(self.it.messages):
            start, end = self.it.date_ends[n], self.it.date_ends[n + 1]
            date = self.it.dates[start:end] if end > start else b""
            dates.append(date.decode("utf-8", "replace"))
        return dates

    @property
    def size(self):
        """How many bytes of memory this object uses."""
        cdef Rows *rows = &self.it
        cdef Size of_entry = sizeof(uint64_t) + sizeof(uint16_t) + sizeof(uint8_t)
        of_entry += sizeof(uint32_t) if rows.ends is not NULL else 0
        of_entry += sizeof(int32_t) if self.stores_places else 0
        return (
            rows.entries * of_entry + rows.size + rows.gram_count * sizeof(uint32_t)
            + rows.messages * (4 + NUMBER_COUNT) * sizeof(int64_t) + rows.date_ends[rows.messages]
        )

    @property
    def sizes(self):
        """An array of 64-bit numbers: how many bytes each message needs in a copy that `chosen` makes."""
        cdef Size n, of_entry = sizeof(uint64_t) + sizeof(uint16_t) + sizeof(uint8_t) + sizeof(int32_t)
        cdef Column sizes = new_column(self.it.messages * sizeof(int64_t))
        cdef int64_t *size = <int64_t *>sizes.at
        for n in range(self.it.messages):
            size[n] = (self.it.starts[n + 1] - self.it.starts[n]) * of_entry
            size[n] += (self.it.gram_starts[n + 1] - self.it.gram_starts[n]) * sizeof(uint32_t)
        return sizes

    def entries(self, Size message):
        """List a message's tokens and pairs as (fingerprint, occurrences, HEAD or BODY); a pair has 0 occurrences."""
        cdef Size n
        if not 0 <= message < self.it.messages:
            raise IndexError("no message has this number")
        return [
            (self.it.fingerprints[n], self.it.times[n], self.it.parts[n] & 1)
            for n in range(self.it.starts[message], self.it.starts[message + 1])
        ]

    def grams(self, Size message):
        """Return the numbers of the counters for a message's grams; `message` is the message's number."""
        cdef Size n
        if not 0 <= message < self.it.messages:
            raise IndexError("no message has this number")
        return [self.it.grams[n] for n in range(self.it.gram_starts[message], self.it.gram_starts[message + 1])]

    def drop_texts(self):
        """Free the texts of tokens, which scoring does not need, and all unused memory."""
        free(self.it.ends)
        free(self.it.letters)
        self.it.ends, self.it.letters, self.it.size = NULL, NULL, 0
        reserve(&self.it, 0, self.it.entries, 0, self.it.gram_count, self.it.date_ends[self.it.messages], False)

    def chosen(self, messages):
        """Return a `MessageRows` of the messages with these numbers, without texts, numeric features and dates."""
        cdef Numbers wanted = Numbers(messages, sizeof(int64_t))
        cdef const int64_t *message = <const int64_t *>wanted.at
        cdef MessageRows rows = MessageRows()
        cdef Size n, start, entries = 0, grams = 0
        check_below(message, wanted.count, self.it.messages)
        with nogil:
            for n in range(wanted.count):
                entries += self.it.starts[message[n] + 1] - self.it.starts[message[n]]
                grams += self.it.gram_starts[message[n] + 1] - self.it.gram_starts[message[n]]
            reserve(&rows.it, wanted.count, entries, 0, grams, 0, False)
            for n in range(wanted.count):
                append(&rows.it, &self.it, message[n], message[n] + 1, False)
        rows.stores_places = self.stores_places
        if self.places is not NULL:
            rows.start_places(self.owner)
            rows.place_end = self.place_end
            for n in range(wanted.count):
                start, entries = rows.it.starts[n], rows.it.starts[n + 1] - rows.it.starts[n]
                memcpy(rows.places + start, self.places + self.it.starts[message[n]], entries * sizeof(int32_t))
        return rows

    @staticmethod
    def of(list messages not None):
        """Return a `MessageRows` with these feature sets, one for each message; all hashes are 0, all dates empty."""
        cdef MessageRows rows = MessageRows()
        cdef FeatureSet features
        make_message_room(&rows.it, len(messages))
        for features in messages:
            if features is None:
                raise TypeError("each message must be a FeatureSet, not None")
            rows.it.hashes[rows.it.messages] = 0
            rows.it.date_ends[rows.it.messages + 1] = 0
            add_row(&rows.it, &features.it)
        return rows

    def extend(self, MessageRows more not None):
        """Append the messages of `more`, without texts. Entry numbers stay only if both are for one table."""
        cdef Rows *it = &self.it
        cdef Size entries = it.entries + more.it.entries, dates = it.date_ends[it.messages]
        cdef bint has_places = more.places is not NULL and (more.owner is self.owner or not it.entries)
        if it.ends is not NULL:
            raise ValueError("these rows have texts; call drop_texts before extend")
        if entries > MAX_INT32:
            raise OverflowError("too many words for one batch; read less mail at once")
        reserve(it, more.it.messages, min(wider(it.entry_room, entries), <Size>MAX_INT32), 0,
                wider(it.gram_room, it.gram_count + more.it.gram_count),
                wider(it.date_room, dates + more.it.date_ends[more.it.messages]), False)
        if not more.it.entries:
            pass
        elif has_places:
            self.places = <int32_t *>memory_of(self.places, it.entry_room * sizeof(int32_t) + 1)
            memcpy(self.places + it.entries, more.places, more.it.entries * sizeof(int32_t))
            self.owner, self.place_end = more.owner, max(self.place_end, more.place_end)
            self.stores_places = True
        else:
            self.keeps_places = False
        append(it, &more.it, 0, more.it.messages, True)

    cdef int start_places(self, owner) except -1:
        """Allocate memory for entry numbers in the table whose `identity` is `owner`, and set all of them to -1."""
        free(self.places)
        self.places = NULL
        self.places = <int32_t *>memory_of(NULL, self.it.entries * sizeof(int32_t) + 1)
        memset(self.places, 0xFF, self.it.entries * sizeof(int32_t))
        self.owner, self.place_end = owner, 0
        return 0

    def __reduce__(self):
        packed = packed_rows(&self.it)
        return unpacked_rows, (packed, crc32(packed))


cdef int check_below(const int64_t *numbers, Size count, int64_t limit) except -1:
    """Raise IndexError unless all numbers are from 0 to `limit` - 1."""
    cdef Size n
    for n in range(count):
        if not 0 <= numbers[n] < limit:
            raise IndexError("no message or label has this number")
    return 0


cdef int reserve(
    Rows *rows, Size messages, Size entries, Size letters, Size grams, Size dates, bint has_texts
) except -1 nogil:
    """Grow or shrink all arrays to these numbers of items; no number may be lower than the items in use."""
    if entries > MAX_INT32 or letters > MAX_ENTRIES:
        with gil:
            raise OverflowError("too many words for one batch; read less mail at once")
    make_message_room(rows, messages)
    rows.fingerprints = <uint64_t *>memory_of(rows.fingerprints, entries * sizeof(uint64_t) + 1)
    rows.times = <uint16_t *>memory_of(rows.times, entries * sizeof(uint16_t) + 1)
    rows.parts = <uint8_t *>memory_of(rows.parts, entries + 1)
    rows.grams = <uint32_t *>memory_of(rows.grams, grams * sizeof(uint32_t) + 1)
    rows.dates = <Byte *>memory_of(rows.dates, dates + 1)
    if has_texts:
        rows.ends = <uint32_t *>memory_of(rows.ends, entries * sizeof(uint32_t) + 1)
        rows.letters = <Byte *>memory_of(rows.letters, letters + 1)
    rows.entry_room, rows.gram_room, rows.room, rows.date_room = entries, grams, letters, dates
    return 0


cdef inline Size wider(Size room, Size needed) noexcept nogil:
    """Return the size to allocate for `needed` items: `room` if that is enough, otherwise at least twice `room`."""
    return room if needed <= room else max(needed, 2 * room)


cdef void append(Rows *rows, const Rows *source, Size first, Size end, bint is_whole) noexcept nogil:
    """Append the messages from `first` to `end` - 1 of `source` to `rows`, without texts. The memory must be reserved.

    If `is_whole`, the range must be all of `source`; only then numeric features and dates are copied, too.
    """
    cdef Size n, start = source.starts[first], count = source.starts[end] - start
    cdef Size gram = source.gram_starts[first], grams = source.gram_starts[end] - gram
    cdef Size date = rows.date_ends[rows.messages]
    for n in range(first, end):
        rows.hashes[rows.messages + n - first] = source.hashes[n]
        rows.starts[rows.messages + n - first + 1] = rows.entries + source.starts[n + 1] - start
        rows.gram_starts[rows.messages + n - first + 1] = rows.gram_count + source.gram_starts[n + 1] - gram
        rows.date_ends[rows.messages + n - first + 1] = date + source.date_ends[n + 1] if is_whole else 0
    for n in range(first * NUMBER_COUNT, end * NUMBER_COUNT):
        rows.numbers[(rows.messages - first) * NUMBER_COUNT + n] = source.numbers[n] if is_whole else MISSING
    if count:
        memcpy(rows.fingerprints + rows.entries, source.fingerprints + start, count * sizeof(uint64_t))
        memcpy(rows.times + rows.entries, source.times + start, count * sizeof(uint16_t))
        memcpy(rows.parts + rows.entries, source.parts + start, count)
    if grams:
        memcpy(rows.grams + rows.gram_count, source.grams + gram, grams * sizeof(uint32_t))
    if is_whole and source.date_ends[source.messages]:
        memcpy(rows.dates + date, source.dates, source.date_ends[source.messages])
    rows.messages += end - first
    rows.entries += count
    rows.gram_count += grams


# Rows as bytes

cdef struct Stretch:
    void *at
    Size size


cdef void stretches_of(Rows *rows, Size dates, Stretch[PACKED_ARRAYS] found) noexcept nogil:
    """Write the address and size of each array to `found`, in the order in which they are packed."""
    found[0] = Stretch(rows.starts, (rows.messages + 1) * sizeof(int64_t))
    found[1] = Stretch(rows.gram_starts, (rows.messages + 1) * sizeof(int64_t))
    found[2] = Stretch(rows.date_ends, (rows.messages + 1) * sizeof(int64_t))
    found[3] = Stretch(rows.numbers, rows.messages * NUMBER_COUNT * sizeof(int64_t))
    found[4] = Stretch(rows.hashes, rows.messages * sizeof(uint64_t))
    found[5] = Stretch(rows.fingerprints, rows.entries * sizeof(uint64_t))
    found[6] = Stretch(rows.ends, rows.entries * sizeof(uint32_t) if rows.ends is not NULL else 0)
    found[7] = Stretch(rows.grams, rows.gram_count * sizeof(uint32_t))
    found[8] = Stretch(rows.times, rows.entries * sizeof(uint16_t))
    found[9] = Stretch(rows.parts, rows.entries)
    found[10] = Stretch(rows.letters, rows.size)
    found[11] = Stretch(rows.dates, dates)


cdef bytes packed_rows(Rows *rows):
    """Return messages as bytes: the sizes of the arrays, then the arrays."""
    cdef int64_t[HEAD_SIZES] head
    cdef Stretch[PACKED_ARRAYS] stretches
    cdef Size n, size = sizeof(head)
    cdef Size dates = rows.date_ends[rows.messages]
    cdef bytes packed
    cdef char *at
    head[0], head[1], head[2] = rows.messages, rows.entries, rows.size
    head[3], head[4], head[5] = rows.gram_count, dates, rows.ends is not NULL
    stretches_of(rows, dates, stretches)
    for n in range(PACKED_ARRAYS):
        size += stretches[n].size
    packed = PyBytes_FromStringAndSize(NULL, size)
    at = PyBytes_AS_STRING(packed)
    memcpy(at, head, sizeof(head))
    at += sizeof(head)
    for n in range(PACKED_ARRAYS):
        if stretches[n].size:
            memcpy(at, stretches[n].at, stretches[n].size)
        at += stretches[n].size
    return packed


def unpacked_rows(bytes data not None, uint32_t checksum):
    """Return the `MessageRows` packed in `data`; raise ValueError if the checksum does not match."""
    cdef MessageRows rows = MessageRows()
    cdef int64_t[HEAD_SIZES] head
    cdef Stretch[PACKED_ARRAYS] stretches
    cdef const char *at = PyBytes_AS_STRING(data)
    cdef Size n
    if len(data) < <Size>sizeof(head) or crc32(data) != checksum:
        raise ValueError("the packed messages are damaged: their checksum is wrong")
    memcpy(head, at, sizeof(head))
    at += sizeof(head)
    reserve(&rows.it, head[0], head[1], head[2], head[3], head[4], head[5] != 0)
    rows.it.messages, rows.it.entries, rows.it.gram_count = head[0], head[1], head[3]
    rows.it.size = head[2] if head[5] else 0
    stretches_of(&rows.it, head[4], stretches)
    for n in range(PACKED_ARRAYS):
        memcpy(stretches[n].at, at, stretches[n].size)
        at += stretches[n].size
    return rows
