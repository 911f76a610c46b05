# Identity of a message: a digest that stays the same however it was delivered, stored and read since.
#
# The digest covers all that is evidence: two messages of one digest have the same tokens. So what is learned from one
# copy can be forgotten by another. It is SipHash-1-3 with a key of zeros, over the fields that last and the body.

# Headers that come and go with delivery, filters and mail readers. Neither identity nor evidence: a filter would learn
# verdicts instead of mail, and only mail that was read has notes. An x- name stands for all that begin so, too:
# x-virus-scanned, x-mozilla-status. Any x- name with "spam" in it is a verdict: our own, SpamAssassin's, rspamd's …
VOLATILE = {
    b"x-bogosity": "bogofilter's verdict",
    b"x-crm114": "CRM114's verdict",
    b"x-ifile": "ifile's verdict",
    b"x-classification": "a verdict",
    b"x-barracuda": "an appliance's verdict; in csdmc2010 only the spam carries it",
    b"x-ironport": "an appliance's verdict",
    b"x-proofpoint": "an appliance's verdict",
    b"x-pmx": "an appliance's verdict",
    b"x-ms-exchange-organization": "a provider's verdict and routing",
    b"x-virus": "a scanner's verdict",
    b"x-amavis": "a scanner's verdict",
    b"x-assp": "a filter's verdict",
    b"x-annoyance-filter": "a filter's verdict",
    b"x-junkmail": "a filter's verdict",
    b"x-old-subject": "a filter's copy",
    b"return-path": "written at final delivery",
    b"delivered-to": "written at final delivery",
    b"delivery-date": "written at final delivery",
    b"envelope-to": "written at final delivery",
    b"x-original-to": "written at final delivery",
    b"x-delivered-to": "written at final delivery",
    b"x-envelope": "written at final delivery",
    b"x-getmail": "written at final delivery",
    b"x-fetchmail": "written at final delivery",
    b"content-length": "counted by a mailbox",
    b"lines": "counted by a mailbox",
    b"x-uid": "a mailbox's number for it",
    b"x-uidl": "a mailbox's number for it",
    b"x-imap": "a mailbox's number for it",
    b"x-imapbase": "a mailbox's numbers",
    b"x-folder": "where it was filed",
    b"status": "read or not: a mail reader's note",
    b"x-status": "a mail reader's note",
    b"x-keywords": "a mail reader's note",
    b"x-label": "a mail reader's note",
    b"x-mozilla": "Thunderbird's notes",
    b"x-evolution": "Evolution's notes",
    b"x-apple": "Apple Mail's notes",
    b"x-gmail": "a provider's labels",
    b"x-gm": "a provider's numbers",
    b"replied": "a mail reader's note",
    b"forwarded": "a mail reader's note",
}

cdef enum:
    MAX_VOLATILE = 32  # bytes of a name

cdef NameTable VOLATILE_NAMES
fill_names(&VOLATILE_NAMES, list(VOLATILE))


cdef bint is_volatile(Text name) noexcept nogil:
    """Tell whether a header, in lower case, comes and goes with delivery, filters and mail readers."""
    cdef Size dash
    if number_of_name(&VOLATILE_NAMES, name) >= 0:
        return True
    if not starts_with(name, b"x-"):
        return False
    dash = find_byte(name, DASH, 2)
    while 0 <= dash <= MAX_VOLATILE:
        if number_of_name(&VOLATILE_NAMES, piece(name, 0, dash)) >= 0:
            return True
        dash = find_byte(name, DASH, dash + 1)
    return contains(name, b"spam")


cdef int digest_of(Mail *mail, uint64_t *result) except -1 nogil:
    """Find the digest of a message, 64 bits."""
    cdef Text body = rest(mail.data, mail.head.body if mail.has_headers else 0)
    cdef uint64_t[4] state = [0x736F6D6570736575u, 0x646F72616E646F6Du, 0x6C7967656E657261u, 0x7465646279746573u]
    cdef Writer head
    cdef Field *field
    cdef Size n, at = body.size & ~<Size>7
    cdef uint64_t last
    start_writer(&head, mail.arena, 4096)
    for n in range(mail.head.count):
        field = &mail.head.fields[n]
        if not is_volatile(field.name):
            put(&head, field.name)
            put_byte(&head, c":")
            put(&head, field.raw)
            put_byte(&head, c"\n")
    while mail.has_headers and (not head.size or head.size & 7):
        put_byte(&head, 0)
    mix_eights(state, written(&head))
    mix_eights(state, body)
    last = load_eight(body, at) & ((<uint64_t>1 << 8 * (body.size - at)) - 1)
    mix(state, last | <uint64_t>(head.size + body.size) << 56)
    state[2] ^= 255
    for n in range(3):
        sip_round(state)
    result[0] = state[0] ^ state[1] ^ state[2] ^ state[3]
    return 0


# SipHash-1-3

cdef void mix_eights(uint64_t *state, Text text) noexcept nogil:
    """Mix in a text but for the last bytes that are fewer than eight."""
    cdef Size at
    for at in range(0, text.size - 7, 8):
        mix(state, load_eight(text, at))


cdef inline void mix(uint64_t *state, uint64_t eight) noexcept nogil:
    state[3] ^= eight
    sip_round(state)
    state[0] ^= eight


cdef inline uint64_t turned(uint64_t word, int bits) noexcept nogil:
    return word << bits | word >> (64 - bits)


cdef inline void sip_round(uint64_t *state) noexcept nogil:
    state[0] += state[1]
    state[1] = turned(state[1], 13) ^ state[0]
    state[0] = turned(state[0], 32)
    state[2] += state[3]
    state[3] = turned(state[3], 16) ^ state[2]
    state[0] += state[3]
    state[3] = turned(state[3], 21) ^ state[0]
    state[2] += state[1]
    state[1] = turned(state[1], 17) ^ state[2]
    state[2] = turned(state[2], 32)
