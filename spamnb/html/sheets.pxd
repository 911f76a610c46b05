cimport cython
from spamnb.html.media cimport audience, block_audience
from spamnb.html.selectors cimport compounds_of, without_attributes
from spamnb.html.styles cimport Style, declarations, declared_style, plain_css
cdef Py_ssize_t MAX_SHEETS, STEPS_OF_CHARACTER, MAX_SELECTORS, MAX_CHECKS, MAX_VALUE
cdef int NEVER, PARTLY

@cython.final
cdef class _Rules:
    cdef int unconditional, every
    cdef dict conditional

@cython.final
cdef class _Candidates:
    cdef list rules
    cdef tuple traits

@cython.final
cdef class Sheet:
    cdef readonly dict rules
    cdef readonly tuple traits
    cdef dict known, open, outermost, candidates
    cdef list declared
    cdef set ancestors, variables
    cdef readonly Py_ssize_t work
    cdef Py_ssize_t selectors, size, checks
    cpdef restart(self)
    @cython.locals(around=list, at=Py_ssize_t, opening=Py_ssize_t, closing=Py_ssize_t, prelude=str)
    cpdef add(self, str css, str media, Py_ssize_t most)
    @cython.locals(plain=dict, important=dict, compounds=list, rules=_Rules, name=str, selector=str, traits=list, own=list,
                   trait=str, key=str, first=Py_UCS4, names="long long", classes="long long", ids="long long")
    cdef _add_rule(self, str selectors, str block, bint partly)
    cdef int _declare(self, int number, dict plain, dict important, object rank) except -1
    @cython.locals(candidates=_Candidates, found=list, rules=_Rules, conditions=list, around=frozenset, written=tuple,
                   trait=str, missing=Py_ssize_t)
    cpdef tuple matching(self, str name, str identity, str classes, str tag)
    @cython.locals(traits=dict, candidates=_Candidates, conditions=list, rules=_Rules, trait=str, one=str)
    cdef _Candidates _candidates(self, str name, str identity, str classes)
    @cython.locals(style=Style, winners=dict, plain=dict, important=dict, values=dict, own=dict, known=tuple,
                   all_variables=dict)
    cpdef Style style(self, tuple matched, str css, dict variables)
    cpdef enter(self, tuple traits)
    cpdef leave(self, tuple traits)

cdef bint _all_in(tuple words, str tag) except -1
cdef _add(dict declared, dict values, object rank)
cdef dict _that_show(dict values)
@cython.locals(style=Style)
cdef bint _shows(str name, str value) except -1
cdef str _replaced(str value, dict variables)
