cimport cython
from spamnb.html.elements cimport Kind, element_number
from spamnb.html.styles cimport Style, nested
cdef Py_ssize_t MAX_NAME, MAX_REOPENED
cdef int MAX_DEPTH, _TABLE, _UL, _OL, _LI
cdef list KINDS
cdef Style OUTERMOST

@cython.final
cdef class Element:
    cdef str name
    cdef Kind kind
    cdef Py_ssize_t tags
    cdef int innermost

@cython.final
cdef class _Frame:
    cdef Element element
    cdef Style own_style, style
    cdef int innermost
    cdef tuple traits

@cython.final
cdef class Nesting:
    cdef object sheet
    cdef dict by_name
    cdef Element table, ul, ol
    cdef list by_number, frames
    cdef int depth
    cdef Py_ssize_t too_deep
    cdef Style style
    @cython.locals(number=int, name=str, element=Element)
    cdef Element element(self, bytes data, str html, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(element=Element, kind=Kind)
    cdef Element known(self, int number)
    @cython.locals(depth=int)
    cdef bint is_open(self, Element element) except -1
    @cython.locals(number=int, other=Element)
    cdef end_others(self, Kind kind)
    @cython.locals(frame=_Frame)
    cdef enter(self, Element element, Style own_style, tuple traits)
    @cython.locals(at=int, end=int, held=list, stay=list, frame=_Frame)
    cdef leave(self, Element element)

@cython.locals(element=Element)
cdef Element _new_element(str name, Kind kind)
