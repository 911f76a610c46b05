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
    """Return ports that no other test, in this or another process, gets before this process ends.

    They are below the ports that the system gives to any program: such a port could be taken meanwhile.
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
