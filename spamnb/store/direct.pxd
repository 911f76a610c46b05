# Reads without what os.pread adds to each, half of its time, and counts of 64 bits one behind the other.
# No bounds are checked. direct.pyi has these for the type checker.
from cpython.bytearray cimport PyByteArray_AS_STRING
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_CheckSignals, PyErr_SetFromErrno
from libc.errno cimport EINTR, errno
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from posix.unistd cimport pread as read_at

cdef inline bytes pread(int handle, Py_ssize_t size, int64_t at):
    cdef bytes data = PyBytes_FromStringAndSize(NULL, size)
    cdef Py_ssize_t found = read_at(handle, PyBytes_AS_STRING(data), size, at)
    while found < 0 and errno == EINTR:
        PyErr_CheckSignals()
        found = read_at(handle, PyBytes_AS_STRING(data), size, at)
    if found < 0:
        PyErr_SetFromErrno(OSError)
    return data if found == size else data[:found]

cdef inline uint64_t number(bytes data, Py_ssize_t at, Py_ssize_t size) noexcept:
    cdef const unsigned char *source = <const unsigned char *>PyBytes_AS_STRING(data) + at
    cdef uint64_t found = 0
    while size:
        size -= 1
        found = found << 8 | source[size]
    return found

cdef inline uint64_t count_at(bytearray counts, Py_ssize_t place) noexcept:
    cdef uint64_t count
    memcpy(&count, PyByteArray_AS_STRING(counts) + 8 * place, 8)
    return count

cdef inline void put_count(bytearray counts, Py_ssize_t place, uint64_t count) noexcept:
    memcpy(PyByteArray_AS_STRING(counts) + 8 * place, &count, 8)
