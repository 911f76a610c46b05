# Records of a journal ("lessons"): what a record stores of a message, and the counts that its records change.


def lesson_of(FeatureSet features not None):
    """Return what the journal stores of a message: (fingerprints, occurrences, texts, pairs, grams), all as bytes.

    The first three are of tokens: fingerprints (64 bits each), how often each occurs (16 bits), texts (each
    ended by a newline). Pairs: fingerprints (64 bits each). Grams: numbers of gram counters (32 bits each).
    """
    cdef Entry *tokens = features.it.tokens.entries
    cdef Entry *pairs = features.it.pairs.entries
    cdef Size n, count = features.it.tokens.used, pair_count = features.it.pairs.used
    cdef bytes fingerprints = PyBytes_FromStringAndSize(NULL, 8 * count)
    cdef bytes occurrences = PyBytes_FromStringAndSize(NULL, 2 * count)
    cdef bytes of_pairs = PyBytes_FromStringAndSize(NULL, 8 * pair_count)
    for n in range(count):
        (<uint64_t *><char *>fingerprints)[n] = tokens[n].fingerprint
        (<uint16_t *><char *>occurrences)[n] = min(tokens[n].times, 0xFFFFu)
    for n in range(pair_count):
        (<uint64_t *><char *>of_pairs)[n] = pairs[n].fingerprint
    texts = [bytes_of(text_of_entry(&features.it, n)) for n in range(count)]
    texts.append(b"")
    grams = (<char *>features.it.grams)[:4 * features.it.gram_count]
    return fingerprints, occurrences, b"\n".join(texts), of_pairs, grams


def growth(Counts counts not None, bytes words not None, bytes pairs not None, bint is_forgotten):
    """Return how many new words and new pairs a message brings to `counts`; below 0 if `is_forgotten`."""
    cdef bytes fingerprints = words + pairs
    cdef Size count = len(fingerprints) // 8, width = 2 * counts.label_count, n, k
    cdef Size[2] grown
    cdef int64_t *rows = <int64_t *>memory_of(NULL, count * width * sizeof(int64_t) + 1)
    cdef int64_t messages, lone = 1 if is_forgotten else 0
    cdef bint is_pair
    grown = [0, 0]
    try:
        counts.find(<const uint64_t *><const char *>fingerprints, count, rows)
        for n in range(count):
            messages, is_pair = 0, 8 * n >= len(words)
            for k in range(n * width, n * width + counts.label_count):
                messages += rows[k]
            if messages == lone:
                grown[is_pair] += -1 if is_forgotten else 1
        return grown[0], grown[1]
    finally:
        free(rows)


# Counts of a journal

cdef struct WantedKeys:  # a hash table of the keys that a look-up asks for
    const uint64_t *keys
    uint32_t *slots  # number of a key + 1, 0: free; at least twice as many as keys
    Size last_slot  # number of the last slot
    int shift  # a slot's number is the top 64 - shift bits of a product


cdef int want_keys(WantedKeys *wanted, const uint64_t *keys, Size count) except -1 nogil:
    """Fill `wanted`, a hash table of these keys for `change_wanted`; the caller must free `wanted.slots`."""
    cdef int bits = 1
    cdef Size n, at
    while <Size>1 << bits < 2 * count:
        bits += 1
    wanted.keys, wanted.last_slot, wanted.shift = keys, (<Size>1 << bits) - 1, 64 - bits
    wanted.slots = <uint32_t *>memory_of(NULL, (wanted.last_slot + 1) * sizeof(uint32_t))
    memset(wanted.slots, 0, (wanted.last_slot + 1) * sizeof(uint32_t))
    for n in range(count):
        at = keys[n] * TABLE_FACTOR >> wanted.shift
        while wanted.slots[at]:
            at = (at + 1) & wanted.last_slot
        wanted.slots[at] = n + 1
    return 0


cdef inline void change_wanted(
    const WantedKeys *wanted, const Lesson *lesson, uint64_t key, const Byte *times, int64_t *rows, Size width
) noexcept nogil:
    """If `wanted` has `key`, apply `lesson` to its row in `rows`; `times`: a word's occurrences or NULL."""
    cdef Size at = key * TABLE_FACTOR >> wanted.shift
    cdef int64_t *row
    cdef int step
    while wanted.slots[at]:
        if wanted.keys[wanted.slots[at] - 1] == key:
            row = rows + (<Size>wanted.slots[at] - 1) * width
            for step in range(lesson.steps):
                row[lesson.labels[step]] += lesson.signs[step]
                if times is not NULL:
                    row[width // 2 + lesson.labels[step]] += lesson.signs[step] * <int64_t>(times[0] | times[1] << 8)
        at = (at + 1) & wanted.last_slot


cdef class Lessons(Counts):
    """The changes of counts in journal records, found without a table: 20 take 0.2 ms, with a table 3 ms."""

    cdef readonly tuple labels
    cdef list kept  # the arguments of each `add`, which keep the bytes alive
    cdef Lesson *items
    cdef Size count, room

    def __init__(self, labels):
        self.labels, self.kept = tuple(labels), []
        self.label_count = len(self.labels)

    def __dealloc__(self):
        free(self.items)

    def add(self, bytes fingerprints not None, bytes occurrences not None, bytes texts not None,
            bytes pairs not None, bytes grams not None, list steps not None, int day):
        """Add a record (see `CountTable.add_lesson`); return how many words it has, with repetitions."""
        cdef Lesson lesson
        cdef Size n
        cdef int64_t length = 0
        set_lesson(&lesson, fingerprints, occurrences, texts, pairs, grams, steps, day, self.label_count)
        if self.count == self.room:
            self.items = <Lesson *>memory_of(self.items, (2 * self.room + 32) * sizeof(Lesson))
            self.room = 2 * self.room + 32
        self.items[self.count] = lesson
        self.count += 1
        self.kept.append((fingerprints, occurrences, texts, pairs, grams, steps, day))
        for n in range(lesson.words.size // 8):
            length += number_at(lesson.occurrences.at + 2 * n, 2)
        return length

    def table(self):
        """Return a `CountTable` with the changes, texts and days of all records."""
        table = CountTable(self.labels)
        for lesson in self.kept:
            table.add_lesson(*lesson)
        return table

    cdef int find(self, const uint64_t *keys, Size count, int64_t *rows) except -1 nogil:
        cdef Size n, at, width = 2 * self.label_count
        cdef WantedKeys wanted
        cdef Lesson *lesson
        cdef const Byte *times
        memset(rows, 0, count * width * sizeof(int64_t))
        want_keys(&wanted, keys, count)
        for n in range(self.count):
            lesson = self.items + n
            for at in range(lesson.words.size // 8):
                times = lesson.occurrences.at + 2 * at
                change_wanted(&wanted, lesson, eight_at(lesson.words.at + 8 * at), times, rows, width)
            for at in range(lesson.pairs.size // 8):
                change_wanted(&wanted, lesson, eight_at(lesson.pairs.at + 8 * at), NULL, rows, width)
        free(wanted.slots)
        return 0

    cdef int find_grams(self, const uint32_t *counters, Size count, int64_t *rows) except -1 nogil:
        cdef Size n, at, labels = self.label_count
        cdef uint64_t *keys = <uint64_t *>memory_of(NULL, count * sizeof(uint64_t) + 1)
        cdef WantedKeys wanted
        cdef Lesson *lesson
        memset(rows, 0, count * labels * sizeof(int64_t))
        for n in range(count):
            keys[n] = counters[n]
        try:
            want_keys(&wanted, keys, count)
            for n in range(self.count):
                lesson = self.items + n
                for at in range(lesson.grams.size // 4):
                    change_wanted(&wanted, lesson, four_at(lesson.grams.at + 4 * at), NULL, rows, labels)
            free(wanted.slots)
        finally:
            free(keys)
        return 0
