# Two loops over thousands of scores, for cutoffs and calibration; each step takes linear time.

from libc.math cimport exp, fabs

cdef enum:
    MAX_STEPS = 100  # of Newton's method; it takes about ten


def fewest_mistakes(scores, others, double highest, double misfiled):
    """Return the limit (a score) that best separates a label's misfiled messages from its rightly filed ones.

    `scores`: sorted scores of the messages filed under the label. About `misfiled` (a number) of these belong
    to the other label, and probably score like that label's messages, whose sorted scores are `others`.
    The best limit makes the fewest mistakes: misfiled messages at or below it, rightly filed ones above it.
    The limit is at most `highest`; of equally good limits, the highest is returned.
    """
    cdef Numbers of_label = Numbers(scores, sizeof(double)), of_others = Numbers(others, sizeof(double))
    cdef const double *own = <const double *>of_label.at
    cdef const double *other = <const double *>of_others.at
    cdef double best = highest, fewest = -1, choice, above, mistakes
    cdef Size n = 0, below = 0
    cdef bint is_last = False
    while not is_last:
        is_last = n >= of_label.count or own[n] > highest
        choice = highest if is_last else own[n]
        while n < of_label.count and own[n] <= choice:
            n += 1
        while below < of_others.count and other[below] <= choice:
            below += 1
        above = misfiled * (1 - <double>below / of_others.count)
        mistakes = misfiled - above + max(of_label.count - n - above, 0.0)
        if fewest < 0 or mistakes <= fewest:
            best, fewest = choice, mistakes
    return best


def fitted_logistic(ham, spam):
    """Fit P(spam | score) = 1 / (1 + exp(-slope * score - intercept)) by Newton's method; return slope and intercept.

    `ham`, `spam`: scores. The target of ham is a little above 0, of spam a little below 1 (Platt scaling).
    """
    cdef Numbers of_ham = Numbers(ham, sizeof(double)), of_spam = Numbers(spam, sizeof(double))
    cdef double slope = 0, intercept = 0, more, other
    cdef double[5] sums  # gradient by slope and intercept; curvature: slope twice, both, intercept twice
    cdef int step
    for step in range(MAX_STEPS):
        sums = [-1e-6 * slope, -1e-6 * intercept, 1e-6, 0, 1e-6]  # the slope stays finite where no scores overlap
        add_slopes(<const double *>of_ham.at, of_ham.count, 1.0 / (of_ham.count + 2), slope, intercept, sums)
        add_slopes(<const double *>of_spam.at, of_spam.count, (of_spam.count + 1.0) / (of_spam.count + 2), slope,
                   intercept, sums)
        other = sums[2] * sums[4] - sums[3] * sums[3]
        more = (sums[0] * sums[4] - sums[1] * sums[3]) / other
        other = (sums[1] * sums[2] - sums[0] * sums[3]) / other
        slope += min(max(more, -5.0), 5.0)
        intercept += min(max(other, -5.0), 5.0)
        if max(fabs(more), fabs(other)) < 1e-9:
            break
    return slope, intercept


cdef void add_slopes(
    const double *scores, Size count, double target, double slope, double intercept, double *sums
) noexcept nogil:
    """Add to `sums` (gradient and curvature of the log-likelihood) the terms of scores with this target."""
    cdef double p, weight
    cdef Size n
    for n in range(count):
        p = 1 / (1 + exp(-min(max(slope * scores[n] + intercept, -500.0), 500.0)))
        weight = p * (1 - p)
        sums[0] += scores[n] * (target - p)
        sums[1] += target - p
        sums[2] += scores[n] * scores[n] * weight
        sums[3] += scores[n] * weight
        sums[4] += weight
