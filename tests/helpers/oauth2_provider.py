"""A provider of OAuth 2 on a port of this machine, as much of it as a device flow needs (RFC 8628).

with Provider() as provider:
    # ... a client asks provider.url + "device"; a person enters the code on the page:
    provider.enter(code)
"""

import base64
import http.server
import json
import secrets
import ssl
import threading
import time
import urllib.parse
from dataclasses import dataclass, field

from helpers.imap_mailbox import HOST, USER

CLIENT, SCOPE = "spamnb-of-the-tests", "imap offline_access"
MAIL_SERVER, ITS_SECRET = "dovecot", "of-the-mail-server"  # may ask which tokens are good
MAY_ASK = "Basic " + base64.b64encode(f"{MAIL_SERVER}:{ITS_SECRET}".encode()).decode()
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass
class Token:
    """An access token, and the refresh token that came with it."""

    access: str = field(default_factory=secrets.token_hex)
    refresh: str = field(default_factory=secrets.token_hex)
    is_over: bool = False  # the access token
    is_used: bool = False  # the refresh token


class Refused(Exception):
    """An error that RFC 6749 or 8628 names."""


class Provider:
    """What it knows; a refresh token is good for one use.

    `lifetime` is what it says of access tokens, in seconds; `answered` has the form and the status of each
    request; `slow` says how often it asks a client to slow down; `before` and `after` are called with forms.
    """

    def __init__(self, certificate=None):
        self.reset()
        self.server = http.server.ThreadingHTTPServer((HOST, 0), self.handler())
        self.server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        scheme, name = ("https", "localhost") if certificate else ("http", HOST)
        self.place = f"{name}:{self.server.server_port}"
        self.url = f"{scheme}://{self.place}/"

    def reset(self):
        self.lifetime, self.expires_in, self.slow = 3600, 1800, 0
        self.before = self.after = lambda _: None
        self.devices, self.verdicts, self.tokens, self.answered = {}, {}, [], []

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def table(self):
        """What imap.toml says of it."""
        urls = {"device_url": self.url + "device", "token_url": self.url + "token"}
        return urls | {"client_id": CLIENT, "scope": SCOPE}

    @property
    def introspection(self):
        return f"http://{MAIL_SERVER}:{ITS_SECRET}@{self.place}/introspect"

    def enter(self, code, verdict="allow"):
        """Do what a person does on the page."""
        self.verdicts[code] = verdict

    def answer(self, path, form):
        if path == "/introspect":
            is_good = any(token.access == form["token"] and not token.is_over for token in self.tokens)
            return {"active": is_good} | ({"username": USER} if is_good else {})
        if form.get("client_id") != CLIENT:
            raise Refused("invalid_client")
        if path == "/device":
            code, shown = secrets.token_hex(), secrets.token_hex(4).upper()
            self.devices[code] = {"user_code": shown, "expires_at": time.time() + self.expires_in}
            about = {"device_code": code, "user_code": shown, "verification_uri": self.url + "page"}
            return about | {"expires_in": self.expires_in, "interval": 0}
        if form["grant_type"] == DEVICE:
            self.check(self.devices[form["device_code"]])
        else:
            self.use(form["refresh_token"])
        self.tokens.append(token := Token())
        given = {"access_token": token.access, "refresh_token": token.refresh, "token_type": "Bearer"}
        return given | {"expires_in": self.lifetime, "scope": SCOPE}

    def check(self, device):
        """Whether a person has let a device in."""
        if device["expires_at"] < time.time():
            raise Refused("expired_token")
        if verdict := self.verdicts.get(device["user_code"]):
            if verdict != "allow":
                raise Refused("access_denied")
            return
        self.slow -= 1
        raise Refused("slow_down" if self.slow >= 0 else "authorization_pending")

    def use(self, refresh):
        for token in self.tokens:
            if token.refresh == refresh and not token.is_used:
                token.is_used = True
                return
        raise Refused("invalid_grant")

    def handler(provider):  # noqa: N805
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                form = dict(urllib.parse.parse_qsl(text))
                try:
                    provider.before(form)
                    assert self.path != "/introspect" or self.headers["Authorization"] == MAY_ASK
                    status, answer = 200, provider.answer(self.path, form)
                except Refused as error:
                    status, answer = 400, {"error": str(error)}
                except Exception as error:  # of a test that wants one: `flask.abort`
                    status, answer = getattr(error, "code", 500), {}
                provider.answered.append((form, status))
                provider.after(form)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *_):
                pass

        return Handler
