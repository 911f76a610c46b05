cimport cython

@cython.final
cdef class Kind:
    cdef readonly str gap
    cdef readonly int followed, raw, role
    cdef readonly bint before_text, ended_by_next, gap_at_any_end
