"""Report the state of a service to systemd, and its name to `ps`."""

import contextlib
import os
import socket

STDERR = 2


def notify(state: str) -> None:
    """Send the state of this process to systemd, if systemd asked for it."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(state.encode(), "\0" + address[1:] if address.startswith("@") else address)


def adds_time() -> bool:
    """Return whether standard error goes to systemd's journal, which adds the time to each line."""
    try:
        status = os.fstat(STDERR)
    except OSError:
        return False
    return os.environ.get("JOURNAL_STREAM") == f"{status.st_dev}:{status.st_ino}"


def name_process(name: str) -> None:
    """Set the name of this process that `ps -e` and `top` show, if the system supports that."""
    with contextlib.suppress(OSError), open("/proc/self/comm", "w") as file:
        file.write(name)
