cimport cython

cdef bytes _SPACED, _FOLDED

cdef class Words:
    cdef public int ngrams
    cdef public bint keep_case
    cdef public object stop_words, stem
    cdef object _scripts
    cdef dict _stems
    cdef bytes _table
    cdef bint _simple

    cpdef list of(self, str text)

    @cython.locals(plain=bint, data=bytes, chunks=list, words=list)
    cpdef bytes spaced(self, str text)

    cdef list _read_scripts(self, list chunks)
    cdef list _filtered_and_stemmed(self, list words)
    cdef str _stemmed(self, str word)

cpdef str at_most_long(str word)
cpdef str plain_typography(str text)
