cimport cython
cimport libc.math as math

cdef double inf

# Objects that go to other processes: with a method of C, or readonly, they could not be pickled.

@cython.final
cdef class Score:
    cdef public object labels, evidence, parts, other_evidence
    cdef public list joint

@cython.final
cdef class Evidence:
    cdef readonly object feature, times, part
    cdef public object row, base_row
    cdef readonly list weights

@cython.final
cdef class Cutoffs:
    cdef public double ham, spam, contradiction, margin

@cython.final
cdef class Calibration:
    cdef public double slope, intercept

@cython.final
cdef class Verdict:
    cdef public object label, is_spam, label_if_ham, probabilities, evidence, reason, cutoffs
    cdef public double score, probability

@cython.locals(others=Score, value=double, has_spam=bint, spam=double, is_ham=bint)
cpdef Verdict verdict_of(Score score, Cutoffs cutoffs, Calibration calibration)
@cython.locals(top=double, total=double)
cpdef list posterior_of(list joint)
@cython.locals(value=double, best_other=double, k=Py_ssize_t)
cpdef double lead_of(list values, Py_ssize_t label_index) except? -1
