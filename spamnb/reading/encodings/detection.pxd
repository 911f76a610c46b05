cimport cython

cdef int FIRST, BETWEEN, OTHER, UNDEFINED, RARE, OTHER_SCRIPT, SIGN_BEHIND, LETTER_BEHIND
cdef bytes ASCII_CLASSES, COST_OF_KIND
cdef int CAPITAL, FIRST_CAPITAL, INNER_CAPITAL, NEXT_CAPITAL, AFTER_CAPITAL

@cython.locals(pairs=Py_ssize_t, wrong=Py_ssize_t, low=Py_ssize_t, lead=bint, byte="unsigned char")
cdef tuple _double_bytes(bytes sample)

@cython.locals(rarity=int, kinds=bytes, classes=bytes, language=str)
cdef int _cost(bytes sample, str name, int most) except? -1

@cython.locals(table=bytes, width=Py_ssize_t, mixes=bint, cost=int, before=Py_ssize_t, script=int, here=int, was_capital=bint,
               was_high=bint, byte="unsigned char", kind="unsigned char", now=Py_ssize_t, is_capital=bint, is_high=bint)
cdef int _cost_of_letters(bytes sample, str language, bytes kinds, bytes classes, int most) except? -1

@cython.locals(frequent=str, costs=bytes, rank=Py_ssize_t, table=bytes, width=Py_ssize_t, cost=int, before=Py_ssize_t, script=int, here=int,
               was_ideograph=bint, char=Py_UCS4, now=Py_ssize_t)
cdef int _cost_of_ideographs(bytes sample, str name, str language, int most) except? -1
