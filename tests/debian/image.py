"""Use the image as compose.yaml does, kill its server, upgrade it and go back: make image-test.

Needs root, podman, Dovecot, spamc and some minutes; Docker is tried, too, where it is installed. All that
these keep is in a folder of the test.
"""

import html
import json
import lzma
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from helpers.imap_mailbox import digest
from helpers.imap_servers import DovecotImap
from helpers.paths import ROOT, SPAMASSASSIN
from helpers.ports import free_ports
from helpers.waiting import until

IMAGE, LARGEST = "localhost/spamnb:latest", 120_000_000
OLDER = "91b211b"  # of tokenizer revision 2
PACKAGE = "/usr/lib/python3/dist-packages/spamnb"
ENOUGH = 1024  # open files and processes of a container
FEW = 60  # messages: the older one is not compiled
# Nobody can give a container more than he has. And crun wants a machine with one kind of cgroups.
CONTAINERS = """
[containers]
default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]
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
history = true
"""


def main(archive: str) -> None:
    if shutil.which("dockerd"):
        try_docker(archive)
    with services(archive) as there:
        there.check_image()
        there.make_older()
        there.train_by_older()
        there.upgrade()
        there.teach()
        there.kill()
        there.watch_imap()
        there.go_back()
    print("all is well")


def try_docker(archive: str) -> None:
    """Load the image by Docker, which is older in Debian than the form of images that podman reads."""
    with tempfile.TemporaryDirectory(prefix="spamnb-docker-") as folder:
        address = f"unix://{folder}/socket"
        kept = [f"--data-root={folder}/data", f"--exec-root={folder}/run", f"--pidfile={folder}/pid"]
        alone = ["--bridge=none", "--iptables=false"]
        docker = ["docker", "--host", address]
        with open(f"{folder}/log", "wb") as log:
            server = subprocess.Popen(["dockerd", "--host", address, *kept, *alone], stdout=log, stderr=log)
        try:
            until(
                lambda: not subprocess.run([*docker, "version"], capture_output=True).returncode,
                lambda: Path(folder, "log").read_text(),
            )
            print("Docker:", run([*docker, "load", "--input", archive]).strip())
            said = run([*docker, "run", "--rm", "--network=none", "--read-only", IMAGE, "--version"])
            print("Docker:", said.strip())
        finally:
            server.terminate()
            server.wait()


@contextmanager
def services(archive):
    folder = Path(tempfile.mkdtemp(prefix="spamnb-image-"))
    there = Services(folder)
    try:
        print(podman("load", "--quiet", "--input", archive).strip())
        yield there
    finally:
        there.compose("--profile", "imap", "down", "--volumes")
        podman("rm", "--all", "--force")
        podman("rmi", "--all", "--force")
        shutil.rmtree(folder)


class Services:
    """The services of compose.yaml, at ports of the test."""

    def __init__(self, folder: Path) -> None:
        names = {
            "files": least(resource.RLIMIT_NOFILE),
            "processes": least(resource.RLIMIT_NPROC),
            "folder": folder,
            "runtime": "runc" if shutil.which("runc") else "crun",
        }
        for name, text in (("CONTAINERS_CONF", CONTAINERS), ("CONTAINERS_STORAGE_CONF", STORAGE)):
            os.environ[name] = str(folder / name)
            (folder / name).write_text(text.format(**names))
        self.folder = folder / "project"
        self.folder.mkdir()
        self.port, self.page = free_ports(2)
        text = (ROOT / "compose.yaml").read_text()
        text = text.replace("127.0.0.1:7830:", f"127.0.0.1:{self.port}:").replace("7833", str(self.page))
        text = text.replace("--allow-network, --history]", "--allow-network, --history, --allow-tell]")
        # The test's IMAP server is on this machine: it is reached there without TLS.
        text = text.replace("profiles: [imap]", "profiles: [imap]\n    network_mode: host")
        (self.folder / "compose.yaml").write_text(text)
        self.mail = {label: messages(label) for label in ("ham", "spam")}
        for label, found in self.mail.items():
            (self.folder / f"{label}.mbox").write_bytes(b"".join(found[:FEW]))

    def compose(self, *words: str) -> str:
        command = [sys.executable, "-m", "podman_compose", "--project-name", "spamnb-test"]
        return run([*command, *words], cwd=self.folder)

    def spamnb(self, *words: str, stdin: bytes = b"", tag: str = "latest", code: int = 0) -> str:
        """Run a command on the volumes that the services have, under the same limits."""
        volumes = "--volume=spamnb-test_models:/models --volume=spamnb-test_state:/state".split()
        limits = ["--read-only", "--cap-drop=ALL", "--network=none", f"--volume={self.folder}:/mail:ro"]
        image = IMAGE.replace("latest", tag)
        return podman("run", "--rm", "-i", *volumes, *limits, image, *words, stdin=stdin, code=code)

    def learned(self, tag: str = "latest") -> dict[str, int]:
        about = json.loads(self.spamnb("inspect", "--json", tag=tag))
        return dict(zip(about["labels"], about["messages"], strict=True))

    def is_healthy(self) -> bool:
        return not subprocess.run(
            ["podman", "healthcheck", "run", "spamnb-test_serve_1"], capture_output=True
        ).returncode

    def judge(self) -> None:
        """Ask the server by spamc for mail that nobody has learned."""
        for label in ("ham", "spam"):
            raw = self.mail[label][-1]
            said = run(["spamc", "-x", "-p", str(self.port)], stdin=raw)
            assert re.search(f"^X-Spamnb: ({label}|unsure)", said, re.MULTILINE), said[:2000]

    def check_image(self) -> None:
        (about,) = json.loads(podman("image", "inspect", IMAGE))
        assert about["Size"] <= LARGEST, about["Size"]
        print(self.spamnb("--version").strip(), f"{about['Size'] / 1e6:.0f} MB unpacked")
        look = "import os, ssl; print(os.getuid(), len(ssl.create_default_context().get_ca_certs()) > 50)"
        assert podman("run", "--rm", "--entrypoint=python3", IMAGE, "-c", look) == "10001 True\n"
        licences = "import glob; print(len([open(path) for path in glob.glob('/usr/share/doc/*/copyright')]))"
        assert int(podman("run", "--rm", "--entrypoint=python3", IMAGE, "-c", licences)) > 20

    def make_older(self) -> None:
        """Make an image of an older version: the same, with the older source in place of the package."""
        packed = subprocess.check_output(["git", "archive", OLDER, "spamnb"], cwd=ROOT)
        subprocess.run(["tar", "-x", "-C", self.folder.parent], input=packed, check=True)
        remove = f"import shutil; shutil.rmtree('{PACKAGE}')"
        podman("run", "--name=older", "--user=0", "--entrypoint=python3", IMAGE, "-c", remove)
        podman("cp", f"{self.folder.parent}/spamnb", f"older:{PACKAGE}")
        settings = [f"--change={line}" for line in ('ENTRYPOINT ["tini", "--", "spamnb"]', "USER 10001")]
        podman("commit", "--quiet", *settings, "older", IMAGE.replace("latest", "older"))
        podman("rm", "older")

    def train_by_older(self) -> None:
        self.spamnb("train", "/mail/ham.mbox", "/mail/spam.mbox", tag="older")
        self.spamnb("train", "--spam", "-", stdin=self.mail["spam"][FEW], tag="older")
        assert self.learned("older") == {"ham": FEW, "spam": FEW + 1}
        self.backup = self.spamnb("export", tag="older")
        print("trained by an older version, and a lesson in its journal")

    def upgrade(self) -> None:
        self.compose("up", "--detach")
        until(self.is_healthy, lambda: self.compose("logs"))
        assert self.learned() == {"ham": FEW, "spam": FEW + 1}
        self.judge()
        self.spamnb("train", "--ham", "-", stdin=self.mail["ham"][FEW])
        assert self.learned() == {"ham": FEW + 1, "spam": FEW + 1}
        print("upgraded: model and lessons are there, the server is healthy and answers spamc")
        (address,) = until(lambda: re.findall(r"http://\S+\?token=[\w-]+", self.compose("logs", "review")))
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        shown = browser.open(address).read().decode()
        subject = re.search(rb"^Subject: (.*)", self.mail["spam"][-1], re.MULTILINE)
        assert subject
        assert html.escape(subject[1].decode()) in shown, shown
        print("the review page answers")

    def teach(self) -> None:
        """Teach the server so much that it folds its journal, in a process that it does not wait for."""

        def about() -> dict:
            return json.loads(self.spamnb("inspect", "--json"))

        before = about()["size"]
        for raw in self.mail["ham"][FEW + 1 : -1]:
            run(["spamc", "-x", "-p", str(self.port), "-L", "ham"], stdin=raw)
        until(lambda: about()["size"] > before, about)
        states = podman("top", "spamnb-test_serve_1", "state").split()[1:]
        assert "Z" not in states, states
        print("taught by spamc, the server folds its journal, and leaves no dead process")

    def kill(self) -> None:
        """Kill the server as a machine without memory would; podman starts it again."""

        def process() -> int:
            return int(podman("inspect", "--format={{.State.Pid}}", "spamnb-test_serve_1"))

        before, learned = process(), self.learned()
        os.kill(before, signal.SIGKILL)
        until(lambda: process() not in (0, before) and self.is_healthy(), lambda: self.compose("logs"))
        assert self.learned() == learned
        self.spamnb("inspect", "--check")
        self.judge()
        print("killed and started again: all is there")

    def watch_imap(self) -> None:
        with DovecotImap() as server:
            (self.folder / "imap.toml").write_text(ACCOUNT.format(port=server.port, user=server.user))
            secret = self.folder / "imap-password"
            secret.write_text(server.password + "\n")
            secret.chmod(0o400)
            os.chown(secret, 10001, 10001)
            raw = self.mail["spam"][0].partition(b"\n")[2]  # learned: it is spam for sure
            server.append("INBOX", raw)
            self.compose("--profile", "imap", "run", "--rm", "imap", "imap", "train")
            self.compose("--profile", "imap", "up", "--detach")
            until(
                lambda: digest(raw) in [found.digest for found in server.contents()["Junk"]],
                lambda: self.compose("logs"),
            )
            self.compose("--profile", "imap", "down")
        print("imap watch logs in by its secret, and moves spam")

    def go_back(self) -> None:
        """Restore the backup for the older version, which cannot read what this one has folded."""
        assert "newer spamnb" in self.spamnb("inspect", tag="older", code=65)
        self.spamnb("import", "--fresh", "-", stdin=self.backup.encode(), tag="older")
        assert self.learned("older") == {"ham": FEW, "spam": FEW + 1}
        print("back: the older version refuses the converted model, and takes the backup")


def least(kind: int) -> int:
    """Return a limit that this process has, or a lower one."""
    limits = {*resource.getrlimit(kind)} - {resource.RLIM_INFINITY}
    return min({ENOUGH, *limits})


def messages(label: str) -> list[bytes]:
    with lzma.open(SPAMASSASSIN / f"{label}.mbox.xz") as mailbox:
        found = re.split(rb"(?<=\n)\n(?=From )", mailbox.read(4 << 20))
    return [raw + b"\n" for raw in found[: FEW * 2 + 2]]


def podman(*words: str, **options) -> str:
    return run(["podman", *words], **options)


def run(command: list[str], stdin: bytes = b"", code: int = 0, cwd: Path = ROOT) -> str:
    """Run a command; what it says is shown where it fails."""
    done = subprocess.run(command, input=stdin, capture_output=True, cwd=cwd)
    said = (done.stdout + done.stderr * (code != 0)).decode(errors="replace")
    if done.returncode != code:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{said}{done.stderr.decode()}")
    return said


if __name__ == "__main__":
    main(*sys.argv[1:])
