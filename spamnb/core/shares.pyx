# Shares of a limit, so that a flood in one text or list hides no other.

from libc.stdlib cimport qsort

cdef struct Share:
    Size which
    Size size


cdef int share_out(Share *shares, Size count, Size most) noexcept nogil:
    """Cut the largest sizes so that the sum of all is at most `most`. If any is cut, all end up in order of sizes."""
    cdef Size n, total = 0
    for n in range(count):
        total += shares[n].size
    if total <= most:
        return 0
    sort_shares(shares, count)
    for n in range(count):
        shares[n].size = min(shares[n].size, most // (count - n))
        most -= shares[n].size
    return 0


cdef void sort_shares(Share *shares, Size count) noexcept nogil:
    """Sort shares by their sizes, those of one size by their order."""
    qsort(shares, count, sizeof(Share), &smaller_first)


cdef int smaller_first(const void *one, const void *other) noexcept nogil:
    cdef const Share *left = <const Share *>one
    cdef const Share *right = <const Share *>other
    cdef Size order = left.size - right.size if left.size != right.size else left.which - right.which
    return -1 if order < 0 else 1
