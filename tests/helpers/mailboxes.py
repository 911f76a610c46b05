"""Mailboxes to read, and what is found in them when other processes read them."""

import pickle

from hypothesis import strategies as st

from spamnb.mailboxes.chunks import RawMessage

ENVELOPE = b"From ann@example.org Sun Nov 15 01:02:03 2026\n"


def mail(n, lines=1):
    return b"Subject: %d\n\n" % n + b"some text\n" * lines


def box(numbers, lines=1):
    return b"".join(ENVELOPE + mail(n, lines) + b"\n" for n in numbers)


def put(path, data=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(mail(1) if data is None else data)
    return str(path)


def maildir(path):
    for name in ("cur", "new", "tmp"):
        (path / name).mkdir(parents=True)
    return path


def written(messages, eol=b"\n"):
    """Return a mailbox with these messages in the format mboxrd."""
    return b"".join(ENVELOPE.replace(b"\n", eol) + quoted(message, eol) + eol for message in messages)


def quoted(message, eol):
    lines = message.split(eol)
    return eol.join(b">" + line if line.lstrip(b">").startswith(b"From ") else line for line in lines)


INNER = b"forwarded:\n\n" + ENVELOPE + b"Subject: inner\n\ninner\n>From the author\n"
MIXED = b"\n".join(
    [
        written([b"A: b\n\ntext\n", b"C: d\n\n\n\n>From x\n", b"", b"E: f\n"]),
        b"Content-Length: 4\n\n" + ENVELOPE + b"X: y\n",
        ENVELOPE + b"Content-Length: %d\n\n" % len(INNER) + INNER,
        written([b"A: b\r\n\r\ntext\r\n\r\n", b"no line end"], b"\r\n"),
        ENVELOPE + b"X" * 90 + b"\n\nFrom me to you\n\nFrom ",
    ]
)


LINES = st.sampled_from(
    [*b"|From x|>From x|>>From x|a|A: b|\xff\0".split(b"|"), ENVELOPE.strip(), b">" + ENVELOPE.strip()]
)


def elsewhere(chunk):
    """Return the messages of a chunk as from another process: chunk and messages are pickled on the way."""
    return pickle.loads(pickle.dumps(list(pickle.loads(pickle.dumps(chunk)).messages())))


def described(item):
    return (item.path, item.index, item.data) if isinstance(item, RawMessage) else (item.path, item.why)


def together(chunks):
    """Return what `elsewhere` finds in all chunks, as one list."""
    return [described(item) for chunk in chunks for item in elsewhere(chunk)]
