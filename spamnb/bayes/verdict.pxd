cimport cython
cimport libc.math as math

@cython.final
cdef class Evidence:
    cdef readonly object feature, row, times, part
    cdef readonly list weights
