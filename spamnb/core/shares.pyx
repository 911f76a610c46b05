# Divides a limit among texts or lists, so that a flood in one of them cannot keep out the others.

from libc.stdlib cimport qsort

cdef struct Share:
    Size which  # number of the text or list
    Size size  # what it has; after `share_out`, what it may use


cdef int share_out(Share *shares, Size count, Size most) noexcept nogil:
    """Reduce the largest sizes in `shares` until the sum is at most `most`; the order of items may change."""
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
    """Sort shares by size (`size`), and shares of the same size by number (`which`)."""
    qsort(shares, count, sizeof(Share), &smaller_first)


cdef int smaller_first(const void *one, const void *other) noexcept nogil:
    cdef const Share *left = <const Share *>one
    cdef const Share *right = <const Share *>other
    cdef Size order = left.size - right.size if left.size != right.size else left.which - right.which
    return -1 if order < 0 else 1
