cimport cython
from libc.stdint cimport int64_t, uint64_t

cdef double GRID
cdef int NO_LABEL
cdef uint64_t MOST_LOGARITHMS

cdef double _log(double p) except? -1
@cython.locals(low=double, high=double, weight=double)
cpdef double spread(weights) except? -1

@cython.final
cdef class Evidence:
    cdef readonly object feature, row, times, part
    cdef readonly list weights

cdef class Likelihood:
    cdef readonly object view, labels, numbers, vocabulary
    cdef readonly int label_count, spam_apart
    cdef readonly bint is_global, is_bernoulli, is_multinomial, is_mean_of_two, is_corrected
    cdef readonly double epsilon, least_evidence
    cdef public list log_denominators
    cdef readonly list log_prior, label_totals, background, certain_words
    cdef object _log_zero, _message_total
    cdef list _logs, misfiled

    cpdef correct(self, misfiled)
    @cython.locals(expected=double, gone=uint64_t)
    cdef uint64_t rightly_filed(self, Py_ssize_t label_index, uint64_t count, uint64_t other) except? 0xFFFFFFFFFFFFFFFF
    @cython.locals(weights=list, start=Py_ssize_t, gap=double, k=Py_ssize_t)
    cpdef list strong_weights(self, row)
    @cython.locals(count=uint64_t, rest=uint64_t, weights=list)
    cpdef list weights_against_spam(self, row)
    cdef list other_weights(self, row)
    cpdef bint is_evidence(self, row)
    cdef list without_spam(self, values)
    @cython.locals(k=Py_ssize_t)
    cpdef list ranked(self, list joint, list among_others)
    @cython.locals(weights=list, epsilon=double, start=Py_ssize_t, k=Py_ssize_t)
    cpdef list weights(self, row)
    @cython.locals(numerator=double, denominator=double)
    cdef double log_weight(self, Py_ssize_t label_index, uint64_t count, double epsilon) except? -1
    cdef double rounded(self, double weight) noexcept
    @cython.locals(numerator=double, logarithm=double, is_kept=bint)
    cdef double log_count(self, uint64_t count, double epsilon) except? -1
    @cython.locals(added=double)
    cpdef list log_denominators_of(self, list label_totals, int64_t vocabulary)
    @cython.locals(numerator=double, denominator=double, log_denominator=double, epsilon=double, terms=list, background=list, words=int64_t)
    cdef _count_absent_words(self, by_label)
    @cython.locals(item=Evidence, k=Py_ssize_t)
    cpdef list summed_joint(self, list evidence)
    @cython.locals(item=Evidence, k=Py_ssize_t, of_part=list, weights=list, means=list, parts=list)
    cpdef list averages(self, list evidence, double damping)

@cython.final
cdef class Classifier(Likelihood):
    cdef readonly object counts

    @cython.locals(rows=dict, found=list)
    cpdef list evidence(self, tokens, bint among_others=*)
    @cython.locals(rows=dict, found=list)
    cpdef list pair_evidence(self, pairs, bint among_others=*)
