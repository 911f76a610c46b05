# Tokens about the sender: From compared with Reply-To, and with the checks of the receiving server.
#
# A sender can write any header. The receiving server puts its Authentication-Results on top, so only the topmost is
# evidence, and its tokens name the server: where no server adds one, a forged one names a server that was never
# learned. Results in ARC headers and from older hops are ignored. `spamnb.reading.envelope` uses these functions,
# too, to decide whether a sender can be trusted.
#
# Of a header MAX_RESULTS results are read, of each MAX_LOOKED_AT domains; all loops take linear time.

cdef enum:
    MAX_RESULTS = 20  # read of one header; more DKIM signatures would say no more
    MAX_LOOKED_AT = 20  # domains that one result names; real ones have three, and one not in ASCII takes 0.1 ms
    MAX_NAME_WORDS = 50  # of a display name
    MAX_DOMAIN = 80  # characters of a domain or a server's name
    MAX_VERDICT = 20  # characters of a result such as "pass"
    MAX_SOUGHT = 320  # bytes: a longer address is not searched for

cdef Tag FROM_TAG = tag_of(literal(b"from:"))
cdef Tag AUTH_TAG = tag_of(literal(b"auth:"))


cdef int add_sender(Features *features, Arena *arena, Field *fields, Size count) except -1 nogil:
    """Add tokens that say whether Reply-To and From agree, and tokens for the checks that the receiving server made."""
    cdef Field *sender = first_field(fields, count, b"from")
    cdef Field *reply_to = first_field(fields, count, b"reply-to")
    cdef Field *to = first_field(fields, count, b"to")
    cdef Field *results = first_field(fields, count, b"authentication-results")
    cdef Text address = nothing(), answered, domain = nothing(), other
    if sender is not NULL:
        address_in(arena, sender.value, &address)
        domain_of(arena, address, &domain)
    if address.size and reply_to is not NULL:
        address_in(arena, reply_to.value, &answered)
        domain_of(arena, answered, &other)
        if has(answered, 64):  # "@"
            if equal(domain, other):
                add_token(features, &FROM_TAG, literal(b"reply-to=same"), HEAD, 1)
            elif to is not NULL and names_address(arena, to.value, answered):  # as a mailing list does
                add_token(features, &FROM_TAG, literal(b"reply-to=to"), HEAD, 1)
            else:
                add_token(features, &FROM_TAG, literal(b"reply-to=other"), HEAD, 1)
    if results is not NULL:
        add_results(features, arena, results.value, domain)
    return 0


cdef int address_in(Arena *arena, Text value, Text *result) except -1 nogil:
    """Set `result` to the address in a header, in lower case, or to an empty text if the header has none."""
    cdef Size bracket = find_last(value, 60, value.size), at = 0
    cdef Text word
    cdef int words = 0
    if bracket >= 0:
        return lower_text(arena, without_white(until(value, 62, bracket + 1)), result)
    while words < MAX_NAME_WORDS and next_of(value, b" \t\n\v\f\r", &at, &word):
        if has(word, 64):
            return lower_text(arena, stripped(word, b"(),;:"), result)
        words += 1
    result[0] = nothing()
    return 0


cdef bint names_address(Arena *arena, Text value, Text address) except -1 nogil:
    """Return whether a header contains `address`, which must be in lower case."""
    cdef Text text
    lower_text(arena, value, &text)
    return address.size <= MAX_SOUGHT and find(text, address, 0) >= 0


cdef int domain_of(Arena *arena, Text address, Text *result) except -1 nogil:
    """Set `result` to the registered domain of an address, such as example.co.uk, or to "" if there is none."""
    cdef Size sign = find_last(address, 64, address.size)
    if sign < 0:
        result[0] = nothing()
        return 0
    return registered_domain(arena, rest(address, sign + 1), result)


cdef int registered_domain(Arena *arena, Text host, Text *result) except -1 nogil:
    """Set `result` to the registered domain of a host, such as example.co.uk; only MAX_DOMAIN characters are read."""
    plain_host(arena, first_chars(host, MAX_DOMAIN), result)
    result[0] = registrable(result[0])
    return 0


cdef int domain_in_ascii(Arena *arena, Text domain, Text *result) except -1 nogil:
    """Set `result` to a domain in ASCII, as in DNS (`xn--…`), or unchanged if it has no such form."""
    result[0] = domain
    if not is_ascii(domain):
        with gil:
            try:
                return text_of_str(arena, str_of(domain).encode("idna").decode(), result)
            except UnicodeError:
                pass
    return 0


# Authentication-Results (RFC 8601)

cdef int add_results(Features *features, Arena *arena, Text value, Text domain) except -1 nogil:
    """Add tokens of Authentication-Results, such as `auth:spf=pass,aligned,by=example.org`."""
    cdef Text plain, by, result, sender
    cdef Texts found  # each once
    cdef Size at, number
    cdef bint is_verified = False
    cdef Writer verified
    memset(&found, 0, sizeof(Texts))
    domain_in_ascii(arena, domain, &sender)
    without_comments(arena, value, &plain)
    find_server(arena, value, plain, &at, &by)
    for number in range(MAX_RESULTS):
        if at > plain.size:
            break
        spaced_out(arena, next_result(plain, &at), &result)
        is_verified |= add_result(arena, &found, result, sender, by)
    if is_verified:
        start_writer(&verified, arena, domain.size + by.size + 16)
        put_literal(&verified, b"from=@")
        put(&verified, domain)
        put_literal(&verified, b",by=")
        put(&verified, by)
        add_once(arena, &found, written(&verified))
    for number in range(found.count):
        add_token(features, &AUTH_TAG, found.items[number], HEAD, 1)
    return 0


cdef int find_server(Arena *arena, Text value, Text plain, Size *at, Text *domain) except -1 nogil:
    """Set `domain` to the server that wrote `value`, and `at` to where results begin in `plain`."""
    cdef Text server = until(plain, 59, 0)
    at[0] = server.size + 1
    if has(server, 61):  # "=": Microsoft names no server
        at[0], server = 0, nothing()
    elif byte_at(without_white(server), 0) == 34:  # a quote
        server = until(value, 34, find_byte(value, 34, 0) + 1)
    return registered_domain(arena, until(without_white(server), 32, 0), domain)


cdef Text next_result(Text plain, Size *at) noexcept nogil:
    """Return the text from `at` to the next semicolon, and move `at` past this semicolon."""
    cdef Text result = until(plain, 59, at[0])
    at[0] += result.size + 1
    return result


cdef bint add_result(Arena *arena, Texts *found, Text result, Text sender, Text by) except -1 nogil:
    """Add a token for `result`, a check by server `by`; return whether domain `sender` passed the check."""
    cdef Size at = 0
    cdef int looked_at = 0
    cdef Text method, name, verdict, one, key, domain
    cdef bint is_other = False, is_aligned = False
    cdef Writer token
    next_word(result, &at, &method)
    name = until(method, 61, 0)
    verdict = rest(method, name.size + 1)
    if not (is_(name, b"dkim") or is_(name, b"spf") or is_(name, b"dmarc")) or not is_alphabetic(verdict):
        return False
    while sender.size and not is_other and looked_at < MAX_LOOKED_AT and next_word(result, &at, &one):
        key = until(one, 61, 0)
        if names_domain(name, key):
            looked_at += 1
            one = rest(one, key.size + 1)
            registered_domain(arena, rest(one, find_last(one, 64, one.size) + 1), &domain)
            domain_in_ascii(arena, domain, &domain)
            is_aligned = equal(domain, sender)
            is_other = not is_aligned
    start_writer(&token, arena, 2 * MAX_DOMAIN)
    put(&token, name)
    put_byte(&token, 61)
    put(&token, first_chars(verdict, MAX_VERDICT))
    if is_aligned:
        put_literal(&token, b",aligned")
    put_literal(&token, b",by=")
    put(&token, by)
    add_once(arena, found, written(&token))
    return is_aligned and is_(verdict, b"pass")


cdef bint names_domain(Text method, Text key) noexcept nogil:
    """Return whether property `key` has the domain that `method` checked, as `header.d` has for `dkim`."""
    if is_(method, b"dkim"):
        return is_(key, b"header.d") or is_(key, b"header.i")
    if is_(method, b"spf"):
        return is_(key, b"smtp.mailfrom") or is_(key, b"smtp.mail")
    return is_(key, b"header.from")


cdef bint is_alphabetic(Text text) noexcept nogil:
    """Return whether a text has only ASCII letters, and at least one."""
    cdef Size at
    for at in range(text.size):
        if not is_letter(byte_at(text, at)):
            return False
    return text.size > 0


cdef int add_once(Arena *arena, Texts *texts, Text text) except -1 nogil:
    """Append `text` to the short list `texts`, unless the list already has an equal text."""
    cdef Size at
    for at in range(texts.count):
        if equal(text, texts.items[at]):
            return 0
    return add_text(arena, texts, text)


cdef int spaced_out(Arena *arena, Text result, Text *to) except -1 nogil:
    """Set `to` to the text `result` in lower case, with one space between words, and none around "=" and "/"."""
    cdef Writer spaced
    cdef Text small, word
    cdef Size at = 0
    lower_text(arena, result, &small)
    start_writer(&spaced, arena, small.size)
    while next_of(small, b" \t\n\v\f\r", &at, &word):
        if spaced.size and not is_one_of(byte_at(word, 0), b"=/"):
            if not is_one_of(byte_at(written(&spaced), spaced.size - 1), b"=/"):
                put_byte(&spaced, 32)
        put(&spaced, word)
    to[0] = written(&spaced)
    return 0


cdef int without_comments(Arena *arena, Text value, Text *result) except -1 nogil:
    """Set `result` to a header without comments and quoted strings, because senders can choose their texts.

    Comments become spaces, quoted strings quotes. If one is not closed, `result` ends with " (" in its place.
    """
    cdef Writer kept
    cdef Size at, start = 0, depth = 0
    cdef bint is_quoted = False, is_escaped = False
    cdef int byte
    result[0] = value
    if not has(value, 40) and not has(value, 34):
        return 0
    start_writer(&kept, arena, value.size + 2)
    for at in range(value.size):
        byte = byte_at(value, at)
        if is_escaped:
            is_escaped = False
        elif byte == 92:  # a backslash
            is_escaped = depth > 0 or is_quoted
        elif is_quoted:
            if byte == 34:
                is_quoted, start = False, at
        elif byte == 40:
            if not depth:
                put(&kept, piece(value, start, at))
            depth += 1
        elif byte == 41 and depth:
            depth -= 1
            if not depth:
                put_byte(&kept, 32)
                start = at + 1
        elif byte == 34 and not depth:
            put(&kept, piece(value, start, at))
            is_quoted = True
    if depth or is_quoted:
        put_literal(&kept, b" (")
    else:
        put(&kept, rest(value, start))
    result[0] = written(&kept)
    return 0


# For Python

def sender_address(str value) -> str:
    """Return the address in a header, in lower case; "" if the header has none."""
    cdef Memory memory = Memory()
    cdef Text text
    text_of_str(&memory.arena, value, &text)
    address_in(&memory.arena, text, &text)
    return str_of(text)


def uncommented(str value) -> str:
    """Return a header with comments replaced by spaces, quoted strings by quotes, unclosed ones by " ("."""
    cdef Memory memory = Memory()
    cdef Text text
    text_of_str(&memory.arena, value, &text)
    without_comments(&memory.arena, text, &text)
    return str_of(text)


def authentication_results(str value) -> tuple[str, list]:
    """Return the server's domain and the list of results in an Authentication-Results header, all in lower case."""
    cdef Memory memory = Memory()
    cdef Text text, plain, server, result
    cdef Size at
    cdef list results = []
    text_of_str(&memory.arena, value, &text)
    without_comments(&memory.arena, text, &plain)
    find_server(&memory.arena, text, plain, &at, &server)
    while at <= plain.size:
        spaced_out(&memory.arena, next_result(plain, &at), &result)
        results.append(str_of(result))
    return str_of(server), results


def sender_tokens(headers: list) -> list:
    """Return tokens such as `from:reply-to=same`, in order; `headers`: (name, value) pairs."""
    return tokens_of_headers(headers, None, True)
