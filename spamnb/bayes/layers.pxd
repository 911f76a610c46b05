cimport cython
from libc.stdint cimport int64_t

cdef int64_t LARGEST_UNIT, LARGEST_COUNT

cdef class LayeredTotals:
    cdef dict __dict__

@cython.locals(counts=list, k=Py_ssize_t, count=int64_t, other=int64_t)
cpdef list added(own, base, int64_t unit)

@cython.locals(row=tuple, other=tuple, counts=list, k=Py_ssize_t, count=int64_t, beneath=int64_t)
cpdef dict added_rows(dict own, dict base, int64_t unit)
