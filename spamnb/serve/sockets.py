"""Listening sockets, made here or by systemd; and giving up the rights of root."""

import contextlib
import ipaddress
import os
import socket
import stat
from collections.abc import Iterator

from spamnb.errors import CannotCreate, UsageError

BACKLOG = 1024  # clients that may wait to be accepted
LOCALHOST = "localhost"
FIRST_FROM_SYSTEMD = 3  # number of the first file handle that systemd passes on
HTTP = "http"  # FileDescriptorName= of sockets in systemd's settings


def listen(address: str, allow_network: bool = False) -> list[socket.socket]:
    """Listen at HOST:PORT, unix:PATH or PATH; return the sockets (for localhost, of IPv4 and of IPv6)."""
    try:
        if path := unix_path(address):
            return [_unix(path)]
        host, port = host_and_port(address)
        if host == LOCALHOST:
            return _tcp_both(port)
        if not allow_network and not is_loopback(host):  # there is no password
            raise UsageError(f"{address}: other machines can reach it; use localhost, or see --allow-network")
        return [_tcp(host, port) for host in addresses_of(host)]
    except OSError as error:
        hint = (
            "; only root and systemd can open ports below 1024" if isinstance(error, PermissionError) else ""
        )
        raise CannotCreate(f"cannot listen at {address}: {error.strerror}{hint}") from error


def unix_path(address: str) -> str | None:
    if address.startswith("unix:"):
        return address.removeprefix("unix:")
    return address if "/" in address else None


def host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (host and port.isascii() and port.isdigit() and int(port) < 1 << 16):
        raise UsageError(f"{address}: not an address to listen at; use HOST:PORT or unix:PATH")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a host: a loopback address, or the name localhost."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == LOCALHOST


def addresses_of(host: str) -> list[str]:
    """Look up the addresses of a host name."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def is_local(listener: socket.socket) -> bool:
    """Return whether only programs of this machine can connect to a socket."""
    return listener.family == socket.AF_UNIX or is_loopback(listener.getsockname()[0])


def _tcp_both(port: int) -> list[socket.socket]:
    """Listen at localhost for IPv4 and, if the machine has IPv6, also for IPv6, which spamc tries first."""
    listeners = [_tcp("127.0.0.1", port)]
    with contextlib.suppress(OSError):
        listeners.append(_tcp("::1", port))
    return listeners


def _tcp(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(BACKLOG)
    return listener


def _unix(path: str) -> socket.socket:
    """Listen at a path; every user with access to its folder may connect."""
    listener = socket.socket(socket.AF_UNIX)
    _remove_left_over(path)
    listener.bind(path)
    os.chmod(path, 0o666)  # noqa: S103
    listener.listen(BACKLOG)
    return listener


def _remove_left_over(path: str) -> None:
    """Remove the socket that an ended server left at a path; raise an error if a server or file is there."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise CannotCreate(f"cannot listen at {path}: a file has this name; use another path")
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(path)
            except ConnectionRefusedError:
                os.unlink(path)
                return
        raise CannotCreate(f"cannot listen at {path}: another server is listening; use another path")


def remove(listener: socket.socket) -> None:
    """If a socket is a Unix socket, remove its file."""
    if listener.family == socket.AF_UNIX:
        with contextlib.suppress(OSError):
            os.unlink(listener.getsockname())


def address_of(listener: socket.socket) -> str:
    """Return the address of a socket as it is written in options: HOST:PORT or unix:PATH."""
    address = listener.getsockname()
    if listener.family == socket.AF_UNIX:
        return f"unix:{os.fsdecode(address)}"
    return (
        f"[{address[0]}]:{address[1]}" if listener.family == socket.AF_INET6 else f"{address[0]}:{address[1]}"
    )


def from_systemd() -> Iterator[tuple[str, socket.socket]]:
    """Yield (name, socket) for each socket that systemd has opened for this process."""
    if os.environ.get("LISTEN_PID") != str(os.getpid()):
        return
    count = int(os.environ.get("LISTEN_FDS", "0"))
    names = os.environ.get("LISTEN_FDNAMES", "").split(":")
    for index in range(count):
        handle = FIRST_FROM_SYSTEMD + index
        os.set_inheritable(handle, False)
        yield names[index] if index < len(names) else "", socket.socket(fileno=handle)


def become_user(user: str) -> None:
    """Let this process, started by root, run as another user from now on."""
    import pwd

    try:
        entry = pwd.getpwnam(user)
    except KeyError:
        raise UsageError(f"--user {user}: there is no such user") from None
    try:
        os.initgroups(user, entry.pw_gid)
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)
        os.environ["HOME"] = entry.pw_dir
    except OSError as error:
        raise UsageError(f"--user {user}: {error.strerror}; only root can become another user") from error
