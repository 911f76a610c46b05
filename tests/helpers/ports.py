"""Ports for servers that cannot choose one for themselves."""

import socket

TAKEN: dict = {}  # ports, and the names that keep others from them: bound in the network that has the ports


def answers(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


def free_ports(count):
    """Ports that no other test takes, in this process or another, until this process ends.

    None of those the system gives to whoever wants any: one might be taken before Postfix comes.
    """
    found = []
    for port in range(10_000, 30_000):
        if port not in TAKEN and not answers(port):
            mark = socket.socket(socket.AF_UNIX)
            try:
                mark.bind(f"\0spamnb-test-port-{port}")
            except OSError:
                mark.close()
                continue
            TAKEN[port] = mark
            found.append(port)
            if len(found) == count:
                return found
    raise AssertionError("no port is free")
