cimport cython

cdef unsigned char TAB, LF, CR, SPACE, DASH, COLON
cdef size_t NAME_SLOTS
cdef list _latest_names


cdef class Part:
    cdef public str content_type, text, charset, disposition, filename
    cdef public list headers
    cdef public Py_ssize_t size


cdef class Message:
    cdef public bytes data
    cdef public list fields, headers, parts
    cdef public Py_ssize_t body


cdef class HeaderBlock:
    cdef readonly list fields, headers
    cdef readonly dict content
    cdef public Py_ssize_t body

    @cython.locals(begin=size_t, at=size_t, colon=size_t, end=size_t, folded=bint, value=str, block=bytes)
    cpdef void read(self, bytes data, size_t limit) except *

    cdef int add(self, str name, str value) except -1
    cdef str transfer_encoding(self)


@cython.locals(reader=_MessageReader, block=HeaderBlock)
cpdef Message read(bytes raw)

cpdef bytes canonical(bytes raw)

@cython.locals(at=Py_ssize_t, colon=Py_ssize_t)
cpdef Py_ssize_t header_start(bytes data) except? -2

@cython.locals(byte="unsigned char")
cdef Py_ssize_t _end_of_block(bytes data, size_t at) except -2

@cython.locals(byte="unsigned char")
cdef Py_ssize_t _name_end(bytes data, size_t at, size_t limit) except -1

@cython.locals(slot=size_t, at=size_t, written=bytes, name=str, byte="unsigned char")
cdef str _lower_name(bytes data, size_t start, size_t end)

cdef bint _is_envelope(bytes data, Py_ssize_t at) except -1
cdef Py_ssize_t _line_end(bytes data, size_t at, size_t limit) except -1
cdef str _stripped(bytes data, size_t start, size_t end)
cdef bint _is_white(unsigned char byte) noexcept
cdef str _unfolded(str text)
cdef str _readable(str value)

@cython.locals(found=dict, readable_parameters=dict, at=Py_ssize_t, semicolon=Py_ssize_t, end=Py_ssize_t, item=str,
               name=str, equals=str, text=str)
cpdef dict parameters(str value)

cdef tuple _quoted(str value, Py_ssize_t start)
cdef str _media_type(str value, str default)
cdef bint _is_textual(str content_type) except -1


cdef class _MessageReader:
    cdef bytes data
    cdef list parts, types
    cdef dict levels
    cdef Py_ssize_t blank, blank_crlf, header_left, text_left, dashed_left

    @cython.locals(block=HeaderBlock, outermost=HeaderBlock, begin=Py_ssize_t, end=Py_ssize_t, begins=Py_ssize_t,
                   depth=Py_ssize_t, declared=str, content_type=str, embedded=bint)
    cdef HeaderBlock walk(self, Py_ssize_t at)

    @cython.locals(limit=Py_ssize_t, block=HeaderBlock)
    cdef HeaderBlock header_block(self, Py_ssize_t at)

    cdef tuple next_entity(self, Py_ssize_t at)

    @cython.locals(levels=dict, dashes=Py_ssize_t, stop=Py_ssize_t, line=bytes)
    cdef tuple next_delimiter(self, Py_ssize_t at)

    @cython.locals(declared=dict, charset=str, disposition=str)
    cdef int add_leaf(self, str content_type, HeaderBlock block, Py_ssize_t end) except -1

    @cython.locals(text=str, body=bytes)
    cdef str text(self, Py_ssize_t start, Py_ssize_t end, str encoding, str charset)
