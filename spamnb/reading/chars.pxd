# Characters of a str read without making objects of them; plain_chars.py is the interpreted form.
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

cdef extern from "Python.h":
    Py_UCS4 PyUnicode_READ_CHAR(object text, Py_ssize_t at) noexcept
    Py_ssize_t PyUnicode_GET_LENGTH(object text) noexcept
    Py_ssize_t PyUnicode_FindChar(object text, Py_UCS4 char, Py_ssize_t start, Py_ssize_t end, int direction) except -2
    const unsigned char *PyUnicode_1BYTE_DATA(object text) noexcept

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
