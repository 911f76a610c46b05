from spamnb.html.styles cimport pixels
cdef tuple _SCREENS
cpdef int block_audience(str prelude) except -1
cpdef int audience(str media) except -1
cdef int _query_audience(str query) except -1
