"""Addresses: no password in one is ever shown, nor the query of one on the web."""

import http.server
from contextlib import contextmanager

import pytest
from helpers.web import served

from spamnb.errors import UsageError
from spamnb.files import model_file, refuse_password
from spamnb.mailboxes import sources

SECRET = "p4ssw0rd"


@pytest.mark.parametrize(
    "address",
    [
        f"s3://key:{SECRET}@bucket/ham",
        f"sftp://ann:{SECRET}@host:22/box",
        f"https://:{SECRET}@[::1]/box",
        f"zip://*.eml::sftp://ann:{SECRET}@host/box.zip",
        f"--ham=ftp://ann:a@{SECRET}@host/box",
    ],
)
def test_a_password_in_an_address_is_refused(address):
    for refuse in (refuse_password, model_file, lambda path: sources.check([path])):
        with pytest.raises(UsageError) as raised:
            refuse(address)
        assert SECRET not in str(raised.value)


COMMANDS = """
classify {}
classify --no-such {}
train {} {}
evaluate {} {}2
inspect {}
import {}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [*COMMANDS.strip().splitlines(), "train --model {}", "merge {} {}", "train --jobs {} a b"]
)
def test_no_command_shows_it(spamnb, command):
    address = f"s3://key:{SECRET}@bucket/ham"
    done = spamnb(*command.replace("{}", address).split())
    done.fails(64, "password")
    assert SECRET.encode() not in done.err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["classify {}", "train {} {}", "evaluate {} {}2"])
@pytest.mark.parametrize("found", [True, False])
def test_no_command_shows_a_query(spamnb, own, command, found):
    with host(b"Subject: hello\n\nhello\n" if found else b"") as web:
        words = command.replace("{}", f"{web}/one.eml?sig={SECRET}&at=12:30:00").split()
        done = spamnb(*words, env=spamnb.environment | {"SPAMNB_MODEL": own})
    assert done.out + done.err
    assert SECRET.encode() not in done.out + done.err


@contextmanager
def host(mail):
    """Address of a server that has one mail, or none."""

    class Answering(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if mail else 404)
            self.send_header("Content-Length", str(len(mail)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(mail)

        do_HEAD = do_GET  # noqa: N815  # names of http.server

        def log_message(self, *_):
            pass

    with served(Answering) as web:
        yield web
