# Counts read from a model file: blocks of entries, and an index of the first fingerprint of each block.
#
# A model file is never changed but replaced, so what is open stays as it was. It is read, not mapped: a page that a map
# touches makes 64 KB resident, and a file that somebody cuts short would end the process. The index is read whole,
# once. Every block is verified by its checksum, which the index has, before it is opened (entry_blocks.pyx).
#
# Bounds: a look-up reads each block at most once; a cursor holds at most READ_AT_ONCE bytes, or a block.

from libc.errno cimport EINTR, errno
from libc.stdlib cimport qsort
from posix.unistd cimport pread

cdef extern from *:
    """
    #define spamnb_is_set(flag) __atomic_load_n(flag, __ATOMIC_ACQUIRE)
    #define spamnb_set(flag) __atomic_store_n(flag, 1, __ATOMIC_RELEASE)
    """
    bint is_set "spamnb_is_set"(int *flag) noexcept nogil
    void set_flag "spamnb_set"(int *flag) noexcept nogil

cdef enum:
    READ_AT_ONCE = 1 << 18  # bytes of blocks, when all are read in order
    GRAMS_AT_ONCE = 1 << 16  # bytes of grams, when they are read without keeping them: they stay in the cache
    DAMAGED = -1  # an error that is not one of the system


cdef struct BlockFile:  # what is needed to read blocks without Python
    int handle  # file descriptor
    int labels
    int64_t start  # where the column of blocks starts in the file
    int64_t size  # bytes of that column
    const Byte *index  # INDEX_BYTES for each block
    Size count  # of blocks
    Size largest  # bytes of the largest block


cdef struct GramRows:  # counts of grams, in memory
    const Byte *named  # the counters that have a row, 4 bytes each; if there are none, all have
    Size named_count
    const Byte *counts
    Size count  # rows
    int width  # bytes of a count


cdef struct BlockCursor:  # a place in the file, from which all blocks are read in order
    EntryBlock block  # the current block
    Byte *data  # bytes of some blocks
    Size first  # number of the first block in `data`
    Size behind  # … of the first block behind them
    Size at  # … of the next block


cdef struct Sought:  # a key that is looked up
    uint64_t key
    Size place  # where its row goes


cdef Size read_at(int handle, Byte *into, Size size, int64_t at) noexcept nogil:
    """Read `size` bytes at offset `at`; return how many were read: fewer at the end, -1 on an error."""
    cdef Size found, total = 0
    while total < size:
        found = pread(handle, into + total, size - total, at + total)
        if found < 0 and errno != EINTR:
            return -1
        if found == 0:
            break
        total += max(found, 0)
    return total


cdef int order_of_sought(const void *one, const void *other) noexcept nogil:
    cdef uint64_t first = (<const Sought *>one).key, second = (<const Sought *>other).key
    return (first > second) - (first < second)


cdef inline uint64_t first_key(const BlockFile *file, Size number) noexcept nogil:
    """Return the first fingerprint of a block, which is stored in the index."""
    return eight_at(file.index + number * INDEX_BYTES)


cdef inline int64_t block_start(const BlockFile *file, Size number) noexcept nogil:
    """Return where a block starts in the column of blocks; for the number after the last, where the column ends."""
    return four_at(file.index + number * INDEX_BYTES + 8) if number < file.count else file.size


cdef bint check_index(BlockFile *file) noexcept nogil:
    """Return whether the blocks that the index lists fill the column in order; set `file.largest` (bytes)."""
    cdef Size number
    cdef int64_t size, largest = max_block_size(file.labels)
    file.largest = 0
    if not file.count:
        return file.size == 0
    if block_start(file, 0) != 0:
        return False
    for number in range(file.count):
        size = block_start(file, number + 1) - block_start(file, number)
        if not BLOCK_HEADER < size <= largest:
            return False
        if number and first_key(file, number) <= first_key(file, number - 1):
            return False
        file.largest = max(file.largest, size)
    return True


cdef Size block_of(const BlockFile *file, uint64_t key, Size first) noexcept nogil:
    """Return the number of the block (not before `first`) that may have this key; `first` - 1 if none may."""
    cdef Size last = file.count, middle
    while first < last:
        middle = (first + last) >> 1
        if first_key(file, middle) <= key:
            first = middle + 1
        else:
            last = middle
    return first - 1


cdef bint verify_block(const BlockFile *file, Size number, const Byte *data, EntryBlock *block) noexcept nogil:
    """Open the block with the bytes `data`; return False if it is not valid, or does not match the index."""
    cdef Size size = block_start(file, number + 1) - block_start(file, number)
    cdef uint32_t checksum = four_at(file.index + number * INDEX_BYTES + 12)
    return (
        crc_of(data, size, 0) == (checksum ^ <uint32_t>(number + 1))
        and open_block(block, data, size, file.labels)
        and block_key(block, 0) == first_key(file, number)
        and (number + 1 == file.count or block_key(block, block.count - 1) < first_key(file, number + 1))
    )


cdef int read_blocks(const BlockFile *file, Size first, Size behind, Byte *into) noexcept nogil:
    """Read blocks `first` to `behind` - 1; return 0, a system error number, or DAMAGED for a short file."""
    cdef int64_t start = block_start(file, first), size = block_start(file, behind) - start
    cdef Size found = read_at(file.handle, into, size, file.start + start)
    return 0 if found == size else (errno if found < 0 else DAMAGED)


cdef int open_next_block(const BlockFile *file, BlockCursor *cursor, int *error) except -1 nogil:
    """Open the next block; return False at the end or on an error. Set `error`: 0 or the error's number."""
    cdef Size behind = cursor.at + 1
    cdef int64_t start
    error[0] = 0
    if cursor.at >= file.count:
        return False
    if cursor.data is NULL:
        cursor.data = <Byte *>memory_of(NULL, max(<Size>READ_AT_ONCE, file.largest))
    if cursor.at >= cursor.behind:
        start = block_start(file, cursor.at)
        while behind < file.count and block_start(file, behind + 1) - start <= READ_AT_ONCE:
            behind += 1
        cursor.first, cursor.behind = cursor.at, behind
        error[0] = read_blocks(file, cursor.first, behind, cursor.data)
    if not error[0]:
        start = block_start(file, cursor.at) - block_start(file, cursor.first)
        if verify_block(file, cursor.at, cursor.data + start, &cursor.block):
            cursor.at += 1
            return True
        error[0] = DAMAGED
    return False


cdef void close_cursor(BlockCursor *cursor) noexcept nogil:
    free(cursor.data)
    memset(cursor, 0, sizeof(BlockCursor))


cdef class FileCounts(Counts):
    """Counts read from a model file. Its column `column` has the blocks, its column `index` the index of the blocks.

    The columns of grams may be missing or empty. Each `Column` (store/model_file.py) is verified when it is read.
    """

    cdef readonly object column, index, grams, gram_counters
    cdef BlockFile file
    cdef GramRows gram_rows
    cdef bytes index_data, gram_data, counter_data
    cdef int has_index, has_grams  # whether these were read into memory
    cdef int has_passed_grams  # whether grams were read once without keeping them; next time they are kept
    cdef int64_t gram_start, gram_size
    cdef uint32_t gram_checksum

    def __init__(self, column, index, int label_count, grams=None, gram_counters=None):
        if not 0 < label_count <= MAX_LABELS or column.width != 1 or index.width != INDEX_BYTES:
            raise ValueError("these are not the columns of a model file")
        if (grams is None) != (gram_counters is None):
            raise ValueError("give both grams and gram_counters, or neither")
        if grams is not None:
            rows = len(gram_counters) or (COUNTERS if len(grams) else 0)
            if grams.width not in (1, 2, 4, 8) or gram_counters.width != 4 or len(grams) != rows * label_count:
                raise ValueError("the column grams must have a count for each gram counter and label")
            self.gram_start, self.gram_size, self.gram_checksum = grams.at, grams.size, grams.checksum
            self.gram_rows.width = grams.width
            self.has_passed_grams = len(gram_counters) or grams.size <= GRAMS_AT_ONCE  # then they can be kept at once
        self.column, self.index, self.grams, self.gram_counters = column, index, grams, gram_counters
        self.label_count = self.file.labels = label_count
        self.file.handle, self.file.start, self.file.size = column.file.handle, column.at, column.size

    def __len__(self):
        """Return the number of blocks."""
        return len(self.index)

    cdef int load_index(self) except -1 nogil:
        """Read the index, unless it was read before. If several threads read it at once, the first result is used."""
        if not is_set(&self.has_index):
            with gil:
                self.read_index()  # apart: a function with variables of Python takes the lock at its end
        return 0

    cdef int read_index(self) except -1:
        index_data = self.index.read()
        if not self.has_index:
            self.index_data = index_data
            self.file.index, self.file.count = self.index_data, len(self.index)
            if not check_index(&self.file):
                raise self.index.damaged()
            set_flag(&self.has_index)
        return 0

    cdef int load_grams(self) except -1 nogil:
        """Read all gram counts, if not done yet; a message's grams are spread over the whole column."""
        if not is_set(&self.has_grams):
            with gil:
                self.read_grams()
        return 0

    cdef int read_grams(self) except -1:
        counters = self.gram_counters.read() if self.gram_counters is not None else b""
        counts = self.grams.read() if self.grams is not None else b""
        if not self.has_grams:
            self.counter_data, self.gram_data = counters, counts
            self.gram_rows.named, self.gram_rows.named_count = self.counter_data, len(counters) // 4
            self.gram_rows.width = self.grams.width if self.grams is not None else 1
            self.gram_rows.counts = self.gram_data
            self.gram_rows.count = len(counts) // (self.label_count * self.gram_rows.width)
            set_flag(&self.has_grams)
        return 0

    cdef int fail(self, int error) except -1 nogil:
        """Raise the exception for an error number that `read_blocks` returned."""
        with gil:
            import os
            from spamnb.errors import InputOutputError

            if error == DAMAGED:
                raise self.column.damaged()
            raise InputOutputError(f"{self.column.file.path}: {os.strerror(error)}")

    cdef int find(self, const uint64_t *keys, Size count, int64_t *rows) except -1 nogil:
        """Write the counts of each key to `rows`, zeros for an unknown key; read each block at most once."""
        cdef Sought *sought = NULL
        cdef Byte *data = NULL
        cdef int error = 0
        cdef Size n
        memset(rows, 0, count * 2 * self.label_count * sizeof(int64_t))
        self.load_index()
        if not count or not self.file.count:
            return 0
        try:
            sought = <Sought *>memory_of(NULL, count * sizeof(Sought))
            data = <Byte *>memory_of(NULL, self.file.largest)
            for n in range(count):
                sought[n].key, sought[n].place = keys[n], n
            qsort(sought, count, sizeof(Sought), order_of_sought)  # so that blocks are read in their order
            error = find_in_blocks(&self.file, sought, count, data, rows)
        finally:
            free(sought)
            free(data)
        return self.fail(error) if error else 0

    cdef int find_grams(self, const uint32_t *counters, Size count, int64_t *rows) except -1 nogil:
        """Write the counts of each gram counter to `rows`, zeros for a counter that is not in the file."""
        cdef GramRows *grams = &self.gram_rows
        cdef Size n, k, row, labels = self.label_count
        memset(rows, 0, count * labels * sizeof(int64_t))
        if self.grams is not None and not is_set(&self.has_passed_grams):
            set_flag(&self.has_passed_grams)
            return self.pass_grams(counters, count, rows)
        self.load_grams()
        for n in range(count):
            row = record_of(grams.named, grams.named_count, 4, counters[n]) if grams.named_count else counters[n]
            if 0 <= row < grams.count:
                for k in range(labels):
                    rows[n * labels + k] = count_at(grams.counts, row * labels + k, grams.width)
        return 0

    cdef int pass_grams(self, const uint32_t *counters, Size count, int64_t *rows) except -1 nogil:
        """Write counts of grams to `rows` without storing the whole column: this takes 0.8 ms, not 2.5 ms."""
        cdef Size labels = self.label_count, row_bytes = labels * self.gram_rows.width
        cdef Size at = 0, size, n, k, first, last, place
        cdef Byte *data = <Byte *>memory_of(NULL, GRAMS_AT_ONCE)
        cdef uint32_t checksum = 0
        try:
            while at < self.gram_size:
                size = min(GRAMS_AT_ONCE // row_bytes * row_bytes, self.gram_size - at)
                if read_at(self.file.handle, data, size, self.gram_start + at) != size:
                    break
                checksum = crc_of(data, size, checksum)
                first, last = at // row_bytes, (at + size) // row_bytes
                for n in range(count):
                    if first <= counters[n] < last:
                        for k in range(labels):
                            place = (counters[n] - first) * labels + k
                            rows[n * labels + k] = count_at(data, place, self.gram_rows.width)
                at += size
        finally:
            free(data)
        if at < self.gram_size or checksum != self.gram_checksum:
            with gil:
                self.grams.read()  # raises the error
        return 0


cdef int find_in_blocks(
    const BlockFile *file, const Sought *sought, Size count, Byte *data, int64_t *rows
) noexcept nogil:
    """Write the counts of sorted keys to `rows`; return 0, or an error number as `read_blocks` does."""
    cdef EntryBlock block
    cdef Size n, number = 0, opened = NOWHERE
    cdef int entry, error
    for n in range(count):
        number = block_of(file, sought[n].key, max(number, 0))
        if number < 0:
            continue
        if number != opened:
            error = read_blocks(file, number, number + 1, data)
            if error:
                return error
            if not verify_block(file, number, data, &block):
                return DAMAGED
            opened = number
        entry = block_entry(&block, sought[n].key)
        if entry >= 0:
            read_row(&block, entry, rows + sought[n].place * 2 * file.labels)
    return 0


# A whole file in memory

cdef int load_file(CountTable table, FileCounts counts) except -1:
    """Copy all counts of a model file to an empty table; counts above 2^31 - 1 are lowered to this."""
    cdef BlockCursor cursor
    cdef GramSums grams = GramSums(table.label_count)
    cdef int error = 0
    if counts.label_count != table.label_count or table.used:
        raise ValueError("the table must be empty, and have as many labels as the file")
    memset(&cursor, 0, sizeof(cursor))
    counts.load_index()
    try:
        with nogil:
            table.make_entry_room(counts.file.count * BLOCK_ENTRIES)
            while open_next_block(&counts.file, &cursor, &error):
                load_block(table, &cursor.block)
            if table.used:
                table.set_slots(table.room, table.slot_bits)
    finally:
        close_cursor(&cursor)
    if error:
        counts.fail(error)
    grams.add(counts, 1, range(table.label_count))
    return table.copy_grams_of(grams)


cdef void load_block(CountTable table, const EntryBlock *block) noexcept nogil:
    """Append a block's entries to a table with enough memory, but not yet to its slots (see `set_slots`)."""
    cdef int64_t[2 * MAX_LABELS] row
    cdef Size k, width = 2 * table.label_count
    cdef int n
    for n in range(block.count):
        read_row(block, n, row)
        for k in range(width):
            table.row_of(table.used)[k] = <int32_t>min(max(row[k], 0), MAX_INT32)
        table.records[table.used * table.stride] = block_key(block, n)
        table.first_days[table.used] = table.last_days[table.used] = 0
        table.used += 1
