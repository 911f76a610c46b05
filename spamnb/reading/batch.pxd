cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

from spamnb.reading.features cimport Features, TokenTable

cdef uint64_t MASK, SECRET_FACTOR

@cython.final
cdef class BatchBuilder:
    cdef public object key
    cdef int bits, words
    cdef Py_ssize_t size, entries
    cdef int32_t[::1] slots, places
    cdef uint64_t[::1] fingerprints
    cdef int64_t[::1] ends
    cdef uint16_t[::1] times
    cdef bytearray text, parts
    cdef list starts, numbers

    @cython.locals(table=TokenTable)
    cpdef add(self, Features features)

    @cython.locals(slots=int32_t[::1], fingerprints=uint64_t[::1], places=int32_t[::1], times=uint16_t[::1],
                   own_text=bytearray, parts=bytearray, size=Py_ssize_t, shift=int, last=uint64_t, entry=int,
                   fingerprint=uint64_t, at=uint64_t, letter=Py_ssize_t)
    cdef int add_table(self, TokenTable table, bytearray text, bint of_pairs) except -1

    @cython.locals(shift=int, last=uint64_t, at=uint64_t, place=int)
    cdef int grow(self) except -1

    @cython.locals(to=Py_ssize_t, text=bytearray, n=Py_ssize_t, place=Py_ssize_t, at=Py_ssize_t)
    cdef int texts_in(self, const int64_t[::1] order, uint8_t[::1] data, int64_t[::1] ends) except -1
