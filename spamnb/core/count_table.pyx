# Counts in memory: a table of tokens and pairs, found by hashing, and counters of grams.
#
# Entries stay in the order they came. A slot holds the number of an entry and, in the bits above it, some of its hash,
# so that a wrong entry is seldom looked at. Where a fingerprint lies depends on a random factor of this process, as
# senders choose fingerprints. Slots and entries of many fingerprints are read at once, so that cache misses overlap.
#
# Totals are kept up by every change. A token is a word if it has occurrences, else a pair of neighbours.

cdef enum:
    FIRST_ROOM = 1 << 10
    MAX_ROOM = 1 << 30
    FULL_COUNT = 1 << 30
    MAX_DAY = 0xFFFF

cdef uint64_t TABLE_FACTOR = int.from_bytes(urandom(8), "little") | 1
cdef int32_t MAX_BEFORE_MESSAGE = MAX_INT32 - MAX_OCCURRENCES  # of a count to which a message is added


cdef struct NumberSums:  # of a numeric feature in the messages of a label
    int64_t count
    int64_t sum
    int64_t high_squares  # the sum of squares has 128 bits
    uint64_t low_squares


cdef class CountTable(Counts):
    """Counts of tokens, pairs and grams in memory, and their totals."""

    cdef readonly tuple labels
    cdef Size used, room, record_room
    cdef Size stride  # of the records, in numbers of 64 bits
    cdef uint64_t *records  # of each entry its key and a row of counts of 32 bits: messages by label, then occurrences
    cdef uint16_t *first_days
    cdef uint16_t *last_days
    cdef uint64_t *text_ends  # in `letters`; a text starts where that of the entry before ends. NULL without texts
    cdef Byte *letters
    cdef Size letter_count, letter_room
    cdef int32_t *grams  # [COUNTERS][label_count]; NULL until some are counted
    cdef uint32_t *slots  # twice as many as there is room: entry + 1, and bits of its hash above; 0: free
    cdef int slot_bits
    cdef int only_day  # of all entries; below 0 if there is none yet, or several
    cdef int32_t highest  # count of occurrences
    cdef bint has_texts, is_busy
    cdef bint has_subtracted  # so that a word may have no occurrences
    cdef object identity, origin  # stand for these entries, and for those that this is a copy of
    cdef Size copied  # entries that it has of the origin
    cdef int64_t[MAX_LABELS] message_totals, presence_totals, occurrence_totals, pair_totals
    cdef int64_t word_count, pair_count  # that are in any message
    cdef NumberSums *sums  # [NUMBER_COUNT][label_count]

    def __cinit__(self, labels, bint has_texts=True):
        self.labels = tuple(labels)
        if not 0 < len(self.labels) <= MAX_LABELS:
            raise ValueError("no labels, or too many")
        self.label_count, self.has_texts, self.only_day = len(self.labels), has_texts, -1
        self.stride = 1 + self.label_count
        self.identity = object()
        self.sums = <NumberSums *>memory_of(NULL, NUMBER_COUNT * self.label_count * sizeof(NumberSums))
        memset(self.sums, 0, NUMBER_COUNT * self.label_count * sizeof(NumberSums))

    def __dealloc__(self):
        self.free_entries()
        free_zeros(self.grams, self.gram_bytes())
        free(self.sums)

    cdef void free_entries(self) noexcept nogil:
        """Give the memory of all entries back."""
        free_zeros(self.records, self.record_room * self.record_bytes())
        free(self.first_days)
        free(self.last_days)
        free(self.text_ends)
        free(self.letters)
        free_zeros(self.slots, 2 * self.room * sizeof(uint32_t))
        self.records = self.text_ends = NULL
        self.first_days = self.last_days = NULL
        self.letters, self.slots = NULL, NULL
        self.used = self.room = self.record_room = self.letter_count = self.letter_room = self.slot_bits = 0

    def __len__(self):
        return self.used

    cdef inline Size record_bytes(self) noexcept nogil:
        return self.stride * sizeof(uint64_t)

    cdef inline Size gram_bytes(self) noexcept nogil:
        return COUNTERS * self.label_count * sizeof(int32_t)

    # Entries

    cdef inline uint64_t key_of(self, Size entry) noexcept nogil:
        return self.records[entry * self.stride]

    cdef inline int32_t *row_of(self, Size entry) noexcept nogil:
        return <int32_t *>(self.records + entry * self.stride + 1)

    cdef inline uint32_t hash_of(self, uint64_t key) noexcept nogil:
        return key * TABLE_FACTOR >> 32

    cdef inline Size home_of(self, uint32_t hash) noexcept nogil:
        """Return the slot where an entry belongs; if it is taken, the entry is in one of those behind."""
        return hash >> (32 - self.slot_bits)

    cdef Size slot_of_key(self, uint64_t key) noexcept nogil:
        """Return the slot of a key, or the free one where it belongs."""
        cdef uint32_t hash = self.hash_of(key), entry_bits = (<uint32_t>1 << self.slot_bits) - 1, slot
        cdef Size at = self.home_of(hash)
        while True:
            slot = self.slots[at]
            if not slot:
                return at
            if not (slot ^ hash << self.slot_bits) & ~entry_bits and self.key_of((slot & entry_bits) - 1) == key:
                return at
            at = (at + 1) & entry_bits

    cdef inline Size entry_in(self, Size slot) noexcept nogil:
        """Return the entry in a slot, or NOWHERE if it is free."""
        return <Size>(self.slots[slot] & ((<uint32_t>1 << self.slot_bits) - 1)) - 1

    cdef Size entry_of(self, uint64_t key) noexcept nogil:
        """Return the entry of a key, or NOWHERE."""
        return self.entry_in(self.slot_of_key(key)) if self.used else NOWHERE

    cdef int make_entry_room(self, Size more) except -1 nogil:
        """Make room for so many entries more."""
        cdef Size room = max(self.room, <Size>FIRST_ROOM), bits = 1
        cdef uint64_t *records
        if self.used + more <= self.room:
            return 0
        while room < self.used + more:
            room *= 2
        if room > MAX_ROOM:
            with gil:
                raise OverflowError("too many tokens for one table")
        records = <uint64_t *>zeros_of(room * self.record_bytes())
        if self.used:
            memcpy(records, self.records, self.used * self.record_bytes())
        free_zeros(self.records, self.record_room * self.record_bytes())
        self.records, self.record_room = records, room
        self.first_days = <uint16_t *>memory_of(self.first_days, room * sizeof(uint16_t))
        self.last_days = <uint16_t *>memory_of(self.last_days, room * sizeof(uint16_t))
        if self.has_texts:
            self.text_ends = <uint64_t *>memory_of(self.text_ends, room * sizeof(uint64_t))
        while <Size>1 << bits < 2 * room:
            bits += 1
        return self.set_slots(room, bits)

    cdef int set_slots(self, Size room, int bits) except -1 nogil:
        """Put all entries into new slots."""
        cdef uint32_t *slots = <uint32_t *>zeros_of(2 * room * sizeof(uint32_t))
        cdef Size[AT_ONCE] homes
        cdef Size start = 0, size, n, at, last = 2 * room - 1
        free_zeros(self.slots, 2 * self.room * sizeof(uint32_t))
        self.slots, self.room, self.slot_bits = slots, room, bits
        while start < self.used:
            size = min(<Size>AT_ONCE, self.used - start)
            for n in range(size):  # a short loop, so that cache misses overlap
                at = self.home_of(self.hash_of(self.key_of(start + n)))
                homes[n] = (at + (slots[at] != 0)) & last
            for n in range(size):
                at = homes[n]
                while slots[at]:
                    at = (at + 1) & last
                slots[at] = self.hash_of(self.key_of(start + n)) << bits | <uint32_t>(start + n + 1)
            start += size
        return 0

    cdef Size new_entry(self, uint64_t key, Size slot, const Byte *text, Size size, int day) except -1 nogil:
        """Put an entry with no counts into a free slot; `make_entry_room` was called."""
        cdef Size entry = self.used
        if self.has_texts:
            if self.letter_room - self.letter_count < size:
                self.letters = <Byte *>memory_of(self.letters, 2 * (self.letter_room + size) + FIRST_LETTERS)
                self.letter_room = 2 * (self.letter_room + size) + FIRST_LETTERS
            if size:
                memcpy(self.letters + self.letter_count, text, size)
                self.letter_count += size
            self.text_ends[entry] = self.letter_count
        self.records[entry * self.stride] = key
        self.first_days[entry] = self.last_days[entry] = day
        memset(self.row_of(entry), 0, 2 * self.label_count * sizeof(int32_t))
        self.slots[slot] = self.hash_of(key) << self.slot_bits | <uint32_t>(entry + 1)
        self.used += 1
        return entry

    cdef Size entry_made(self, uint64_t key, const Byte *text, Size size, int day) except -1 nogil:
        """Return the entry of a key, which is made with a text if there is none."""
        cdef Size slot, entry
        self.make_entry_room(1)
        slot = self.slot_of_key(key)
        entry = self.entry_in(slot)
        return entry if entry >= 0 else self.new_entry(key, slot, text, size, day)

    cdef inline void see_on(self, Size entry, int day) noexcept nogil:
        """Note that a token was seen on a day."""
        self.first_days[entry] = min(self.first_days[entry], <uint16_t>day)
        self.last_days[entry] = max(self.last_days[entry], <uint16_t>day)

    # Answers

    cdef int find(self, const uint64_t *keys, Size count, int64_t *rows) except -1 nogil:
        cdef Size[AT_ONCE] entries
        cdef Size start = 0, size, n, k, width = 2 * self.label_count
        while start < count:
            size = min(<Size>AT_ONCE, count - start)
            self.find_entries(keys + start, size, entries)
            for n in range(size):
                for k in range(width):
                    rows[k] = self.row_of(entries[n])[k] if entries[n] >= 0 else 0
                rows += width
            start += size
        return 0

    cdef void find_entries(self, const uint64_t *keys, Size count, Size *entries) noexcept nogil:
        """Find the entries of up to AT_ONCE keys, NOWHERE for one that has none.

        The loops are short, so that a core runs many rounds at once and cache misses overlap. Afterwards the
        records are in the cache.
        """
        cdef uint32_t[AT_ONCE] slots
        cdef uint32_t hash, slot, entry_bits = (<uint32_t>1 << self.slot_bits) - 1
        cdef Size n, at
        if not self.used:
            memset(entries, 0xFF, count * sizeof(Size))  # NOWHERE
            return
        for n in range(count):
            slots[n] = self.slots[self.home_of(self.hash_of(keys[n]))]
        for n in range(count):
            hash, slot = self.hash_of(keys[n]), slots[n]
            if slot and (slot ^ hash << self.slot_bits) & ~entry_bits:
                at = self.home_of(hash)
                while slot and (slot ^ hash << self.slot_bits) & ~entry_bits:
                    at = (at + 1) & entry_bits
                    slot = self.slots[at]
            entries[n] = <Size>(slot & entry_bits) - 1
            at = max(entries[n], 0)
            __builtin_prefetch(self.records + at * self.stride)
            __builtin_prefetch(self.row_of(at) + self.label_count)  # which may lie in the next line of the cache
        for n in range(count):
            at = max(entries[n], 0)
            if (self.key_of(at) != keys[n]) & (entries[n] >= 0):  # only some bits of their hashes are the same
                entries[n] = self.entry_of(keys[n])

    cdef int find_grams(self, const uint32_t *counters, Size count, int64_t *rows) except -1 nogil:
        cdef Size n, k, width = self.label_count
        if self.grams is NULL:
            memset(rows, 0, count * width * sizeof(int64_t))
            return 0
        for n in range(count):
            for k in range(width):
                rows[k] = self.grams[(counters[n] & (COUNTERS - 1)) * width + k]
            rows += width
        return 0

    cdef const int32_t *places_of(self, MessageRows rows, Size message) noexcept nogil:
        """Return this table's entry for each entry of a message; NULL if they are not known."""
        cdef Size start = rows.it.starts[message]
        if rows.places is NULL or (rows.it.starts[message + 1] > start and rows.places[start] < 0):
            return NULL
        if rows.owner is not self.identity and (rows.owner is not self.origin or rows.place_end > self.copied):
            return NULL
        return rows.places + start

    # Totals

    @property
    def messages(self):
        """How many messages of each label were counted."""
        return [self.message_totals[k] for k in range(self.label_count)]

    @property
    def presences(self):
        """Each label's sum over words of the messages that have them."""
        return [self.presence_totals[k] for k in range(self.label_count)]

    @property
    def occurrences(self):
        """How often words occur in messages of each label."""
        return [self.occurrence_totals[k] for k in range(self.label_count)]

    @property
    def pair_presences(self):
        """Each label's sum over pairs of the messages that have them."""
        return [self.pair_totals[k] for k in range(self.label_count)]

    @property
    def vocabulary(self):
        """How many words are in any message."""
        return self.word_count

    @property
    def pair_vocabulary(self):
        """How many pairs are in any message."""
        return self.pair_count

    @property
    def numbers(self):
        """Sums of the numeric features that any message has, by name: n, Σx and Σx² for each label."""
        cdef dict found = {}
        cdef NumberSums *sums = self.sums
        for name in NUMBERS:
            by_label = [
                [sums[k].count, sums[k].sum, (<object>sums[k].high_squares << 64) + sums[k].low_squares]
                for k in range(self.label_count)
            ]
            if any([any(of_label) for of_label in by_label]):
                found[name] = by_label
            sums += self.label_count
        return dict(sorted(found.items()))

    @property
    def size(self):
        """Bytes of memory."""
        cdef Size of_entry = (self.stride + self.has_texts) * sizeof(uint64_t) + 2 * sizeof(uint16_t)
        return (self.used * of_entry + 2 * self.room * sizeof(uint32_t) + self.letter_count
                + (self.gram_bytes() if self.grams is not NULL else 0))

    @property
    def is_full(self):
        """Whether a count passed 2^30: a table has to be written before more is added."""
        cdef int k
        for k in range(self.label_count):
            if self.message_totals[k] > FULL_COUNT:
                return True
        return self.highest > FULL_COUNT

    # Changes

    def add(self, MessageRows rows not None, messages, label_indices, int day, int sign=1):
        """Count messages, given by their numbers, each for a label; or take them away again (sign -1).

        With sign 0 their tokens become entries with no counts. Where the rows keep places, these are noted.
        """
        cdef Numbers wanted = Numbers(messages, sizeof(int64_t)), labels = Numbers(label_indices, sizeof(int64_t))
        cdef const int64_t *message = <const int64_t *>wanted.at
        cdef const int64_t *label = <const int64_t *>labels.at
        cdef Size n
        if wanted.count != labels.count or not 0 <= day <= MAX_DAY or not -1 <= sign <= 1:
            raise ValueError("not a label for each message, or no such day or sign")
        check_below(message, wanted.count, rows.it.messages)
        check_below(label, labels.count, self.label_count)
        self.begin()
        try:
            if rows.notes_places and rows.owner is None:
                rows.start_places(self.identity)
            self.only_day = day if not self.used or self.only_day == day else -1
            self.has_subtracted |= sign < 0
            with nogil:
                for n in range(wanted.count):
                    count_entries(self, rows, message[n], label[n], day, sign)
                for n in range(wanted.count):  # apart, so that fewer tables are in the cache at once
                    count_grams_of(self, &rows.it, message[n], label[n], sign)
        finally:
            self.is_busy = False

    def add_lesson(self, bytes fingerprints not None, bytes occurrences not None, bytes texts not None,
                   bytes pairs not None, bytes grams not None, list steps not None, int day):
        """Add what a record of a journal changes; totals are not kept up.

        Texts end with a newline each. Steps: a label index, and 1 to add or -1 to subtract.
        """
        cdef Lesson lesson
        set_lesson(&lesson, fingerprints, occurrences, texts, pairs, grams, steps, day, self.label_count)
        self.begin()
        try:
            self.only_day = day if not self.used or self.only_day == day else -1
            self.has_subtracted = True
            count_lesson(self, &lesson)
        finally:
            self.is_busy = False

    def add_word(self, uint64_t fingerprint, bytes text not None, list messages not None, int day):
        """Add a word that is once in each of so many messages of each label; totals are not kept up."""
        cdef Text word = text_of(text)
        cdef Size k, entry
        cdef int32_t count
        if len(messages) != self.label_count or not 0 <= day <= MAX_DAY:
            raise ValueError("not a count for each label, or no such day")
        self.begin()
        try:
            self.only_day = day if not self.used or self.only_day == day else -1
            entry = self.entry_made(fingerprint, word.at, word.size, day)
            self.see_on(entry, day)
            for k in range(self.label_count):
                count = messages[k]
                self.row_of(entry)[k] += count
                self.row_of(entry)[self.label_count + k] += count
                self.highest = max(self.highest, count)
        finally:
            self.is_busy = False

    def add_messages(self, list messages not None):
        """Add to the number of messages of each label, whose words are added otherwise."""
        cdef Size k
        if len(messages) != self.label_count:
            raise ValueError("not a count for each label")
        for k in range(self.label_count):
            self.message_totals[k] += messages[k]

    def set_totals(self, list messages not None, totals not None, GramSums grams not None):
        """Set the totals to those of a `BlockWriter` and of grams, which cover more than this table's entries."""
        cdef Size k
        for k in range(self.label_count):
            self.message_totals[k] = messages[k]
            self.presence_totals[k], self.occurrence_totals[k] = totals.presences[k], totals.occurrences[k]
            self.pair_totals[k] = totals.pair_presences[k]
        self.word_count, self.pair_count = totals.vocabulary, totals.pair_vocabulary
        self.take_grams(grams)

    cdef int take_grams(self, GramSums grams) except -1:
        """Take the counts of all grams, if there are any."""
        cdef Size n
        if grams.rows is not NULL:
            if self.grams is NULL:
                make_grams(self)
            for n in range(<Size>COUNTERS * self.label_count):
                self.grams[n] = <int32_t>min(max(grams.rows[n], <int64_t>0), <int64_t>MAX_INT32)
        return 0

    cdef int begin(self) except -1:
        """Raise an error if another thread changes this table."""
        if self.is_busy:
            raise RuntimeError("another thread changes this table")
        self.is_busy = True
        return 0

    def clear_entries(self):
        """Forget tokens, pairs and their totals, and give their memory back; messages, numbers and grams stay."""
        self.begin()
        self.free_entries()
        self.highest = 0
        memset(self.presence_totals, 0, sizeof(self.presence_totals))
        memset(self.occurrence_totals, 0, sizeof(self.occurrence_totals))
        memset(self.pair_totals, 0, sizeof(self.pair_totals))
        self.word_count = self.pair_count = self.copied = 0
        self.has_subtracted = False
        self.identity, self.is_busy = object(), False

    @classmethod
    def of_file(cls, labels, counts not None):
        """Return a table of a model file's counts, without texts, days and totals."""
        cdef CountTable table = cls(labels, False)
        load_file(table, counts)
        return table

    def copy(self, bint has_counts=True):
        """Return a copy without texts, or of the entries alone; places noted for this table are valid for the copy."""
        cdef CountTable table = CountTable(self.labels, False)
        table.make_entry_room(self.room)
        table.used, table.only_day = self.used, self.only_day
        table.origin, table.copied = self.identity, self.used
        if self.used:
            memcpy(table.records, self.records, self.used * self.record_bytes())
            memcpy(table.first_days, self.first_days, self.used * sizeof(uint16_t))
            memcpy(table.last_days, self.last_days, self.used * sizeof(uint16_t))
            memcpy(table.slots, self.slots, 2 * self.room * sizeof(uint32_t))
        if has_counts:
            self.copy_totals(table)
        else:
            table.clear_rows()
        return table

    cdef void clear_rows(self) noexcept nogil:
        """Set the counts of all entries to 0."""
        cdef Size n
        for n in range(self.used):
            memset(self.row_of(n), 0, 2 * self.label_count * sizeof(int32_t))

    cdef int copy_totals(self, CountTable table) except -1:
        """Give a table of the same entries the same grams and totals."""
        table.highest, table.has_subtracted = self.highest, self.has_subtracted
        if self.grams is not NULL:
            make_grams(table)
            memcpy(table.grams, self.grams, self.gram_bytes())
        memcpy(table.sums, self.sums, NUMBER_COUNT * self.label_count * sizeof(NumberSums))
        table.message_totals, table.presence_totals = self.message_totals, self.presence_totals
        table.occurrence_totals, table.pair_totals = self.occurrence_totals, self.pair_totals
        table.word_count, table.pair_count = self.word_count, self.pair_count
        return 0

    # For Python

    def histogram(self):
        """Return the number of words for each combination of messages by label."""
        return histogram_of(self)
