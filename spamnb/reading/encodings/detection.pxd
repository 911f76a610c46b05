cimport cython

cdef int FIRST, BETWEEN, OTHER, UNDEFINED, RARE, OTHER_SCRIPT, SIGN_BEHIND, LETTER_BEHIND
cdef int FIRST_CAPITAL, INNER_CAPITAL, NEXT_CAPITAL, AFTER_CAPITAL

@cython.locals(pairs=Py_ssize_t, wrong=Py_ssize_t, low=Py_ssize_t, lead=bint, byte="unsigned char")
cdef tuple _double_bytes(bytes sample)

@cython.locals(lower=str, kinds=bytes, classes=bytearray, extras=bytearray, number="unsigned char", letter=str, at=Py_ssize_t)
cdef tuple _classes(str name, str language)

@cython.locals(table=bytes, classes=bytes, extras=bytes, capitals=bytes, width=Py_ssize_t, mixes=bint, cost=int, before=Py_ssize_t,
               script=int, here=int, was_capital=bint, was_high=bint, byte="unsigned char", now=Py_ssize_t, is_capital=bint, is_high=bint)
cdef int _cost_of_letters(bytes sample, str name, str language, int most) except? -1

@cython.locals(costs=dict, table=bytes, classes=bytes, width=Py_ssize_t, cost=int, before=Py_ssize_t, script=int, here=int,
               was_ideograph=bint, char=Py_UCS4, now=Py_ssize_t)
cdef int _cost_of_ideographs(bytes sample, str name, str language, int most) except? -1
