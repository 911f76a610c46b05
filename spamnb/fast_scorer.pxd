cimport cython
from libc.stdint cimport int64_t, uint8_t, uint64_t

from spamnb.bayes.classifier cimport Likelihood
from spamnb.reading.features cimport Features, TokenTable

cdef uint64_t LOW, MOST_KNOWN, MOST_STEPS
cdef double GRID, WHOLE, MOST_REST

@cython.final
cdef class FastScorer:
    cdef readonly object generation, labels
    cdef readonly CountHash tokens, pairs
    cdef dict changes, pair_changes
    cdef bint has_pairs, splits
    cdef uint64_t touched
    cdef double damping
    cdef WeightSum body, head

    @cython.locals(table=TokenTable, parts=list)
    cpdef score(self, Features features)
    @cython.locals(shift=int, entry=int, fingerprint=uint64_t, at=uint64_t, end=uint64_t, packed=uint64_t,
                   count=int64_t, other=int64_t, change=list)
    cdef int add(self, TokenTable table, CountHash counts, const uint64_t[::1] slots, dict changes) except -1

@cython.final
cdef class CountHash:
    cdef int shift
    cdef uint64_t[::1] slots
    cdef dict crowd

    @cython.locals(record=int64_t, start=int64_t, fingerprint=uint64_t, packed=uint64_t, at=uint64_t, end=uint64_t)
    cdef int fill(self, const uint8_t[::1] records, int64_t size, int64_t width, int64_t count_width,
                  uint64_t[::1] slots) except -1

@cython.final
cdef class WeightSum:
    cdef Likelihood likelihood
    cdef double[::1] logs
    cdef double log_denominator, other_log_denominator, least
    cdef int64_t strong
    cdef double rest, other_rest, whole, other_whole

    cpdef clear(self)
    @cython.locals(weight=double, other_weight=double, gap=double, nats=double, other_nats=double)
    cdef int add(self, uint64_t count, uint64_t other) except -1
    @cython.locals(number=double)
    cpdef list means(self, double damping)

@cython.locals(number=uint64_t, place=int64_t)
cdef uint64_t number_at(const uint8_t[::1] data, int64_t at, int64_t size) except? 0xFFFFFFFFFFFFFFFF
