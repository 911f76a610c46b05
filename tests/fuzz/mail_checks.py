"""What holds for any bytes of mail: each check takes some, and raises where it does not hold."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from email.policy import default
from email.utils import getaddresses
from unittest.mock import patch

from fuzz.attached import attached
from fuzz.common import new_folder
from helpers.passthrough import without_forged

from spamnb.bayes.verdict import Verdict
from spamnb.core.native import (
    MAX_ELEMENTS,
    MAX_LEAVES,
    MAX_TARGETS,
    MAX_TEXT_BYTES,
    MAX_TOKENS,
    MAX_WORK,
    BatchReader,
    FeatureSet,
    Mailbox,
    Message,
    MessageContext,
    Tokenizer,
    decode_transfer_encoding,
    found_text,
    hash_of_message,
    is_deleted,
    is_envelope,
    known_codecs,
    pages_of,
    read,
    read_head,
    render_page,
)
from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import chunks, messages
from spamnb.passthrough import STYLES, passed_through
from spamnb.reading.attachments import contents
from spamnb.reading.attachments.contents import MAX_ATTACHED_LINKS, MAX_ATTACHED_TEXT, Allowance
from spamnb.reading.dates import timestamp
from spamnb.reading.envelope import read_envelope, sole_address
from spamnb.reading.settings import Settings

VERDICT = Verdict("spam", 1.5, 0.9, {"ham": 0.1, "spam": 0.9}, [])
DEFLATED = 1032  # times as large is what is unpacked, at the most
STEP = 70_000  # letters or steps that one more table of a font may take
NEVER_IN_A_TOKEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
SETTINGS = [Settings(), Settings(ngrams=3, stem="english"), Settings(headers=False)]
# Used again for each message, with all that they keep of those before.
TOKENIZERS = [Tokenizer(settings) for settings in SETTINGS]
READERS = [BatchReader(settings) for settings in SETTINGS]
SPARE = Message(), FeatureSet()
BOX = new_folder() / "box"
NAMES = ["", *known_codecs()]


def message(data: bytes) -> None:
    """Any bytes are a message, within bounds, and it is the same one however its lines end."""
    message = read(data)
    assert len(message.leaves) <= 2 * MAX_LEAVES
    assert read_head(data).fields == message.fields
    for part in message.leaves:
        assert 0 <= part.size <= len(data)
        for text in (part.text or "", part.filename, part.charset, part.content_type):
            text.encode()  # nothing that cannot be written again
        for name, value in part.headers:
            assert name == name.lower()
            value.encode()
    when = timestamp(message.get("date") or "")
    assert when is None or isinstance(when, int)
    same = hash_of_message(message)
    if b"\r" not in data:
        assert hash_of_message(read(data.replace(b"\n", b"\r\n"))) == same
    # A bare carriage return ends a line only where no line feed does, so a header of ours may change what it
    # is; and behind a header two dashes begin a part, at the very start they begin a name.
    plain = b"\r" not in data.replace(b"\r\n", b"") and not data.startswith(b"--")
    unforged = without_forged(data, STYLES["spamnb"][0]) == data
    if message.has_headers and plain and unforged:
        assert hash_of_message(read(passed_through(data, VERDICT))) == same


def attachment(data: bytes) -> None:
    """The work for a file is in proportion to it and to what is unpacked of it, whatever it names twice."""
    with patch.object(contents, "MAX_UNPACKED_BYTES", 1 << 26):  # so that this limit hides no copies
        check_work(attached([data, data]))


def check_work(raw: bytes) -> None:
    """Check what was counted of a message: nothing is timed."""
    message = read(raw)
    size, full, left = len(message.data), Allowance(), message.allowance or Allowance()
    unpacked = full.unpacked - left.unpacked
    assert unpacked <= (DEFLATED if left.streams < full.streams else 1) * size
    assert full.work - left.work <= 1000 + 20 * (size + unpacked)
    assert min(left.unpacked, left.letters + STEP, left.work + STEP, left.pixels, left.searched) >= 0
    assert sum(len(part.content.links) for part in message.leaves if part.content) <= MAX_ATTACHED_LINKS
    text = sum(len(part.text or "") for part in message.leaves)
    assert text <= MAX_TEXT_BYTES + MAX_ATTACHED_TEXT
    pages = pages_of(message)
    steps = sum(page.work for page in pages.values())
    assert steps <= 20 * text + 110_000 * len(pages)
    assert steps <= MAX_WORK + 10 * text + 10_000 * len(pages)


def charset(data: bytes) -> None:
    """No body grows by being decoded; a known charset is found for any bytes under any declaration."""
    for encoding in ("", "base64", "quoted"):
        assert len(decode_transfer_encoding(data, encoding)[0]) <= len(data)
    declared = NAMES[data[0] % len(NAMES)] if data else ""
    for context in (None, MessageContext(data)):
        text, name, _ = found_text(data, declared, context)
        assert name in NAMES[1:]
        text.encode()
        assert found_text(data, declared, context)[1] == name


def words(data: bytes) -> None:
    """Tokens are bounded, fit to be shown, and the same whatever was read before, one by one or in bulk."""
    chosen = len(data) % len(SETTINGS)
    features = TOKENIZERS[chosen].features(read(data, SPARE[0]), reuse=SPARE[1])
    assert sum([times for _, times, _ in features.tokens]) <= MAX_TOKENS
    assert len(features.pairs) <= MAX_TOKENS
    tokens = [features.texts[number] for number, _, _ in features.tokens]
    assert all(tokens)
    assert all(times >= 1 for _, times, _ in features.tokens)
    assert NEVER_IN_A_TOKEN.isdisjoint(map(unicodedata.category, set("".join(tokens)))), tokens
    cold = Tokenizer(SETTINGS[chosen]).features(read(data))
    for name in ("tokens", "pairs", "grams", "texts", "numbers"):
        assert getattr(cold, name) == getattr(features, name), name
    READERS[chosen].add([b"x", data])
    rows = READERS[chosen].rows()
    assert rows.entries(1) == features.tokens + [(pair, 0, part) for pair, part in features.pairs]
    assert rows.grams(1) == features.grams


def markup(data: bytes) -> None:
    """A page is no more than was written; where it leads does not depend on its styles."""
    html = data.decode("utf-8", "replace")
    first = render_page(html)
    # A label stands in spaces, a tag makes a gap in both texts.
    assert len(first.text) + len(first.hidden) <= 4 * len(html)
    assert max(len(first.links), len(first.images)) <= MAX_TARGETS
    assert len(first.tags) <= MAX_ELEMENTS
    unstyled = render_page(html, 0)
    assert (unstyled.links, unstyled.images, unstyled.tags) == (first.links, first.images, first.tags)


def mailbox(data: bytes) -> None:
    """A file gives the same messages whole and in pieces; of a mailbox only deleted ones are left out."""
    BOX.write_bytes(data)
    whole = found(messages([str(BOX)]))
    assert whole == found(one for chunk in chunks([str(BOX)], size=64) for one in chunk.messages())
    if is_envelope(data):
        in_blocks = [data[at : at + 7] for at in range(0, len(data), 7)]
        cut = list(Mailbox([data]))
        assert cut == list(Mailbox(in_blocks))
        kept = [raw for raw in cut if raw and not is_deleted(raw)]
        assert kept == [raw for raw in whole if isinstance(raw, bytes)]


def found(items) -> list[bytes | tuple[str, str]]:
    return [(one.path, one.why) if isinstance(one, Unreadable) else one.data for one in items]


def address(data: bytes) -> None:
    """Who is trusted to be the sender is whom the standard library reads, too, and by its both parsers."""
    value = data.decode("latin-1").replace("\n", "")
    found = sole_address(value)
    if found:
        text = data.replace(b"\n", b"").decode("utf-8", "surrogateescape")
        assert [one.lower() for _, one in getaddresses([text])] == [found]
        with suppress(AttributeError, IndexError):  # it fails at some names, as at "."
            assert [one.addr_spec.lower() for one in default.header_factory("From", text).addresses] == [
                found
            ]
    envelope = read_envelope(b"From: " + data)
    again = sole_address(envelope.address.encode().decode("latin-1"))
    assert envelope.is_doubtful or envelope.address == again
