# Counts of grams in a model file: a column with a row for each counter, or for some that are named in order.
#
# All of the column is read and verified, for a message has grams in every page of it: 1 MB takes 0.5 ms.

cdef int find_grams(int handle, int64_t start, int64_t row_count, int columns, int count_width, Text counters,
                    Arena *arena, const Sought *sought, Size count, uint64_t *rows, uint32_t *checksum) except -1 nogil:
    """Put the rows of counters into their places, and return the checksum of the whole column.

    `counters`: those that have a row; if it is empty, all have. Returns 0, or -2 if not all could be read.
    """
    cdef int64_t width = columns * count_width, block = max(READ_BLOCK // width, <int64_t>1), first = 0, size
    cdef Byte *data = <Byte *>allot(arena, block * width)
    cdef int64_t *found = <int64_t *>allot(arena, count * sizeof(int64_t))  # rows
    cdef Size *firsts = <Size *>allot(arena, (row_count // block + 1) * sizeof(Size))  # sought in each block
    cdef Size *others = <Size *>allot(arena, count * sizeof(Size))  # the next in the same block
    cdef Size at, k
    memset(rows, 0, count * columns * sizeof(uint64_t))
    memset(firsts, 0xFF, (row_count // block + 1) * sizeof(Size))  # NOWHERE
    for at in range(count):
        found[at] = sought[at].key
        if counters.size:
            found[at] = record_of(counters.at, counters.size // 4, 4, sought[at].key)
        if 0 <= found[at] < row_count:
            others[at] = firsts[found[at] // block]
            firsts[found[at] // block] = at
    checksum[0] = 0
    while first < row_count:
        size = min(block, row_count - first)
        if read_at(handle, data, size * width, start + first * width) < size * width:
            return -2
        checksum[0] = crc_of(data, size * width, checksum[0])
        at = firsts[first // block]
        while at >= 0:
            for k in range(columns):
                rows[sought[at].place * columns + k] = number_at(
                    data + (found[at] - first) * width + k * count_width, count_width)
            at = others[at]
        first += size
    return 0


cdef bytearray gram_rows(column, bytes counters, Arena *arena, Sought *sought, Size count, int label_count):
    """Read the rows of counters, 64 bits a count, and verify the column that they are in."""
    cdef bytearray rows = bytearray(count * label_count * sizeof(uint64_t))
    cdef uint64_t *into = <uint64_t *><char *>rows
    cdef int64_t row_count = column.size // (label_count * column.width), start = column.at
    cdef int handle = column.file.handle, width = column.width, failed
    cdef uint32_t checksum = 0
    cdef Text named = text_of(counters)
    with nogil:
        failed = find_grams(handle, start, row_count, label_count, width, named, arena, sought, count, into, &checksum)
    if failed:
        column.file.read(column.at, column.size)  # which says why it cannot be read
    if checksum != column.checksum:
        raise column.damaged()
    return rows


def counts_of_grams(counts, bytes counters, Changes changes, found, int label_count, int width):
    """Return the counts of a message's grams, label by label, 64 bits each, the changes of a journal made.

    `counts`: a column of them, or the bytes of all that there are, of a width each; `counters`: those that have a row
    in the column, in order, or b"" if all have; `found`: those of the message, each once.
    """
    cdef list wanted = list(found)
    cdef Size count = len(wanted), at, k, row_width = label_count * width
    cdef bytearray rows
    cdef uint64_t *into
    cdef Byte *is_found
    cdef const Byte *data
    cdef Size size
    cdef Arena arena
    cdef Sought *sought
    start_arena(&arena)
    try:
        sought = <Sought *>allot(&arena, count * sizeof(Sought))
        for at in range(count):
            sought[at].key, sought[at].place = wanted[at], at
        if not isinstance(counts, bytes):
            rows = gram_rows(counts, counters, &arena, sought, count, label_count)
            into = <uint64_t *><char *>rows
        else:
            rows = bytearray(count * label_count * sizeof(uint64_t))
            into = <uint64_t *><char *>rows
            data, size = counts, len(counts)
            for at in range(count):
                if (sought[at].key + 1) * row_width <= <uint64_t>size:
                    for k in range(label_count):
                        into[at * label_count + k] = number_at(data + sought[at].key * row_width + k * width, width)
        if changes is not None:
            if changes.columns != label_count:
                raise ValueError("changes of other rows")
            is_found = <Byte *>allot(&arena, count)
            sort_sought(sought, count)
            changes.add(&arena, sought, count, into, is_found)
    finally:
        free_arena(&arena)
    return rows


def spread(bytes counters, bytes counts, Size width, Size total):
    """Return the rows of all counters, of so many bytes each, by the rows of some."""
    cdef bytearray rows = bytearray(total * width)
    cdef const Byte *of = counters
    cdef const Byte *data = counts
    cdef Byte *into = rows
    cdef Size number, to
    if len(counters) // 4 * width != len(counts):
        raise ValueError("not a row for each counter")
    for number in range(len(counters) // 4):
        to = four_at(of + 4 * number) % total
        memcpy(into + to * width, data + number * width, width)
    return bytes(rows)
