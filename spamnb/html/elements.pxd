cimport cython
cdef list _SPELLED
cdef bytes _LOWER
cdef bytearray _ATTRIBUTE_SLOTS, _KIND_SLOTS
cdef int _slot(int first, int last, int length) noexcept
@cython.locals(kind=Kind, spelled=bytes, slot=int)
cdef _fill_slots()

@cython.final
cdef class Kind:
    cdef readonly str name, gap
    cdef readonly tuple ends
    cdef readonly int followed, number, raw, role
    cdef readonly bint cell, formatting, picture

@cython.locals(slot=int)
cpdef int element_number(bytes data, str html, Py_ssize_t start, Py_ssize_t end) except -1
cpdef int attribute_number(bytes data, Py_ssize_t start, Py_ssize_t end) except -2
@cython.locals(at=Py_ssize_t, text="const unsigned char *", sought="const unsigned char *", lower="const unsigned char *")
cpdef bint equal(bytes data, Py_ssize_t start, Py_ssize_t end, bytes name) except -1
