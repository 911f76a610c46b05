cimport cython
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint64_t

cdef uint64_t MASK, SECRET_FACTOR
cdef int SLOT_SHIFT, LAST_SLOT, _ENTRIES, _ENTRY_BITS, _LAST_ENTRY
cdef bint COMPILED

@cython.final
cdef class TokenTable:
    cdef uint64_t[4096] fingerprints
    cdef int32_t[4096] times, starts, ends
    cdef uint8_t[4096] parts
    cdef uint16_t[4096] homes
    cdef uint16_t[8192] slots
    cdef int used

    @cython.locals(at=uint64_t)
    cpdef int slot_of(self, uint64_t fingerprint) noexcept

    @cython.locals(entry=int)
    cpdef int put(self, int slot, uint64_t fingerprint, int part, Py_ssize_t start, Py_ssize_t end) except -1

    @cython.locals(entry=int)
    cdef int clear(self) except -1

@cython.locals(which=int, table=TokenTable, slot=int)
cpdef int number_in(list tables, uint64_t fingerprint) except -2
