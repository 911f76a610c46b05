cimport cython
from libc.stdint cimport int64_t, uint64_t

cimport spamnb.store.direct as direct
from spamnb.bayes.likelihood cimport Likelihood
from spamnb.bayes.verdict cimport Evidence
from spamnb.grams cimport GramSet, part_of

cdef int AT_ONCE, NO_LABEL, MOST_TERMS, STRONG_AMONG_OTHERS
cdef uint64_t LARGEST_COUNT
cdef int64_t CERTAIN, IMPOSSIBLE
cdef size_t COUNTERS
cdef double LARGEST_TERM, ROUNDING, SHARE_OF_GRAMS, UNITS_PER_NAT

@cython.final
cdef class Scorer:
    cdef readonly Likelihood likelihood
    cdef readonly Scorer grams
    cdef int label_count, spam_apart, room
    cdef size_t first, second, splits
    cdef bint is_averaged, is_of_two
    cdef double damping
    cdef int64_t least
    cdef uint64_t[101] row
    cdef int64_t[101] weights
    cdef uint64_t[256] counts, other_counts
    cdef int64_t[256] parts, are_strong, strong_weights, other_weights
    cdef int64_t[202] sums
    cdef int64_t[2] strong, strong_among_others
    cdef int[101] certain, impossible
    cdef list carried

    cpdef clear(self)
    @cython.locals(start=Py_ssize_t, k=int, count=uint64_t)
    cdef int take(self, tuple row) except -1
    @cython.locals(k=int, rest=uint64_t, strong=int)
    cdef int add(self, double times, int part) except -1
    cdef int compare(self, uint64_t count, uint64_t other, int part) except -1
    cdef int put(self, int size, uint64_t count, uint64_t other, int part) except -1
    @cython.locals(likelihood=Likelihood, splits=int64_t, least=int64_t, first=size_t, second=size_t, denominator=double,
                   other_denominator=double, at=int, count=uint64_t, other=uint64_t, logarithm=double, other_logarithm=double,
                   weight=int64_t, other_weight=int64_t, gap=int64_t, is_strong=int64_t, head=int64_t, weight_now=int64_t, other_now=int64_t, strong=int64_t,
                   sum_of_weights=int64_t, sum_of_others=int64_t, in_head=int64_t, head_weights=int64_t, head_others=int64_t)
    cdef int compare_all(self, int size) except -1
    cdef int add_sums(self, size_t part, int strong, int64_t weight_sum, int64_t other_sum) except -1
    @cython.locals(total=uint64_t, k=int, epsilon=double, low=int64_t, high=int64_t, weight=int64_t)
    cdef bint add_all(self, double times, int part) except -1
    cdef int add_term(self, int place, int64_t weight, double times) except -1
    @cython.locals(place=int)
    cdef carry(self)
    cpdef list weights_of(self, row)
    @cython.locals(k=int, rest=int, column=int)
    cdef list evidence_weights(self)
    @cython.locals(k=int, is_apart=bint, means=list)
    cdef list means(self, int part)
    cpdef score(self, list evidence, other_evidence=*, numbers=*)
    @cython.locals(k=int, joint=list, rest=double, best=double)
    cpdef list joint(self)
    cdef double summed(self, int label_index) except? -1
    @cython.locals(size=int, entry=int, part=int, k=int, count=uint64_t)
    cdef int add_grams(self, GramSet found, bytearray counts) except -1
    @cython.locals(k=int, layer=tuple)
    cdef int take_gram(self, size_t counter, list layers) except -1
    @cython.locals(width=size_t, at=size_t, k=int, count=uint64_t, byte=Py_ssize_t)
    cdef int add_layer(self, size_t counter, bytes data, dict changes) except -1
    @cython.locals(of_words=double)
    cdef double sum_of_means(self, int column) except? -1
    @cython.locals(strong=int64_t)
    cdef double mean(self, int part, int column) except? -1
    cdef double sum_at(self, int place) except? -1
