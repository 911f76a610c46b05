# Counts in memory: a hash table of tokens and pairs, and an array of gram counters.
#
# An entry is a token or a pair; entries are numbered in the order in which they were added. A slot has the number of an
# entry and, in the bits above it, some bits of its hash, so that wrong entries are seldom read. The slot of a
# fingerprint depends on a random factor of this process, because senders choose fingerprints. Slots and entries of many
# fingerprints are read together, so that cache misses overlap.
#
# Totals are updated by every change, unless a docstring says otherwise. An entry with occurrences is a word (or another
# token), one without is a pair of neighbouring words.

cdef enum:
    FIRST_ROOM = 1 << 10
    MAX_ROOM = 1 << 30
    FULL_COUNT = 1 << 30  # `is_full` above this
    MAX_DAY = 0xFFFF

cdef uint64_t TABLE_FACTOR = int.from_bytes(urandom(8), "little") | 1
cdef int32_t MAX_BEFORE_MESSAGE = MAX_INT32 - MAX_OCCURRENCES  # a higher count could overflow by one message more


cdef struct NumberSums:  # sums of a numeric feature over the messages of a label
    int64_t count  # messages that have it
    int64_t sum
    int64_t high_squares  # upper half of the sum of squares, which has 128 bits
    uint64_t low_squares


cdef class CountTable(Counts):
    """Counts of tokens, word pairs and grams (runs of four bytes) for each label, in memory, with their totals."""

    cdef readonly tuple labels
    cdef Size used, room, record_room  # entries, and for how many there is memory
    cdef Size stride  # numbers of 64 bits from one record to the next
    cdef uint64_t *records  # for each entry its key, and 32-bit counts: messages by label, then occurrences
    cdef uint16_t *first_days  # for each entry the day on which it was seen first (days since 1970)
    cdef uint16_t *last_days  # … and last
    cdef uint64_t *text_ends  # where each text ends in `letters`; it starts where that before ends. NULL without texts
    cdef Byte *letters
    cdef Size letter_count, letter_room
    cdef int32_t *grams  # [COUNTERS][label_count]; NULL until some are counted
    cdef uint32_t *slots  # 2 * room: an entry's number + 1, and above it bits of its hash; 0: free
    cdef int slot_bits  # log2 of the number of slots
    cdef int only_day  # the day on which all entries were seen; below 0 if there are none yet, or several days
    cdef int32_t highest  # the highest count of occurrences
    cdef bint has_texts, is_busy
    cdef bint has_subtracted  # something was subtracted, so a word may have no occurrences left
    cdef object identity, origin  # identify these entries, and those of the table that this is a copy of
    cdef Size copied  # entries copied from that table
    cdef int64_t[MAX_LABELS] message_totals, presence_totals, occurrence_totals, pair_totals
    cdef readonly int64_t vocabulary, pair_vocabulary  # distinct words and pairs that any message has
    cdef NumberSums *sums  # [NUMBER_COUNT][label_count]

    def __cinit__(self, labels, bint has_texts=True):
        self.labels = tuple(labels)
        if not 0 < len(self.labels) <= MAX_LABELS:
            raise ValueError("the number of labels must be from 1 to 100")
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
        """Remove all entries, and free their memory."""
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
        """Return the key (fingerprint) of an entry."""
        return self.records[entry * self.stride]

    cdef inline int32_t *row_of(self, Size entry) noexcept nogil:
        """Return the counts of an entry (a token or pair): messages by label, then occurrences by label."""
        return <int32_t *>(self.records + entry * self.stride + 1)

    cdef inline uint32_t hash_of(self, uint64_t key) noexcept nogil:
        return key * TABLE_FACTOR >> 32

    cdef inline Size home_of(self, uint32_t hash) noexcept nogil:
        """Return the slot to search first for an entry with this hash; if another entry is in it, search the next."""
        return hash >> (32 - self.slot_bits)

    cdef Size slot_of_key(self, uint64_t key) noexcept nogil:
        """Return the slot of the entry with this key; if there is none, the free slot where it can be added."""
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
        """Return the number of the entry in a slot; NOWHERE if the slot is free."""
        return <Size>(self.slots[slot] & ((<uint32_t>1 << self.slot_bits) - 1)) - 1

    cdef Size entry_of(self, uint64_t key) noexcept nogil:
        """Return the number of the entry with this key; NOWHERE if there is none."""
        return self.entry_in(self.slot_of_key(key)) if self.used else NOWHERE

    cdef int make_entry_room(self, Size more) except -1 nogil:
        """Enlarge the table if needed, so that `more` entries can be added."""
        cdef Size room = max(self.room, <Size>FIRST_ROOM), bits = 1
        cdef uint64_t *records
        if self.used + more <= self.room:
            return 0
        while room < self.used + more:
            room *= 2
        if room > MAX_ROOM:
            with gil:
                raise OverflowError("too many tokens for one table; count the mail in several tables")
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
        """Allocate 2 * `room` = 2^`bits` slots, and put all entries into them."""
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
        """Add an entry in a free slot, with counts of 0; return its number. Call `make_entry_room` first."""
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

    cdef Size entry_or_new(self, uint64_t key, const Byte *text, Size size, int day) except -1 nogil:
        """Return the number of the entry with this key; if there is none, add one with this text and day."""
        cdef Size slot, entry
        self.make_entry_room(1)
        slot = self.slot_of_key(key)
        entry = self.entry_in(slot)
        return entry if entry >= 0 else self.new_entry(key, slot, text, size, day)

    cdef inline void widen_days(self, Size entry, int day) noexcept nogil:
        """Note that an entry (a token or pair) was seen on `day`; only its first and its last day are stored."""
        self.first_days[entry] = min(self.first_days[entry], <uint16_t>day)
        self.last_days[entry] = max(self.last_days[entry], <uint16_t>day)

    # Look-ups

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
        """Write to `entries` the entry number of each key, NOWHERE for a missing key; at most AT_ONCE keys.

        The loops are short, so that the processor runs several rounds at once, and cache misses overlap.
        When the function returns, the records are in the cache.
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
        """Return the entry numbers in this table of a message's tokens and pairs; NULL if `rows` has none."""
        cdef Size start = rows.it.starts[message]
        if rows.places is NULL or (rows.it.starts[message + 1] > start and rows.places[start] < 0):
            return NULL
        if rows.owner is not self.identity and (rows.owner is not self.origin or rows.place_end > self.copied):
            return NULL
        return rows.places + start

    # Totals

    @property
    def messages(self):
        """The number of messages of each label."""
        return [self.message_totals[k] for k in range(self.label_count)]

    @property
    def presences(self):
        """For each label: in how many messages each word occurs, summed over all words."""
        return [self.presence_totals[k] for k in range(self.label_count)]

    @property
    def occurrences(self):
        """For each label: how often words occur in its messages, summed over all words."""
        return [self.occurrence_totals[k] for k in range(self.label_count)]

    @property
    def pair_presences(self):
        """For each label: in how many messages each word pair occurs, summed over all pairs."""
        return [self.pair_totals[k] for k in range(self.label_count)]

    @property
    def numbers(self):
        """A dict: name of a numeric feature that any message has → list of [n, Σx, Σx²] for each label."""
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
        """How many bytes of memory the table uses."""
        cdef Size of_entry = (self.stride + self.has_texts) * sizeof(uint64_t) + 2 * sizeof(uint16_t)
        return (self.used * of_entry + 2 * self.room * sizeof(uint32_t) + self.letter_count
                + (self.gram_bytes() if self.grams is not NULL else 0))

    @property
    def is_full(self):
        """Whether a count is above 2^30; then the table must be written to a file before more messages are added."""
        cdef int k
        for k in range(self.label_count):
            if self.message_totals[k] > FULL_COUNT:
                return True
        return self.highest > FULL_COUNT

    # Changes

    def add(self, MessageRows rows not None, messages, label_indices, int day, int sign=1):
        """Add `messages` (their numbers in `rows`) to the counts of their labels; `sign` -1: subtract them.

        `sign` 0: add entries with counts of 0. If `rows.keeps_places`, store the entry numbers in `rows`.
        """
        cdef Numbers wanted = Numbers(messages, sizeof(int64_t)), labels = Numbers(label_indices, sizeof(int64_t))
        cdef const int64_t *message = <const int64_t *>wanted.at
        cdef const int64_t *label = <const int64_t *>labels.at
        cdef Size n
        if wanted.count != labels.count or not 0 <= day <= MAX_DAY or not -1 <= sign <= 1:
            raise ValueError("each message needs a label, the day must be from 0 to 65535, the sign from -1 to 1")
        check_below(message, wanted.count, rows.it.messages)
        check_below(label, labels.count, self.label_count)
        self.start_change()
        try:
            if rows.stores_places and rows.owner is None:
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
        """Apply a journal record (see `lesson_of`) to counts of tokens, pairs and grams, not to totals."""
        cdef Lesson lesson
        set_lesson(&lesson, fingerprints, occurrences, texts, pairs, grams, steps, day, self.label_count)
        self.start_change()
        try:
            self.only_day = day if not self.used or self.only_day == day else -1
            self.has_subtracted = True
            count_lesson(self, &lesson)
        finally:
            self.is_busy = False

    def add_word(self, uint64_t fingerprint, bytes text not None, list messages not None, int day):
        """Add a word that occurs once in each of `messages[k]` messages of label k; the totals do not change."""
        cdef Text word = text_of(text)
        cdef Size k, entry
        cdef int32_t count
        if len(messages) != self.label_count or not 0 <= day <= MAX_DAY:
            raise ValueError("each label needs a count, and the day must be from 0 to 65535")
        self.start_change()
        try:
            self.only_day = day if not self.used or self.only_day == day else -1
            entry = self.entry_or_new(fingerprint, word.at, word.size, day)
            self.widen_days(entry, day)
            for k in range(self.label_count):
                count = messages[k]
                self.row_of(entry)[k] += count
                self.row_of(entry)[self.label_count + k] += count
                self.highest = max(self.highest, count)
        finally:
            self.is_busy = False

    def add_messages(self, list messages not None):
        """Add `messages[k]` to the number of messages of each label k; `add_word` adds their words."""
        cdef Size k
        if len(messages) != self.label_count:
            raise ValueError("each label needs a count")
        for k in range(self.label_count):
            self.message_totals[k] += messages[k]

    def set_totals(self, list messages not None, totals not None, GramSums grams not None):
        """Set totals and gram counters to a model's; the table may have only some of the model's entries."""
        cdef Size k
        for k in range(self.label_count):
            self.message_totals[k] = messages[k]
            self.presence_totals[k], self.occurrence_totals[k] = totals.presences[k], totals.occurrences[k]
            self.pair_totals[k] = totals.pair_presences[k]
        self.vocabulary, self.pair_vocabulary = totals.vocabulary, totals.pair_vocabulary
        self.copy_grams_of(grams)

    cdef int copy_grams_of(self, GramSums grams) except -1:
        """Set all gram counters to those of `grams`, unless `grams` is empty."""
        cdef Size n
        if grams.rows is not NULL:
            if self.grams is NULL:
                make_grams(self)
            for n in range(<Size>COUNTERS * self.label_count):
                self.grams[n] = <int32_t>min(max(grams.rows[n], <int64_t>0), <int64_t>MAX_INT32)
        return 0

    cdef int start_change(self) except -1:
        """Mark the table as being changed; raise RuntimeError if another thread is already changing it."""
        if self.is_busy:
            raise RuntimeError("another thread is changing this table; wait for it")
        self.is_busy = True
        return 0

    def clear_entries(self):
        """Remove tokens, word pairs and their totals; keep counts of messages, numeric features and grams."""
        self.start_change()
        self.free_entries()
        self.highest = 0
        memset(self.presence_totals, 0, sizeof(self.presence_totals))
        memset(self.occurrence_totals, 0, sizeof(self.occurrence_totals))
        memset(self.pair_totals, 0, sizeof(self.pair_totals))
        self.vocabulary = self.pair_vocabulary = self.copied = 0
        self.has_subtracted = False
        self.identity, self.is_busy = object(), False

    @classmethod
    def of_file(cls, labels, counts not None):
        """Return a new table with the counts of a model file (`FileCounts`), but without texts, days and totals."""
        cdef CountTable table = cls(labels, False)
        load_file(table, counts)
        return table

    def copy(self, bint has_counts=True):
        """Return a copy without texts; entries keep their numbers. Unless `has_counts`, all counts are 0."""
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
        """Copy gram counters and totals to `table`, which has the same entries."""
        table.highest, table.has_subtracted = self.highest, self.has_subtracted
        if self.grams is not NULL:
            make_grams(table)
            memcpy(table.grams, self.grams, self.gram_bytes())
        memcpy(table.sums, self.sums, NUMBER_COUNT * self.label_count * sizeof(NumberSums))
        table.message_totals, table.presence_totals = self.message_totals, self.presence_totals
        table.occurrence_totals, table.pair_totals = self.occurrence_totals, self.pair_totals
        table.vocabulary, table.pair_vocabulary = self.vocabulary, self.pair_vocabulary
        return 0

    # For Python

    def histogram(self):
        """Group words by messages of each label; return a dict: tuple of these numbers → how many words."""
        cdef Size at, k
        cdef Column firsts, sizes
        cdef uint32_t *first
        cdef int bits = 12
        cdef dict found = {}
        while True:
            firsts, sizes = new_column(sizeof(uint32_t) << bits), new_column(sizeof(int64_t) << bits)
            memset(firsts.at, 0, firsts.size)
            memset(sizes.at, 0, sizes.size)
            if count_kinds(self, <uint32_t *>firsts.at, <int64_t *>sizes.at, bits) >= 0:
                break
            bits += 2
        first = <uint32_t *>firsts.at
        for at in range(<Size>1 << bits):
            if first[at]:
                messages = tuple([self.row_of(first[at] - 1)[k] for k in range(self.label_count)])
                found[messages] = (<int64_t *>sizes.at)[at]
        return found
