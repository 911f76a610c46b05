cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t

from spamnb.bayes.classifier cimport Likelihood

cdef uint32_t MOST_KNOWN
cdef double GRID, MOST_REST, WHOLE, inf

@cython.final
cdef class BulkClassifier:
    cdef readonly Likelihood likelihood
    cdef public int32_t[:, ::1] counts
    cdef const int64_t[::1] starts
    cdef const int32_t[::1] places
    cdef const uint16_t[:] times
    cdef const uint8_t[:] parts
    cdef double[::1] logs, log_denominators, weights
    cdef double[:, ::1] wholes, rests
    cdef int64_t[::1] strong, certain
    cdef list numbers
    cdef int label_count, count_start
    cdef bint is_plain, is_gaussian, is_tfidf, has_times, is_averaged, splits
    cdef double damping

    @cython.locals(k=int)
    cpdef renew(self)
    cpdef open(self, rows)
    @cython.locals(k=int, joint=list)
    cpdef list joint(self, int64_t message, int left_out=*)
    @cython.locals(logs=double[::1], total=double, other_total=double, strong=int64_t, first=uint32_t, least=double, splits=uint32_t,
                   own=uint32_t, others=uint32_t, subtrahend=double, other_subtrahend=double, at=int64_t, place=uint32_t,
                   part=uint32_t, count=uint32_t, other=uint32_t, weight=double, other_weight=double, gap=double,
                   is_strong=int)
    cdef int sum_two(self, int64_t start, int64_t end, int left_out, const int32_t[::1] places,
                     int32_t[:, ::1] counts) except -1
    cdef int put_down(self, uint32_t part, double total, double other_total, int64_t strong) except -1
    @cython.locals(logs=double[::1], log_denominators=double[::1], weights=double[::1], rests=double[:, ::1],
                   label_count=uint32_t, first=uint32_t, is_plain=bint, is_known=bint, least=double, part=uint32_t,
                   times=double, length=int64_t, at=int64_t, place=uint32_t, k=uint32_t, count=uint32_t,
                   low=double, high=double, weight=double, total=double)
    cdef int sum_up(self, int64_t start, int64_t end, int left_out, const int32_t[::1] places,
                    int32_t[:, ::1] counts) except -1
    cdef double uncommon_weight(self, uint32_t place, uint32_t label_index, uint32_t count) except? -1
    cdef tuple row(self, uint32_t place)
    @cython.locals(rest=double, nats=double, more=double)
    cdef int add_large(self, uint32_t part, uint32_t label_index, double weight) except -1
    @cython.locals(total=double)
    cdef double joint_for(self, uint32_t label_index) except? -1
    @cython.locals(total=double)
    cdef double mean(self, uint32_t part, uint32_t label_index) except? -1
    cpdef list part_means(self)
    cpdef list left_out_scores(self, messages, truth, lone=*)
    @cython.locals(at=int64_t, place=uint32_t, other=uint32_t, tokens=int64_t, unique=int64_t, totals=list)
    cdef int leave_out(self, int64_t message, uint32_t label, int64_t lone, const int32_t[::1] places,
                       int32_t[:, ::1] counts) except -1
