"""Write docs/first-fifteen-minutes.md again: what a new user does, and each screen: `make film`.

Installs this commit by pipx as an ordinary user, then goes on where no server can be reached but a Dovecot,
which has the names and folders of two mail providers. Needs root and pipx.
"""

import base64
import email
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.policy import default
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import helpers.imap_servers
from helpers.homes import NOBODY, hand_over
from helpers.imap_accounts import places
from helpers.imap_mailbox import GMAIL, as_on_the_wire, digest
from helpers.imap_servers import DovecotImap
from helpers.logged_in import AS_THE_USER, LOGGED_IN
from helpers.paths import ROOT, SPAMASSASSIN, TESTS
from helpers.reviewing import Eyes, new_browser, served
from helpers.screens import ESCAPES, on_a_terminal
from helpers.waiting import until

from spamnb.mailboxes.skipped import Unreadable
from spamnb.mailboxes.sources import messages

PAGE, PICTURES = ROOT / "docs" / "first-fifteen-minutes.md", ROOT / "docs" / "first-fifteen-minutes"
INSTALL = "cd spamnb && pipx install '.[imap,review]'"
NAMES = "127.0.0.1 localhost imap.gmail.com imap.example.org\n"
ALONE = """
ip link set lo up
mount --bind "$0/hosts" /etc/hosts
echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start
exec "$@"
"""
DAY = 86400
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
WIDE = {"width": 1000, "height": 640, "deviceScaleFactor": 1, "mobile": False}


def install(folder: Path) -> None:
    """Install what is committed, as a user with its source in a folder does."""
    home = folder / "home"
    (home / "spamnb").mkdir(parents=True)
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "x", "-C", home / "spamnb"], input=packed, check=True)
    (folder / "hosts").write_text(NAMES)
    folder.chmod(0o755)
    hand_over(home)
    environment = {"HOME": str(home), "PATH": f"{home}/.local/bin:/usr/bin:/bin", "USE_EMOJI": "0"}
    command = [*AS_THE_USER, "sh", "-c", INSTALL]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    (folder / "installed").write_text(f"$ {INSTALL}\n{done.stdout}")


class Film:
    """One mailbox, its user, and the screens so far."""

    def __init__(self, folder: Path, name: str, address: str, server: DovecotImap) -> None:
        self.name, self.address, self.server = name, address, server
        self.home = folder / "home"
        self.screens: dict[str, str] = {}
        shutil.copy(server.ca, trusted := self.home / "ca.pem")
        environment = {"HOME": str(self.home), "XDG_RUNTIME_DIR": f"/run/user/{NOBODY}", "TERM": "xterm"}
        environment |= {"PATH": f"{self.home}/.local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "COLUMNS": "96"}
        environment |= {"SSL_CERT_FILE": str(trusted)}
        program = folder / "spamnb"
        program.write_text(f'#!/bin/sh\nexec {" ".join(AS_THE_USER)} {self.home}/.local/bin/spamnb "$@"\n')
        program.chmod(0o755)
        self.user: Any = SimpleNamespace(program=str(program), environment=environment)
        self.systemctl("set-environment", f"SSL_CERT_FILE={trusted}")

    def systemctl(self, *words: str) -> None:
        command = [*AS_THE_USER, "systemctl", "--user", *words]
        subprocess.run(command, env=self.user.environment, check=True)

    def type(self, screen: str, *words: str, answers: tuple[tuple[str, str], ...] = ()) -> None:
        """Run a command at a terminal, and keep what is seen."""
        seen, code = on_a_terminal(self.user, *words, answers=answers, COLUMNS="96")
        assert not code, seen
        lines = ESCAPES.sub("", seen).replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
        shown = [line.rstrip() for line in lines if "━" not in line]
        self.screens[screen] = "\n".join([f"$ spamnb {' '.join(words)}", *shown])

    def put(self, folder: str, mail: list[bytes], days: tuple[float, float], flags: str = "") -> None:
        """Put mail there that came within some days."""
        first, last = days
        with self.server.connect() as client:
            for number, raw in enumerate(mail):
                when = time.time() - DAY * (first - (first - last) * number / len(mail))
                client.append(folder, as_on_the_wire(raw), flags.split(), datetime.fromtimestamp(when, UTC))

    def set_up(self) -> None:
        asked = ["user name at the server", "IMAP server", "password come from?", "password (it"]
        asked += ["Keep judged mail", "Learn this", "from now on", "Judge mail in the background"]
        typed = [self.address, "", "", self.server.password, "", "", "y", ""]
        answers = tuple(zip(asked, typed, strict=True))
        self.type(f"{self.name}: setup", "imap", "setup", answers=answers)
        assert "written and started" in self.screens[f"{self.name}: setup"]

    def arrives(self, raw: bytes, folder: str) -> None:
        self.server.append("INBOX", raw)
        until(lambda: places(self.server).get(digest(raw)) == folder)


def photograph(eyes: Eyes, name: str, size: Mapping[str, object]) -> None:
    eyes.command("Emulation.setDeviceMetricsOverride", **size)
    taken = eyes.command("Page.captureScreenshot", format="webp", quality=40)
    PICTURES.mkdir(exist_ok=True)
    (PICTURES / f"{name}.webp").write_bytes(base64.b64decode(taken["data"]))


def mail(label: str) -> list[bytes]:
    read = messages([str(SPAMASSASSIN / f"{label}.mbox.xz")])
    found = [raw.data for raw in read if not isinstance(raw, Unreadable)]
    random.Random(5).shuffle(found)
    return found


def look(film: Film) -> None:
    """Look at the page and put a message right; then at the list that comes as mail."""
    browser = new_browser()
    try:
        eyes = Eyes(browser)
        with served(film.user) as page:
            eyes.command("Emulation.setDeviceMetricsOverride", **WIDE)
            eyes.open(page.address)
            eyes.wait(lambda: eyes.all(".rows > li"))
            photograph(eyes, "review", WIDE)
            photograph(eyes, "review-phone", PHONE)
            eyes.command("Emulation.setDeviceMetricsOverride", **WIDE)
            eyes.click(".rows .subject")
            eyes.wait(lambda: eyes.all(".sentence"))
            photograph(eyes, "why", WIDE)
            eyes.press("s")
            eyes.wait(lambda: eyes.all(".actions button[name=undo]"))
            photograph(eyes, "corrected", WIDE)
        film.type("gmail: digest", "imap", "digest")
        with film.server.opened("INBOX") as client:
            found = client.fetch(client.search(["SUBJECT", "went to"]), ["BODY.PEEK[]"])
        (raw,) = [one[b"BODY[]"] for one in found.values()]
        body = email.message_from_bytes(raw, policy=default).get_body(("html",))
        assert body
        eyes.open("data:text/html;base64," + base64.b64encode(body.get_content().encode()).decode())
        photograph(eyes, "digest-phone", PHONE)
    finally:
        browser.quit()


def take(folder: Path) -> dict[str, str]:
    screens = {"install": (folder / "installed").read_text()}
    ham, spam = mail("ham"), mail("spam")
    helpers.imap_servers.free_ports = lambda _count: (143, 993)
    with DovecotImap(folders=GMAIL) as server:
        film = Film(folder, "gmail", "me@gmail.com", server)
        film.put("[Gmail]/All Mail", [*ham[:640], *spam[300:312]], (300, 0), r"\Seen")
        film.put("[Gmail]/Spam", spam[:250], (30, 0))
        film.put("INBOX", ham[560:600], (30, 4), r"\Seen")
        film.put("INBOX", [*ham[600:640], *spam[300:312]], (3, 0))
        film.set_up()
        film.arrives(spam[400], "[Gmail]/Spam")
        film.arrives(ham[700], "INBOX")
        film.type("gmail: history", "history", "--top", "3")
        look(film)
        screens |= film.screens
        film.systemctl("disable", "--now", "spamnb-imap")
    for left in (film.home / ".config", film.home / ".local/state", film.home / ".local/share/spamnb"):
        shutil.rmtree(left, ignore_errors=True)
    with DovecotImap() as server:
        film = Film(folder, "plain", "me@example.org", server)
        film.put("INBOX", ham[1000:1310], (120, 4), r"\Seen")
        film.put("INBOX", [*ham[1310:1361], *spam[500:509]], (3, 0))
        film.put("Junk", spam[600:800], (30, 0))
        film.set_up()
        screens |= film.screens
    return {name: text.replace(str(film.home), "/home/me") for name, text in screens.items()}


def write(screens: dict[str, str]) -> None:
    """Put each screen into its place of the page."""

    def block(found: re.Match[str]) -> str:
        lines = "".join(f"    {line}".rstrip() + "\n" for line in screens[found[1]].splitlines())
        return f"<!-- screen: {found[1]} -->\n\n{lines}\n<!-- end of screen -->"

    pattern = r"<!-- screen: (.*?) -->.*?<!-- end of screen -->"
    PAGE.write_text(re.sub(pattern, block, PAGE.read_text(), flags=re.DOTALL))


if __name__ == "__main__":
    if sys.argv[1:]:
        write(take(Path(sys.argv[1])))
    else:
        with tempfile.TemporaryDirectory(prefix="film-", dir="/srv") as name:
            install(Path(name))
            alone = ["unshare", "--net", "--mount", "sh", "-ec", ALONE, name, *LOGGED_IN, sys.executable]
            environment = os.environ | {"HOME": f"{name}/home", "PYTHONPATH": str(TESTS)}
            subprocess.run([*alone, __file__, name], check=True, env=environment)
