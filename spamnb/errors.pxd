# Classes of C, though without types: with them a delivery starts 0.25 ms sooner.

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
