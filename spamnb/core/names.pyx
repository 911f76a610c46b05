# Hash tables that map names to numbers.
#
# They are filled at import and never change. The hash is seeded with Python's own secret, so that nobody can write
# names that collide; html_sheets.pyx and html_page.pyx use the same hash.

from libc.stdint cimport int16_t

cdef enum:
    MAX_TABLE_NAMES = 512
    TABLE_SLOTS = 1024  # a power of 2


cdef struct NameTable:
    Text[MAX_TABLE_NAMES] names
    int16_t[TABLE_SLOTS] slots  # number of a name + 1; 0: free
    uint32_t[32] sizes  # by first letter: a bit for each size that a name has; excludes most other words


cdef uint64_t HASH_SEED = <uint64_t><Py_ssize_t>hash(b"spamnb names")
cdef uint64_t HASH_FACTOR = <uint64_t><Py_ssize_t>hash(b"spamnb factor") | 1


cdef list known_names = []  # keeps the bytes that the tables refer to


cdef int fill_names(NameTable *table, list names) except -1:
    """Fill `table` with `names`; the number of a name is its index in this list."""
    cdef Size slot, number
    cdef Text name
    known_names.append(names)
    if len(names) > MAX_TABLE_NAMES:
        raise ValueError("too many names for one table")
    memset(table, 0, sizeof(NameTable))
    for number in range(len(names)):
        name = table.names[number] = text_of(names[number])
        table.sizes[byte_at(name, 0) & 31] |= 1u << min(name.size, <Size>31)
        slot = hash_of(name, HASH_SEED) & (TABLE_SLOTS - 1)
        while table.slots[slot]:
            slot = (slot + 1) & (TABLE_SLOTS - 1)
        table.slots[slot] = number + 1
    return 0


cdef int name_number(const NameTable *table, Text name, uint64_t hash) noexcept nogil:
    """Return the number of `name` in `table`, or NOWHERE if it is not there; `hash`: the hash of the name."""
    cdef Size slot = hash & (TABLE_SLOTS - 1)
    while table.slots[slot]:
        if equal(table.names[table.slots[slot] - 1], name):
            return table.slots[slot] - 1
        slot = (slot + 1) & (TABLE_SLOTS - 1)
    return NOWHERE


cdef inline bint may_have_name(const NameTable *table, Text name) noexcept nogil:
    """Return whether `name` may be in `table`, after a quick look at its size and first letter only."""
    return table.sizes[byte_at(name, 0) & 31] >> min(name.size, <Size>31) & 1


cdef inline int number_of_name(const NameTable *table, Text name) noexcept nogil:
    """Return the number of `name` in `table`; NOWHERE if the table does not contain this name."""
    return name_number(table, name, hash_of(name, HASH_SEED)) if may_have_name(table, name) else NOWHERE
