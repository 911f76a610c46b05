cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t

from spamnb.bayes.likelihood cimport Likelihood
from spamnb.bayes.scorer cimport Scorer
from spamnb.grams cimport part_of

cdef int NO_LABEL, MOST_TERMS, AT_ONCE
cdef uint32_t FIRST_OF_HEAD, LAST_TURN

@cython.final
cdef class BulkClassifier:
    cdef readonly Likelihood likelihood
    cdef Scorer scorer
    cdef const int32_t[::1] counts, gram_counts
    cdef const int64_t[::1] starts, gram_starts
    cdef const uint32_t[::1] grams
    cdef int64_t[::1] gram_weights
    cdef size_t[256] waiting
    cdef int turn_label
    cdef uint32_t turn
    cdef int64_t turn_revision
    cdef uint8_t[::1] turns
    cdef const int32_t[::1] places
    cdef const uint16_t[:] times
    cdef const uint8_t[::1] parts
    cdef list numbers
    cdef int label_count
    cdef size_t width, count_start
    cdef bint is_gaussian, is_tfidf, has_grams

    cpdef open(self, rows, counts=*)
    cpdef score(self, int64_t message)
    @cython.locals(scorer=Scorer, first=size_t, width=size_t, start=size_t, end=size_t, own=uint32_t, others=uint32_t, size=size_t,
                   at=size_t, k=int, place=size_t, count=uint32_t, other=uint32_t, length=int64_t, times=double)
    cdef int add(self, int64_t message, int left_out, const int32_t[::1] places, const int32_t[::1] counts,
                 const uint8_t[::1] parts) except -1
    @cython.locals(start=int64_t, end=int64_t, at=int64_t, counter=uint32_t, count=uint32_t, k=int)
    cdef int add_grams(self, Scorer scorer, int64_t message, int left_out, const uint32_t[::1] grams,
                       const int32_t[::1] counts) except -1
    @cython.locals(turn=uint32_t, turns=uint8_t[::1], weights=int64_t[::1], own=uint32_t, others=uint32_t, size=size_t, strong=int64_t,
                   sum_of_weights=int64_t, sum_of_others=int64_t, in_head=int64_t, head_weights=int64_t, head_others=int64_t,
                   at=size_t, counter=uint32_t, place=size_t, state=uint32_t, count=uint32_t, other=uint32_t, revision=int64_t)
    cdef int add_run(self, Scorer scorer, size_t start, size_t end, int left_out, const uint32_t[::1] grams,
                     const int32_t[::1] counts) except -1
    @cython.locals(at=size_t, counter=size_t)
    cdef int weigh(self, Scorer scorer, size_t size, uint8_t[::1] turns, int64_t[::1] weights) except -1
    cdef tuple row(self, uint32_t place)
    cpdef left_out_joints(self, messages, truth, lone=*)
    @cython.locals(width=size_t, label_count=size_t, start=size_t, end=size_t, at=size_t, place=size_t, k=size_t, total=int64_t,
                   tokens=int64_t, totals=list, grams=Likelihood)
    cdef int leave_out(self, int64_t message, size_t label, int64_t unique, const int32_t[::1] places,
                       const int32_t[::1] counts) except -1
