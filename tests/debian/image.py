"""Build the image of the Containerfile, and use it as compose.yaml does: make image-test.

Needs root, podman, debootstrap, Dovecot, spamc and some minutes. Its base is made here by debootstrap, as
Debian's own image is: no registry is asked. All that podman keeps is in a folder of the test.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from debian.fresh_root import a_message, bare, output
from helpers.imap_mailbox import digest
from helpers.imap_servers import DovecotImap
from helpers.paths import ROOT, SPAMASSASSIN
from helpers.ports import free_ports
from helpers.waiting import until

IMAGE = "localhost/spamnb"
# Where podman itself is confined it cannot raise limits, and crun wants one kind of cgroups.
CONTAINERS = """
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
runtime = "{runtime}"
tmp_dir = "{folder}/tmp"
[network]
network_config_dir = "{folder}/networks"
"""
STORAGE = """
[storage]
driver = "overlay"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
"""
ACCOUNT = """
[account.home]
host = "127.0.0.1"
port = {port}
tls = "none"
user = "{user}"
password_file = "/run/secrets/imap-password"
action = "move"
"""


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="spamnb-image-"))
    services = Services(folder)
    try:
        services.build()
        services.start()
        services.watch_imap()
    finally:
        services.compose("--profile", "imap", "down", "--volumes")
        services.podman("rmi", "--all", "--force")
        shutil.rmtree(folder)
    print("all is well")


class Services:
    """The services of compose.yaml, at ports of the test."""

    def __init__(self, folder: Path) -> None:
        runtime = "runc" if shutil.which("runc") else "crun"
        self.environment = dict(os.environ)
        for name, text in (("CONTAINERS_CONF", CONTAINERS), ("CONTAINERS_STORAGE_CONF", STORAGE)):
            self.environment[name] = str(folder / name)
            (folder / name).write_text(text.format(folder=folder, runtime=runtime))
        self.folder = folder
        self.port, page = free_ports(2)
        text = (ROOT / "compose.yaml").read_text()
        text = text.replace("127.0.0.1:7830:", f"127.0.0.1:{self.port}:").replace("7833", str(page))
        # The test's IMAP server is on this machine: it is reached there without TLS.
        text = text.replace("profiles: [imap]", "profiles: [imap]\n    network_mode: host")
        (folder / "compose.yaml").write_text(text)

    def podman(self, *words: str) -> str:
        return output(["podman", *words], environment=self.environment)

    def compose(self, *words: str) -> str:
        command = [sys.executable, "-m", "podman_compose", "-f", str(self.folder / "compose.yaml")]
        return output([*command, "--project-name", "spamnb-test", *words], environment=self.environment)

    def build(self) -> None:
        """As the Containerfile says, with the certificates by which pip reaches PyPI from here."""
        self.podman("import", str(bare()), "localhost/base")
        (self.folder / "pip.conf").write_text("[global]\ncert = /run/here.crt\n")
        mounted = [
            f"--volume={self.folder}/pip.conf:/etc/pip.conf:ro",
            "--volume=/etc/ssl/certs/ca-certificates.crt:/run/here.crt:ro",
        ]
        print("podman build", flush=True)
        base = ["--build-arg=BASE=localhost/base", "--network=host"]
        self.podman("build", "--quiet", *base, *mounted, f"--tag={IMAGE}", str(ROOT))
        about = json.loads(self.podman("image", "inspect", IMAGE))[0]
        assert about["Config"]["User"] not in ("", "root", "0"), about["Config"]
        version = self.podman("run", "--rm", "--network=none", "--read-only", IMAGE, "--version").strip()
        print(f"{version}, {about['Size'] / 1e6:.0f} MB")

    def start(self) -> None:
        """Train, start the server and the page, and ask both."""
        mail = f"{SPAMASSASSIN}:/mail:ro"
        trained = ["train", "--ham", "/mail/ham.mbox.xz", "--spam", "/mail/spam.mbox.xz"]
        self.compose("run", "--rm", "--volume", mail, "serve", *trained)
        self.compose("up", "--detach")
        self.judge()
        (address,) = until(lambda: re.findall(r"http://\S+\?token=[\w-]+", self.compose("logs", "review")))
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert b"spamnb" in browser.open(address).read()
        print("the server answers spamc, and the review page a browser")

    def judge(self) -> None:
        healthy = ["podman", "healthcheck", "run", "spamnb-test_serve_1"]
        until(
            lambda: subprocess.run(healthy, env=self.environment, capture_output=True).returncode == 0,
            lambda: self.compose("logs"),
        )
        for label in ("ham", "spam"):
            said = output(["spamc", "-x", "-p", str(self.port)], a_message(label))
            assert f"\nX-Spamnb: {label}" in "\n" + said, said[:2000]

    def watch_imap(self) -> None:
        with DovecotImap() as server:
            (self.folder / "imap.toml").write_text(ACCOUNT.format(port=server.port, user=server.user))
            secret = self.folder / "imap-password"
            secret.write_text(server.password + "\n")
            os.chown(secret, 10001, 10001)
            self.folder.chmod(0o755)
            server.append("INBOX", raw := a_message("spam").partition(b"\n")[2])
            self.compose("--profile", "imap", "run", "--rm", "imap", "imap", "train")
            self.compose("--profile", "imap", "up", "--detach")
            until(
                lambda: digest(raw) in [found.digest for found in server.contents()["Junk"]],
                lambda: self.compose("logs"),
            )
        print("imap watch logs in by its secret, and moves spam")


if __name__ == "__main__":
    main()
