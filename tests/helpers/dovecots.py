"""Run a Dovecot for a test, as an ordinary user, with all its files and sockets in one folder."""

import grp
import imaplib
import os
import pwd
import re
import shutil
import signal
import smtplib
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from helpers.homes import AS_A_USER, NOBODY, hand_over
from helpers.ports import free_ports
from helpers.recipes import recipe
from helpers.waiting import PATIENCE

UID, GID = (NOBODY, NOBODY) if os.getuid() == 0 else (os.getuid(), os.getgid())

# What any Dovecot has, before the page.
BASE = """
log_path = {folder}/log
base_dir = {folder}/run
state_dir = {folder}/run
protocols = {protocols}
ssl = no
default_internal_user = {user}
default_internal_group = {group}
default_login_user = {user}
first_valid_uid = 1
lmtp_add_received_header = no
namespace inbox {{
  inbox = yes
  separator = /
}}
service anvil {{
  chroot =
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = 0
  }}
  unix_listener {folder}/imap {{
  }}
}}
service lmtp {{
  unix_listener {folder}/lmtp {{
  }}
}}
"""
USERS = {
    "2.3": """
mail_location = maildir:~/Maildir
passdb {{
  driver = static
  args = password={password}
}}
userdb {{
  driver = static
  args = uid={user} gid={group} home={home}
}}
""",
    "2.4": """
mail_driver = maildir
mail_path = ~/Maildir
passdb static {{
  password = {password}
}}
userdb static {{
  fields {{
    uid = {user}
    gid = {group}
    home = {home}
  }}
}}
""",
}
HEAD = {"2.3": "", "2.4": "dovecot_config_version = 2.4.0\ndovecot_storage_version = 2.4.0\n"}
# Also where a user's PATH does not lead.
DOVECOT = shutil.which("dovecot") or ""
VERSION = DOVECOT and subprocess.run([DOVECOT, "--version"], capture_output=True, text=True).stdout[:3]

LISTENER = """
service imap-login {{
  inet_listener imap {{
    address = 127.0.0.1
    port = {}
  }}
}}
"""


class DovecotProcess:
    """A process of Dovecot, for the mail of the home folder `home`; its own folder is beside that."""

    process = None

    def __init__(self, home, settings, password="any", protocols=("imap",)):
        self.protocols = protocols
        self.home_path = home
        self.folder = home.parent / "dovecot"
        self.config = self.folder / "dovecot.conf"
        (self.folder / "run").mkdir(parents=True)
        names = {"user": pwd.getpwuid(UID).pw_name, "group": grp.getgrgid(GID).gr_name, "password": password}
        names |= {"protocols": " ".join(protocols)}
        base = (HEAD[VERSION] + BASE + USERS[VERSION]).format(folder=self.folder, home=home, **names)
        self.config.write_text(base + settings)

    def start(self, on=(), seconds=PATIENCE):
        (log := self.folder / "log").touch()
        hand_over(self.home_path)
        hand_over(self.folder)
        command = [*on, *AS_A_USER, DOVECOT, "-F", "-c", self.config]
        with log.open("ab") as file:
            self.process = subprocess.Popen(command, start_new_session=True, stderr=file)
        deadline = time.monotonic() + seconds
        while not all((self.folder / name).exists() for name in self.protocols):
            waits = self.process.poll() is None and time.monotonic() < deadline
            assert waits, log.read_text()
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Kill Dovecot and all its processes: if it is only asked to end, that takes more than a second."""
        if self.process:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Dovecot(DovecotProcess):
    """A Dovecot set up as a page says; /etc/dovecot and /usr/local are replaced by folders of the test."""

    def __init__(self, home):
        settings = f"!include {home.path.parent}/dovecot/etc/dovecot/conf.d/*.conf\n"
        super().__init__(home.path, settings, protocols=("imap", "lmtp"))
        self.home = home
        (self.folder / "etc/dovecot/conf.d").mkdir(parents=True)

    def moved(self, text):
        text = text.replace("/etc/dovecot", f"{self.folder}/etc/dovecot")
        return text.replace("/usr/local", str(self.folder))

    def set_up(self, page, heading, name):
        self.write(f"/etc/dovecot/conf.d/{name}", recipe(page, heading, f"dovecot-{VERSION}"))

    def write(self, path, text):
        Path(self.moved(path)).write_text(self.moved(text))

    def listen(self):
        """Let Dovecot listen at a port, too, besides its sockets; call this before `start`."""
        (self.port,) = free_ports(1)
        self.write("/etc/dovecot/conf.d/99-port.conf", LISTENER.format(self.port))

    def shell(self, lines):
        """Run shell commands from a page, with the paths and the sievec of this Dovecot."""
        said = f'sievec() {{ command sievec -c {self.config} "$@"; }}\n'
        self.home.run("sh", "-ec", said + self.moved(lines))

    def deliver(self, raw, to="bob"):
        return deliver(self.folder / "lmtp", raw, to)

    def imap(self, user="bob"):
        connection = UnixIMAP(str(self.folder / "imap"))
        connection.login(user, "any")
        return connection


def deliver(path, raw, to):
    """Deliver a message by LMTP, with CRLF at line ends; return False if it must be sent again later."""
    with smtplib.LMTP(str(path), timeout=PATIENCE) as lmtp:
        try:
            lmtp.sendmail("ann@example.org", [to], re.sub(rb"\r?\n", b"\r\n", raw))
        except smtplib.SMTPServerDisconnected:
            return False
        except smtplib.SMTPResponseException as answer:
            if answer.smtp_code // 100 == 4:
                return False
            raise
    return True


def move_it(imap, source, target):
    """Move the only message of `source` to `target`, as a mail reader does; check that it was moved."""
    assert imap.select(source) == ("OK", [b"1"])
    assert imap.uid("MOVE", "1:*", target)[0] == "OK"
    assert imap.select(source) == ("OK", [b"0"])
    assert imap.select(target) == ("OK", [b"1"])


class UnixIMAP(imaplib.IMAP4):
    """An IMAP connection over a Unix socket, so that no port is needed."""

    def _create_socket(self, timeout):
        """Connect, again and again: Dovecot creates the socket's file a moment before it listens."""
        deadline = time.monotonic() + PATIENCE
        while True:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(timeout)
            try:
                connection.connect(self.host)
                return connection
            except ConnectionRefusedError:
                connection.close()
                assert time.monotonic() < deadline
                time.sleep(0.02)
