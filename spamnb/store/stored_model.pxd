cimport cython
from libc.stdint cimport int64_t

@cython.locals(row=tuple, more=list, counts=list, k=Py_ssize_t, count=int64_t, is_known=bint)
cdef dict _added(dict rows, dict later)

cdef class StoredModel:
    cdef dict __dict__
