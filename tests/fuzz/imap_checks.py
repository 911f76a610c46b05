"""What holds for anything that an IMAP server may say."""

from __future__ import annotations

import io
from contextlib import suppress
from unittest.mock import patch

from imapclient.imap4 import IMAP4WithTimeout

from spamnb.core.native import hash_of_message, read
from spamnb.errors import SpamnbError
from spamnb.imap import connection as connections
from spamnb.imap.accounts import Account
from spamnb.imap.connection import MAX_UID, ImapConnection
from spamnb.imap.fetch import flags, heads, messages

ACCOUNT = Account("home", "localhost", "jane", tls="none", keyring=True)
SECRET = "wonderland-secret"
END = b"\0"  # of an answer
HEAD = b"From: a@b.example\r\nSubject: c\r\n\r\n"
SESSION = [
    b"* OK [CAPABILITY IMAP4rev1 UIDPLUS MOVE] ready\r\n",
    b"TAG OK [CAPABILITY IMAP4rev1 UIDPLUS MOVE] in\r\n",
    b"* CAPABILITY IMAP4rev1 UIDPLUS MOVE\r\nTAG OK done\r\n",
    b'* LIST (\\Junk) "/" {4}\r\nJunk\r\n* LIST () NIL "INBOX"\r\nTAG OK done\r\n',
    b"* 2 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n* OK [UIDNEXT 9] x\r\n* OK [PERMANENTFLAGS (\\*)] x\r\n"
    b"* OK [HIGHESTMODSEQ 7] x\r\nTAG OK [READ-WRITE] done\r\n",
    b"* SEARCH 3 8\r\nTAG OK done\r\n",
    b"* 1 FETCH (UID 3 BODY[HEADER]<0> {%d}\r\n%s)\r\nTAG OK done\r\n" % (len(HEAD), HEAD),
    b'* 1 FETCH (UID 3 BODY[] {%d}\r\n%s)\r\n* 2 FETCH (UID 8 BODY[]<0> "hello")\r\nTAG OK done\r\n'
    % (len(HEAD), HEAD),
    b"* OK [COPYUID 1 3,8 4:5] x\r\nTAG OK done\r\n",
    b"* 1 FETCH (UID 3 FLAGS (\\Seen $Junk))\r\nTAG NO [OVERQUOTA] LOGIN jane wonderland-secret\r\n",
]
SESSIONS = [END.join(SESSION), END.join([*SESSION[:5], b"* BYE\r\n"])]


class Talk(io.BytesIO):
    """A socket, and the file of it: each command is answered by the next answer."""

    def __init__(self, answers: list[bytes]):
        super().__init__(answers[0])
        self.answers = answers[1:]
        self.said = b""

    def sendall(self, data: bytes) -> None:
        self.said += data
        if self.answers and data.endswith(b"\r\n"):
            tag, self.said = self.said.partition(b" ")[0].strip(), b""
            at = self.tell()
            self.seek(0, io.SEEK_END)
            self.write(self.answers.pop(0).replace(b"TAG", tag))
            self.seek(at)

    recv = io.BytesIO.read

    def makefile(self, _mode: str) -> Talk:
        return self

    def settimeout(self, seconds: float) -> None:
        pass

    def shutdown(self, how: int) -> None:
        pass


def imap(data: bytes) -> None:
    """Nothing but our own errors, which do not repeat the password; numbers that can be."""
    talk = Talk(data.split(END))
    with (
        patch.object(IMAP4WithTimeout, "_create_socket", lambda *_: talk),
        patch.object(connections, "secret_of", lambda _: SECRET),
        ours(),
    ):
        connection = ImapConnection(ACCOUNT)
        with ours():
            connection.folders()
        with ours():
            assert 0 <= connection.open("INBOX").next_uid <= MAX_UID
        found = [3, 8]
        with ours():
            found = connection.search() or found
        assert all(0 <= uid <= MAX_UID for uid in found)
        with ours():
            assert {uid for uid, _ in heads(connection, found[:9])} <= set(found)
        with ours():
            hashes = {one.uid: hash_of_message(read(one.raw)) for one in messages(connection, found[:9])}
            assert hashes.keys() <= set(found)
        with ours():
            moved = connection.move(found[:9], "Junk")
            assert all(0 <= uid <= MAX_UID for uid in (*moved, *moved.values()))
        with ours():
            flags(connection, found[:9])


class ours(suppress):  # noqa: N801 (as the one it is)
    """Lets our own errors pass that keep a secret."""

    def __init__(self) -> None:
        super().__init__(SpamnbError)

    def __exit__(self, kind, error, trace):
        assert SECRET not in str(error)
        return super().__exit__(kind, error, trace)
