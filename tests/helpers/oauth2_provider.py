"""A provider of OAuth 2 that a mail server asks which tokens are good.

with Provider() as provider:
    provider.tokens.add("a token that is good")
"""

import http.server
import json
import threading
import urllib.parse

from helpers.imap_mailbox import HOST, USER


class Provider:
    def __init__(self):
        self.tokens = set()
        self.server = http.server.ThreadingHTTPServer((HOST, 0), self.handler())
        self.server.daemon_threads = True
        self.introspection = f"http://{HOST}:{self.server.server_port}/introspect"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def handler(provider):  # noqa: N805
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                is_good = dict(urllib.parse.parse_qsl(text))["token"] in provider.tokens
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                answer = {"active": is_good} | ({"username": USER} if is_good else {})
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, *_):
                pass

        return Handler
