"""Run a web server for a test."""

import http.server
import threading
from contextlib import contextmanager
from functools import partial


@contextmanager
def served(handler, **options):
    """Run a web server with a handler class of http.server; yield its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, **options))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
