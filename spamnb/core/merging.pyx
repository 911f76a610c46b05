# Merges tables and model files in one pass, in order of fingerprints: the entries of a new model file.
#
# A `Merger` goes through all sources together and adds up the counts of each fingerprint. It returns some thousands of
# `Entries` at a time, and works without the interpreter's lock. A `BlockWriter` (block_writer.pyx) makes blocks of
# them.
#
# Memory: READ_AT_ONCE bytes for each file, and 16 bytes for each entry of a table, to sort them.

cdef enum:
    ENTRIES_AT_ONCE = 1 << 12  # returned together
    COUNTS_AT_ONCE = 1 << 16  # limits their counts: with many labels, fewer entries are returned
    LETTERS_AT_ONCE = 1 << 18  # limits the bytes of their texts, but for the last text
    STAGED = 128  # entries of a table that are copied together


cdef struct TableStage:  # a table that is merged, the order of its entries, and copies of the next ones
    const uint64_t *records
    Size stride
    const uint16_t *first_days
    const uint16_t *last_days
    const uint64_t *text_ends
    const Byte *letters
    int only_day  # the day on which all entries were seen, or NOWHERE
    bint has_subtracted  # as in `CountTable`
    uint64_t *order  # numbers of the entries, in order of fingerprints
    Size count
    Size next  # place in `order` of the first entry that is not copied yet
    int at  # the current one of the copied entries
    int copied  # how many are copied
    uint64_t *staged  # records
    uint16_t[STAGED] staged_first_days
    uint16_t[STAGED] staged_last_days
    uint64_t[STAGED] text_starts
    uint64_t[STAGED] text_sizes
    int32_t touched  # a sum that nobody reads: making it brings memory into the cache


cdef struct MergeSource:
    int number  # in the list of sources
    int sign  # 1 to add its counts, -1 to subtract them
    int labels
    int[MAX_LABELS] targets  # for each label its index in the result, or NOWHERE
    uint64_t key  # of the current entry
    TableStage *stage  # of a table, else NULL
    const BlockFile *file  # of a file, else NULL
    BlockCursor cursor  # at the current block of the file
    int entry  # current entry of the block


cdef struct Merging:  # an entry that is being added up
    int64_t *row
    int first_day
    int last_day
    bint is_word
    Byte *letters  # where its text goes
    Size text_size


cdef class Entries:
    """Words and word pairs with their counts, as columns in order of fingerprints.

    `counts`: for each entry messages by label, then occurrences by label (0 for pairs). `letters`: all texts.
    """

    cdef readonly int label_count
    cdef readonly Column keys, counts, first_days, last_days, text_ends, letters
    cdef Size used, room, text_size

    def __len__(self):
        return self.used


cdef Entries new_entries(int label_count):
    """Return an empty `Entries`, with memory for as many entries as a merge returns at once."""
    cdef Entries entries = Entries()
    cdef Size room = min(ENTRIES_AT_ONCE, COUNTS_AT_ONCE // (2 * label_count))
    entries.label_count, entries.room = label_count, room
    entries.keys = new_column(room * sizeof(uint64_t))
    entries.counts = new_column(room * 2 * label_count * sizeof(int64_t))
    entries.first_days, entries.last_days = new_column(room * sizeof(uint16_t)), new_column(room * sizeof(uint16_t))
    entries.text_ends = new_column(room * sizeof(uint32_t))
    entries.letters = new_column(LETTERS_AT_ONCE + MAX_BLOCK_TEXT)
    return entries


cdef int cut_entries(Entries entries) except -1:
    """Shrink the columns to the part that is used."""
    cut_to(entries.keys, entries.used * sizeof(uint64_t))
    cut_to(entries.counts, entries.used * 2 * entries.label_count * sizeof(int64_t))
    cut_to(entries.first_days, entries.used * sizeof(uint16_t))
    cut_to(entries.last_days, entries.used * sizeof(uint16_t))
    cut_to(entries.text_ends, entries.used * sizeof(uint32_t))
    cut_to(entries.letters, entries.text_size)
    return 0


# Sources

cdef int advance_source(MergeSource *source, int *error) except -1 nogil:
    """Go to the next entry of a source; return False at its end, or with `error` set if it is unreadable."""
    cdef TableStage *stage = source.stage
    error[0] = 0
    if stage is not NULL:
        stage.at += 1
        if stage.at >= stage.copied:
            stage_entries(stage, source.labels)
            if not stage.copied:
                return False
        source.key = stage.staged[stage.at * stage.stride]
        return True
    source.entry += 1
    if source.entry >= source.cursor.block.count:
        source.entry = 0
        if not open_next_block(source.file, &source.cursor, error):
            return False
    source.key = block_key(&source.cursor.block, source.entry)
    return True


cdef void stage_entries(TableStage *stage, Size labels) noexcept nogil:
    """Copy the next entries of a table, in order of fingerprints; in the table they are far apart.

    Cache misses take most of the time. In short loops many misses overlap (prefetching changes nothing), and
    only columns that are needed are read.
    """
    cdef const uint64_t *order = stage.order + stage.next
    cdef int n, count = <int>min(<Size>STAGED, stage.count - stage.next)
    cdef Size k, stride = stage.stride
    stage.at, stage.copied = 0, count
    stage.next += count
    for n in range(count):
        stage.touched ^= stage.records[order[n] * stride]
    for n in range(count):
        for k in range(stride):
            stage.staged[n * stride + k] = stage.records[order[n] * stride + k]
    if stage.only_day < 0:
        for n in range(count):
            stage.staged_first_days[n] = stage.first_days[order[n]]
            stage.staged_last_days[n] = stage.last_days[order[n]]
    for n in range(count):
        stage.text_sizes[n] = 0
    if stage.text_ends is not NULL:
        stage_texts(stage, order, labels)


cdef void stage_texts(TableStage *stage, const uint64_t *order, Size labels) noexcept nogil:
    """Find the texts of those copied entries that are words; pairs have no text."""
    cdef int[STAGED] words
    cdef int n, word, count = 0
    cdef uint64_t entry
    for n in range(stage.copied):
        words[count] = n
        count += stage.has_subtracted or has_occurrences(stage, n, labels)
    for word in range(count):
        stage.touched ^= <int32_t>stage.text_ends[order[words[word]]]
    for word in range(count):
        n = words[word]
        entry = order[n]
        stage.text_starts[n] = stage.text_ends[entry - 1] if entry else 0
        stage.text_sizes[n] = stage.text_ends[entry] - stage.text_starts[n]
    for word in range(count):
        if stage.text_sizes[words[word]]:
            stage.touched ^= stage.letters[stage.text_starts[words[word]]]


cdef inline const int32_t *staged_row(const TableStage *stage, Size staged) noexcept nogil:
    return <const int32_t *>(stage.staged + staged * stage.stride + 1)


cdef inline bint has_occurrences(const TableStage *stage, Size staged, Size labels) noexcept nogil:
    """Return whether a copied entry has occurrences in any label; if not, it is a pair."""
    cdef const int32_t *row = staged_row(stage, staged) + labels
    cdef int32_t found = 0
    cdef Size k
    for k in range(labels):
        found |= row[k]
    return found != 0


cdef inline void add_days(Merging *to, int first_day, int last_day) noexcept nogil:
    """Extend the days of an entry (the first and the last on which it was seen) to include these days."""
    to.first_day, to.last_day = min(to.first_day, first_day), max(to.last_day, last_day)


cdef inline void copy_first_text(Merging *to, const Byte *text, Size size) noexcept nogil:
    """Copy a text to an entry, if the entry has no text yet."""
    if size and not to.text_size:
        to.text_size = min(size, <Size>MAX_BLOCK_TEXT)
        memcpy(to.letters, text, to.text_size)


cdef void add_table_entry(const MergeSource *source, Merging *to, int label_count) noexcept nogil:
    """Add the counts of the current entry of a table to the sums `to`."""
    cdef const TableStage *stage = source.stage
    cdef int at = stage.at, k, target
    cdef const int32_t *row = staged_row(stage, at)
    for k in range(source.labels):
        target = source.targets[k]
        to.is_word |= row[source.labels + k] != 0
        if target >= 0:
            to.row[target] += source.sign * <int64_t>row[k]
            to.row[label_count + target] += source.sign * <int64_t>row[source.labels + k]
    if stage.only_day >= 0:
        add_days(to, stage.only_day, stage.only_day)
    else:
        add_days(to, stage.staged_first_days[at], stage.staged_last_days[at])
    copy_first_text(to, stage.letters + stage.text_starts[at], stage.text_sizes[at])


cdef void add_file_entry(const MergeSource *source, Merging *to, int label_count) noexcept nogil:
    """Add the counts of the current entry of a model file to the sums `to`."""
    cdef const EntryBlock *block = &source.cursor.block
    cdef int64_t[2 * MAX_LABELS] row
    cdef Text text = block_text(block, source.entry)
    cdef int k, target
    read_row(block, source.entry, row)
    for k in range(source.labels):
        target = source.targets[k]
        if target >= 0:
            to.row[target] += source.sign * row[k]
            to.row[label_count + target] += source.sign * row[source.labels + k]
    to.is_word |= is_word(block, source.entry)
    add_days(to, first_day_at(block, source.entry), last_day_at(block, source.entry))
    copy_first_text(to, text.at, text.size)


cdef int fill_stage(TableStage *stage, CountTable table) except -1:
    stage.staged = <uint64_t *>memory_of(NULL, STAGED * table.stride * sizeof(uint64_t))
    stage.count, stage.records, stage.stride = table.used, table.records, table.stride
    stage.first_days, stage.last_days, stage.only_day = table.first_days, table.last_days, table.only_day
    stage.text_ends, stage.letters, stage.has_subtracted = table.text_ends, table.letters, table.has_subtracted
    return 0


cdef void close_stage(TableStage *stage) noexcept nogil:
    if stage is not NULL:
        free(stage.order)
        free(stage.staged)
    free(stage)


cdef class Merger:
    """An iterator over the sums of several sources, in order of fingerprints, as batches of entries (`Entries`).

    A source is a tuple of three: a `CountTable` or `FileCounts`; 1 to add or -1 to subtract its counts; for each of
    its labels, the index in the result, or -1 to leave the label out. Sums below 0 become 0; entries that no
    message has are dropped. If sources have different texts for an entry, the first is used. Entries in at
    most `rare` messages, last seen before `oldest_day`, are left out. Entries of the table `fill` get their
    counts in the result, or 0 if they are not in it. Tables must not change during the merge.
    """

    cdef readonly int label_count
    cdef list sources
    cdef MergeSource *items
    cdef MergeSource **active  # sources that are not at their end, in order
    cdef Size count, active_count
    cdef CountTable to_fill
    cdef int oldest_day
    cdef int64_t rare
    cdef bint is_started

    def __cinit__(self, int label_count, sources, CountTable fill=None, int oldest_day=0, int64_t rare=-1):
        if not 0 < label_count <= MAX_LABELS:
            raise ValueError("the number of labels must be from 1 to 100")
        if fill is not None and fill.label_count != label_count:
            raise ValueError("the table to fill must have the labels of the result")
        self.label_count, self.sources = label_count, list(sources)
        self.to_fill, self.oldest_day, self.rare = fill, oldest_day, rare
        self.count = len(self.sources)
        self.items = <MergeSource *>calloc(max(self.count, <Size>1), sizeof(MergeSource))
        self.active = <MergeSource **>calloc(max(self.count, <Size>1), sizeof(MergeSource *))
        if self.items is NULL or self.active is NULL:
            raise MemoryError
        for number, (counts, sign, targets) in enumerate(self.sources):
            self.open_source(&self.items[number], number, counts, sign, targets)

    def __dealloc__(self):
        cdef Size n
        if self.items is not NULL:
            for n in range(self.count):
                close_stage(self.items[n].stage)
                close_cursor(&self.items[n].cursor)
        free(self.items)
        free(self.active)

    cdef int open_source(self, MergeSource *source, int number, Counts counts, int sign, targets) except -1:
        source.number, source.labels, source.sign = number, counts.label_count, sign
        if sign not in (1, -1) or len(targets) != source.labels:
            raise ValueError("each source needs a sign of 1 or -1, and a target for each of its labels")
        for k, target in enumerate(targets):
            if not -1 <= target < self.label_count:
                raise ValueError("each target must be -1 or the index of a label")
            source.targets[k] = target
        if isinstance(counts, FileCounts):
            (<FileCounts>counts).load_index()
            source.file = &(<FileCounts>counts).file
            source.entry = -1
        elif isinstance(counts, CountTable):
            source.stage = <TableStage *>zeros_of(sizeof(TableStage))
            fill_stage(source.stage, <CountTable>counts)
        else:
            raise TypeError("a source must be a CountTable or a FileCounts")
        return 0

    def __iter__(self):
        return self

    def __next__(self):
        cdef Entries entries = new_entries(self.label_count)
        self.check_tables()
        with nogil:
            if not self.is_started:
                self.start()
            self.merge_some(entries)
            if self.to_fill is not None:
                fill_counts(self.to_fill, <uint64_t *>entries.keys.at, <int64_t *>entries.counts.at, entries.used)
        if not entries.used:
            raise StopIteration
        cut_entries(entries)
        return entries

    cdef int check_tables(self) except -1:
        """Raise RuntimeError if a table was changed since the merge began."""
        cdef Size n
        cdef CountTable table
        for n in range(self.count):
            if self.items[n].stage is not NULL:
                table = self.sources[n][0]
                if table.used != self.items[n].stage.count or table.records != self.items[n].stage.records:
                    raise RuntimeError("a table was changed while it was merged")
        return 0

    cdef int start(self) except -1 nogil:
        """Sort the entries of tables, and go to the first entry of each source."""
        cdef Size n
        cdef MergeSource *source
        for n in range(self.count):
            source = &self.items[n]
            if source.stage is not NULL:
                source.stage.order = order_of(source.stage.records, source.stage.stride, source.stage.count)
            if self.advance(source):
                self.active[self.active_count] = source
                self.active_count += 1
        if self.to_fill is not None and self.to_fill.used:
            self.to_fill.clear_rows()
        self.is_started = True
        return 0

    cdef int advance(self, MergeSource *source) except -1 nogil:
        """Go to the next entry of a source; return False if there is none."""
        cdef int error = 0
        cdef bint has_more = advance_source(source, &error)
        if error:
            with gil:
                (<FileCounts>self.sources[source.number][0]).fail(error)
        return has_more

    cdef int merge_some(self, Entries to) except -1 nogil:
        """Append entries with their sums to `to`, until `to` is full or no entries are left."""
        cdef Merging entry
        cdef Size labels = self.label_count
        cdef uint64_t key
        while self.active_count and to.used < to.room and to.text_size <= LETTERS_AT_ONCE:
            entry.row = <int64_t *>to.counts.at + to.used * 2 * labels
            entry.letters = <Byte *>to.letters.at + to.text_size
            key = self.add_up(&entry)
            if self.finish_entry(&entry):
                (<uint64_t *>to.keys.at)[to.used] = key
                (<uint16_t *>to.first_days.at)[to.used] = entry.first_day
                (<uint16_t *>to.last_days.at)[to.used] = entry.last_day
                to.text_size += entry.text_size
                (<uint32_t *>to.text_ends.at)[to.used] = to.text_size
                to.used += 1
        return 0

    cdef uint64_t add_up(self, Merging *entry) except? 0xFFFFFFFFFFFFFFFFu nogil:
        """Find the lowest next fingerprint of all sources, sum its counts into `entry`, and return it."""
        cdef uint64_t key = self.active[0].key
        cdef MergeSource *source
        cdef Size n
        for n in range(1, self.active_count):
            key = min(key, self.active[n].key)
        memset(entry.row, 0, 2 * self.label_count * sizeof(int64_t))
        entry.first_day, entry.last_day, entry.is_word, entry.text_size = MAX_DAY, 0, False, 0
        n = 0
        while n < self.active_count:
            source = self.active[n]
            if source.key == key:
                if source.stage is not NULL:
                    add_table_entry(source, entry, self.label_count)
                else:
                    add_file_entry(source, entry, self.label_count)
                if not self.advance(source):
                    self.active_count -= 1
                    memmove(&self.active[n], &self.active[n + 1], (self.active_count - n) * sizeof(MergeSource *))
                    continue
            n += 1
        return key

    cdef bint finish_entry(self, Merging *entry) noexcept nogil:
        """Bring the sums of an entry within their limits; return False if the entry must be left out."""
        cdef int64_t *row = entry.row
        cdef int64_t total = 0
        cdef int k, labels = self.label_count
        entry.is_word |= entry.text_size > 0
        for k in range(labels):
            row[k] = min(max(row[k], <int64_t>0), MAX_SUMMED)
            row[labels + k] = min(max(row[labels + k], row[k]), MAX_SUMMED) if entry.is_word else 0
            total += row[k]
        return total > 0 and not (entry.last_day < self.oldest_day and total <= self.rare)


cdef void fill_counts(CountTable table, const uint64_t *keys, const int64_t *rows, Size count) noexcept nogil:
    """Copy merged counts (`rows`) to those entries of a table that have these keys."""
    cdef Size[AT_ONCE] found
    cdef Size start = 0, size, n, k, width = 2 * table.label_count
    while start < count:
        size = min(<Size>AT_ONCE, count - start)
        table.find_entries(keys + start, size, found)
        for n in range(size):
            if found[n] >= 0:
                for k in range(width):
                    table.row_of(found[n])[k] = min(rows[(start + n) * width + k], <int64_t>MAX_INT32)
        start += size
