# Finds links in texts, and makes tokens of where links lead.
#
# Limits are in characters. All functions take linear time: a link has at most MAX_LINK characters, and all links of a
# text together have not much more than four times its characters.

cdef enum:
    MAX_LINKS = 500  # of one message
    MAX_LINK = 500  # characters, as all limits below
    MAX_SCHEME = 10
    MAX_HOST = 80
    MAX_PATH_WORDS = 20
    MAX_DOMAINS = 4  # used of a host, itself included

cdef const char *LINK_ENDS = b"\t\n\v\f\r\x1c\x1d\x1e\x1f <>\"'`{}|^,"
# Names before the country under which anybody can register a domain, as co in co.uk.
cdef const char *SECOND_LEVELS = b" ac co com edu go gob gov gv ltd ne net nom or org "
cdef Byte[128] ENDS_LINK
cdef Tag URL_TAG = tag_of(literal(b"url:"))
cdef Tag PATH_TAG = tag_of(literal(b"url:/"))


cdef void fill_ends() noexcept:
    cdef int byte
    for byte in range(128):
        ENDS_LINK[byte] = is_one_of(byte, LINK_ENDS)


fill_ends()


cdef inline bint is_not_first(int byte) noexcept nogil:
    """Return whether a byte may be in the scheme of a link, such as https, but not as its first byte."""
    return is_digit(byte) or byte == 43 or byte == 45 or byte == 46


cdef inline bint is_of_scheme(int byte) noexcept nogil:
    """Return whether a byte may be in the scheme of a link, such as https."""
    return is_letter(byte) or is_not_first(byte)


# In texts

cdef int links_in(Arena *arena, Text text, Texts *links) except -1 nogil:
    """Append the links in a plain text to `links`."""
    cdef Size at = find_byte(text, 58, 0), start, most = links.count + MAX_LINKS, left = -1
    cdef Text link
    while at >= 0 and links.count < most:
        if byte_at(text, at + 1) == 47 and byte_at(text, at + 2) == 47:
            start = scheme_start(text, at)
            if start < at:
                if left < 0:
                    left = 4 * count_chars(text) + MAX_LINK  # a link may have another in it: /go?to=http://elsewhere
                link = piece(text, start, link_end(text, at))
                add_text(arena, links, link)
                left -= count_chars(link)
                if left <= 0:
                    break
        at = find_byte(text, 58, at + 1)
    return add_www_links(arena, text, links, most)


cdef Size scheme_start(Text text, Size colon) noexcept nogil:
    """Return where the scheme before a colon starts; the offset of the colon if there is no scheme."""
    cdef Size start = colon
    while colon - start < MAX_SCHEME and is_of_scheme(byte_at(text, start - 1)):
        start -= 1
    while start < colon and is_not_first(byte_at(text, start)):
        start += 1
    return start


cdef int add_www_links(Arena *arena, Text text, Texts *links, Size most) except -1 nogil:
    """Append to `links` those in a text that begin with "www.", until `links` has `most` items."""
    cdef Size at = find_byte(text, 46, 3)
    cdef int byte
    cdef Text link
    while at >= 0 and links.count < most:
        if is_in_any_case(piece(text, at - 3, at), literal(b"www")):
            byte = byte_at(text, at - 4)
            if not (is_letter(byte) or is_digit(byte) or is_one_of(byte, b"/.@-_%&")):
                joined(arena, literal(b"http://"), piece(text, at - 3, link_end(text, at)), &link)
                add_text(arena, links, link)
        at = find_byte(text, 46, at + 1)
    return 0


cdef Size link_end(Text text, Size at) except -1 nogil:
    """Return where the link that contains offset `at` ends; punctuation after the link is left out."""
    cdef Size end = at, after = 0, chars = 0
    cdef Char char
    while end < text.size and chars < MAX_LINK:
        char = char_at(text, end, &after)
        if char < 0x80:
            if ENDS_LINK[char]:
                break
        elif not Py_UNICODE_ISALNUM(char) and not is_mark(char):
            break
        end = after
        chars += 1
    while end > at and is_one_of(byte_at(text, end - 1), b".;:!?)]"):
        end -= 1
    return end


# As evidence

cdef int add_link(Features *features, WordRules *rules, Arena *arena, Text link) except -1 nogil:
    """Add the tokens of a link: its host, the domains above the host, and the words of its path."""
    cdef Size colon, k
    cdef Texts inner
    link = first_chars(link, MAX_LINK)
    replaced(arena, link, literal(b"\\"), literal(b"/"), &link)  # as browsers do
    colon = find_byte(link, 58, 0)
    if starts_with(link, b"//"):
        joined(arena, literal(b"http:"), link, &link)
        add_absolute_link(features, rules, arena, link, 7)
    elif colon > 0 and is_scheme(piece(link, 0, colon)):
        if is_at(link, colon + 1, literal(b"//")):
            add_absolute_link(features, rules, arena, link, colon + 3)
    else:
        memset(&inner, 0, sizeof(Texts))
        links_in(arena, link, &inner)  # /go?to=http://elsewhere
        for k in range(inner.count):
            link = inner.items[k]
            add_absolute_link(features, rules, arena, link, find_byte(link, 58, 0) + 3)
    return 0


cdef bint is_scheme(Text text) noexcept nogil:
    cdef Size at
    if is_not_first(byte_at(text, 0)):
        return False
    for at in range(text.size):
        if not is_of_scheme(byte_at(text, at)):
            return False
    return True


cdef int add_absolute_link(Features *features, WordRules *rules, Arena *arena, Text link, Size start) except -1 nogil:
    """Add the tokens of a link whose host starts at offset `start`."""
    cdef Size end = start, stop
    cdef int byte = byte_at(link, end), closing
    cdef Text text
    while byte != END and byte != 47 and byte != 63 and byte != 35:  # / ? #
        end += 1
        if byte == 64:  # @
            start = end
        byte = byte_at(link, end)
    closing = 58  # :
    if start < end and byte_at(link, start) == 91:  # [
        start += 1
        closing = 93
    stop = find_byte(piece(link, 0, end), closing, start)
    plain_host(arena, piece(link, start, stop if stop >= 0 else end), &text)
    add_host(features, arena, text)
    if link.size > end + 1:
        unquoted(arena, rest(link, end), &text)
        spaced(rules, arena, text, &text)
        add_words(features, &PATH_TAG, text, MAX_PATH_WORDS, BODY, 1, False)
    return 0


cdef int add_host(Features *features, Arena *arena, Text host) except -1 nogil:
    """Add tokens for a host and the domains above it; for an IP address, the address and its network."""
    # (1-AUC)% on bodies of phishing: 0.0344, without hosts 0.0366; without words of paths 0.0371.
    cdef Size start = host.size, at
    cdef int dots = 0
    if has(host, 58) or ends_in_number(host):
        return add_address(features, arena, host)
    while start > 0 and dots < MAX_DOMAINS:
        start -= 1
        dots += byte_at(host, start) == 46
    host = rest(host, start + (dots == MAX_DOMAINS))
    for at in range(host.size):
        if byte_at(host, at) != 46 and (at == 0 or byte_at(host, at - 1) == 46):
            add_token(features, &URL_TAG, first_chars(rest(host, at), MAX_HOST), BODY, 1)
    return 0


cdef int add_address(Features *features, Arena *arena, Text number) except -1 nogil:
    """Add tokens for an IP address and, if IPv4, its network; also `url:number`: the host is a number."""
    cdef Size dot = find_byte(number, 46, 0)
    cdef Text network
    add_token(features, &URL_TAG, literal(b"number"), BODY, 1)
    if dot >= 0:
        dot = find_byte(number, 46, dot + 1)
        network = first_chars(piece(number, 0, dot if dot >= 0 else number.size), MAX_HOST)
        joined(arena, network, literal(b"."), &network)
        add_token(features, &URL_TAG, network, BODY, 1)
    add_token(features, &URL_TAG, first_chars(number, MAX_HOST), BODY, 1)
    return 0


# Hosts

cdef bint ends_in_number(Text host) noexcept nogil:
    """Return whether browsers read a host as an IPv4 address, because its last part is a number such as 127 or 0x7f."""
    cdef Text last = rest(host, find_last(host, 46, host.size) + 1)
    cdef bint is_hexadecimal = starts_with(last, b"0x")
    cdef Size at
    for at in range(2 if is_hexadecimal else 0, last.size):
        if not (is_digit(byte_at(last, at)) or (is_hexadecimal and hex_digit(byte_at(last, at)) >= 0)):
            return False
    return last.size > 0


cdef Text registrable(Text host) noexcept nogil:
    """Return the domain that somebody registered: example.org or example.co.uk; for an IP address, the address."""
    cdef Size last = find_last(host, 46, host.size), after = 0, before
    cdef Text second
    before = find_last(host, 46, last)
    if before < 0 or Py_UNICODE_ISDIGIT(char_at(host, char_before(host, host.size), &after)):
        return host
    second = piece(host, before + 1, last)
    if count_chars(rest(host, last)) == 3 and is_second_level(second):
        before = find_last(host, 46, before)
    return rest(host, before + 1)


cdef bint is_second_level(Text name) noexcept nogil:
    """Return whether a name is one of SECOND_LEVELS, such as co in example.co.uk."""
    cdef Text all = literal(SECOND_LEVELS)
    cdef Size at = find(all, name, 0)
    while at >= 0 and name.size:
        if byte_at(all, at - 1) == 32 and byte_at(all, at + name.size) == 32:
            return not has(name, 32)
        at = find(all, name, at + 1)
    return False


cdef int plain_host(Arena *arena, Text host, Text *result) except -1 nogil:
    """Set `result` to a host in its usual form: in lower case, with escapes such as %41 replaced."""
    cdef Writer to
    cdef Size at
    cdef int byte
    if not is_usual(host):
        unquoted(arena, host, &host)
        if is_ascii(host):
            start_writer(&to, arena, host.size)
            for at in range(host.size):
                byte = lower(byte_at(host, at))
                if 32 < byte < 127:
                    put_byte(&to, byte)
            host = written(&to)
        else:
            plain_letters_in(arena, &host)
        host = stripped(host, b".")
    result[0] = host
    return 0


cdef int plain_letters_in(Arena *arena, Text *text) except -1 with gil:
    """Replace each letter in a host or address by its normal form (NFKC, lower case), as browsers do."""
    from spamnb.reading.letters import plain_letters

    return text_of_str(arena, plain_letters(str_of(text[0])), text)


cdef bint is_usual(Text host) noexcept nogil:
    """Return whether a host is in its usual form: small letters, digits, hyphens, and dots between them."""
    cdef Size at
    cdef int byte
    for at in range(host.size):
        byte = byte_at(host, at)
        if not (97 <= byte <= 122 or is_digit(byte) or byte == 45 or byte == 46):
            return False
    return byte_at(host, 0) != 46 and byte_at(host, host.size - 1) != 46


cdef int unquoted(Arena *arena, Text text, Text *result) except -1 nogil:
    """Set `result` to a path or host with escapes such as %41 (A) replaced."""
    result[0] = text
    if not has(text, c"%"):
        return 0
    decode_quoted(arena, text, c"%", False, &text)
    return mended_utf8(arena, text, result)


# For Python

def links_in_text(str text) -> list:
    """Return a list of the links in a plain text."""
    cdef Memory memory = Memory()
    cdef Texts links
    cdef Text source
    cdef Size k
    memset(&links, 0, sizeof(Texts))
    text_of_str(&memory.arena, text, &source)
    links_in(&memory.arena, source, &links)
    return [str_of(links.items[k]) for k in range(links.count)]


def link_tokens(list links, words=None) -> list:
    """Return the tokens of links, in order. `words`: a model's rules for words; None for the default rules."""
    cdef Cutting cutting = Cutting(words)
    cdef FeatureSet found = FeatureSet()
    cdef Text source
    found.it.arena, found.it.keeps_order = &cutting.arena, True
    for link in links[:MAX_LINKS]:
        text_of_str(&cutting.arena, link, &source)
        add_link(&found.it, &cutting.rules, &cutting.arena, source)
    return found.in_order()
