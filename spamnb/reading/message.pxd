cimport cython

cdef unsigned char LF, CR, DASH, EQUALS
cdef Py_ssize_t MAX_DELIMITER, MAX_KEPT_NAME, MAX_VALUE, MAX_PARAMETERS, STEP
cdef size_t NAME_SLOTS
cdef list _latest_names


cdef class Part:
    cdef public str content_type, text, charset, disposition, filename
    cdef public list headers
    cdef public Py_ssize_t size
    cdef public object content


cdef class Message:
    cdef public bytes data
    cdef public list fields, headers, parts
    cdef public Py_ssize_t body


@cython.final
cdef class HeaderBlock:
    cdef readonly list fields, headers
    cdef readonly dict content
    cdef public Py_ssize_t body

    @cython.locals(at=Py_ssize_t, here=Py_ssize_t, colon=Py_ssize_t, most=Py_ssize_t, bits="unsigned char",
                   byte="unsigned char", folded=bint, encoded=bint)
    cpdef void read(self, bytes data, Py_ssize_t limit) except *

    @cython.locals(name=str, value=str, written=bytes, subject=str)
    cdef bint add(self, bytes data, Py_ssize_t start, Py_ssize_t colon, Py_ssize_t end, bint folded) except -1

    cdef str transfer_encoding(self)


@cython.locals(reader=_MessageReader, block=HeaderBlock)
cpdef Message read(bytes raw)

cpdef bytes canonical(bytes raw)

@cython.locals(at=Py_ssize_t, colon=Py_ssize_t)
cpdef Py_ssize_t header_start(bytes data) except? -2

@cython.locals(byte="unsigned char")
cdef Py_ssize_t _end_of_block(bytes data, size_t at) except -2

@cython.locals(slot=size_t, written=bytes, name=str)
cdef str _lower_name(bytes data, Py_ssize_t start, Py_ssize_t end)

cdef bint _is_envelope(bytes data, Py_ssize_t at) except -1
cdef str _stripped(bytes data, size_t start, size_t end)
cdef str _readable(str value)

@cython.locals(found=dict, readable_parameters=dict, semicolon=Py_ssize_t, at=Py_ssize_t, end=Py_ssize_t,
               equals=Py_ssize_t, start=Py_ssize_t, text=str)
cpdef dict parameters(str value)

cdef tuple _quoted(str value, Py_ssize_t start)
cdef str _media_type(str value, str default)
cdef bint _is_textual(str content_type) except -1
@cython.locals(start=str)
cdef bint _is_file(str text, bint named) except -1


@cython.final
cdef class _MessageReader:
    cdef bytes data
    cdef list parts, types
    cdef dict levels
    cdef object attachments
    cdef Py_ssize_t blank, blank_crlf, header_left, text_left, dashed_left

    @cython.locals(block=HeaderBlock, outermost=HeaderBlock, begin=Py_ssize_t, end=Py_ssize_t, begins=Py_ssize_t,
                   depth=Py_ssize_t, left=Py_ssize_t, declared=str, content_type=str, embedded=bint)
    cdef HeaderBlock walk(self, Py_ssize_t at)

    @cython.locals(limit=Py_ssize_t, block=HeaderBlock)
    cdef HeaderBlock header_block(self, Py_ssize_t at)

    @cython.locals(end=Py_ssize_t, after=Py_ssize_t, depth=Py_ssize_t, begins=Py_ssize_t, closes=bint)
    cdef (Py_ssize_t, Py_ssize_t, Py_ssize_t) next_entity(self, Py_ssize_t at) except *

    @cython.locals(data=bytes, levels=dict, dashes=Py_ssize_t, stop=Py_ssize_t, end=Py_ssize_t, depth=Py_ssize_t,
                   closes=bint, line=bytes, sought=bytes)
    cdef (Py_ssize_t, Py_ssize_t, Py_ssize_t, bint) next_delimiter(self, Py_ssize_t at) except *

    @cython.locals(declared=dict, charset=str, disposition=str)
    cdef int add_leaf(self, str content_type, HeaderBlock block, Py_ssize_t end) except -1

    cdef object content(self, str content_type, HeaderBlock block, Py_ssize_t end, str charset)

    @cython.locals(text=str, body=bytes, most=Py_ssize_t)
    cdef str text(self, Py_ssize_t start, Py_ssize_t end, str encoding, str charset)
