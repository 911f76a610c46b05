cimport cython

from spamnb.reading.headers cimport HeaderBlock, Surroundings, canonical, header_start, parameters

cdef Py_ssize_t MAX_DELIMITER, MOST_BYTES_A_SPACE, SHORTEST_BASE64


cdef class Leaf:
    cdef public str content_type, text, charset, encoding, disposition, filename
    cdef public list headers
    cdef public Py_ssize_t size
    cdef public object content, decoding


cdef class Message:
    cdef public bytes data
    cdef public list fields, headers, leaves
    cdef public Py_ssize_t body


@cython.locals(reader=_MessageReader, block=HeaderBlock)
cpdef Message read(bytes raw)

cdef str _media_type(str value, str default)
cdef bint _is_textual(str content_type) except -1
@cython.locals(size=Py_ssize_t, spaces=Py_ssize_t)
cdef bint _may_be_encoded(str text) except -1
@cython.locals(start=str)
cdef bint _is_file(str text, bint named) except -1


@cython.final
cdef class _MessageReader:
    cdef bytes data
    cdef Surroundings around
    cdef list leaves, types
    cdef dict levels
    cdef object attachments, decoding
    cdef str charset
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

    @cython.locals(declared=dict, named=dict, charset=str, disposition=str, encoding=str, text=str, leaf=Leaf)
    cdef int add_leaf(self, str content_type, HeaderBlock block, Py_ssize_t end) except -1

    cdef object content(self, str content_type, HeaderBlock block, Py_ssize_t end, str charset)

    @cython.locals(data=bytes, text=str, body=bytes, size=Py_ssize_t)
    cdef str text(self, Py_ssize_t start, Py_ssize_t end, str encoding, str charset)
