cimport cython
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t

from spamnb.bayes.bulk_classifier cimport BulkClassifier
from spamnb.bayes.likelihood cimport Likelihood

@cython.final
cdef class RunningCounts:
    cdef readonly object view, labels
    cdef object fingerprints, places_now
    cdef list words, lone_words, pairs, lone_pairs, lone, lengths
    cdef readonly list truth, messages, presences, occurrences, pair_presences
    cdef readonly object vocabulary, pair_vocabulary
    cdef readonly dict numbers
    cdef dict values, same_rows
    cdef const int64_t[::1] starts, gram_starts
    cdef const uint32_t[::1] grams
    cdef const int32_t[::1] places
    cdef const uint16_t[::1] times
    cdef int32_t[::1] counts, gram_counts
    cdef size_t width
    cdef int64_t[:, ::1] same_counts
    cdef bint counts_times, counts_words, counts_grams, is_stale
    cdef readonly Likelihood likelihood
    cdef BulkClassifier scorer

    cpdef score(self, int64_t message)
    cpdef left_out_joints(self, messages)
    cdef refresh(self)
    @cython.locals(k=int, count=int64_t, words_by_count=dict)
    cdef list words_by_count(self)
    cpdef learn(self, int64_t message)
    cpdef forget(self, int64_t message)
    @cython.locals(label=size_t, label_count=size_t, counts=int32_t[::1], new_words=int64_t, new_pairs=int64_t, start=size_t,
                   end=size_t, at=size_t, place=size_t, times=int64_t, total=int64_t, is_new=int, k=size_t)
    cdef change(self, int64_t message, int64_t sign)
    @cython.locals(k=int)
    cdef count_same(self, list before, size_t label, int64_t sign, int64_t words, bint are_new)
