# Rules for headers: which are evidence, and how each is cut into tokens.
#
# Names are in lower case, values are readable UTF-8. Of each header MAX_HEADER_WORDS tokens are used, each with at most
# MAX_HEADER_TOKEN characters behind its tag, so that a flood of addresses says no more than a few do.

cdef enum:
    MAX_HEADER_TOKEN = 80  # characters of a header's name; bytes of an address or a host
    MAX_RAW_ADDRESS = 320  # bytes of an address that is not ASCII, before `plain_letters_in`
    MAX_VOLATILE = 32  # bytes: a longer prefix of a name is not looked up in VOLATILE
    MAX_ZONE = 5  # letters of the name of a time zone, which can stand in place of +0100

cdef enum:  # rules: how a header's value is cut into tokens
    IS_VOLATILE = 1  # not at all, and not hashed: delivery, filters and mail readers add and remove it
    NOT_READ  # not at all
    AS_WORDS
    AS_SUBJECT
    AS_ADDRESSES
    AS_HOSTS
    AS_IDENTIFIER
    AS_DATE

HEADER_RULES = {
    b"subject": AS_SUBJECT,
    b"from": AS_ADDRESSES,
    b"to": AS_ADDRESSES,
    b"cc": AS_ADDRESSES,
    b"reply-to": AS_ADDRESSES,
    b"sender": AS_ADDRESSES,
    b"errors-to": AS_ADDRESSES,
    b"received": AS_HOSTS,
    b"x-originating-ip": AS_HOSTS,
    b"message-id": AS_IDENTIFIER,
    b"in-reply-to": AS_IDENTIFIER,
    b"references": AS_IDENTIFIER,
    b"resent-message-id": AS_IDENTIFIER,
    b"date": AS_DATE,
    # No evidence, but part of a message's hash.
    b"content-type": NOT_READ,  # read with the parts
    b"content-disposition": NOT_READ,
    b"dkim-signature": NOT_READ,  # random by design
    b"x-google-dkim-signature": NOT_READ,
    b"domainkey-signature": NOT_READ,
    b"arc-seal": NOT_READ,
    b"arc-message-signature": NOT_READ,
    b"authentication-results": NOT_READ,  # read with the sender
    b"arc-authentication-results": NOT_READ,  # repeats authentication-results
    **dict.fromkeys(VOLATILE, IS_VOLATILE),
}

cdef enum:  # kinds of bytes in a host or address; digits are of no kind
    A_DOT = 1
    A_COLON = 2
    A_HEX_LETTER = 4
    ANOTHER = 8
    A_SEPARATOR = 16


cdef NameTable RULE_NAMES
cdef int[MAX_TABLE_NAMES] RULES
# What replaces each byte of a value: separators and control characters become spaces, ASCII letters lower case. A
# character beyond ASCII becomes one "?" (0: the byte is left out), but is not changed in addresses.
cdef Byte[256] IN_ADDRESSES
cdef Byte[256] IN_HOSTS
cdef Byte[256] IN_IDENTIFIERS
cdef Byte[256] HOST_KINDS
cdef Tag HEADER_TAG


cdef void fill_table(Byte *table, const char *separators, bint keeps_other) noexcept:
    """Fill `table` with replacements of bytes: `separators` become spaces; `keeps_other` keeps non-ASCII."""
    cdef int byte
    for byte in range(256):
        if byte <= 32 or byte == 127 or is_one_of(byte, separators):
            table[byte] = 32
        elif byte < 128 or keeps_other:
            table[byte] = lower(byte)
        else:
            table[byte] = 63 if byte >= 0xC0 else 0  # "?" for the first byte of a character


cdef int fill_header_tables() except -1:
    cdef int byte
    fill_names(&RULE_NAMES, list(HEADER_RULES))
    for number, rule in enumerate(HEADER_RULES.values()):
        RULES[<Size>number] = rule
    fill_table(IN_ADDRESSES, b"<>,;:\"'()[]", True)
    fill_table(IN_HOSTS, b"()[]<>,;=\"'@/", False)
    fill_table(IN_IDENTIFIERS, b"<>()\"", False)
    for byte in range(256):
        HOST_KINDS[byte] = A_SEPARATOR if IN_HOSTS[byte] == 32 else 0 if is_digit(byte) else ANOTHER
        if 97 <= lower(byte) <= 102:
            HOST_KINDS[byte] = A_HEX_LETTER
    HOST_KINDS[46], HOST_KINDS[58] = A_DOT, A_COLON
    HOST_KINDS[255] = A_SEPARATOR  # so is END, as a byte; no UTF-8 has it
    return 0


fill_header_tables()
HEADER_TAG = tag_of(literal(b"header:"))


cdef int rule_of(Text name) noexcept nogil:
    """Return the rule (AS_WORDS, NOT_READ …) for the header with this name, which must be in lower case."""
    cdef int number = number_of_name(&RULE_NAMES, name)
    cdef Size dash
    if number >= 0:
        return RULES[number]
    if starts_with(name, b"x-"):
        dash = find_byte(name, DASH, 2)
        while 0 <= dash <= MAX_VOLATILE:
            number = number_of_name(&RULE_NAMES, piece(name, 0, dash))
            if number >= 0 and RULES[number] == IS_VOLATILE:
                return IS_VOLATILE
            dash = find_byte(name, DASH, dash + 1)
        if contains(name, b"spam"):
            return IS_VOLATILE
    # Resent-Date, X-Original-Date … : training mail is older than new mail, and they would show nothing else.
    return NOT_READ if ends_with(name, b"date") else AS_WORDS


cdef inline bint is_read(int rule) noexcept nogil:
    """Return whether a header with this rule is cut into tokens."""
    return rule > NOT_READ


cdef int add_header(Features *features, WordRules *rules, Arena *arena, Field *field, bint paired) except -1 nogil:
    """Add a header's name as a token to `features`, and tokens of its value; if `paired`, also word pairs."""
    cdef int rule = field.rule, ngrams
    cdef Text name = first_chars(field.name, MAX_HEADER_TOKEN), prefix, words
    cdef Tag tag
    if not is_read(rule):
        return 0
    # (1-AUC)%, learned from spamassassin, tested on csdmc2010: 0.070, without it 0.100.
    add_token(features, &HEADER_TAG, name, HEAD, 1)
    joined(arena, name, literal(b":"), &prefix)
    tag = tag_of(prefix)
    if rule == AS_HOSTS:
        return add_hosts(features, arena, &tag, field.value)
    if rule == AS_IDENTIFIER:
        return add_identifier(features, arena, &tag, field.value)
    if rule == AS_DATE:
        return add_zone(features, &tag, field.value)
    ngrams = rules.ngrams if rule == AS_SUBJECT else 1
    spaced(rules, arena, field.value, &words)
    add_words(features, &tag, words, MAX_HEADER_WORDS, HEAD, ngrams, paired)
    return add_addresses(features, arena, &tag, field.value) if rule == AS_ADDRESSES else 0


cdef int separated(Arena *arena, Text value, const Byte *table, Text *result) except -1 nogil:
    """Set `result` to `value` with each byte replaced as `table` (such as IN_HOSTS) says; 0 drops a byte."""
    cdef Byte *copy = <Byte *>allot(arena, value.size)
    cdef Size at, size = 0
    cdef Byte letter
    for at in range(value.size):
        letter = table[<Byte>byte_at(value, at)]
        copy[size] = letter
        size += letter != 0
    result.at, result.size = copy, size
    return 0


cdef inline Text until(Text text, int byte, Size start) noexcept nogil:
    """Return the text from `start` up to the next `byte`; up to the end if there is none."""
    cdef Size end = find_byte(text, byte, start)
    return piece(text, start, end if end >= 0 else text.size)


cdef bint next_word(Text data, Size *at, Text *word) noexcept nogil:
    """Set `word` to the next word after `at`, and `at` to the word's end; return False if there is none."""
    cdef Size start = at[0]
    while byte_at(data, start) == 32:
        start += 1
    word[0] = until(data, 32, start)
    at[0] = start + word.size
    return word.size > 0


cdef int add_addresses(Features *features, Arena *arena, Tag *tag, Text value) except -1 nogil:
    """Add two tokens for each address in a header: the address, and its domain ("@" and what follows)."""
    cdef Text data, address
    cdef Size at = 0, sign
    cdef int left = MAX_HEADER_WORDS
    cdef bint is_plain = is_ascii(value)
    if not has(value, 64):  # "@"
        return 0
    separated(arena, value, IN_ADDRESSES, &data)
    while left and next_word(data, &at, &address):
        left -= 1
        if not is_plain and has(address, 64):
            plain_address(arena, &address)
        sign = find_last(address, 64, address.size)
        if sign >= 0 and address.size <= MAX_HEADER_TOKEN:
            add_token(features, tag, address, HEAD, 1)
            add_token(features, tag, rest(address, sign), HEAD, 1)
    return 0


cdef int plain_address(Arena *arena, Text *address) except -1 nogil:
    """Cut a non-ASCII address to MAX_RAW_ADDRESS bytes, and write its letters in normal form (NFKC)."""
    cdef Size end = MAX_RAW_ADDRESS
    if byte_at(address[0], end) & 0xC0 == 0x80:  # within a character
        end = char_before(address[0], end)
    address[0] = piece(address[0], 0, end)
    if not is_ascii(address[0]):
        plain_letters_in(arena, address)
    address[0] = stripped(address[0], b".")
    return 0


cdef int add_identifier(Features *features, Arena *arena, Tag *tag, Text value) except -1 nogil:
    """Add the last host in a header such as Message-ID as a token, but not the random text before it."""
    cdef Size sign = find_last(value, 64, value.size)
    cdef Text data, host
    if sign < 0:
        add_token(features, tag, literal(b"none"), HEAD, 1)
        return 0
    separated(arena, rest(value, sign + 1), IN_IDENTIFIERS, &data)
    host = stripped(until(data, 32, 0), b".")
    joined(arena, literal(b"@"), piece(host, 0, MAX_HEADER_TOKEN), &host)
    add_token(features, tag, host, HEAD, 1)
    return 0


cdef int add_zone(Features *features, Tag *tag, Text value) except -1 nogil:
    """Add the time zone of a date as a token, but not the day, which would only tell old mail from new."""
    # (1-AUC)%, learned from spamassassin, tested on csdmc2010: 0.070, without it 0.084.
    cdef Size start, before, after = 0, at
    cdef Text date = without_white(until(value, 40, 0)), zone  # a comment may follow
    cdef bint is_named = True, is_numeric
    start = before = date.size
    while before > 0 and date.size - start <= MAX_ZONE:
        before = char_before(date, start)
        if is_white(char_at(date, before, &after)):
            break
        start = before
    zone = rest(date, start)
    if zone.size == 0:
        return 0
    is_numeric = zone.size == 5 and is_one_of(byte_at(zone, 0), b"+-")
    for at in range(zone.size):
        is_named = is_named and is_letter(byte_at(zone, at))
        is_numeric = is_numeric and (at == 0 or is_digit(byte_at(zone, at)))
    is_named = is_named and zone.size <= MAX_ZONE
    add_token(features, tag, zone if is_named or is_numeric else literal(b"none"), HEAD, 1)
    return 0


cdef int add_hosts(Features *features, Arena *arena, Tag *tag, Text value) except -1 nogil:
    """Add tokens for the hosts and IP addresses in a header such as Received, and for their domains and networks."""
    # (1-AUC)% on spamassassin: 0.0192, without hosts 0.0205, without domains and networks 0.0208.
    cdef Size date = find_last(value, 59, value.size), at = 0, start  # which follows the last ";"
    cdef Text word
    cdef int left = MAX_HEADER_WORDS, kind, kinds
    if date > 0:
        value = piece(value, 0, date)
    while left and at < value.size:
        start, kinds, kind = at, 0, HOST_KINDS[<Byte>byte_at(value, at)]
        while kind != A_SEPARATOR:
            kinds |= kind
            at += 1
            kind = HOST_KINDS[<Byte>byte_at(value, at)]
        if kinds & (A_DOT | A_COLON):
            separated(arena, piece(value, start, at), IN_HOSTS, &word)
            if word.size > MAX_HEADER_TOKEN:
                pass
            elif kinds & A_COLON:
                add_route(features, arena, tag, word)
            else:
                add_host_or_ipv4(features, arena, tag, word, kinds)
        left -= at > start
        at += 1
    return 0


cdef int add_route(Features *features, Arena *arena, Tag *tag, Text word) except -1 nogil:
    """If `word` is an IPv6 address, add it and its network as tokens; otherwise the hosts in it (host:25)."""
    cdef bint is_marked = word.size > 5 and starts_with(word, b"ipv6:")
    cdef Text address = stripped(rest(word, 5) if is_marked else word, b"."), part
    cdef Size first = find_byte(address, 58, 0), second = find_byte(address, 58, first + 1), at = 0
    if not kinds_of(address) & ~(A_COLON | A_HEX_LETTER) and (
        contains(address, b"::") or count_byte(address, 58) == 7
    ):
        add_token(features, tag, address, HEAD, 1)
        if second > first + 1:
            add_token(features, tag, piece(address, 0, second + 1), HEAD, 1)
        return 0
    while at < address.size:
        part = until(address, 58, at)
        add_host_or_ipv4(features, arena, tag, part, kinds_of(part))
        at += part.size + 1
    return 0


cdef int kinds_of(Text word) noexcept nogil:
    """Return flags, such as A_DOT and A_COLON, for the kinds of bytes that a word has."""
    cdef Size at
    cdef int kinds = 0
    for at in range(word.size):
        kinds |= HOST_KINDS[<Byte>byte_at(word, at)]
    return kinds


cdef int add_host_or_ipv4(Features *features, Arena *arena, Tag *tag, Text word, int kinds) except -1 nogil:
    """Add a host or IPv4 address as a token, and its domain or networks; ignore a `word` without dots."""
    cdef Text host = stripped(word, b"."), domain
    cdef Size at, second = NOWHERE, before = NOWHERE, last = NOWHERE  # of its dots
    cdef int dots = 0
    for at in range(host.size):
        if byte_at(host, at) == 46:
            if at == last + 1:
                return 0
            dots += 1
            second = at if dots == 2 else second
            before, last = last, at
    if not dots:
        return 0
    add_token(features, tag, host, HEAD, 1)
    if dots == 1:
        joined(arena, literal(b"."), host, &domain)
        add_token(features, tag, domain, HEAD, 1)
    elif dots == 3 and kinds == A_DOT:
        add_token(features, tag, piece(host, 0, second + 1), HEAD, 1)
        add_token(features, tag, piece(host, 0, last + 1), HEAD, 1)
    else:
        add_token(features, tag, rest(host, before), HEAD, 1)
    return 0


def header_tokens(headers: list, words=None) -> list:
    """Return the tokens of (name, value) headers. `words`: rules for words; None for the default rules."""
    return tokens_of_headers(headers, words, False)


cdef list tokens_of_headers(list headers, words, bint of_sender):
    """Return the tokens of headers, in order; if `of_sender`, only the tokens about the sender."""
    cdef Cutting cutting = Cutting(words)
    cdef FeatureSet found = FeatureSet()
    cdef Size count = len(headers), at = 0
    cdef Field *fields = <Field *>allot(&cutting.arena, count * sizeof(Field))
    found.it.arena, found.it.keeps_order = &cutting.arena, True
    for name, value in headers:
        memset(&fields[at], 0, sizeof(Field))
        text_of_str(&cutting.arena, name, &fields[at].name)
        text_of_str(&cutting.arena, value, &fields[at].value)
        fields[at].rule = rule_of(fields[at].name)
        at += 1
    if of_sender:
        add_sender(&found.it, &cutting.arena, fields, count)
    else:
        for at in range(count):
            add_header(&found.it, &cutting.rules, &cutting.arena, &fields[at], False)
    return found.in_order()
