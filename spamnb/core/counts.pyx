# Counts: in how many learned messages of each label a token or pair is, and how often it occurs in them.
#
# A row has messages by label, then occurrences by label (0 for a pair). `CountTable` keeps rows in memory, `FileCounts`
# reads them from a model file, and a `CountSum` adds up the rows of two others. Rows are looked up without the
# interpreter's lock, by many threads at once.

cdef extern from *:
    void __builtin_prefetch(const void *at) noexcept nogil

cdef enum:
    MAX_LABELS = 100

cdef int64_t MAX_SUMMED = <int64_t>1 << 46  # higher counts are cut to it


cdef class Counts:
    """Counts of tokens, word pairs and grams for each label; in this base class all counts are 0."""

    cdef readonly int label_count

    cdef int find(self, const uint64_t *keys, Size count, int64_t *rows) except -1 nogil:
        """Write the counts of each fingerprint to `rows`: messages by label, then occurrences by label."""
        memset(rows, 0, count * 2 * self.label_count * sizeof(int64_t))
        return 0

    cdef int find_grams(self, const uint32_t *counters, Size count, int64_t *rows) except -1 nogil:
        """Write the counts of each gram counter to `rows`: how many messages of each label have its grams."""
        memset(rows, 0, count * self.label_count * sizeof(int64_t))
        return 0

    def lookup(self, fingerprints):
        """Return a dict: fingerprint → tuple of its counts; fingerprints with all counts 0 are left out."""
        cdef list wanted = list(fingerprints)
        cdef Size count = len(wanted), n, width = 2 * self.label_count
        cdef uint64_t *keys = <uint64_t *>memory_of(NULL, count * (1 + width) * sizeof(uint64_t) + 1)
        cdef int64_t *rows = <int64_t *>(keys + count)
        try:
            for n in range(count):
                keys[n] = wanted[n]
            with nogil:
                self.find(keys, count, rows)
            return dict_of_rows(wanted, rows, width)
        finally:
            free(keys)

    def lookup_grams(self, counters):
        """Return a dict: number of a gram counter → tuple of messages by label; counters at 0 are missing."""
        cdef list wanted = list(counters)
        cdef Size count = len(wanted), n, width = self.label_count
        cdef int64_t *rows = <int64_t *>memory_of(NULL, count * (width * sizeof(int64_t) + sizeof(uint32_t)) + 1)
        cdef uint32_t *keys = <uint32_t *>(rows + count * width)
        try:
            for n in range(count):
                keys[n] = wanted[n]
            with nogil:
                self.find_grams(keys, count, rows)
            return dict_of_rows(wanted, rows, width)
        finally:
            free(rows)


cdef dict dict_of_rows(list wanted, const int64_t *rows, Size width):
    """Return a dict: item of `wanted` → tuple of its counts in `rows`; items with only 0 are left out."""
    cdef Size n, k
    cdef dict found = {}
    for n in range(len(wanted)):
        for k in range(width):
            if rows[k] > 0:
                found[wanted[n]] = tuple([rows[k] for k in range(width)])
                break
        rows += width
    return found


cdef class CountSum(Counts):
    """The sum of two `Counts`, such as those of a model file and its journal, or of a model and its base."""

    cdef readonly Counts one, other

    def __cinit__(self, Counts one not None, Counts other not None):
        if one.label_count != other.label_count:
            raise ValueError("both counts must have the same number of labels")
        self.one, self.other, self.label_count = one, other, one.label_count

    cdef int find(self, const uint64_t *keys, Size count, int64_t *rows) except -1 nogil:
        cdef Size size = count * 2 * self.label_count
        cdef int64_t *others = <int64_t *>memory_of(NULL, size * sizeof(int64_t) + 1)
        try:
            self.one.find(keys, count, rows)
            self.other.find(keys, count, others)
            add_counts(rows, others, size)
        finally:
            free(others)
        return 0

    cdef int find_grams(self, const uint32_t *counters, Size count, int64_t *rows) except -1 nogil:
        cdef Size size = count * self.label_count
        cdef int64_t *others = <int64_t *>memory_of(NULL, size * sizeof(int64_t) + 1)
        try:
            self.one.find_grams(counters, count, rows)
            self.other.find_grams(counters, count, others)
            add_counts(rows, others, size)
        finally:
            free(others)
        return 0


cdef void add_counts(int64_t *counts, const int64_t *others, Size size) noexcept nogil:
    """Add `others` to `counts`. A sum below 0 becomes 0, so that forgetting a message twice does no harm."""
    cdef Size n
    for n in range(size):
        counts[n] = min(max(min(counts[n], MAX_SUMMED) + min(others[n], MAX_SUMMED), 0), MAX_SUMMED)
