cimport cython
cimport libc.math as math

@cython.final
cdef class Evidence:
    cdef readonly object feature, row, times, part
    cdef readonly list weights

cdef class Score:
    cdef dict __dict__

cdef class Cutoffs:
    cdef dict __dict__

cdef class Calibration:
    cdef dict __dict__

cdef class Verdict:
    cdef dict __dict__
