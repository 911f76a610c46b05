"""Real IMAP servers on ports of this machine, each with the mailbox of one user.

with DovecotImap(without=("MOVE",)) as server:
    server.append("INBOX", raw, flags="$Junk", when=1_600_000_000)
    # ... what is tested, at server.host and server.port, as server.user with server.password
    assert [message.digest for message in server.contents()["Junk"]] == [digest(raw)]
"""

import shlex
import subprocess
import threading

from helpers.dovecots import VERSION, DovecotProcess, deliver
from helpers.imap_mailbox import FOLDERS, PASSWORD, USER, ImapMailbox
from helpers.ports import answers, free_ports
from helpers.token_checks import TokenChecks
from helpers.waiting import until


def serve(server):
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()


def stop(server):
    server.shutdown()
    server.server_close()


# A certificate of localhost, and the authority that signed it, which only these tests know.
CERTIFY = (
    "openssl req -config /dev/null -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
)
CERTIFICATES = (
    "-keyout ca.key -out ca.pem -subj /CN=tests -addext subjectKeyIdentifier=hash "
    "-addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign",
    "-CA ca.pem -CAkey ca.key -keyout server.key -out server.pem -subj /CN=localhost "
    "-addext subjectAltName=DNS:localhost,DNS:imap.gmail.com,DNS:imap.example.org,IP:127.0.0.1 "
    "-addext authorityKeyIdentifier=keyid",
)
# All that Dovecot offers after a login, so that some of it can be taken away.
CAPABILITIES = """
IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE SORT SORT=DISPLAY THREAD=REFERENCES THREAD=REFS
THREAD=ORDEREDSUBJECT MULTIAPPEND URL-PARTIAL CATENATE UNSELECT CHILDREN NAMESPACE UIDPLUS LIST-EXTENDED
I18NLEVEL=1 CONDSTORE QRESYNC ESEARCH ESORT SEARCHRES WITHIN CONTEXT=SEARCH LIST-STATUS BINARY MOVE
SNIPPET=FUZZY PREVIEW=FUZZY PREVIEW STATUS=SIZE SAVEDATE LITERAL+ NOTIFY SPECIAL-USE
"""
IMAP = """
listen = 127.0.0.1
auth_mechanisms = plain login xoauth2 oauthbearer
auth_failure_delay = 0
mail_max_userip_connections = 100
ssl = yes
service imap-login {{
  inet_listener imap {{
    port = {port}
  }}
  inet_listener imaps {{
    port = {tls_port}
    ssl = yes
  }}
}}
service anvil {{
  unix_listener anvil-auth-penalty {{
    mode = 0
  }}
}}
"""
OF_A_VERSION = {
    "2.3": """
ssl_cert = <{folder}/server.pem
ssl_key = <{folder}/server.key
mail_plugins = acl
plugin {{
  acl = vfile
}}
passdb {{
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = {folder}/oauth2.conf
}}
""",
    "2.4": """
ssl_server_cert_file = {folder}/server.pem
ssl_server_key_file = {folder}/server.key
mail_plugins {{
  acl = yes
}}
acl_driver = vfile
oauth2 {{
{oauth2}}}
""",
}
OAUTH2 = """introspection_url = {url}
introspection_mode = post
username_attribute = username
active_attribute = active
active_value = true
"""
# A part of the mailbox where no message fits in; moving there is refused too, as the rest has no such limit.
FULL = {
    "2.3": """
namespace full {{
  prefix = Full/
  separator = /
  location = maildir:~/Full
  mailbox Junk {{
    auto = create
  }}
}}
mail_plugins = acl quota
plugin {{
  quota = count:Full:ns=Full/
  quota_rule = *:bytes=1
  quota_grace = 0
  quota_vsizes = yes
}}
""",
    "2.4": """
namespace full {{
  prefix = Full/
  separator = /
  mail_path = ~/Full
  mailbox Junk {{
    auto = create
  }}
  quota Full {{
    storage_size = 1 B
    storage_grace = 0
  }}
}}
mail_plugins {{
  quota = yes
}}
""",
}


SIEVE = {
    "2.3": """
protocol lmtp {{
  mail_plugins = $mail_plugins sieve
}}
plugin {{
  sieve_before = {folder}/provider.sieve
}}
""",
    "2.4": """
protocol lmtp {{
  mail_plugins {{
    sieve = yes
  }}
}}
sieve_script provider {{
  type = before
  path = {folder}/provider.sieve
}}
""",
}


class DovecotImap(ImapMailbox, DovecotProcess):
    """Dovecot with two ports: `port`, without TLS or with STARTTLS, and `tls_port`.

    without      capabilities that the server does not announce
    full         if true, there is a folder Full/Junk that answers NO [OVERQUOTA]
    settings     more lines for dovecot.conf
    folders      pairs of a folder's name and its special use ("" for none)
    provider     a Sieve script that runs when `server.deliver(raw)` delivers mail
    below_inbox  if true, all folders are below `INBOX.`, as with Courier and Cyrus

    `ca` is the file of the certificate authority. OAuth 2 accepts the tokens in `tokens.good`.
    """

    def __init__(self, without=(), full=False, settings="", below_inbox=False, folders=FOLDERS, provider=""):
        ImapMailbox.__init__(self)
        if below_inbox:
            self.separator, self.prefix = ".", "INBOX."
            settings += "namespace inbox {\n  prefix = INBOX.\n  separator = .\n}\n"
        self.port, self.tls_port = free_ports(2)
        self.tokens = TokenChecks()
        oauth2 = OAUTH2.format(url=self.tokens.url)
        ours = IMAP + OF_A_VERSION[VERSION] + (FULL[VERSION] if full else "")
        names = {"folder": self.root / "dovecot", "port": self.port, "tls_port": self.tls_port}
        ours = ours.format(oauth2=oauth2, **names)
        for name, mark in folders:
            use = f"    auto = create\n    special_use = \\{mark}\n" if mark else "    auto = create\n"
            ours += f'namespace inbox {{\n  mailbox "{name}" {{\n{use}  }}\n}}\n'
        protocols = ("imap", "lmtp") if provider else ("imap",)
        if provider:
            ours += SIEVE[VERSION].format(**names)
        settings = ours + shown(without) + settings
        DovecotProcess.__init__(self, self.home_path, settings, PASSWORD, protocols)
        (self.folder / "provider.sieve").write_text(provider)
        self.ca = self.folder / "ca.pem"
        (self.folder / "oauth2.conf").write_text(oauth2)
        for what in CERTIFICATES:
            subprocess.run(shlex.split(CERTIFY + what), cwd=self.folder, check=True, capture_output=True)

    def __enter__(self):
        self.tokens.__enter__()
        self.start()
        until(lambda: answers(self.port), lambda: self.log)
        return self

    def __exit__(self, *_):
        DovecotProcess.__exit__(self)
        self.tokens.__exit__()
        self._temporary.cleanup()

    @property
    def log(self):
        return (self.folder / "log").read_text(errors="replace")

    def deliver(self, *messages):
        """Deliver messages by LMTP, as a mail provider does; its Sieve script may choose the folder."""
        for raw in messages:
            assert deliver(self.folder / "lmtp", raw, USER)

    def change_uidvalidity(self, folder):
        """Make the server forget the UIDs of a folder's messages; no client may be connected."""
        for pattern in ("dovecot-uidlist*", "dovecot.index*"):
            for file in self.path(folder).glob(pattern):
                file.unlink()


def shown(without):
    if not without:
        return ""
    if VERSION == "2.3":
        return f"imap_capability = {' '.join(name for name in CAPABILITIES.split() if name not in without)}\n"
    return "imap_capability {\n" + "".join(f"  {name} = no\n" for name in without) + "}\n"
