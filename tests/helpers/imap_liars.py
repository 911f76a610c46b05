"""An IMAP server with wrong answers, set by a test; it answers all other commands as servers usually do.

with LyingImap({"UID SEARCH": b"* SEARCH 18446744073709551616\r\nTAG OK done\r\n"}) as server:
    ...  # what is tested
assert server.sent < 1 << 20  # bytes that somebody took
"""

from __future__ import annotations

import socketserver
from collections.abc import Iterable
from contextlib import suppress

from helpers.imap_mailbox import HOST, USER
from helpers.imap_servers import serve, stop

HEAD = b"From: ann@example.org\r\nSubject: hello\r\n\r\n"
ANSWERS: dict[str, bytes | Iterable[bytes]] = {
    "": b"* OK [CAPABILITY IMAP4rev1 UIDPLUS MOVE] ready\r\n",
    "CAPABILITY": b"* CAPABILITY IMAP4rev1 UIDPLUS MOVE\r\nTAG OK done\r\n",
    "LIST": b'* LIST () "/" INBOX\r\n* LIST (\\Junk) "/" Junk\r\nTAG OK done\r\n',
    "SELECT": b"* 1 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n* OK [UIDNEXT 2] x\r\nTAG OK [READ-WRITE] done\r\n",
    "UID SEARCH": b"* SEARCH 1\r\nTAG OK done\r\n",
    "UID FETCH": b"* 1 FETCH (UID 1 BODY[HEADER]<0> {%d}\r\n%s)\r\nTAG OK done\r\n" % (len(HEAD), HEAD),
}


class LyingImap:
    """Serves IMAP clients. `answers` has an answer for each command; the one for "" is the greeting.

    An answer is bytes or an iterable of pieces. TAG in it becomes the command's tag, LINE the client's line.
    """

    user = USER

    def __init__(self, answers: dict[str, bytes | Iterable[bytes]], password: str = "wonderland-secret"):
        self.password = password
        self.answers = ANSWERS | {"EXAMINE": answers.get("SELECT", ANSWERS["SELECT"])} | answers
        self.sent = 0
        self.server = socketserver.ThreadingTCPServer((HOST, 0), self.serve_client)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    def __enter__(self):
        serve(self.server)
        return self

    def __exit__(self, *_):
        stop(self.server)

    def serve_client(self, connection, *_):
        with suppress(OSError), connection.makefile("rb") as lines:
            self.say(connection, "", b"", b"")
            while line := lines.readline():
                tag, _, command = line.strip().partition(b" ")
                name = next(
                    (name for name in self.answers if name and command.startswith(name.encode())), "x"
                )
                self.say(connection, name, tag, line.strip())

    def say(self, connection, name, tag, line):
        answer = self.answers.get(name, b"TAG OK done\r\n")
        for piece in [answer] if isinstance(answer, bytes) else answer:
            data = piece.replace(b"LINE", line).replace(b"TAG", tag)
            connection.sendall(data)
            self.sent += len(data)
            if data.startswith(b"* BYE"):
                raise ConnectionError("said goodbye")
