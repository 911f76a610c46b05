# Classes of C, though without types: each takes a fifth of the time to make. Every delivery loads them.

cdef class SpamnbError(Exception):
    pass

cdef class UsageError(SpamnbError):
    pass

cdef class DataError(SpamnbError):
    pass

cdef class ModelError(DataError):
    pass

cdef class NoInput(SpamnbError):
    pass

cdef class CannotCreate(SpamnbError):
    pass

cdef class InputOutputError(SpamnbError):
    pass

cdef class ReaderGone(InputOutputError):
    pass

cdef class NoModel(SpamnbError):
    pass

cdef class Locked(SpamnbError):
    pass
