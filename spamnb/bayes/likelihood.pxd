cimport cython
cimport libc.math as math
from libc.stdint cimport int64_t, uint64_t

cdef int NO_LABEL, MOST_LOGARITHMS
cdef double ROUNDING, UNITS_PER_NAT, inf
cdef int64_t CERTAIN, IMPOSSIBLE

cdef class Likelihood:
    cdef readonly object view, labels, numbers, vocabulary
    cdef readonly int label_count, spam_apart
    cdef readonly bint is_global, is_bernoulli, is_multinomial, is_mean_of_two, is_corrected
    cdef readonly double epsilon
    cdef readonly Likelihood grams
    cdef readonly list log_prior, label_totals, background, certain_words
    cdef double[4096] logarithms
    cdef double[101] log_denominators, misfiled
    cdef uint64_t kept
    cdef int64_t revision
    cdef object _message_total
    cdef double _log_zero

    cpdef keep_logarithms(self)
    cpdef correct(self, misfiled)
    @cython.locals(expected=double, misfiled=uint64_t)
    cdef uint64_t rightly_filed(self, Py_ssize_t label_index, uint64_t count, uint64_t other) except? 0xFFFFFFFFFFFFFFFF
    @cython.locals(added=double, denominator=double, k=Py_ssize_t)
    cpdef set_denominators(self, list label_totals, int64_t vocabulary)
    @cython.locals(epsilon=double, k=Py_ssize_t)
    cpdef list weights(self, row)
    @cython.locals(present=double, total=double, absent=double, logarithm=double)
    cdef int64_t weight_of(self, Py_ssize_t label_index, uint64_t count, double epsilon) except? -1
    @cython.locals(numerator=double)
    cdef double log_count(self, uint64_t count, double epsilon) except? -1
    cdef int64_t rounded(self, double units) noexcept
    cdef double nats(self, int64_t weight) noexcept
    cpdef list without_spam(self, values)
    @cython.locals(numerator=double, denominator=double, log_denominator=double, epsilon=double, terms=list, background=list, words=int64_t)
    cdef _count_absent_words(self, by_label)

cdef double _log(double p) except? -1

cdef class GramTotals:
    cdef dict __dict__
