# Counts in a model file: rows found by fingerprint with small reads, changed by what a journal says.
#
# A model file is never changed but replaced, so what is open stays as it was. It is read, not mapped: a page that a
# map touches makes 64 KB resident, and a file that somebody cuts short would end the process. All that is found in it
# is verified by its checksum; every offset into memory is checked against what was read. Records are in order of their
# fingerprints; those that begin with the same bits are a stretch, which a directory tells the start and checksum of.
#
# Bounds: a look-up reads at most MAX_SCANNED records and, in a long stretch, one key for each halving of it; the bytes
# of long stretches that are verified are limited. Rows are flat: counts of 64 bits, one behind the other.

from libc.errno cimport EINTR, errno
from libc.stdlib cimport qsort
from posix.unistd cimport pread

cpdef enum:
    MAX_SCANNED = 64  # records of a stretch read at once; the usual one has 8 to 16

cdef enum:
    ENTRY_BYTES = 8  # of a directory: where a stretch starts, and its checksum, 32 bits each
    DIRECTORY_BLOCK = 4096  # bytes of a directory read at once: one entry alone takes 0.7 µs, a block 0.9
    READ_BLOCK = 1 << 16  # bytes of a long stretch or a column of grams read at once: they stay in the cache
    MAX_VERIFIED = 1 << 28  # bytes of long stretches that are verified: 0.2 s. More, and the directory is made up
    MARK_BITS = 16

cdef int64_t MAX_CHANGED = 0x7FFC000000000000  # higher counts are taken for it before they are changed: no overflow


cdef struct Sought:
    uint64_t key  # a fingerprint, or the counter of a gram
    Size place  # of its row


cdef struct Change:  # what one message of a journal changes: the counts of its features
    const Byte *features
    Size count
    const Byte *occurrences  # 16 bits for each, NULL if only messages are counted
    int steps  # 1, or 2 if it was moved from a label to another
    int[2] labels
    int[2] signs


cdef Size read_at(int handle, Byte *into, Size size, int64_t at) noexcept nogil:
    """Read from a file; return how many bytes there were, -1 if that failed."""
    cdef Size found, total = 0
    while total < size:
        found = pread(handle, into + total, size - total, at + total)
        if found < 0 and errno != EINTR:
            return -1
        if found == 0:
            break
        total += max(found, 0)
    return total


# What is sought

cdef int order(const void *one, const void *other) noexcept nogil:
    cdef uint64_t first = (<const Sought *>one).key, second = (<const Sought *>other).key
    return (first > second) - (first < second)


cdef inline void sort_sought(Sought *sought, Size count) noexcept nogil:
    """Put what is sought in order: so that the file is read from its start to its end, and changes find their row."""
    qsort(sought, count, sizeof(Sought), order)


cdef Size place_of(const Sought *sought, Size count, uint64_t key) noexcept nogil:
    """Return the place of a key among those sought, or NOWHERE."""
    cdef Size first = 0, last = count, middle
    while first < last:
        middle = (first + last) >> 1
        if sought[middle].key < key:
            first = middle + 1
        else:
            last = middle
    return sought[first].place if first < count and sought[first].key == key else NOWHERE


# Records on disk

cdef class CountRecords:
    """Counts of a model file in order of their fingerprints, with a directory (a `Column` each)."""

    cdef readonly object column, directory
    cdef int handle, count_width
    cdef readonly int shift, columns  # columns: counts of a row
    cdef int64_t start, size, width, directory_start, directory_size
    cdef int64_t bytes_to_verify
    cdef set verified  # long stretches: index and checksum

    def __init__(self, column, directory):
        cdef int64_t entries = len(directory)
        self.column, self.directory = column, directory
        self.handle = column.file.handle
        self.start, self.size, self.width = column.at, len(column), column.width
        self.directory_start, self.directory_size = directory.at, directory.size
        self.columns = len(column.kind) - 1
        if self.columns < 1 or self.width <= KEY_BYTES or directory.width != ENTRY_BYTES or entries < 2:
            raise ValueError("not a directory")
        self.count_width = (self.width - KEY_BYTES) // self.columns
        self.shift = 65 - (entries - 1).bit_length()
        if entries - 1 != <int64_t>1 << (64 - self.shift) or self.count_width not in (1, 2, 4, 8):
            raise ValueError("not a directory")
        self.verified, self.bytes_to_verify = set(), MAX_VERIFIED

    cdef int find(self, Arena *arena, const Sought *sought, Size count, uint64_t *rows, Byte *is_found) except -1 nogil:
        """Put the rows of what is sought, which is in order, into their places; those that are missing are zeros."""
        cdef Byte *entries = <Byte *>allot(arena, DIRECTORY_BLOCK + ENTRY_BYTES)
        cdef Byte *stretch = <Byte *>allot(arena, MAX_SCANNED * self.width)
        cdef int64_t block = -1, start = 0, index, offset, first, last
        cdef uint32_t checksum
        cdef uint64_t key
        cdef bint is_long
        cdef Size at, record, k, place
        cdef const Byte *counts
        for at in range(count):
            key, place = sought[at].key, sought[at].place
            memset(rows + place * self.columns, 0, self.columns * sizeof(uint64_t))
            is_found[place] = False
            index = key >> 1 >> (self.shift - 1)  # C would not shift by 64 bits at once
            offset = index * ENTRY_BYTES
            if offset // DIRECTORY_BLOCK != block:
                block = offset // DIRECTORY_BLOCK
                start = block * DIRECTORY_BLOCK
                self.read(entries, min(<int64_t>DIRECTORY_BLOCK + ENTRY_BYTES, self.directory_size - start),
                          self.directory_start + start)
            offset -= start
            first, last = four_at(entries + offset), four_at(entries + offset + ENTRY_BYTES)
            checksum = four_at(entries + offset + 4)
            if not first <= last <= self.size:
                self.fail(0)
            is_long = last - first > MAX_SCANNED
            if is_long:
                with gil:
                    self.verify(index, first, last, checksum)
                self.narrow(key, &first, &last)
            self.read(stretch, (last - first) * self.width, self.start + first * self.width)
            if not is_long and crc_of(stretch, (last - first) * self.width, 0) != (checksum ^ <uint32_t>(index + 1)):
                self.fail(0)
            record = record_of(stretch, last - first, self.width, key)
            if record >= 0:
                is_found[place] = True
                counts = stretch + record * self.width + KEY_BYTES
                for k in range(self.columns):
                    rows[place * self.columns + k] = number_at(counts + k * self.count_width, self.count_width)
        return 0

    cdef int read(self, Byte *into, Size size, int64_t at) except -1 nogil:
        cdef Size found = read_at(self.handle, into, size, at)
        if found < size:
            self.fail(errno if found < 0 else 0)
        return 0

    cdef int fail(self, int why) except -1 nogil:
        """Raise the error of a file that cannot be read, for a reason of the system, or that is damaged (0)."""
        with gil:
            import os
            from spamnb.errors import WHAT_TO_DO, InputOutputError, ModelError

            if why:
                raise InputOutputError(f"{self.column.file.path}: {os.strerror(why)}")
            names = f"{self.column.name} or {self.directory.name}"
            raise ModelError(self.column.file.path, f"its column {names} is damaged; {WHAT_TO_DO}")

    cdef int narrow(self, uint64_t key, int64_t *first, int64_t *last) except -1 nogil:
        """Bisect a long stretch, which somebody filled with words made to lie there, to a short one."""
        cdef int64_t middle
        cdef Byte[KEY_BYTES] found
        while last[0] - first[0] > MAX_SCANNED:
            middle = (first[0] + last[0]) // 2
            self.read(found, KEY_BYTES, self.start + middle * self.width)
            if eight_at(found) <= key:
                first[0] = middle
            else:
                last[0] = middle
        return 0

    cdef int verify(self, int64_t index, int64_t first, int64_t last, uint32_t checksum) except -1:
        """Verify the checksum of a long stretch, once."""
        cdef uint32_t found = 0
        if (index, checksum) in self.verified:
            return 0
        self.bytes_to_verify -= (last - first) * self.width
        if self.bytes_to_verify < 0:
            self.fail(0)
        cdef bytearray block = bytearray(READ_BLOCK)
        cdef Byte *into = block
        cdef int64_t at = self.start + first * self.width, end = self.start + last * self.width
        while at < end:
            self.read(into, min(<int64_t>READ_BLOCK, end - at), at)
            found = crc_of(into, min(<int64_t>READ_BLOCK, end - at), found)
            at += READ_BLOCK
        if found != (checksum ^ <uint32_t>(index + 1)):
            self.fail(0)
        self.verified.add((index, checksum))
        return 0

    def rows(self, fingerprints):
        """Return the rows of those fingerprints that have a record."""
        return rows_of(self, None, fingerprints)


# Changes of a journal

cdef class Changes:
    """What the messages of a journal change in the counts of one kind of feature, of `width` bytes each.

    By message: its features, how often each occurs (b"" if that is not counted), and steps, each a label index, and
    1 to add or -1 to subtract.
    """

    cdef Change *changes
    cdef Size count
    cdef int width
    cdef readonly int label_count, columns
    cdef list kept  # whose bytes are pointed at

    def __cinit__(self, int width, int label_count, bint has_occurrences, list messages):
        cdef Change *change
        cdef bytes features, occurrences
        if width not in (4, 8):
            raise ValueError("no such features")
        self.width, self.label_count = width, label_count
        self.columns = 2 * label_count if has_occurrences else label_count
        self.kept = messages
        self.changes = <Change *>calloc(max(len(messages), 1), sizeof(Change))
        if self.changes is NULL:
            raise MemoryError
        for features, occurrences, steps in messages:
            change = &self.changes[self.count]
            change.features, change.count = features, len(features) // width
            if has_occurrences:
                if len(occurrences) != 2 * change.count:
                    raise ValueError("not as many occurrences as features")
                change.occurrences = occurrences
            if len(steps) > 2:
                raise ValueError("too many steps")
            for label_index, sign in steps:
                if not 0 <= label_index < label_count:
                    raise ValueError("no such label")
                change.labels[change.steps], change.signs[change.steps] = label_index, sign
                change.steps += 1
            self.count += 1

    def __dealloc__(self):
        free(self.changes)

    cdef int add(self, Arena *arena, const Sought *sought, Size count, uint64_t *rows, Byte *is_found) except -1 nogil:
        """Change the rows of what is sought, which is in order, each once; a row that comes to nothing is not found.

        Most features are not sought: a bit for the last bits of those that are tells so, and the rest are bisected.
        """
        cdef Byte *marks = <Byte *>allot(arena, 1 << MARK_BITS >> 3)
        cdef Byte *is_changed = <Byte *>allot(arena, count)
        cdef int64_t *counts = <int64_t *>rows
        cdef Change *change
        cdef Size at, place, k
        cdef uint64_t key
        cdef uint32_t mark
        memset(marks, 0, 1 << MARK_BITS >> 3)
        memset(is_changed, 0, count)
        for at in range(count):
            mark = sought[at].key & ((1 << MARK_BITS) - 1)
            marks[mark >> 3] |= 1 << (mark & 7)
        for change in self.changes[:self.count]:
            for at in range(change.count):
                key = eight_at(change.features + 8 * at) if self.width == 8 else four_at(change.features + 4 * at)
                mark = key & ((1 << MARK_BITS) - 1)
                if not marks[mark >> 3] >> (mark & 7) & 1:
                    continue
                place = place_of(sought, count, key)
                if place >= 0:
                    if not is_changed[place]:
                        is_changed[place] = True
                        for k in range(place * self.columns, (place + 1) * self.columns):
                            counts[k] = min(rows[k], <uint64_t>MAX_CHANGED)
                    self.step(change, at, counts + place * self.columns)
        for at in range(count):
            place = sought[at].place
            if is_changed[place]:
                is_found[place] = False
                for k in range(place * self.columns, (place + 1) * self.columns):
                    counts[k] = max(counts[k], 0)  # forgotten twice: no harm
                    is_found[place] |= counts[k] > 0
        return 0

    cdef inline void step(self, const Change *change, Size at, int64_t *row) noexcept nogil:
        cdef int k
        cdef int64_t times
        for k in range(change.steps):
            row[change.labels[k]] += change.signs[k]
            if change.occurrences is not NULL:
                times = number_at(change.occurrences + 2 * at, 2)
                row[self.label_count + change.labels[k]] += change.signs[k] * times

    def rows(self):
        """Return all changes, by feature: a list each, which may have numbers below 0."""
        cdef dict rows = {}
        cdef Change *change
        cdef Size at, k
        cdef int64_t number
        cdef list row
        for change in self.changes[:self.count]:
            for at in range(change.count):
                key = number_at(change.features + at * self.width, self.width)
                row = rows.get(key)
                if row is None:
                    row = rows[key] = [0] * self.columns
                for k in range(change.steps):
                    row[change.labels[k]] += change.signs[k]
                    if change.occurrences is not NULL:
                        number = number_at(change.occurrences + 2 * at, 2)
                        row[self.label_count + change.labels[k]] += change.signs[k] * number
        return rows


cdef int find_rows(CountRecords records, Changes changes, Arena *arena, Sought *sought, Size count, uint64_t *rows,
                   Byte *is_found) except -1 nogil:
    """Find the rows of features, each sought once: of a model file, and what its journal changes, if it has one."""
    sort_sought(sought, count)
    records.find(arena, sought, count, rows, is_found)
    if changes is not None:
        if changes.columns != records.columns:
            with gil:
                raise ValueError("changes of other rows")
        changes.add(arena, sought, count, rows, is_found)
    return 0


def rows_of(CountRecords records not None, Changes changes, fingerprints):
    """Return the rows of those fingerprints that a model has, with the changes of its journal, if any, made."""
    cdef list keys = list(dict.fromkeys(fingerprints))
    cdef dict found = {}
    cdef Size count = len(keys), at, k
    cdef Arena arena
    cdef Sought *sought
    cdef uint64_t *rows
    cdef Byte *is_found
    start_arena(&arena)
    try:
        sought = <Sought *>allot(&arena, count * sizeof(Sought))
        rows = <uint64_t *>allot(&arena, count * records.columns * sizeof(uint64_t))
        is_found = <Byte *>allot(&arena, count)
        for at in range(count):
            sought[at].key, sought[at].place = keys[at], at
        with nogil:
            find_rows(records, changes, &arena, sought, count, rows, is_found)
        for at in range(count):
            if is_found[at]:
                found[keys[at]] = tuple([rows[at * records.columns + k] for k in range(records.columns)])
    finally:
        free_arena(&arena)
    return found
