cimport cython

cimport spamnb.reading.unchecked as unchecked

cdef bytes _SPACED
cdef int SPACE, MOST_WORDS, MOST_RUNS, LONGEST_RUN

@cython.final
cdef class Words:
    cdef public int ngrams
    cdef public bint dotless
    cdef public object stop_words, stem
    cdef dict _stems, _runs
    cdef bint _simple

    cpdef list of(self, str text)

    @cython.locals(plain=bint, data=bytes, words=list)
    cpdef bytes spaced(self, str text)

    @cython.locals(pieces=list, source="const unsigned char *", size=Py_ssize_t, at=Py_ssize_t, copied=Py_ssize_t, runs=int, start=Py_ssize_t, plain=bint,
                   run=bytes, words=bytes)
    cdef bytes _read_scripts(self, bytes data)

    cdef list _filtered_and_stemmed(self, list words)
    cdef str _stemmed(self, str word)

cpdef str at_most_long(str word)
cpdef str plain_typography(str text)

@cython.locals(words=Py_ssize_t, before=int, letter="unsigned char")
cpdef Py_ssize_t word_count(bytes spaced) except -1
