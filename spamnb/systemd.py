"""What systemd and an administrator want to know of a service."""

import contextlib
import os
import socket

STDERR = 2


def notify(state: str) -> None:
    """Send our state to systemd, if it wants to know."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(state.encode(), "\0" + address[1:] if address.startswith("@") else address)


def adds_time() -> bool:
    """Tell whether standard error goes to systemd's journal, which has the time of each line."""
    try:
        status = os.fstat(STDERR)
    except OSError:
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"


def name_process(name: str) -> None:
    """Set the name that `ps -e` and `top` show, where the system takes one."""
    with contextlib.suppress(OSError), open("/proc/self/comm", "w") as file:
        file.write(name)
