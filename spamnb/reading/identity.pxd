cimport cython

cdef frozenset _NAMES
cdef Py_ssize_t _LONGEST

@cython.locals(dash=Py_ssize_t)
cpdef bint is_volatile(str name) except -1

@cython.locals(lasting=list, name=str, value=str)
cdef bytes _lasting_fields(list fields)
