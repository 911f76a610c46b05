cimport cython
from libc.stdint cimport uint64_t

cdef class Reader:
    cdef bytes data
    cdef readonly Py_ssize_t at

    @cython.locals(kind=int)
    cdef value(self, int depth)
    cdef int skip(self, uint64_t size) except -1
    cdef bytes piece(self, uint64_t size)
    @cython.locals(number=uint64_t, place=Py_ssize_t)
    cdef uint64_t integer(self, int size) except? 0xFFFFFFFFFFFFFFFF
    cdef list array(self, uint64_t size, int depth)
    @cython.locals(items=dict)
    cdef dict map(self, uint64_t size, int depth)
