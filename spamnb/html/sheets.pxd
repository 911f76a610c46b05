cimport cython
from spamnb.html.styles cimport Style, declarations, declared_style, pixels, plain_css
cdef Py_ssize_t MAX_SHEETS, STEPS_OF_CHARACTER, MAX_SELECTORS

@cython.final
cdef class Rule:
    cdef Py_ssize_t number
    cdef list own, around
    cdef dict plain, important

@cython.final
cdef class Sheet:
    cdef readonly dict rules
    cdef readonly tuple traits
    cdef dict known, open, variables
    cdef set ancestors
    cdef readonly Py_ssize_t work
    cdef Py_ssize_t selectors, size
    cpdef restart(self)
    @cython.locals(around=list, at=Py_ssize_t, opening=Py_ssize_t, closing=Py_ssize_t, prelude=str)
    cpdef add(self, str css, str media, Py_ssize_t most)
    @cython.locals(traits=list, found=dict, rule=Rule, trait=str)
    cpdef list matching(self, str name, str identity, str classes)
    @cython.locals(rule=Rule, values=dict)
    cpdef Style style(self, list matched, str css)

cdef bint _all_in(list wanted, object traits) except -1
