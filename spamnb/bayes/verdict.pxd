cimport cython

@cython.final
cdef class Evidence:
    cdef readonly object feature, row, times, part
    cdef readonly list weights
