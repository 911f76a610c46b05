# Bytes, eight at a time with the first lowest, and characters of a str of which no objects are made.
# No bounds are checked: who calls these does. unchecked.pyi has them for the type checker.
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

cdef extern from "Python.h":
    Py_UCS4 PyUnicode_READ_CHAR(object text, Py_ssize_t at) noexcept
    Py_ssize_t PyUnicode_GET_LENGTH(object text) noexcept
    Py_ssize_t PyUnicode_FindChar(object text, Py_UCS4 char, Py_ssize_t start, Py_ssize_t end, int direction) except -2
    const unsigned char *PyUnicode_1BYTE_DATA(object text) noexcept

cdef extern from *:
    """
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #define SPAMNB_FIRST_LOWEST(eight) __builtin_bswap64(eight)
    #else
    #define SPAMNB_FIRST_LOWEST(eight) (eight)
    #endif
    """
    uint64_t SPAMNB_FIRST_LOWEST(uint64_t eight) noexcept

cdef inline uint64_t load_eight(const unsigned char *source, size_t at, size_t size) noexcept:
    cdef uint64_t eight
    if at + 8 <= size:
        memcpy(&eight, source + at, 8)
    else:
        memset(&eight, 32, 8)
        if at < size:
            memcpy(&eight, source + at, size - at)
    return SPAMNB_FIRST_LOWEST(eight)

cdef inline void store_eight(unsigned char *text, size_t to, uint64_t eight) noexcept:
    eight = SPAMNB_FIRST_LOWEST(eight)
    memcpy(text + to, &eight, 8)

cdef inline void copy(unsigned char *text, size_t to, const unsigned char *source, size_t size) noexcept:
    memcpy(text + to, source, size)

cdef inline Py_UCS4 char_at(str text, Py_ssize_t at) noexcept:
    return PyUnicode_READ_CHAR(text, at)

cdef inline Py_ssize_t find(str text, Py_UCS4 char, Py_ssize_t start) except -2:
    return PyUnicode_FindChar(text, char, start, PyUnicode_GET_LENGTH(text), 1)

cdef inline const unsigned char *letters(str text) noexcept:
    return PyUnicode_1BYTE_DATA(text)

cdef inline bytes translated(str text, bytes table):
    cdef Py_ssize_t size = PyUnicode_GET_LENGTH(text), at = 0
    cdef bytes made = PyBytes_FromStringAndSize(NULL, size)
    cdef const unsigned char *source = PyUnicode_1BYTE_DATA(text)
    cdef const unsigned char *form = <const unsigned char *>PyBytes_AS_STRING(table)
    cdef unsigned char *to = <unsigned char *>PyBytes_AS_STRING(made)
    while at + 4 <= size:
        to[at] = form[source[at]]
        to[at + 1] = form[source[at + 1]]
        to[at + 2] = form[source[at + 2]]
        to[at + 3] = form[source[at + 3]]
        at += 4
    while at < size:
        to[at] = form[source[at]]
        at += 1
    return made
