"""The packets that a mail server sends to a milter, as bytes."""

import struct

ALL_ACTIONS, ALL_FLAGS = 0x1FF, 0x1FFFFF  # as Postfix offers


def packet(letter, content=b""):
    return struct.pack("!L", 1 + len(content)) + letter + content


def offer(version=6, actions=ALL_ACTIONS, flags=ALL_FLAGS):
    return packet(b"O", struct.pack("!LLL", version, actions, flags))


HELLO = (
    offer()
    + packet(b"D", b"Cj\0mx.example.org\0_\0client.example [192.0.2.1]\0")
    + packet(b"C", b"client.example\x004\0\x19192.0.2.1\0")
    + packet(b"H", b"client.example\0")
)
END = packet(b"E")
CONTINUE = packet(b"c")
AGREED = packet(b"O", struct.pack("!LLL", 6, 0x11, 0x1CB384))


def message(raw, end=END):
    """Return the packets by which Postfix sends a message: each header, then the body with CRLF line ends."""
    head, _, body = raw.partition(b"\n\n")
    headers = (line.partition(b":") for line in head.split(b"\n"))
    shown = b"".join(packet(b"L", name + b"\0" + value + b"\0") for name, _, value in headers)
    return shown + packet(b"N") + packet(b"B", body.replace(b"\n", b"\r\n")) + end
