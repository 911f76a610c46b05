cimport cython

from spamnb.bayes.likelihood cimport Likelihood
from spamnb.bayes.scorer cimport Scorer
from spamnb.bayes.verdict cimport Evidence
from spamnb.grams cimport GramSet

cdef int STRONG, STRONG_AMONG_OTHERS

@cython.final
cdef class Classifier(Likelihood):
    cdef readonly object counts
    cdef bint is_used

    @cython.locals(scorer=Scorer, evidence=list, others=list, rows=dict, part=int, row=tuple, found=GramSet)
    cpdef score(self, tokens, numbers=*, pairs=*, grams=*)
    @cython.locals(strong=int)
    cdef add(self, Scorer scorer, fingerprint, tuple row, times, int part, list evidence, list others)
    @cython.locals(scorer=Scorer)
    cpdef bint is_evidence(self, row)
