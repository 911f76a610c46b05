cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from spamnb.bayes.scorer cimport Scorer
from spamnb.grams cimport GramSet, part_of
from spamnb.reading.features cimport Features
from spamnb.reading.token_table cimport TokenTable
from spamnb.store cimport records

cdef int COUNT_BITS
cdef uint64_t LOW, MOST_STEPS

cdef class HashTables:
    cdef readonly CountHash tokens, pairs

@cython.final
cdef class CountLayer:
    cdef object stored
    cdef readonly bint in_memory
    cdef readonly CountHash tokens, pairs
    cdef dict changes, pair_changes

    @cython.locals(entry=int)
    cdef dict changes_of(self, TokenTable table, bint are_pairs)

@cython.final
cdef class MemoryScorer:
    cdef readonly list layers
    cdef CountLayer own, base
    cdef bint is_layered
    cdef object counts, likelihood
    cdef list gram_layers
    cdef bint has_pairs, keeps_weights, is_used
    cdef uint8_t[::1] gram_states
    cdef int64_t[::1] gram_weights
    cdef uint64_t touched
    cdef Scorer scorer

    @cython.locals(table=TokenTable, found=GramSet)
    cpdef score(self, Features features)
    @cython.locals(scorer=Scorer, is_layered=bint, size=int, entry=int, fingerprint=uint64_t, packed=uint64_t, count=uint64_t,
                   other=uint64_t, changes=dict, base_changes=dict)
    cdef int add(self, TokenTable table, CountHash counts, CountHash base, bint are_pairs) except -1
    @cython.locals(strong=int, sum_of_weights=int64_t, sum_of_others=int64_t, in_head=int, head_weights=int64_t, head_others=int64_t,
                   entry=int, counter=uint32_t, place=size_t)
    cdef int add_grams(self, Scorer scorer, GramSet found, uint8_t[::1] states, int64_t[::1] weights) except -1

@cython.final
cdef class CountHash:
    cdef int shift
    cdef uint64_t[::1] slots

    @cython.locals(record=int64_t, start=int64_t, fingerprint=uint64_t, packed=uint64_t, home=int64_t, at=int64_t)
    cdef int fill(self, bytes data, int64_t size, int64_t width, int64_t count_width, uint64_t[::1] slots) except -1
    @cython.locals(at=uint64_t, end=uint64_t, packed=uint64_t)
    cdef uint64_t find(self, uint64_t fingerprint, dict changes) except? 0xFFFFFFFFFFFFFFFF
    @cython.locals(first=uint64_t, last=uint64_t, middle=uint64_t)
    cdef uint64_t bisected(self, uint64_t fingerprint, uint64_t at) except? 0xFFFFFFFFFFFFFFFF
