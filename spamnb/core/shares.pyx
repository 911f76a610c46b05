# Shares of a limit, so that a flood in one text or list hides no other.

cdef struct Share:
    Size which
    Size size


cdef int share_out(Arena *arena, Share *shares, Size count, Size most) except -1 nogil:
    """Cut sizes so that their sum is no more than `most`: the largest are cut.

    If any is cut, they come in order of their sizes; those of one size stay in their order. Merge sort, as there may be
    thousands.
    """
    cdef Size n, total = 0, width = 1, left, right, middle, end, to
    cdef Share *sorted_shares = shares
    cdef Share *spare
    cdef Share *swapped
    for n in range(count):
        total += shares[n].size
    if total <= most:
        return 0
    spare = <Share *>allot(arena, count * sizeof(Share) + 1)
    while width < count:
        n = 0
        while n < count:
            left, middle, end, to = n, min(n + width, count), min(n + 2 * width, count), n
            right = middle
            while left < middle or right < end:
                if right >= end or (left < middle and sorted_shares[left].size <= sorted_shares[right].size):
                    spare[to] = sorted_shares[left]
                    left += 1
                else:
                    spare[to] = sorted_shares[right]
                    right += 1
                to += 1
            n = end
        swapped, sorted_shares = sorted_shares, spare
        spare = swapped
        width *= 2
    if sorted_shares != shares:
        memcpy(shares, sorted_shares, count * sizeof(Share))
    for n in range(count):
        shares[n].size = min(shares[n].size, most // (count - n))
        most -= shares[n].size
    return 0
