"""A user's machine: disks, a clock, a version of spamnb, programs that run all day, and power to lose."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from faults import straced
from faults.disks import Drive, run
from faults.kills import strike_all
from faults.worlds import ENDINGS, processes
from helpers.homes import procmail
from helpers.imap_servers import DovecotImap
from helpers.paths import ROOT
from helpers.program import PROGRAM
from helpers.recipes import recipe
from helpers.reviewing import Forms, Page
from helpers.waiting import PATIENCE, until

CLOCK = Path(__file__).with_name("clock.c")
PROGRAM_AT_A_TIME = """#!/bin/sh
export LD_PRELOAD={clock} SHIFTED_CLOCK={shift} PYTHONPATH={packages}
exec {program} "$@"
"""
NIGHT = recipe("cron", "Everything", "crontab")
RULES = recipe("procmail", "Filter, and file by the header", "procmail")
DAY = 86400  # seconds


class Machine:
    """Mail comes by procmail to ~/Maildir, which is on a disk of its own that is always in sync.

    What spamnb keeps is on another one, which forgets what was not synced when the power fails.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.log = folder / "log"
        self.own = Drive(self.home / ".local", folder / "own.image", 32)
        self.mail = Drive(self.home / "Maildir", folder / "mail.image", 16, "noatime,sync")
        self.drives = (self.own, self.mail)
        self.is_off = self.is_full = self.may_fail = False
        self.model = str(self.home / ".local/share/spamnb/model.msgpack")
        self.state = self.home / ".local/state/spamnb/imap/home.sqlite"
        self.history = self.home / ".local/state/spamnb/history"
        self.program = self.home / ".local/bin/spamnb"
        self.program.parent.mkdir()
        self.rules = self.home / ".procmailrc"
        self.rules.write_text(RULES)
        self.rules.chmod(0o600)
        self.config = self.home / ".config/spamnb"
        self.config.mkdir(parents=True)
        (self.config / "spamnb.toml").write_text("history = true\n")
        run("cc", "-shared", "-fPIC", "-o", folder / "clock.so", CLOCK)
        self.shift = 0
        self.set_clock(0)
        self.watch: subprocess.Popen[str] | None = None
        self.page: Page | None = None

    @property
    def environment(self) -> dict[str, str]:
        """As little as cron sets."""
        return {"HOME": str(self.home), "PATH": f"{self.program.parent}:/usr/bin:/bin", "LOGNAME": "bob"}

    def set_clock(self, shift: int) -> None:
        """Have spamnb's clock differ from ours by so many seconds."""
        self.shift = shift
        with open(self.folder / "shift", "r+b" if (self.folder / "shift").exists() else "wb") as file:
            file.write(shift.to_bytes(8, sys.byteorder, signed=True))

    def date_files(self) -> None:
        """Have the files of the history be of their days, which are ours by the file system's clock."""
        for path in self.history.glob("*.verdicts"):
            at = min(path.stat().st_mtime, time.time() + self.shift)
            os.utime(path, (at, at))

    # Versions

    def wheel(self, commit: str) -> Path:
        """The packages of a version, as pip installs its wheel."""
        made = self.folder / commit
        source, packages, archive = made / "source", made / "packages", made / "source.tar"
        source.mkdir(parents=True)
        left_out = (":!corpora", ":!docs")
        run("git", "-C", ROOT, "archive", "-o", archive, commit, "--", ".", *left_out)
        run("tar", "xf", archive, "-C", source)
        run(
            "env",
            "-C",
            source,
            "SPAMNB_COMPILE=no",
            sys.executable,
            "-m",
            "hatchling",
            "build",
            "-d",
            made,
            "-t",
            "wheel",
        )
        (wheel,) = made.glob("*.whl")
        run(sys.executable, *"-m pip install -q --no-deps --no-index --target".split(), packages, wheel)
        return packages

    def install(self, packages: Path | None = None) -> None:
        """Put a version in place of the one before; None for this tree's."""
        program = packages / "bin/spamnb" if packages else PROGRAM
        clock, shift = self.folder / "clock.so", self.folder / "shift"
        text = PROGRAM_AT_A_TIME.format(clock=clock, shift=shift, packages=packages or "", program=program)
        new = self.program.with_suffix(".new")
        new.write_text(text)
        new.chmod(0o755)
        new.rename(self.program)
        os.sync()

    # What runs

    def start(self, command: Sequence[str | Path], **options: Any) -> subprocess.Popen[str]:
        with open(self.log, "ab") as log:
            options = {"stdout": log, "stderr": log, "stdin": subprocess.DEVNULL, **options}
            return subprocess.Popen(command, env=self.environment, cwd=self.home, text=True, **options)

    def run(self, *command: str | Path, stdin: bytes = b"") -> int:
        """The exit code of a command; what it says goes to the log."""
        process = self.start(command, stdin=subprocess.PIPE)
        process.communicate(stdin.decode(), timeout=PATIENCE)
        return process.returncode

    def spamnb(self, *arguments: str) -> None:
        assert self.run(self.program, *arguments) == 0, self.log.read_text()

    def deliver(self, raw: bytes) -> bool:
        return self.run(*procmail(self.home, self.rules), stdin=raw) == 0

    def by_night(self, *prefix: str) -> bool:
        """What cron does."""
        return self.run(*prefix, "/bin/sh", "-c", NIGHT.split(maxsplit=5)[5]) == 0

    def start_all(self, watch_with: Sequence[str] = (), review_with: Sequence[str] = ()) -> None:
        """Programs that run all day, perhaps below another one."""
        self.is_off = False
        self.may_fail = bool(watch_with or review_with)
        self.watch = self.start([*watch_with, self.program, "imap", "watch", "--poll", "2"])
        command = [*review_with, str(self.program), "review", "--no-browser"]
        with open(self.log, "ab") as log:
            self.page = Page(
                subprocess.Popen(
                    command,
                    env=self.environment,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    cwd=self.home,
                    text=True,
                )
            )

    @property
    def one_ended(self) -> bool:
        """Whether one of them was killed."""
        assert self.watch
        assert self.page
        return self.watch.poll() is not None or self.page.process.poll() is not None

    def stop_all(self) -> None:
        assert self.watch
        assert self.page
        for process in (self.watch, self.page.process):
            process.send_signal(signal.SIGTERM)
        assert (self.watch.wait(PATIENCE), self.page.process.wait(PATIENCE)) == (0, 0), self.log.read_text()

    def forms(self) -> Forms:
        assert self.page
        return Forms(self.page)

    def killing(self, call: str, number: int) -> list[str]:
        """Below this, a program is killed at the so many-th call of a kind on what spamnb keeps."""
        paths = [self.model + ending for ending in ENDINGS]
        paths += [str(self.state) + ending for ending in ("", "-wal", ".lock")]
        paths += [str(self.history / "history.sqlite") + ending for ending in ("", "-wal")]
        words = straced.faulty(call, "signal=KILL", str(number))
        return straced.tracer(os.devnull, paths, words)

    # Power

    def there(self) -> list[int]:
        """The processes of this machine."""
        home = f"HOME={self.home}".encode()
        return [number for number, data in processes("environ").items() if home in data.split(b"\0")]

    def kill_all(self) -> None:
        """At once, and until there is none."""
        self.is_off = True
        until(lambda: not strike_all(self.there()))
        for process in (self.watch, self.page and self.page.process):
            if process:
                process.wait(PATIENCE)

    def lose_power(self) -> None:
        """The disks, once everything was killed."""
        for drive in self.drives:
            drive.lose_power()

    def fill(self, room: int) -> None:
        self.is_full = self.may_fail = True
        for drive in self.drives:
            drive.fill(room)

    def empty(self) -> None:
        for drive in self.drives:
            drive.empty()
        self.is_full = self.may_fail = False

    def set_up(self, server: DovecotImap) -> None:
        """As the page of IMAP says, with a folder for what is unsure."""
        (secret := self.config / "password").write_text(f"{server.password}\n")
        words = f"--host {server.host} --port {server.port} --tls none --user {server.user} --way file"
        self.spamnb("imap", "setup", *words.split(), "--secret", str(secret))
        file = self.config / "imap.toml"
        text = file.read_text().replace('"nothing"', '"move"')
        file.write_text(f'{text}unsure = "Unsure"\nhistory = true\n')

    def end(self) -> None:
        self.kill_all()
        for drive in self.drives:
            drive.unmount()
