"""A program at a terminal, by tmux: keys go in, and what it shows can be waited for."""

import os
import select
import signal
import subprocess
from contextlib import suppress

from helpers.waiting import PATIENCE, until


class Terminal:
    def __init__(self, command, environment, folder):
        self.call = ["tmux", "-S", str(folder / "tmux"), "-f", "/dev/null"]
        self.environment = environment
        size = ("-x", "140", "-y", "40")
        self.pid = int(self.tmux("new-session", "-dPF", "#{pane_pid}", *size, "-c", str(folder), *command))

    def tmux(self, *words):
        command = [*self.call, *words]
        return subprocess.run(
            command, env=self.environment, check=True, capture_output=True, timeout=PATIENCE, text=True
        ).stdout

    def press(self, keys):
        self.tmux("send-keys", "-l", "--", keys)

    def see(self, *texts):
        """Wait until all these are on the screen."""
        until(lambda: all(text in self.screen for text in texts), lambda: f"no {texts} in:\n{self.screen}")

    @property
    def screen(self):
        return self.tmux("capture-pane", "-p")

    def end(self):
        """Whatever it is doing; tmux ends with it. Dead is enough: init may take seconds to reap it."""
        with suppress(ProcessLookupError):
            process = os.pidfd_open(self.pid)
            os.killpg(self.pid, signal.SIGKILL)
            ended, _, _ = select.select([process], [], [], PATIENCE)
            os.close(process)
            assert ended
