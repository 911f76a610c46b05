cimport cython
from libc.stdint cimport uint64_t

@cython.locals(data=bytes, mixed=uint64_t, left=Py_ssize_t, found=list)
cpdef list fingerprints_of(object tokens)
