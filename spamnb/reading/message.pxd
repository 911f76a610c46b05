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
    cdef public object allowance


@cython.locals(reader=_MessageReader, block=HeaderBlock, message=Message)
cpdef Message read(bytes raw)

cdef str _media_type(str value, str default)
cdef bint _is_textual(str content_type) except -1
@cython.locals(size=Py_ssize_t, spaces=Py_ssize_t)
cdef bint _may_be_encoded(str text) except -1
@cython.locals(start=str)
cdef bint _is_file(str text, bint named) except -1


@cython.locals(total=Py_ssize_t, size=Py_ssize_t, found=list, following=int, which=int, share=Py_ssize_t)
cpdef list shares(list sizes, Py_ssize_t most)


@cython.final
cdef class _MessageReader:
    cdef bytes data
    cdef Surroundings around
    cdef list found, leaves, types
    cdef dict levels
    cdef set sizes
    cdef object attachments, decoding
    cdef str charset
    cdef Py_ssize_t blank, blank_crlf, header_left, dashed_left

    @cython.locals(block=HeaderBlock, outermost=HeaderBlock, begin=Py_ssize_t, end=Py_ssize_t, begins=Py_ssize_t,
                   depth=Py_ssize_t, left=Py_ssize_t, declared=str, content_type=str, embedded=bint)
    cdef HeaderBlock walk(self, Py_ssize_t at)

    @cython.locals(sizes=list, by_size=list, texts=list, others=list, which=Py_ssize_t, block=HeaderBlock, end=Py_ssize_t)
    cdef int keep_largest(self) except -1

    @cython.locals(sizes=list, allowed=dict, block=HeaderBlock, end=Py_ssize_t, which=Py_ssize_t)
    cdef int add_leaves(self) except -1

    @cython.locals(limit=Py_ssize_t, block=HeaderBlock)
    cdef HeaderBlock header_block(self, Py_ssize_t at)

    @cython.locals(end=Py_ssize_t, after=Py_ssize_t, depth=Py_ssize_t, begins=Py_ssize_t, closes=bint)
    cdef (Py_ssize_t, Py_ssize_t, Py_ssize_t) next_entity(self, Py_ssize_t at) except *

    @cython.locals(data=bytes, levels=dict, dashes=Py_ssize_t, stop=Py_ssize_t, behind=Py_ssize_t, end=Py_ssize_t,
                   depth=Py_ssize_t, closes=bint, line=bytes, sought=bytes)
    cdef (Py_ssize_t, Py_ssize_t, Py_ssize_t, bint) next_delimiter(self, Py_ssize_t at) except *

    @cython.locals(declared=dict, named=dict, charset=str, disposition=str, encoding=str, text=str, leaf=Leaf)
    cdef add_leaf(self, str content_type, HeaderBlock block, Py_ssize_t end, Py_ssize_t most)

    cdef object content(self, str content_type, HeaderBlock block, Py_ssize_t end, str charset)

    @cython.locals(data=bytes, text=str)
    cdef str text(self, Py_ssize_t start, Py_ssize_t end, Py_ssize_t most, str encoding, str charset)
