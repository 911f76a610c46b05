"""A web server that tells a mail server whether a token of OAuth 2 is valid (RFC 7662)."""

import base64
import http.server
import json
import threading
import urllib.parse

from helpers.imap_mailbox import HOST, USER

MAIL_SERVER, ITS_SECRET = "dovecot", "of-the-mail-server"
MAY_ASK = "Basic " + base64.b64encode(f"{MAIL_SERVER}:{ITS_SECRET}".encode()).decode()


class TokenChecks:
    """The web server; `good` has the valid tokens of the only user."""

    def __init__(self):
        self.good = set()
        self.server = http.server.ThreadingHTTPServer((HOST, 0), self.handler())
        self.server.daemon_threads = True
        self.url = f"http://{MAIL_SERVER}:{ITS_SECRET}@{HOST}:{self.server.server_port}/introspect"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def handler(checks):  # noqa: N805
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                is_good = self.headers["Authorization"] == MAY_ASK and form["token"][0] in checks.good
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                answer = {"active": is_good} | ({"username": USER} if is_good else {})
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *_):
                pass

        return Handler
