cimport cython

from spamnb.reading.encodings.charsets cimport by_codec, is_utf8, names_in

cdef int FIRST, BETWEEN, OTHER, UNDEFINED, RARE, OTHER_SCRIPT, SIGN_BEHIND, LETTER_BEHIND
cdef Py_ssize_t PIECE, PIECES, SAMPLE, NAMED_IN
cdef bytes ASCII_CLASSES, COST_OF_KIND
cdef int CAPITAL, FIRST_CAPITAL, INNER_CAPITAL, NEXT_CAPITAL, AFTER_CAPITAL

@cython.locals(name=str, why=str, sample=bytes, is_open=bint)
cpdef tuple find(bytes data, str declared, around=*)

cdef tuple _marked(bytes data)

@cython.locals(text=str, pieces=list, piece=str)
cpdef bytes without_tags(bytes data)

@cython.locals(pieces=list, piece=bytes, start=Py_ssize_t, near=list, size=Py_ssize_t, was_high=bint, is_high=bint, before=bytes,
               word=bytes)
cpdef bytes sample_of(bytes data)

@cython.locals(text=str, wrong=Py_ssize_t, right=Py_ssize_t)
cdef bint _is_nearly_utf8(bytes sample) except -1

@cython.locals(text=str, strange=list)
cdef bint _fits(bytes data, str name) except -1

@cython.locals(high=Py_ssize_t, as_letters=int, usual=str, plainly=int, named=dict, pairs=tuple, best=str, least=int, name=str,
               discount=int, cost=int)
cdef tuple _cheapest(bytes sample, str declared, bytes data, around)

cdef list _names_around(around)

@cython.locals(pairs=Py_ssize_t, wrong=Py_ssize_t, low=Py_ssize_t, lead=bint, byte="unsigned char")
cdef tuple _double_bytes(bytes sample)

cdef bint _may_be(bytes sample, str name, tuple counts) except -1

@cython.locals(rarity=int, kinds=bytes, classes=bytes, language=str)
cdef int _cost(bytes sample, str name, int most) except? -1

@cython.locals(table=bytes, width=Py_ssize_t, mixes=bint, cost=int, before=Py_ssize_t, script=int, here=int, was_capital=bint,
               was_high=bint, byte="unsigned char", kind="unsigned char", now=Py_ssize_t, is_capital=bint, is_high=bint)
cdef int _cost_of_letters(bytes sample, str language, bytes kinds, bytes classes, int most) except? -1

@cython.locals(frequent=str, costs=bytes, rank=Py_ssize_t, table=bytes, width=Py_ssize_t, cost=int, before=Py_ssize_t, script=int, here=int,
               was_ideograph=bint, char=Py_UCS4, now=Py_ssize_t)
cdef int _cost_of_ideographs(bytes sample, str name, str language, int most) except? -1
