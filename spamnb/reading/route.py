"""How a message came to the recipient's servers: submitted by one of their users, or from a network.

Each server writes its Received on top. So the first Received with the address of another machine says who
handed the message over; those below may be forged. In a Received, the client chooses its name, before " by ",
but nothing after the last " by ". If that name looks like an address elsewhere, the route is unclear.
"""

from __future__ import annotations

from ipaddress import ip_address

from spamnb.core.native import uncommented

SUBMITTED = "submitted"  # by a user of these servers: on the machine, or with a password
MAX_HOPS = 30
MAX_VALUE = 4000  # characters of a field
SEPARATORS = str.maketrans(dict.fromkeys("()[]<>=,;@\"'", " "))
WITHIN = frozenset("local lmtp lmtps".split())  # how a server hands mail to its own
WITH_PASSWORD = frozenset("asmtp esmtpa esmtpsa utf8smtpa utf8smtpsa lmtpa lmtpsa".split())


def route_of(received: list[str]) -> str:
    """Return the network that a message is from (`192.0.2.`), SUBMITTED if a user sent it, "" if unclear."""
    end = SUBMITTED if received else ""
    for value in received[:MAX_HOPS]:
        text = " ".join(value[:MAX_VALUE].lower().split())
        client, _, server = (" " + text).rpartition(" by ")
        words = [] if '"' in server else uncommented(server).split()
        protocol = words[words.index("with") + 1 :][:1] if "with" in words else []
        is_within = not WITHIN.isdisjoint(protocol)
        if not text.startswith("from "):  # from a queue of the same server to another, or by a client unnamed
            end = end if is_within or not protocol else ""
            continue
        if not WITH_PASSWORD.isdisjoint(protocol):
            return SUBMITTED
        networks = networks_in(client)
        others = networks - {""}
        if others or not (networks or is_within):
            return others.pop() if len(others) == 1 else ""
    return end


def networks_in(text: str) -> set[str]:
    """Return the networks (first three numbers) of all IP addresses in a text; "" means this machine."""
    found = set()
    for word in text.translate(SEPARATORS).split():
        try:
            address = ip_address(word.removeprefix("ipv6:"))
        except ValueError:
            continue
        sign = ":" if address.version == 6 else "."
        found.add("" if address.is_loopback else sign.join([*address.compressed.split(sign)[:3], ""]))
    return found
