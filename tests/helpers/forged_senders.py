"""Header blocks that forge the sender of a message."""

from spamnb.core.native import MAX_FIELDS, MAX_HEADER_BYTES

BOSS = "boss@allowed.example"
# By a program on the machine: nobody forges that from elsewhere.
SUBMITTED = b"Received: by mx.example.org (Postfix, from userid 1000)\n\tid 1; Mon, 16 Nov 2026 01:02:03\n"
FORGED_VALUES = [  # of one From
    *(f"x@evil.example (<{BOSS}>)", "<x@evil.example> =?utf-8?q?=3Cboss=40allowed.example=3E?="),
    *("=?utf-8?q?=3Cboss=40allowed.example=3E?= <x@evil.example>", f'"<{BOSS}>"@evil.example'),
    *(f'"{BOSS}"@evil.example', f'"{BOSS}" <x@evil.example>', f"{BOSS} <x@evil.example>"),
    *(f"<{BOSS}> <x@evil.example>", f"<x@evil.example> <{BOSS}>", f"x@evil.example, {BOSS}"),
    *(f'x@evil.example "{BOSS}', f"{BOSS}: x@evil.example;", f"friends: {BOSS};"),
    *(f"<@evil.example:{BOSS}>", f"<{BOSS}@evil.example>", f"<x@evil.example@{BOSS}>"),
    *("=?utf-8?q?boss?=@allowed.example", f"=?utf-8?q?=3Ca=40b=3E <{BOSS}>", "boss@[192.0.2.1]"),
    *("boss@allowed.example.", "boss@.allowed.example", f"x@evil.example\\<{BOSS}>"),
    *(f"x@evil.example)<{BOSS}>", f"x@evil.example\x00<{BOSS}>", f"x@evil.example\r<{BOSS}>"),
    *(f"x@evil.example;<{BOSS}>", "bo\u212aer@allowed.example", "", "boss", "@allowed.example", "boss@"),
]
FORGED_HEADS = [  # %s is the address, and it is not the only one
    *(b"From: %s\nFrom: x@evil.example\n\n.", b"From: x@evil.example\nFrom: %s\n\n."),
    *(b"From: %s\nfrom : x@evil.example\n\n.", b"From: %s\nno header\nFrom: x@evil.example\n\n."),
    b"From: %s\n" + b"A: b\n" * MAX_FIELDS + b"From: x@evil.example\n\n.",
    b"From: %s\nA: " + b"b" * (MAX_HEADER_BYTES - 32) + b"\nFrom: x@evil.example\n\n.",
    *(b"X: a\rFrom: x@evil.example\nFrom: %s\n\n.", b"From: %s\nX: a\rFrom: x@evil.example\n\n."),
    *(b"X: a\0From: x@evil.example\nFrom: %s\n\n.", b"From\n : x@evil.example\nFrom: %s\n\n."),
    b"Subject: x\n\nFrom: %s\n",
]
