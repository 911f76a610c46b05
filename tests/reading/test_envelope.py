"""Who a message is from and what it is about: as the standard library reads it, from one reading."""

from email import message_from_bytes
from email.policy import default

from hypothesis import given
from hypothesis import strategies as st

from spamnb.core.native import read
from spamnb.reading.envelope import envelope_of

WORD = st.text("abcxyzABC0189", min_size=1, max_size=8)
ADDRESS = st.builds("{}.{}@{}.example".format, WORD, WORD, WORD)
PHRASE = st.lists(WORD, min_size=1, max_size=9).map(" ".join)
FIELDS = st.fixed_dictionaries(
    {"From": st.builds("{} <{}>".format, PHRASE, ADDRESS) | ADDRESS},
    optional={
        "Subject": PHRASE,
        "Message-ID": ADDRESS.map("<{}>".format),
        "To": ADDRESS,
        "X-Note": PHRASE,
        "Received": PHRASE,
    },
)


@given(FIELDS, st.randoms(), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_well_formed_heads_are_read_as_the_standard_library_does(fields, random, newline, folded):
    names = [*fields]
    random.shuffle(names)
    fold = newline + " " if folded else " "
    head = newline.join(f"{name}:{fold}{fields[name].replace(' ', fold)}" for name in names)
    raw = (head + 2 * newline + "From: body@example.org" + newline).encode()
    known, found = message_from_bytes(raw, policy=default), envelope_of(read(raw))
    assert found.address == known["From"].addresses[0].addr_spec.lower()
    shown = [(known[name] or "").strip() for name in ("From", "Subject", "Message-ID")]
    assert [found.sender, found.subject, found.message_id] == shown
    assert not found.is_doubtful
