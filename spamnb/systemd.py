"""What systemd wants to know of a service."""

import contextlib
import os
import socket


def notify(state: str) -> None:
    """Send our state to systemd, if it wants to know."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(state.encode(), "\0" + address[1:] if address.startswith("@") else address)
