# Adds up the gram counters of tables and model files, and makes the columns of a model file of the sums.


cdef class GramSums:
    """Sums of gram counters: how many messages of each label have a gram (run of four bytes)."""

    cdef readonly int label_count
    cdef int64_t *rows  # [COUNTERS][label_count], NULL while there are none

    def __cinit__(self, int label_count):
        if not 0 < label_count <= MAX_LABELS:
            raise ValueError("the number of labels must be from 1 to 100")
        self.label_count = label_count

    def __dealloc__(self):
        free(self.rows)

    def add(self, Counts counts not None, int sign, targets):
        """Add gram counters (`sign` 1) or subtract (-1); `targets`: index of each label here, or -1: skip."""
        cdef uint32_t[AT_ONCE] counters
        cdef int64_t *found
        cdef int64_t *row
        cdef Size start = 0, n, k, labels = counts.label_count
        cdef int[MAX_LABELS] places
        if len(targets) != labels:
            raise ValueError("`targets` must have one index for each label")
        for k in range(labels):
            places[k] = targets[k]
            if not -1 <= places[k] < self.label_count:
                raise ValueError("each target must be -1 or the index of a label")
        if isinstance(counts, FileCounts):
            set_flag(&(<FileCounts>counts).has_passed_grams)  # all counters are needed: let it keep them in memory
        if not has_grams(counts):
            return
        if self.rows is NULL:
            self.rows = <int64_t *>calloc(<Size>COUNTERS * self.label_count, sizeof(int64_t))
        found = <int64_t *>malloc(AT_ONCE * labels * sizeof(int64_t))
        try:
            if self.rows is NULL or found is NULL:
                raise MemoryError
            with nogil:
                while start < COUNTERS:
                    for n in range(AT_ONCE):
                        counters[n] = start + n
                    counts.find_grams(counters, AT_ONCE, found)
                    for n in range(AT_ONCE):
                        row = self.rows + (start + n) * self.label_count
                        for k in range(labels):
                            if places[k] >= 0:
                                row[places[k]] += sign * found[n * labels + k]
                    start += AT_ONCE
        finally:
            free(found)

    def above_zero(self):
        """Return a list of the counters above 0 for any label, as (number, list of messages by label)."""
        cdef list found = []
        cdef Size n, k
        for n in range(COUNTERS if self.rows is not NULL else 0):
            if self.highest_of(n) > 0:
                found.append((n, [max(self.rows[n * self.label_count + k], 0) for k in range(self.label_count)]))
        return found

    def columns(self, Size max_listed):
        """Return (numbers of the counters above 0, their counts, bytes of a count), as a model file has them.

        If more than `max_listed` counters are above 0, the numbers are b"", and the counts are those of all.
        """
        cdef Size n, k, listed = 0
        cdef int64_t highest = 0
        cdef int width
        cdef bytes counters, counts
        cdef Byte *to
        cdef Byte *count_to
        for n in range(COUNTERS if self.rows is not NULL else 0):
            highest = max(highest, self.highest_of(n))
            listed += self.highest_of(n) > 0
        width = width_of(highest)
        counters = PyBytes_FromStringAndSize(NULL, 4 * listed if listed <= max_listed else 0)
        counts = PyBytes_FromStringAndSize(
            NULL, (listed if listed <= max_listed else <Size>COUNTERS) * width * self.label_count)
        to, count_to = <Byte *>PyBytes_AS_STRING(counters), <Byte *>PyBytes_AS_STRING(counts)
        for n in range(COUNTERS if listed else 0):
            if listed <= max_listed:
                if self.highest_of(n) <= 0:
                    continue
                to = put_at(to, n, 4)
            for k in range(self.label_count):
                count_to = put_at(count_to, max(self.rows[n * self.label_count + k], 0), width)
        return counters, counts, width

    cdef int64_t highest_of(self, Size counter) noexcept nogil:
        cdef int64_t highest = 0
        cdef Size k
        for k in range(self.label_count):
            highest = max(highest, self.rows[counter * self.label_count + k])
        return highest


cdef bint has_grams(Counts counts):
    """Return whether a table or model file has counts of grams."""
    if isinstance(counts, CountTable):
        return (<CountTable>counts).grams is not NULL
    return isinstance(counts, FileCounts) and counts.grams is not None and len(counts.grams) > 0
