"""Run a program in a terminal of tmux: send keys, and wait for what the program shows."""

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
        """Wait until all these texts are on the screen."""
        until(lambda: all(text in self.screen for text in texts), lambda: f"no {texts} in:\n{self.screen}")

    @property
    def screen(self):
        return self.tmux("capture-pane", "-p")

    def end(self):
        """Kill the program and wait until it is dead; tmux ends, too. init may take seconds to remove it."""
        with suppress(ProcessLookupError):
            process = os.pidfd_open(self.pid)
            os.killpg(self.pid, signal.SIGKILL)
            ended, _, _ = select.select([process], [], [], PATIENCE)
            os.close(process)
            assert ended
