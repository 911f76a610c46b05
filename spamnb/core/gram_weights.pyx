# The weights of all grams, computed once, where many messages are scored with two labels.

cdef Byte[32] NO_PARTS


cdef class GramWeights:
    """The weights of all grams (runs of four bytes) for two labels: computed once, then read by all threads."""

    cdef uint32_t *are_strong  # a bit for each counter: whether it is evidence; all fit into the L1 cache
    cdef uint32_t *places  # for each counter used as evidence, its number in `weights`
    cdef int64_t *weights  # three for each: of the first label, of the second, its share
    cdef Size used  # items of `weights`

    def __cinit__(self):
        self.are_strong = <uint32_t *>memory_of(NULL, COUNTERS // 32 * sizeof(uint32_t))
        self.places = <uint32_t *>memory_of(NULL, COUNTERS * sizeof(uint32_t))
        self.weights = <int64_t *>memory_of(NULL, 3 * (COUNTERS + 1) * sizeof(int64_t))

    def __dealloc__(self):
        free(self.are_strong)
        free(self.places)
        free(self.weights)

    cdef void weigh(self, Scorer scorer, uint32_t counter, const uint64_t *counts, const uint64_t *others) noexcept nogil:
        """Compute the weights of 32 gram counters from `counter` on, by their counts in the two labels."""
        cdef int64_t weight = 0, other_weight = 0, share
        cdef uint16_t[32] found
        cdef uint32_t bits = 0
        cdef Size n, at
        for n in range(scorer.find_evidence(counts, others, NO_PARTS, 32, found)):
            at = found[n]
            share = scorer.weigh(counts[at], others[at], &weight, &other_weight)
            if share:
                self.weights[3 * self.used], self.weights[3 * self.used + 1] = weight, other_weight
                self.weights[3 * self.used + 2] = share
                self.places[counter + at] = self.used
                bits |= <uint32_t>1 << at
                self.used += 1
        self.are_strong[counter >> 5] = bits

    cdef void add(self, Scorer scorer, const uint32_t *counters, Size size) noexcept nogil:
        """Add the weights of a message's grams to `scorer`; `counters` has at most MAX_TERMS items."""
        cdef int64_t weight_sum = 0, other_sum = 0, in_head = 0, head_weights = 0, head_others = 0
        cdef int64_t weight, other_weight, share, head, strong = 0
        cdef uint32_t[MAX_TERMS] found
        cdef uint32_t counter, place
        cdef Size at, count = 0
        for at in range(min(size, <Size>MAX_TERMS)):  # branch-free, as the branch would be unpredictable
            counter = found[count] = counters[at] & (COUNTERS - 1)
            count += self.are_strong[counter >> 5] >> (counter & 31) & 1
        for at in range(count):
            counter, place = found[at], self.places[found[at]]
            weight, other_weight, share = self.weights[3 * place], self.weights[3 * place + 1], self.weights[3 * place + 2]
            head = -<int64_t>(counter >> PART_BIT)
            strong += share
            weight_sum += weight
            other_sum += other_weight
            in_head += head & share
            head_weights += head & weight
            head_others += head & other_weight
        scorer.add_sums(1, count, in_head, head_weights, head_others)
        scorer.add_sums(0, 0, strong - in_head, weight_sum - head_weights, other_sum - head_others)


def gram_weights(Scorer scorer not None, Counts counts not None):
    """Return the weights of all grams, for many messages; raise ValueError unless there are two labels."""
    scorer.start_message()
    return weighed(scorer, counts, NO_LABEL)


cdef GramWeights weighed(Scorer scorer, Counts counts, int left_out):
    """Return the weights of all grams; unless `left_out` is NO_LABEL, with one message fewer in it."""
    cdef GramWeights found = GramWeights()
    cdef uint32_t[32] counters
    cdef int64_t[2 * 32] rows
    cdef uint64_t[32] firsts, seconds
    cdef uint32_t start = 0, at
    if not scorer.is_of_two or counts.label_count != 2:
        raise ValueError("the weights of grams can be computed only for two labels")
    scorer.start_message()
    with nogil:
        if left_out != NO_LABEL:
            leave_out_of_grams(scorer, left_out)
        while start < COUNTERS:
            for at in range(32):
                counters[at] = start + at
            counts.find_grams(counters, 32, rows)
            for at in range(32):
                firsts[at] = count_without(limited_count(rows[2 * at]), left_out == 0)
                seconds[at] = count_without(limited_count(rows[2 * at + 1]), left_out == 1)
            found.weigh(scorer, start, firsts, seconds)
            start += 32
    return found


cdef void leave_out_of_grams(Scorer scorer, int label_index) noexcept nogil:
    """Set the denominators of a scorer of grams as if one message of this label had not been learned."""
    cdef int64_t[MAX_COLUMNS] totals
    memcpy(totals, scorer.weigher.label_totals, sizeof(totals))
    totals[label_index] -= 1
    scorer.weigher.set_denominators(totals, scorer.weigher.vocabulary, scorer.log_denominators)


cdef inline uint64_t limited_count(int64_t count) noexcept nogil:
    """Return a count, limited to the range 0 … MAX_ROW_COUNT."""
    return min(<uint64_t>max(count, 0), MAX_ROW_COUNT)


cdef inline uint64_t count_without(uint64_t count, bint is_left_out) noexcept nogil:
    """Return `count`; if `is_left_out` (one counted message is ignored), 1 less, but not below 0."""
    return count - (is_left_out & (count > 0))
