cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t

from spamnb.bayes.classifier cimport Likelihood

cdef int64_t MOST_KNOWN, NOBODY
cdef double MOST_REST, WHOLE, inf, nan

@cython.final
cdef class BulkClassifier:
    cdef readonly Likelihood likelihood
    cdef public int32_t[:, ::1] counts
    cdef const int64_t[:] starts
    cdef const int32_t[:] places
    cdef const uint16_t[:] times
    cdef const uint8_t[:] parts
    cdef double[:, ::1] known, weights
    cdef double[::1] log_denominators
    cdef uint8_t[::1] strong_parts
    cdef list numbers
    cdef int label_count, count_start, part_count
    cdef bint is_global, is_bernoulli, is_gaussian, is_tfidf, has_times, is_averaged
    cdef double least_evidence, least_likely, damping
    cdef int64_t strong, summed, certain

    @cython.locals(k=int)
    cpdef renew(self)
    cpdef open(self, rows)
    @cython.locals(start=int64_t, end=int64_t, length=int64_t, at=int64_t, place=int64_t, k=int, sums=list)
    cpdef list joint(self, int64_t message, int left_out=*)
    @cython.locals(is_known=bint, low=double, high=double, weight=double, own=int64_t, k=int, weights=list)
    cdef bint weigh(self, int64_t place, int left_out) except -1
    @cython.locals(found=double)
    cdef double log_of(self, int label_index, int64_t count) except? -1
    cdef tuple row(self, int64_t place)
    @cython.locals(k=int)
    cdef int multiply(self, double times) except -1
    @cython.locals(part=int, total=double, mean=double)
    cdef double sum_for(self, int label_index) except? -1
    @cython.locals(at=int64_t, weight=double, whole=double, rest=double, lowest=double, nats=double)
    cdef double sum_part(self, int label_index, int part) except? -1
    cpdef list left_out_scores(self, messages, truth, lone=*)
    @cython.locals(at=int64_t, place=int64_t, own=int64_t, other=int64_t, tokens=int64_t, unique=int64_t)
    cdef int leave_out(self, int64_t message, int label, int64_t lone) except -1
