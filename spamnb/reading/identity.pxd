cimport cython

cdef frozenset _NAMES
cdef Py_ssize_t _LONGEST

@cython.locals(dash=Py_ssize_t)
cpdef bint is_volatile(str name) except -1

cdef dict _starts
cdef Py_ssize_t MAX_KEPT, MAX_KEPT_NAME

@cython.locals(lasting=list, name=str, value=str, start=str)
cdef bytes _lasting_fields(list fields)
