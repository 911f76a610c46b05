# P(token | label), computed from counts as the view says, and given as weights.
#
# A weight is log P(token | label), or for Bernoulli the log of its odds, as a whole number of units of 2⁻⁴⁰ nats
# (natural-log units): sums of weights are exact in any order. No finite weight is further from 0 than MAX_WEIGHT: no
# float above 0 has a logarithm below -745, no total one above 100, and 0 itself is replaced by 1e-300 or IMPOSSIBLE.
#
# `spamnb.bayes.likelihood` sets the totals of a `Weigher`. They stay the same while messages are scored, so that
# threads can share it.

from libc.math cimport INFINITY, floor, log, rint

cdef extern from *:
    """
    #define UNITS_PER_NAT 1099511627776.0  /* 2^40 */
    #define ROUNDING 6755399441055744.0    /* 1.5 * 2^52: floats of this size are 1 apart, so adding it rounds */
    #define MAX_WEIGHT 1125899906842624.0  /* 2^50 */
    #define MAX_ROW_COUNT ((uint64_t)1 << 53)  /* higher counts are cut to it, so that sums need less than 63 bits */
    #define MAX_TOTAL ((int64_t)1 << 56)   /* of a label, for the same reason */
    #define CERTAIN ((int64_t)1 << 61)     /* in place of infinite weights */
    #define IMPOSSIBLE (-CERTAIN)
    """
    const double UNITS_PER_NAT, ROUNDING, MAX_WEIGHT
    const uint64_t MAX_ROW_COUNT
    const int64_t MAX_TOTAL
    const int64_t CERTAIN, IMPOSSIBLE

cdef enum:
    MAX_COLUMNS = 101  # 100 labels, and one for all labels but spam together
    MAX_LOGARITHMS = 4096  # log(n + ε) is kept for n below this, where many messages are scored
    NO_LABEL = -1  # in place of a label's index


cdef inline int64_t rounded(double units) noexcept nogil:
    """Return the nearest whole number; if two are equally near, the even one."""
    return <int64_t>whole(units)


cdef inline double whole(double units) noexcept nogil:
    return (units + ROUNDING) - ROUNDING


cdef double nats_of(int64_t weight) noexcept nogil:
    """Return a weight in nats (natural-log units); -inf if it is IMPOSSIBLE, inf if it is CERTAIN."""
    if weight == CERTAIN or weight == IMPOSSIBLE:
        return INFINITY if weight > 0 else -INFINITY
    return weight / UNITS_PER_NAT


cdef class Weigher:
    """Computes the weight of a token from its counts and a model's totals, according to a view."""

    cdef readonly int label_count
    cdef readonly int spam_apart  # index of spam, if it is compared with all others together ("set apart"); or NO_LABEL
    cdef readonly bint is_global, is_bernoulli, is_multinomial
    cdef bint is_corrected  # for mail that was filed under the wrong label
    cdef double epsilon, log_zero
    cdef readonly int64_t revision  # grows whenever weights change
    cdef int64_t vocabulary
    cdef double message_total, all_counts  # messages, and totals of tokens, of all labels
    cdef int64_t[MAX_COLUMNS] label_totals, certain_words
    cdef double[MAX_COLUMNS] log_denominators, misfiled, background
    cdef uint64_t kept  # how many logarithms are kept: 0 or MAX_LOGARITHMS
    cdef double[MAX_LOGARITHMS] logarithms

    def __init__(self, int label_count, int spam_apart, str event, epsilon, log_zero):
        """Set event model and smoothing; `epsilon`: None if ε depends on the token, `log_zero`: for log 0."""
        if not 0 <= label_count < MAX_COLUMNS or not NO_LABEL <= spam_apart < label_count:
            raise ValueError("too many labels, or a wrong index of the label spam")
        self.label_count, self.spam_apart = label_count, spam_apart
        self.is_global = epsilon is None
        self.is_bernoulli, self.is_multinomial = event == "bernoulli", event == "multinomial"
        self.epsilon = 0.0 if epsilon is None else epsilon
        self.log_zero = log_zero * UNITS_PER_NAT

    def set_totals(self, list label_totals, int64_t vocabulary, double message_total, list background,
                   list certain_words):
        """Set a model's totals and what is computed from them; each list has an item for each label."""
        cdef int k
        self.revision += 1
        self.vocabulary, self.message_total = vocabulary, message_total
        self.all_counts = max(1, sum(label_totals))
        for k in range(self.label_count):
            self.label_totals[k] = min(label_totals[k], MAX_TOTAL)
            self.background[k], self.certain_words[k] = background[k], certain_words[k]
        self.set_denominators(self.label_totals, vocabulary, self.log_denominators)

    cdef void change_totals(self, const int64_t *label_totals, int64_t vocabulary, int64_t messages) noexcept nogil:
        """Replace the totals, but no prior: enough for views that average weights, which have no prior."""
        cdef int64_t total = 0
        cdef int k
        self.revision += 1
        self.vocabulary, self.message_total = vocabulary, <double>messages
        for k in range(self.label_count):
            self.label_totals[k] = label_totals[k]
            total += label_totals[k]
        self.all_counts = <double>max(total, 1)
        self.set_denominators(self.label_totals, vocabulary, self.log_denominators)

    def correct(self, bint is_corrected, list misfiled):
        """Set `misfiled`: for each column, the share of the other column's mail filed here by mistake."""
        cdef int k
        self.revision += 1
        self.is_corrected = is_corrected
        for k in range(min(<int>len(misfiled), <int>MAX_COLUMNS)):
            self.misfiled[k] = misfiled[k]

    def keep_logarithms(self):
        """Compute the logarithms of low counts in advance, which saves time if many messages are scored."""
        cdef int n
        if not (self.kept or self.is_global or self.is_bernoulli):
            for n in range(MAX_LOGARITHMS):
                self.logarithms[n] = self.log_count(n, self.epsilon)
            self.kept = MAX_LOGARITHMS

    def weights(self, row):
        """Return the weight of a token for each label, in nats, from its counts `row`."""
        cdef int k
        cdef uint64_t total = 0
        cdef uint64_t[MAX_COLUMNS] counts
        self.copy_counts(row, counts)
        for k in range(self.label_count):
            total += counts[k]
        return [
            nats_of(self.weight_of(k, counts[k], self.epsilon_for(total), self.log_denominators))
            for k in range(self.label_count)
        ]

    cdef int copy_counts(self, row, uint64_t *counts) except -1:
        """Copy from `row` to `counts` what the view uses: message counts or, if multinomial, occurrences."""
        cdef int k
        cdef Size first = len(row) - self.label_count
        if first < 0:
            raise IndexError("a row must have a count for each label")
        first = first if self.is_multinomial else 0
        for k in range(self.label_count):
            counts[k] = min(<uint64_t>row[first + k], MAX_ROW_COUNT)
        return 0

    cdef void set_denominators(self, const int64_t *label_totals, int64_t vocabulary, double *found) noexcept nogil:
        """Write log(n_c + ε|V|) of each label to `found`, 0 for log 0; if `spam_apart`, also of the rest."""
        cdef double added = 1.0 if self.is_global else self.epsilon * <double>vocabulary, denominator
        cdef int64_t rest_total = 0
        cdef int k
        for k in range(self.label_count):
            denominator = <double>label_totals[k] + added
            found[k] = UNITS_PER_NAT * log(denominator) if denominator > 0 else 0.0
            if k != self.spam_apart:
                rest_total += label_totals[k]
        if self.spam_apart != NO_LABEL:
            denominator = <double>rest_total + added
            found[self.label_count] = UNITS_PER_NAT * log(denominator) if denominator > 0 else 0.0

    cdef double epsilon_for(self, uint64_t total) noexcept nogil:
        """Return the ε to add to the counts of a token; `total` is the sum of its counts in all labels."""
        return <double>total / self.all_counts if self.is_global else self.epsilon

    cdef int64_t weight_of(
        self, int label_index, uint64_t count, double epsilon, const double *denominators
    ) noexcept nogil:
        """Return the weight of a token for a label in which the token has this count."""
        cdef double present, absent, logarithm
        if self.is_bernoulli:
            present = <double>count + epsilon
            absent = <double>self.label_totals[label_index] + 2 * epsilon - present
            if present <= 0:
                return IMPOSSIBLE
            return rounded(UNITS_PER_NAT * (log(present) - log(absent))) if absent > 0 else CERTAIN
        logarithm = self.log_count(count, epsilon)
        return rounded(logarithm - denominators[label_index]) if logarithm > -INFINITY else IMPOSSIBLE

    cdef inline double log_count(self, uint64_t count, double epsilon) noexcept nogil:
        """Return log(n_ck + ε), the logarithm of a smoothed count, in units of 2⁻⁴⁰ nats."""
        cdef double numerator
        if count < self.kept:
            return self.logarithms[count]
        numerator = <double>count + epsilon
        return UNITS_PER_NAT * log(numerator) if numerator > 0 else self.log_zero

    cdef uint64_t rightly_filed(self, int column, uint64_t count, uint64_t other) noexcept nogil:
        """Return `count` (messages with a token in a column) minus those that were probably filed there by mistake.

        Their expected number is a share of `other`, the messages with the token in the other column. One
        standard deviation (√expected) more is subtracted, because there may be more by chance.
        """
        cdef double expected, more
        cdef uint64_t misfiled
        if not count or count >= other:
            return count
        expected = self.misfiled[column] * <double>other
        misfiled = <uint64_t>expected
        more = <double>(misfiled + 1) - expected
        while misfiled < count and more * more <= expected:
            misfiled += 1
            more = <double>(misfiled + 1) - expected
        return count - misfiled if count > misfiled else 0

    cdef double idf(self, uint64_t with_token) noexcept nogil:
        """Return log(number of all messages / number of messages with the token); 0 if no message has the token."""
        return log(self.message_total / <double>with_token) if with_token else 0.0
