# Makes features of a raw message: tokens of its headers, leaf parts, HTML pages, links and texts, and grams.
#
# All memory belongs to a `Reader`, and is reused for the next message. Each kind of token has a limit of its own, so
# that a flood of one kind cannot keep out the others.

cpdef enum:
    # Words of the texts of one message, n-grams included. With the limits of the other kinds, a message has less than
    # 2^16 tokens, so that two bytes can store how often a token occurs.
    MAX_TOKENS = 30000
    MAX_HEADER_WORDS = 200  # read of one header: ten thousand addresses in To say no more than fifty

cdef enum:
    MAX_OF_A_KIND = 4000  # tokens of each of these kinds: headers; leaf parts and tags; links; hidden words
    MAX_OF_ONE_TAG = 1000  # how often an HTML tag is counted beyond its first occurrence

    # Grams are taken from this many bytes of the head, and of the texts. (1-AUC)% by half splits of spamassassin:
    # 0.0149 without grams, 0.0110 with 1,500 bytes of each, 0.0113 with the first 3,000 bytes of both together.
    GRAM_TEXT = 1500
    # … and from this many characters of one header: long ones are random, and would leave no place for others.
    # (1-AUC)%, learned from phishing and mailing lists of today, tested on csdmc2010: 2.9 without the limit, 2.3 with
    # it.
    GRAM_HEADER = 150
    MIN_RANDOM = 6  # letters and digits: a shorter word is not taken for a random one


cdef struct Cutter:  # the tokenizer settings of a model; it has caches, so each thread has its own
    WordRules words
    bint has_headers
    bint has_grams


cdef struct Reader:  # settings and memory with which a thread reads messages, one after the other
    Arena arena
    Mail mail
    Features features
    Cutter cutter


cdef object start_reader(Reader *reader, settings):
    """Prepare a reader for a model's settings; return an object that must be kept as long as the reader."""
    words = settings.words()
    start_features(&reader.features)
    start_rules(&reader.cutter.words, words)
    reader.cutter.has_headers, reader.cutter.has_grams = settings.headers, settings.grams
    return words


cdef void free_reader(Reader *reader) noexcept:
    end_mail(&reader.mail)
    free_rules(&reader.cutter.words)
    free_features(&reader.features)
    free_arena(&reader.arena)


cdef int read_features(Reader *reader, Text raw, bint with_numbers, uint64_t *hash) except -1 nogil:
    """Read a raw message into `reader.features`; write the message's hash to `hash`, unless this is NULL."""
    clear_arena(&reader.arena)
    read_mail(&reader.mail, &reader.arena, raw)
    if hash is not NULL:
        hash_mail(&reader.mail, hash)
    return make_features(&reader.features, &reader.cutter, &reader.mail, with_numbers)


cdef int make_features(Features *features, Cutter *cutter, Mail *mail, bint with_numbers) except -1 nogil:
    """Write the features of a message (in `mail`) to `features`; numeric ones only if `with_numbers`."""
    cdef Arena *arena = mail.arena
    cdef WordRules *words = &cutter.words
    cdef Page *pages
    cdef Size page_count = 0, n
    cdef Texts texts, hidden
    cdef Texts *links  # lists of links: at most four for each leaf part
    cdef Size link_lists = 0
    cdef Leaf *leaf
    cdef Text text
    memset(&texts, 0, sizeof(Texts))
    memset(&hidden, 0, sizeof(Texts))
    clear_features(features)
    features.arena = arena
    if cutter.has_headers:
        add_head(features, words, mail)
    pages = <Page *>allot(arena, mail.leaf_count * sizeof(Page) + 1)
    links = <Texts *>allot(arena, 4 * mail.leaf_count * sizeof(Texts) + 1)
    render_pages(mail, pages, &page_count)
    page_count = 0
    features.left = MAX_OF_A_KIND
    for n in range(mail.leaf_count):
        leaf = &mail.leaves[n]
        add_leaf(features, words, leaf)
        text = leaf.text if leaf.has_text else nothing()
        if is_page(leaf):
            text = pages[page_count].text
            links[link_lists], links[link_lists + 1] = pages[page_count].links, pages[page_count].images
            link_lists += 2
            page_count += 1
        if leaf.has_content:
            links[link_lists] = leaf.links
            link_lists += 1
        if text.size:
            plain_typography(arena, text, &text)
            add_text(arena, &texts, text)
            memset(&links[link_lists], 0, sizeof(Texts))
            links_in(arena, text, &links[link_lists])
            link_lists += 1
    for n in range(page_count):
        # (1-AUC)% on bodies of csdmc2010: 0.0053, without tags 0.0095.
        add_tags(features, &pages[n])
    add_all_links(features, words, links, link_lists)
    if page_count:
        # (1-AUC)% on bodies of phishing: 0.0344, without hidden words as evidence 0.0359.
        for n in range(page_count):
            spaced(words, arena, pages[n].hidden, &text)
            add_text(arena, &hidden, text)
        add_texts(features, literal(b"hidden:"), &hidden, MAX_OF_A_KIND, 1, False)
    if with_numbers:
        numbers_of(mail, pages, page_count, &texts, features.numbers)
    for n in range(texts.count):
        spaced(words, arena, texts.items[n], &texts.items[n])
    add_texts(features, nothing(), &texts, (MAX_TOKENS - features.added) // words.ngrams, words.ngrams, True)
    if cutter.has_grams:
        if cutter.has_headers:
            add_grams_of_head(features, mail)
        add_grams_of_texts(features, &texts)
    return 0


cdef inline bint is_page(Leaf *leaf) noexcept nogil:
    """Return whether a part of a message is HTML and has text."""
    if not leaf.has_text or not leaf.text.size:
        return False
    if leaf.has_content:
        return leaf.is_page
    return is_(leaf.content_type, b"text/html") or is_(leaf.content_type, b"application/xhtml+xml")


cdef int render_pages(Mail *mail, Page *pages, Size *page_count) except -1 nogil:
    """Render a message's HTML parts into `pages`; each part may use an equal share of the MAX_WORK steps."""
    cdef Size n, count = 0
    for n in range(mail.leaf_count):
        count += is_page(&mail.leaves[n])
    for n in range(mail.leaf_count):
        if is_page(&mail.leaves[n]):
            render(mail.arena, mail.leaves[n].text, MAX_WORK // count, &pages[page_count[0]])
            page_count[0] += 1
    return 0


# The head

cdef int add_head(Features *features, WordRules *words, Mail *mail) except -1 nogil:
    """Add the tokens of the headers and of embedded messages' subjects; the message's own subject comes first."""
    cdef Size n, k
    cdef Field *subject = first_field(mail.head.fields, mail.head.count, b"subject")
    cdef Leaf *leaf
    cdef Text text
    cdef Tag tag = tag_of(literal(b"subject:"))
    features.left = MAX_OF_A_KIND
    if subject is not NULL:
        add_header(features, words, mail.arena, subject, True)
    add_sender(features, mail.arena, mail.head.fields, mail.head.count)
    for n in range(mail.head.count):
        if &mail.head.fields[n] != subject:
            add_header(features, words, mail.arena, &mail.head.fields[n], False)
    for n in range(mail.leaf_count):
        leaf = &mail.leaves[n]
        for k in range(leaf.field_count if leaf.is_embedded else 0):
            if is_(leaf.fields[k].name, b"subject"):
                spaced(words, mail.arena, leaf.fields[k].value, &text)
                add_words(features, &tag, text, MAX_HEADER_WORDS, HEAD, words.ngrams, False)
    return 0


# Leaves

cdef int add_leaf(Features *features, WordRules *words, Leaf *leaf) except -1 nogil:
    """Add tokens for a part's content type, charset and file name, and for the file names in an archive."""
    cdef Size n
    if leaf.content_type.size:
        add_printable(features, b"type:", first_chars(leaf.content_type, 60), 1)
    if leaf.charset.size:
        add_printable(features, b"charset:", first_chars(leaf.charset, 30), 1)
    if leaf.filename.size:
        add_file(features, words, leaf.filename)
    for n in range(leaf.names.count if leaf.has_content else 0):
        add_file(features, words, leaf.names.items[n])
    return 0


cdef int add_file(Features *features, WordRules *words, Text name) except -1 nogil:
    """Add tokens of a file's name: its words and its extension."""
    cdef Size dot = find_last(name, 46, name.size)
    cdef Text stem = piece(name, 0, dot) if dot >= 0 else name, ending
    cdef Tag tag = tag_of(literal(b"file:"))
    spaced(words, features.arena, stem, &stem)
    add_words(features, &tag, stem, MAX_WORDS, BODY, 1, False)
    if dot >= 0:
        lower_text(features.arena, first_chars(rest(name, dot + 1), 12), &ending)
        add_printable(features, b"file:.", ending, 1)
    return 0


cdef int add_printable(Features *features, const char *tag_text, Text text, Size times) except -1 nogil:
    """Add a token of the body: `tag_text`, then `text` without spaces and unprintable characters."""
    cdef Tag tag = tag_of(literal(tag_text))
    cdef Writer token
    cdef Size at = 0, start
    cdef Char char
    start_writer(&token, features.arena, text.size)
    while at < text.size:
        start = at
        char = char_at(text, at, &at)
        if char != 32 and Py_UNICODE_ISPRINTABLE(char):
            put(&token, piece(text, start, at))
    add_token(features, &tag, written(&token), BODY, times)
    return 0


cdef int add_tags(Features *features, Page *page) except -1 nogil:
    """Add a page's HTML tags as tokens: each once, then the repetitions, so that limits drop these first."""
    cdef Size n
    for n in range(page.tag_count):
        add_printable(features, b"html:", page.tags[n].name, 1)
    for n in range(page.tag_count):
        if page.tags[n].times > 1:
            add_printable(features, b"html:", page.tags[n].name, min(page.tags[n].times - 1, <Size>MAX_OF_ONE_TAG))
    return 0


# Links and texts

cdef int add_all_links(Features *features, WordRules *words, Texts *lists, Size count) except -1 nogil:
    """Add tokens of at most MAX_LINKS links from `count` lists; if there are more, cut the longest lists."""
    cdef Share *shared = <Share *>allot(features.arena, count * sizeof(Share) + 1)
    cdef Size n, k
    for n in range(count):
        shared[n].which, shared[n].size = n, lists[n].count
    share_out(shared, count, MAX_LINKS)
    features.left = MAX_OF_A_KIND
    for n in range(count):
        for k in range(shared[n].size):
            add_link(features, words, features.arena, lists[shared[n].which].items[k])
    return 0


cdef int add_texts(
    Features *features, Text tag_text, Texts *texts, Size most, int ngrams, bint paired
) except -1 nogil:
    """Add at most `most` words of texts as tokens with a tag; if there are more, cut the longest texts."""
    cdef Share *shared = <Share *>allot(features.arena, texts.count * sizeof(Share) + 1)
    cdef Tag tag = tag_of(tag_text)
    cdef Size n, total = 0
    features.left = NO_LIMIT
    for n in range(texts.count):
        shared[n].which, shared[n].size = n, texts.items[n].size
        total += texts.items[n].size
    if total > most:  # counted only now: a text has at most as many words as bytes
        for n in range(texts.count):
            shared[n].size = count_words(texts.items[n])
    share_out(shared, texts.count, most)
    for n in range(texts.count):
        most = min(shared[n].size, <Size>MAX_WORDS)
        add_words(features, &tag, texts.items[shared[n].which], most, BODY, ngrams, paired)
    return 0


# Grams

cdef int add_grams_of_head(Features *features, Mail *mail) except -1 nogil:
    """Add the grams (four neighbouring bytes) of all headers that are not ignored, without dates and random words.

    The first Received is left out: the receiving server writes it, and a milter never sees it.
    """
    cdef Writer head
    cdef Field *field
    cdef Size n
    cdef bint was_received = False
    start_writer(&head, features.arena, 2 * GRAM_TEXT)
    for n in range(mail.head.count):
        field = &mail.head.fields[n]
        if head.size >= GRAM_TEXT:
            break
        if not was_received and is_(field.name, b"received"):
            was_received = True
        elif is_read(field.rule):
            put(&head, piece(field.name, 0, GRAM_TEXT))
            put_literal(&head, b": ")
            put_without_random(&head, first_chars(gram_part_of_value(field), GRAM_HEADER))
            put_byte(&head, 10)
    add_grams(features, piece(written(&head), 0, GRAM_TEXT), HEAD)
    return 0


cdef Text gram_part_of_value(Field *field) noexcept nogil:
    """Return the part of a header whose grams are used: nothing of a date, only the host of an identifier
    such as Message-ID, a Received without the date at its end, and any other header whole.
    """
    cdef int rule = field.rule
    cdef Size at
    if rule == AS_DATE:
        return nothing()
    if rule == AS_IDENTIFIER:
        at = find_last(field.value, 64, field.value.size)
        return rest(field.value, at) if at >= 0 else nothing()
    at = find_last(field.value, 59, field.value.size) if rule == AS_HOSTS else 0
    return piece(field.value, 0, at) if at > 0 else field.value


cdef int put_without_random(Writer *to, Text text) except -1 nogil:
    """Append a text without the words for which `is_random` returns True."""
    cdef Size copied = 0, at = next_digit(text, 0), start
    while at < text.size:  # a random word has digits
        start = at
        while start > copied and is_in_word(byte_at(text, start - 1)):
            start -= 1
        while is_in_word(byte_at(text, at)):
            at += 1
        if is_random(piece(text, start, at)):
            put(to, piece(text, copied, start))
            copied = at
        at = next_digit(text, at)
    return put(to, rest(text, copied))


cdef inline bint is_in_word(int byte) noexcept nogil:
    """Return whether a byte is a letter, a digit or a part of a character beyond ASCII."""
    return is_letter(byte) or is_digit(byte) or byte >= 0x80


cdef Size next_digit(Text text, Size at) noexcept nogil:
    """Return the offset of the next digit from `at` on; the size of the text if there is none."""
    cdef uint64_t eight, digits
    while at < text.size:
        eight = load_eight(text, at)
        digits = (eight & 0x7F7F7F7F7F7F7F7Fu) + 0x46 * ONES  # above 0x7f from "9" + 1 on
        digits = ((eight & 0x7F7F7F7F7F7F7F7Fu) + 0x50 * ONES) & ~digits & ~eight & 0x8080808080808080u
        if digits:
            while not is_digit(byte_at(text, at)):
                at += 1
            return at
        at += 8
    return text.size


cdef bint is_random(Text word) noexcept nogil:
    """Return whether a word looks random: a long number, or two or more digits mixed with letters.

    The grams of such a word say nothing about other mail, and fill the counters. (1-AUC)%, learned from spamassassin,
    tested on phishing and mailing lists of today: 1.21 with random words and dates, 0.90 without.
    """
    cdef Size at, digits = 0, changes = 0
    for at in range(word.size):
        digits += is_digit(byte_at(word, at))
        changes += at > 0 and is_digit(byte_at(word, at)) != is_digit(byte_at(word, at - 1))
    return word.size >= MIN_RANDOM and (digits == word.size or (digits >= 2 and changes >= 2))


cdef int add_grams_of_texts(Features *features, Texts *texts) except -1 nogil:
    """Add grams (four neighbouring bytes) of the start of texts; if mostly spaces, with one space per gap."""
    cdef Writer start
    start_writer(&start, features.arena, 2 * GRAM_TEXT)
    put_joined(&start, texts, False)
    if 2 * count_byte(piece(written(&start), 0, GRAM_TEXT), 32) > GRAM_TEXT:
        start.size = 0
        put_joined(&start, texts, True)
    add_grams(features, piece(written(&start), 0, GRAM_TEXT), BODY)
    return 0


cdef int put_joined(Writer *to, Texts *texts, bint words_only) except -1 nogil:
    """Append texts, joined by spaces, up to about GRAM_TEXT bytes; `words_only`: make runs of spaces one."""
    cdef Size n, at
    cdef Text text
    for n in range(texts.count):
        text = texts.items[n]
        if n and not words_only:
            put_byte(to, 32)
        if words_only:
            for at in range(text.size):
                if byte_at(text, at) != 32:
                    if to.size and (byte_at(text, at - 1) == 32 or at == 0):
                        put_byte(to, 32)
                    put_byte(to, byte_at(text, at))
                if to.size >= GRAM_TEXT:
                    break
        else:
            put_without_random(to, piece(text, 0, GRAM_TEXT))
        if to.size >= GRAM_TEXT:
            break
    return 0


# For Python

cdef class Tokenizer:
    """Makes the features of messages by the settings of a model. Only one thread may use it at a time."""

    cdef Cutter cutter
    cdef readonly object settings
    cdef readonly object words

    def __cinit__(self, settings):
        self.settings = settings
        self.words = settings.words()
        start_rules(&self.cutter.words, self.words)
        self.cutter.has_headers = settings.headers
        self.cutter.has_grams = settings.grams

    def __dealloc__(self):
        free_rules(&self.cutter.words)

    def features(self, Message message, bint numbers=True, FeatureSet reuse=None):
        """Return a message's features, numeric ones only if `numbers`. `reuse`: an object to overwrite."""
        cdef FeatureSet found = reuse if reuse is not None else FeatureSet()
        found.message, found.known_texts, found.pair_numbers = message, None, None
        with nogil:
            make_features(&found.it, &self.cutter, &message.mail, numbers)
        return found


def word_tokens(str text, words=None) -> list:
    """Return the words of a text, then their n-grams. `words`: a model's rules, or None for the default."""
    cdef Cutting cutting = Cutting(words)
    cdef FeatureSet found = FeatureSet()
    cdef Text source
    cdef Tag tag = tag_of(nothing())
    found.it.arena, found.it.keeps_order = &cutting.arena, True
    text_of_str(&cutting.arena, text, &source)
    spaced(&cutting.rules, &cutting.arena, source, &source)
    add_words(&found.it, &tag, source, NO_LIMIT, BODY, cutting.rules.ngrams, False)
    return found.in_order()


def is_html(leaf) -> bool:
    """Return whether a part of a message is HTML."""
    if leaf.content is not None:
        return leaf.content.is_html
    return leaf.content_type in ("text/html", "application/xhtml+xml")


def pages_of(message) -> dict:
    """Return a dict that maps the id() of each HTML part of a message to the part's `RenderedPage`."""
    pages = [leaf for leaf in message.leaves if leaf.text and is_html(leaf)]
    return {id(leaf): render_page(leaf.text, MAX_WORK // len(pages)) for leaf in pages}
