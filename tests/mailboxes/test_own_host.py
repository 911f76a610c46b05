"""Addresses: no password in one is ever shown, and no other host is asked than the one that is named."""

import http.server
import threading
from contextlib import contextmanager

import pytest

from spamnb.errors import UsageError
from spamnb.files import refuse_password, without_queries
from spamnb.mailboxes import sources

SECRET = "p4ssw0rd"


@pytest.mark.parametrize(
    "address",
    [
        f"s3://key:{SECRET}@bucket/ham",
        f"s3://key:{SECRET}/and/more@bucket/ham",
        f"sftp://ann:{SECRET}@host:22/box",
        f"https://ann:{SECRET}@host/box?a@b",
        f"https://:{SECRET}@[::1]/box",
        f"zip://*.eml::sftp://ann:{SECRET}@host/box.zip",
        f"--ham=ftp://ann:a@{SECRET}@host/box",
    ],
)
def test_a_password_in_an_address_is_refused(address):
    for refused in (refuse_password, sources.store_for):
        with pytest.raises(UsageError) as raised:
            refused(address)
        assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    "address",
    [
        *(
            "s3://bucket/a:b@c",
            "sftp://ann@host:22/box",
            "https://host:8080/box?a:b@c",
            "http://[::1]:80/box",
        ),
        *("s3://arn:aws:s3:eu-west-1:1:accesspoint/mail/box", "zip://folder::s3://bucket/mail.zip", "a:b@c"),
        *("simplecache::s3://bucket/folder", "file:///home/ann:x@y", "tcp://127.0.0.1:8786", "box.mbox:3"),
    ],
)
def test_other_addresses_are_not(address):
    refuse_password(address)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        *(["classify", "{}"], ["classify", "-p", "{}"], ["train", "--ham", "{}"], ["train", "{}", "{}"]),
        *(
            ["evaluate", "{}", "{}"],
            ["inspect", "{}"],
            ["import", "{}"],
            ["review", "{}"],
            ["merge", "{}", "{}"],
        ),
        *(
            ["train", "--model", "{}"],
            ["train", "--cluster", "{}", "a", "b"],
            ["classify", "--no-such", "{}"],
        ),
    ],
)
def test_no_command_shows_it(spamnb, command):
    address = f"s3://key:{SECRET}@bucket/ham"
    done = spamnb(*[part.format(address) for part in command])
    done.fails(64, "password")
    assert SECRET.encode() not in done.err


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://host/box?sig=p4ssw0rd&t=12:30:00Z&u=p4ssw0rd", "https://host/box"),
        ("https://host/box?t=12:30&sig=p4ssw0rd: 404 not found", "https://host/box: 404 not found"),
        ("https://host/box?sig=p4ssw0rd:3", "https://host/box:3"),
        ("zip://*.eml::https://host/a.zip?sig=p4ssw0rd", "zip://*.eml::https://host/a.zip"),
        ("url='http://host/?p4ssw0rd', again http://b/?a", "url='http://host/', again http://b/"),
        ("s3://bucket/2026-??/box: no such file?", "s3://bucket/2026-??/box: no such file?"),
    ],
)
def test_a_query_is_left_out(text, shown):
    assert without_queries(text) == shown


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        *(
            ["classify", "{}"],
            ["classify", "--json", "{}", "{}2"],
            ["classify", "-p", "{}"],
            ["inspect", "{}"],
        ),
        *(["train", "--model", "m", "--spam", "{}"], ["train", "--model", "m", "{}", "{}"], ["import", "{}"]),
        *(["evaluate", "{}", "{}2"], ["classify", "--no-such", "{}"], ["train", "--model", "{}"]),
    ],
)
@pytest.mark.parametrize("found", [True, False])
def test_no_command_shows_a_query(spamnb, tmp_path, command, found):
    with host(mail=b"Subject: hello\n\nhello\n" if found else b"") as server:
        address = f"http://127.0.0.1:{server.server_port}/one.eml?sig={SECRET}&at=12:30:00"
        done = spamnb(*[tmp_path / part if part == "m" else part.format(address) for part in command])
    assert done.out + done.err
    assert SECRET.encode() not in done.out + done.err


class Host(http.server.ThreadingHTTPServer):
    def __init__(self, target, mail):
        super().__init__(("127.0.0.1", 0), Elsewhere)
        self.asked: list[str] = []
        self.target = target
        self.mail = mail


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """Sends everybody to where its host says, if it says so, and notes who came."""

    server: "Host"

    def do_GET(self):
        self.server.asked.append(self.path)
        target = self.server.target
        self.send_response(302 if target else 200 if self.server.mail else 404)
        self.send_header("Content-Length", str(len(self.server.mail)))
        if target:
            self.send_header("Location", target)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(self.server.mail)

    def do_HEAD(self):
        self.do_GET()

    def do_PUT(self):
        self.do_GET()

    def log_message(self, *_):
        pass


@contextmanager
def host(target="", mail=b""):
    server = Host(target, mail)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()


@pytest.mark.slow
def test_a_web_server_sends_nobody_to_another_host(spamnb, tmp_path):
    with host() as other, host(f"http://localhost:{other.server_port}/secret?key=1") as first:
        done = spamnb(
            "train", "--model", tmp_path / "m", "--ham", f"http://127.0.0.1:{first.server_port}/box"
        )
        done.fails(66, "another host: http://localhost")
    assert first.asked
    assert other.asked == []


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [False, True])
def test_a_metadata_service_is_asked_only_if_wanted(spamnb, tmp_path, wanted):
    pytest.importorskip("s3fs")
    with host() as metadata, host() as bucket:
        names = {"HOME": str(tmp_path), "NO_PROXY": "127.0.0.1", "AWS_DEFAULT_REGION": "us-east-1"}
        names["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = f"http://127.0.0.1:{metadata.server_port}/"
        names["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{bucket.server_port}"
        names |= {"AWS_EC2_METADATA_DISABLED": "false"} if wanted else {}
        environment = {name: spamnb.environment[name] for name in spamnb.environment if name[:4] != "AWS_"}
        done = spamnb("train", "--model", tmp_path / "m", "--ham", "s3://mail/box", env=environment | names)
    assert done.code == 66
    assert bool(metadata.asked) == wanted
