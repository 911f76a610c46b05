cimport cython

@cython.final
cdef class Undone:
    cdef readonly bytes data
    cdef readonly str encoding, why

cpdef Undone undo(bytes data, str declared, bint is_text=*)
cpdef bytes decode_base64(bytes data)
cdef bytes _decode_blocks(bytes data)

@cython.locals(others=Py_ssize_t, whole=bint, is_prose=bint, few_others=bint, decoded=bytes)
cdef Undone _undo_base64(bytes data, bint is_text)

@cython.locals(decoded=bytes)
cdef Undone _undo_quoted(bytes data, bint is_text)

@cython.locals(others=bytes, few=bint)
cpdef bint _is_base64(bytes line) except -1

cpdef bytes _declared(bytes block)
cpdef bytes _undeclared(bytes block)

@cython.locals(decoded=bytes)
cdef bytes _text_of_base64(bytes block, Py_ssize_t enough)

@cython.locals(decoded=bytes)
cpdef bytes _quoted(bytes block)

@cython.locals(escapes=Py_ssize_t, signs=Py_ssize_t, controls=Py_ssize_t)
cdef bint _is_quoted(bytes data, bytes decoded) except -1

cdef Py_ssize_t _controls(bytes data) except -1
cdef bint _is_utf8(bytes data) except -1
