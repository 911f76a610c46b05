cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from spamnb.bayes.scorer cimport Scorer
from spamnb.grams cimport GramSet, part_of
from spamnb.reading.features cimport Features
from spamnb.reading.token_table cimport TokenTable
from spamnb.store cimport records

cdef int COUNT_BITS
cdef uint64_t LOW, MOST_STEPS

@cython.final
cdef class MemoryLayer:
    cdef readonly object generation
    cdef readonly CountHash tokens, pairs
    cdef dict changes, pair_changes

@cython.final
cdef class MemoryScorer:
    cdef readonly list layers
    cdef MemoryLayer own, base
    cdef uint64_t unit
    cdef list gram_layers
    cdef bint has_pairs
    cdef uint8_t[::1] gram_states
    cdef int64_t[::1] gram_weights
    cdef uint64_t touched
    cdef Scorer scorer

    @cython.locals(table=TokenTable, own=MemoryLayer, base=MemoryLayer)
    cpdef score(self, Features features)
    @cython.locals(scorer=Scorer, unit=uint64_t, size=int, entry=int, fingerprint=uint64_t, packed=uint64_t, count=uint64_t, other=uint64_t)
    cdef int add(self, TokenTable table, CountHash counts, dict changes, CountHash base, dict base_changes) except -1
    @cython.locals(strong=int, sum_of_weights=int64_t, sum_of_others=int64_t, in_head=int, head_weights=int64_t, head_others=int64_t,
                   entry=int, counter=uint32_t, place=size_t)
    cdef int add_grams(self, Scorer scorer, GramSet found, uint8_t[::1] states, int64_t[::1] weights) except -1

@cython.final
cdef class CountHash:
    cdef int shift
    cdef uint64_t[::1] slots
    cdef dict crowd

    @cython.locals(record=int64_t, start=int64_t, fingerprint=uint64_t, packed=uint64_t, at=uint64_t, end=uint64_t)
    cdef int fill(self, bytes data, int64_t size, int64_t width, int64_t count_width, uint64_t[::1] slots) except -1
    @cython.locals(at=uint64_t, end=uint64_t, packed=uint64_t, change=list)
    cdef uint64_t find(self, uint64_t fingerprint, dict changes) except? 0xFFFFFFFFFFFFFFFF
