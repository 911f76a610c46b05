# Makes the blocks of a model file from merged entries, and their index and totals, without the interpreter's lock.

cdef struct EntryTotals:  # sums over all entries; `CountTable` explains them
    uint64_t[MAX_LABELS] presences
    uint64_t[MAX_LABELS] occurrences
    uint64_t[MAX_LABELS] pair_presences
    uint64_t vocabulary
    uint64_t pair_vocabulary


cdef class BlockWriter:
    """Writes counts of words and pairs as blocks of a model file, with their index, and adds up totals."""

    cdef readonly int label_count
    cdef NewBlock block
    cdef EntryTotals totals
    cdef Byte *made  # complete blocks that were not returned yet
    cdef Byte *made_index  # index of all blocks so far
    cdef Size made_size, made_room, index_size, index_room
    cdef readonly int64_t size  # bytes of all blocks

    def __cinit__(self, int label_count):
        if not 0 < label_count <= MAX_LABELS:
            raise ValueError("the number of labels must be from 1 to 100")
        self.label_count = self.block.labels = label_count
        self.block.counts = <int64_t *>memory_of(NULL, BLOCK_ENTRIES * 2 * label_count * sizeof(int64_t))
        self.block.letters = <Byte *>memory_of(NULL, MAX_BLOCK_TEXT)

    def __dealloc__(self):
        free(self.block.counts)
        free(self.block.letters)
        free(self.made)
        free(self.made_index)

    def add(self, Entries entries not None):
        """Add entries, in order of fingerprints across all calls; return the bytes of blocks now complete."""
        if entries.label_count != self.label_count:
            raise ValueError("the entries must have as many labels as this writer")
        with nogil:
            self.add_entries(entries)
        return self.take_complete_blocks()

    def finish(self):
        """Make the last block of the entries that are left, and return its bytes; b"" if none are left."""
        if self.block.count:
            self.end_block()
        return self.take_complete_blocks()

    def index(self):
        """Return the bytes of the index of all blocks."""
        return PyBytes_FromStringAndSize(<const char *>self.made_index, self.index_size)

    cdef bytes take_complete_blocks(self):
        """Return the bytes of the complete blocks that were not returned before."""
        cdef bytes blocks = PyBytes_FromStringAndSize(<const char *>self.made, self.made_size)
        self.made_size = 0
        return blocks

    cdef int add_entries(self, Entries entries) except -1 nogil:
        cdef const uint32_t *ends = <const uint32_t *>entries.text_ends.at
        cdef const int64_t *row = <const int64_t *>entries.counts.at
        cdef Size n, k, start = 0, size, width = 2 * self.label_count
        cdef NewBlock *block = &self.block
        for n in range(entries.used):
            size = ends[n] - start
            if block.count == BLOCK_ENTRIES or block.text_size + size > MAX_BLOCK_TEXT:
                self.end_block()
            block.keys[block.count] = (<const uint64_t *>entries.keys.at)[n]
            block.first_days[block.count] = (<const uint16_t *>entries.first_days.at)[n]
            block.last_days[block.count] = (<const uint16_t *>entries.last_days.at)[n]
            for k in range(width):
                block.counts[block.count * width + k] = row[k]
            if size:
                memcpy(block.letters + block.text_size, <const Byte *>entries.letters.at + start, size)
            block.text_size += size
            block.text_ends[block.count] = block.text_size
            block.count += 1
            add_totals(&self.totals, row, self.label_count)
            start = ends[n]
            row += width
        return 0

    cdef int end_block(self) except -1 nogil:
        """Write the collected entries as a block, and add the block to the index."""
        cdef Size size, number = self.index_size // INDEX_BYTES
        cdef Byte *entry
        if self.made_room - self.made_size < max_block_size(self.label_count):
            self.made = <Byte *>grown(
                self.made, &self.made_room, self.made_size + max_block_size(self.label_count), 1)
        if self.index_room - self.index_size < INDEX_BYTES:
            self.made_index = <Byte *>grown(self.made_index, &self.index_room, self.index_size + INDEX_BYTES, 1)
        size = write_block(&self.block, self.made + self.made_size)
        entry = self.made_index + self.index_size
        put_at(entry, self.block.keys[0], 8)
        put_at(entry + 8, self.size, 4)
        put_at(entry + 12, crc_of(self.made + self.made_size, size, 0) ^ <uint32_t>(number + 1), 4)
        self.index_size += INDEX_BYTES
        self.made_size += size
        self.size += size
        self.block.count, self.block.text_size = 0, 0
        return 0

    cdef list of_labels(self, const uint64_t *totals):
        return [totals[k] for k in range(self.label_count)]

    @property
    def presences(self):
        return self.of_labels(self.totals.presences)

    @property
    def occurrences(self):
        return self.of_labels(self.totals.occurrences)

    @property
    def pair_presences(self):
        return self.of_labels(self.totals.pair_presences)

    @property
    def vocabulary(self):
        return self.totals.vocabulary

    @property
    def pair_vocabulary(self):
        return self.totals.pair_vocabulary


cdef inline void add_total(uint64_t *total, uint64_t count) noexcept nogil:
    """Add a count to a total, but not beyond 2^62: forged counts must not make the total overflow."""
    total[0] = min(total[0] + count, <uint64_t>1 << 62)


cdef void add_totals(EntryTotals *totals, const int64_t *row, int labels) noexcept nogil:
    cdef int64_t occurrences = 0
    cdef int k
    for k in range(labels, 2 * labels):
        occurrences |= row[k]
    if occurrences:
        totals.vocabulary += 1
        for k in range(labels):
            add_total(&totals.presences[k], row[k])
            add_total(&totals.occurrences[k], row[labels + k])
    else:
        totals.pair_vocabulary += 1
        for k in range(labels):
            add_total(&totals.pair_presences[k], row[k])
