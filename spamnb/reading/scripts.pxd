cimport cython

cdef str JOINERS, NON_JOINER
cdef int WHOLE, PAIRS, SYLLABLES
cdef bytes _PLAINER, _FOLDED

@cython.locals(found=bytearray, code=Py_ssize_t)
cdef bytes changed_by(dict table)

@cython.locals(words=list, chunk=str, start=Py_ssize_t)
cpdef list words_of_run(str run)

@cython.locals(text=str, at=Py_ssize_t, size=Py_ssize_t, start=Py_ssize_t, word=str, has_ascii=bint)
cdef add_visible_words(list words, str piece)

@cython.locals(char=Py_UCS4, found=bint)
cdef bint is_changed(bytes table, str text) except -1

@cython.locals(size=Py_ssize_t, end=Py_ssize_t)
cdef Py_ssize_t add_emoji(list words, str text, Py_ssize_t at) except -1

cdef bint is_emoji(Py_UCS4 char) noexcept
cdef bint is_flag_letter(Py_UCS4 char) noexcept
cdef bint is_inside(Py_UCS4 char) except -1

@cython.locals(start=Py_ssize_t, size=Py_ssize_t, end=Py_ssize_t, at=Py_ssize_t, stop=Py_ssize_t, cut=int)
cdef add_syllables(list words, str word)

cdef int cut_of(Py_UCS4 char) noexcept

@cython.locals(at=Py_ssize_t, can_close=bint)
cdef Py_ssize_t syllable_end(str word, Py_ssize_t start, Py_ssize_t end) except -1

@cython.locals(at=Py_ssize_t)
cdef Py_ssize_t cluster_end(str word, Py_ssize_t start, Py_ssize_t end) except -1

@cython.locals(place=int)
cdef bint is_bound(Py_UCS4 before, Py_UCS4 char, Py_UCS4 after) noexcept
