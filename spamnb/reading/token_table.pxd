cimport cython
from libc.stdint cimport int32_t, uint8_t, uint64_t

cdef uint64_t SECRET_FACTOR
cdef int SLOTS, MOST_BEFORE, SLOT_SHIFT, LAST_SLOT, _ENTRIES, _ENTRY_BITS

@cython.final
cdef class TokenTable:
    cdef uint64_t[4096] fingerprints
    cdef int32_t[4096] times, starts, ends
    cdef uint8_t[4096] parts
    cdef int32_t[8192] slots
    cdef int used, before

    @cython.locals(at=uint64_t, entry=int)
    cpdef int entry_of(self, uint64_t fingerprint, int part, int start, int end) noexcept

    @cython.locals(at=int)
    cdef void clear(self) noexcept

@cython.locals(which=int, table=TokenTable, entry=int)
cpdef int number_in(list tables, uint64_t fingerprint) except -2
