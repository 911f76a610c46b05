cimport cython

@cython.locals(at=Py_ssize_t, width=Py_ssize_t, label_index=Py_ssize_t, row=list)
cdef _add(dict rows, list fingerprints, list occurrences, list steps, Py_ssize_t label_count, frozenset wanted)

cdef class JournalRecord:
    cdef dict __dict__

cdef class Journal:
    cdef dict __dict__

cdef class SoundRecordSearch:
    cdef dict __dict__
