cimport cython
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from spamnb.grams cimport GramSet
from spamnb.reading.features cimport Features
from spamnb.reading.token_table cimport TokenTable

@cython.final
cdef class BatchBuilder:
    cdef size_t size, entries, gram_count
    cdef uint32_t[::1] grams
    cdef uint64_t[::1] fingerprints
    cdef uint16_t[::1] times
    cdef uint8_t[::1] parts
    cdef int64_t[::1] ends
    cdef bytearray text
    cdef list starts, gram_starts, numbers

    @cython.locals(table=TokenTable)
    cpdef add(self, Features features)

    @cython.locals(most=int, fingerprints=uint64_t[::1], times=uint16_t[::1], parts=uint8_t[::1], ends=int64_t[::1], size=size_t,
                   entry=uint32_t, to=size_t)
    cdef int add_table(self, TokenTable table, bint of_pairs) except -1

    @cython.locals(grams=uint32_t[::1], entry=uint32_t)
    cdef int add_grams(self, GramSet found) except -1
