cimport cython

cdef unsigned char LF, CR, DASH, COLON
cdef Py_ssize_t MAX_FIRST_NAME, MAX_KEPT_NAME, MAX_VALUE, MAX_PARAMETERS
cdef object NEEDED, PARAMETERS
cdef size_t NAME_SLOTS
cdef list _latest_names


@cython.final
cdef class Surroundings:
    cdef readonly bytes data
    cdef public Py_ssize_t finds_left
    cdef public list names

cpdef bytes canonical(bytes raw)

@cython.locals(at=Py_ssize_t, colon=Py_ssize_t)
cpdef Py_ssize_t header_start(bytes data) except? -2

@cython.locals(byte="unsigned char")
cdef Py_ssize_t _end_of_block(bytes data, size_t at) except -2

@cython.locals(slot=size_t, written=bytes, name=str)
cdef str _lower_name(bytes data, Py_ssize_t start, Py_ssize_t end)

cdef bint _is_envelope(bytes data, Py_ssize_t at) except -1

@cython.locals(found=dict, readable_parameters=dict, semicolon=Py_ssize_t, at=Py_ssize_t, end=Py_ssize_t,
               equals=Py_ssize_t, start=Py_ssize_t, text=str, name=str)
cpdef dict parameters(str value, str charset=*, Surroundings around=*)

cdef tuple _quoted(str value, Py_ssize_t start)


@cython.final
cdef class HeaderBlock:
    cdef readonly list fields, headers
    cdef readonly dict content
    cdef public Py_ssize_t body
    cdef readonly bint is_raw

    @cython.locals(start=Py_ssize_t, at=Py_ssize_t, here=Py_ssize_t, colon=Py_ssize_t, mark=Py_ssize_t,
                   data=bytes, source="const unsigned char *", block=str, folded=bint)
    cpdef void read(self, Surroundings around, Py_ssize_t limit) except *

    @cython.locals(name=str, value=str, written=bytes, subject=str, letter="unsigned char", first=size_t, last=size_t,
                   lines=bytes, kept=bint)
    cdef bint add(self, bytes data, Py_ssize_t start, Py_ssize_t colon, Py_ssize_t end, bint folded) except -1

    cpdef void decode(self, Surroundings around, str charset) except *
    cdef str transfer_encoding(self)
