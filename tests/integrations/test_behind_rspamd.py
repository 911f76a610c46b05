"""The real rspamd asks spamnb for a second opinion, by the settings of the page."""

import re
import subprocess

import pytest
from helpers.ports import free_ports
from helpers.programs import needs
from helpers.recipes import recipe
from helpers.serving import Serving, configured
from helpers.waiting import until

pytestmark = needs("rspamd", "rspamc")
# As little as rspamd starts with: one process that judges, and the module that asks others.
CONFIGURATION = """
options {{
  filters = ""; pidfile = "{folder}/pid"; tempdir = "{folder}"; url_tld = "{folder}/tld";
  dns {{ nameserver = ["127.0.0.1:1"]; }}
}}
logging {{ type = "console"; level = "error"; }}
worker "normal" {{ bind_socket = "127.0.0.1:{port}"; count = 1; }}
actions {{ reject = 15; add_header = 6; }}
lang_detection {{ languages_enabled = ["en"]; }}
modules {{ path = "/usr/share/rspamd/plugins/external_services.lua"; }}
external_services {{ {asked} }}
{groups}
"""


@pytest.fixture
def server(spamnb, tmp_path):
    style = recipe("behind-rspamd", "Settings", "toml")
    server = Serving(spamnb, tmp_path, env=configured(tmp_path, style))
    yield server
    server.end()


@pytest.fixture
def ask(server, tmp_path):
    """Have a message judged by rspamd; return what rspamc prints."""
    (port,) = free_ports(1)
    asked = recipe("behind-rspamd", "Settings", "external_services")
    groups = recipe("behind-rspamd", "Settings", "groups")
    (tmp_path / "tld").write_text("com\n")  # the whole list takes half a minute to read
    (tmp_path / "rspamd.conf").write_text(
        CONFIGURATION.format(
            folder=tmp_path, port=port, asked=asked.replace("127.0.0.1:7830", server.address), groups=groups
        )
    )
    command = ["rspamd", "--no-fork", "--insecure", "--config", tmp_path / "rspamd.conf"]

    def judged(raw):
        asking = ["rspamc", "-h", f"127.0.0.1:{port}", "symbols"]
        return subprocess.run(asking, input=raw, capture_output=True, check=False).stdout.decode()

    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as rspamd:
        try:
            until(lambda: "Metric: default" in judged(b"Subject: hello\n\nhello\n"))
            yield judged
        finally:
            rspamd.terminate()


def test_spam_is_marked_and_ham_is_not(ask, server, mail):
    spam, ham = ask(mail.messages["spam"]), ask(mail.messages["ham"])
    assert "Action: add header" in spam
    assert "Symbol: SPAMNB (7.00)" in spam
    assert "Action: no action" in ham
    assert "SPAMNB" not in ham
    server.end()
    assert re.search(r"Action: no action(.|\n)*SPAMNB_FAIL \(0.00\)", ask(mail.messages["unsure"]))
