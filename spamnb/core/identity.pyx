# The hash of a message, which stays the same however the message is delivered, stored and read.
#
# Two messages with the same hash have the same tokens, so that what one copy taught can be forgotten by another copy.
# It is BLAKE2b of 8 bytes (RFC 7693) over the body and the header fields that do not change. With a weaker hash, a
# sender could give spam the hash of a learned ham, and the spam would never be learned.

cdef enum:
    BLAKE_BLOCK = 128  # bytes

# Headers that delivery, filters and mail readers add or remove. They are neither hashed nor evidence: a filter would
# learn other verdicts instead of mail, and only mail that somebody read has notes. An x- name stands for all names that
# begin with it and "-": x-virus-scanned, x-mozilla-status. An x- name with "spam" in it is a verdict, too.
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

cdef int hash_mail(Mail *mail, uint64_t *result) except -1 nogil:
    """Set `result` to the hash of a message, by which copies of the message are recognised."""
    cdef Blake blake
    cdef Size n
    cdef Field *field
    cdef bint has_fields = False
    start_blake(&blake)
    if mail.has_headers:
        for n in range(mail.head.count):
            field = &mail.head.fields[n]
            if field.rule != IS_VOLATILE:
                if has_fields:
                    add_to_blake(&blake, literal(b"\n"))
                has_fields = True
                add_to_blake(&blake, field.name)
                add_to_blake(&blake, literal(b":"))
                add_to_blake(&blake, field.raw)
        if has_fields:
            add_to_blake(&blake, literal(b"\n"))
        add_to_blake(&blake, literal(b"\n"))
    add_to_blake(&blake, rest(mail.data, mail.head.body if mail.has_headers else 0))
    result[0] = end_blake(&blake)
    return 0


# BLAKE2b

cdef struct Blake:
    uint64_t[8] state
    uint64_t size  # bytes hashed so far
    Byte[BLAKE_BLOCK] waiting  # bytes not hashed yet, as the last block is hashed in another way
    Size used  # bytes of `waiting`

cdef uint64_t[8] BLAKE_START = [
    0x6A09E667F3BCC908u, 0xBB67AE8584CAA73Bu, 0x3C6EF372FE94F82Bu, 0xA54FF53A5F1D36F1u,
    0x510E527FADE682D1u, 0x9B05688C2B3E6C1Fu, 0x1F83D9ABFB41BD6Bu, 0x5BE0CD19137E2179u,
]
cdef extern from *:
    """
    /* In C, for its macros: with the order of words in a table it takes 1.4 times as long. */
    #define BLAKE_TURN(word, bits) ((word) >> (bits) | (word) << (64 - (bits)))
    #define BLAKE_MIX(a, b, c, d, x, y) \\
        a += b + w[x]; d = BLAKE_TURN(d ^ a, 32); c += d; b = BLAKE_TURN(b ^ c, 24); \\
        a += b + w[y]; d = BLAKE_TURN(d ^ a, 16); c += d; b = BLAKE_TURN(b ^ c, 63);
    #define BLAKE_ROUND(p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15) \\
        BLAKE_MIX(v0, v4, v8, v12, p0, p1) BLAKE_MIX(v1, v5, v9, v13, p2, p3) \\
        BLAKE_MIX(v2, v6, v10, v14, p4, p5) BLAKE_MIX(v3, v7, v11, v15, p6, p7) \\
        BLAKE_MIX(v0, v5, v10, v15, p8, p9) BLAKE_MIX(v1, v6, v11, v12, p10, p11) \\
        BLAKE_MIX(v2, v7, v8, v13, p12, p13) BLAKE_MIX(v3, v4, v9, v14, p14, p15)
    static void blake_rounds(uint64_t *h, const uint64_t *start, const uint8_t *block, uint64_t size, uint64_t last) {
        uint64_t w[16];
        uint64_t v0 = h[0], v1 = h[1], v2 = h[2], v3 = h[3], v4 = h[4], v5 = h[5], v6 = h[6], v7 = h[7];
        uint64_t v8 = start[0], v9 = start[1], v10 = start[2], v11 = start[3];
        uint64_t v12 = start[4] ^ size, v13 = start[5], v14 = start[6] ^ last, v15 = start[7];
        memcpy(w, block, 128);
        for (int n = 0; n < 16; n++) w[n] = SPAMNB_FIRST_LOWEST(w[n]);
        BLAKE_ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        BLAKE_ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3)
        BLAKE_ROUND(11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4)
        BLAKE_ROUND(7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8)
        BLAKE_ROUND(9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13)
        BLAKE_ROUND(2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9)
        BLAKE_ROUND(12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11)
        BLAKE_ROUND(13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10)
        BLAKE_ROUND(6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5)
        BLAKE_ROUND(10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0)
        BLAKE_ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
        BLAKE_ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3)
        h[0] ^= v0 ^ v8; h[1] ^= v1 ^ v9; h[2] ^= v2 ^ v10; h[3] ^= v3 ^ v11;
        h[4] ^= v4 ^ v12; h[5] ^= v5 ^ v13; h[6] ^= v6 ^ v14; h[7] ^= v7 ^ v15;
    }
    """
    void blake_rounds(
        uint64_t *state, const uint64_t *start, const Byte *block, uint64_t size, uint64_t last
    ) noexcept nogil


cdef void start_blake(Blake *blake) noexcept nogil:
    memcpy(blake.state, BLAKE_START, sizeof(BLAKE_START))
    blake.state[0] ^= 0x01010008  # no key, a digest of 8 bytes
    blake.size, blake.used = 0, 0


cdef void add_to_blake(Blake *blake, Text text) noexcept nogil:
    cdef Text block
    cdef Size taken
    while text.size:
        if blake.used == BLAKE_BLOCK:
            block.at, block.size = blake.waiting, BLAKE_BLOCK
            mix_block(blake, block, BLAKE_BLOCK, 0)
            blake.used = 0
        while not blake.used and text.size > BLAKE_BLOCK:
            mix_block(blake, text, BLAKE_BLOCK, 0)
            text = rest(text, BLAKE_BLOCK)
        taken = min(BLAKE_BLOCK - blake.used, text.size)
        memcpy(blake.waiting + blake.used, text.at, taken)
        blake.used += taken
        text = rest(text, taken)


cdef uint64_t end_blake(Blake *blake) noexcept nogil:
    """Return the hash of all bytes added so far."""
    cdef Text block
    memset(blake.waiting + blake.used, 0, BLAKE_BLOCK - blake.used)
    block.at, block.size = blake.waiting, BLAKE_BLOCK
    mix_block(blake, block, blake.used, ~<uint64_t>0)
    return blake.state[0]


cdef void mix_block(Blake *blake, Text block, Size size, uint64_t last) noexcept nogil:
    """Hash a block that has `size` bytes of data; `last`: all bits set for the last block, otherwise 0."""
    blake.size += size
    blake_rounds(blake.state, BLAKE_START, block.at, blake.size, last)
