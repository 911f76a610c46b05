cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t

from spamnb.bayes.classifier cimport Likelihood

cdef uint32_t MOST_KNOWN
cdef int NO_LABEL
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
    cdef int64_t[::1] strong, strong_among_others, certain
    cdef list numbers
    cdef int label_count, count_start, spam_apart
    cdef bint is_plain, is_gaussian, is_tfidf, has_times, is_averaged, splits
    cdef double damping

    cpdef renew(self)
    cpdef open(self, rows)
    @cython.locals(k=int, joint=list)
    cpdef list joint(self, int64_t message, int left_out=*)
    @cython.locals(logs=double[::1], total=double, other_total=double, strong=int64_t, first=uint32_t, least=double, splits=uint32_t,
                   own=uint32_t, others=uint32_t, subtrahend=double, other_subtrahend=double, at=int64_t, place=uint32_t,
                   part=uint32_t, count=uint32_t, other=uint32_t, weight=double, other_weight=double, gap=double,
                   is_strong=int, is_corrected=bint)
    cdef int sum_two(self, int64_t start, int64_t end, int left_out, const int32_t[::1] places,
                     int32_t[:, ::1] counts) except -1
    cdef int put_down(self, uint32_t part, double total, double other_total, int64_t strong) except -1
    @cython.locals(logs=double[::1], log_denominators=double[::1], weights=double[::1], rests=double[:, ::1],
                   label_count=uint32_t, first=uint32_t, is_plain=bint, is_known=bint, least=double, part=uint32_t,
                   times=double, length=int64_t, at=int64_t, place=uint32_t, k=uint32_t, count=uint32_t,
                   low=double, high=double, weight=double, total=double)
    cdef int sum_up(self, int64_t start, int64_t end, int left_out, const int32_t[::1] places,
                    int32_t[:, ::1] counts) except -1
    @cython.locals(weights=double[::1], label_count=int, spam=int, least=double, part=uint32_t, at=int64_t, k=int,
                   place=uint32_t, rest=uint32_t, in_rest=uint32_t, of_spam=uint32_t, count=uint32_t, weight=double, low=double, high=double)
    cdef int sum_apart(self, int64_t start, int64_t end, int left_out, const int32_t[::1] places,
                       int32_t[:, ::1] counts) except -1
    cdef double plain_weight(self, uint32_t label_index, uint32_t count) except? -1
    cdef int column(self, int label_index) noexcept
    cdef double uncommon_weight(self, uint32_t place, uint32_t label_index, uint32_t count) except? -1
    cdef tuple row(self, uint32_t place)
    @cython.locals(rest=double, nats=double, more=double)
    cdef int add_large(self, uint32_t part, uint32_t label_index, double weight) except -1
    @cython.locals(total=double)
    cdef double joint_for(self, uint32_t label_index) except? -1
    @cython.locals(total=double, strong=int64_t)
    cdef double mean(self, uint32_t part, int label_index) except? -1
    cpdef list part_means(self)
    cpdef left_out_joints(self, messages, truth, lone=*)
    @cython.locals(at=int64_t, k=int, tokens=int64_t, unique=int64_t, total=int64_t, totals=list)
    cdef int leave_out(self, int64_t message, uint32_t label, int64_t lone, const int32_t[::1] places,
                       int32_t[:, ::1] counts) except -1
