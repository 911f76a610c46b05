"""Find out whether files are read."""

import ctypes
import os


class Watch:
    """Watches files; `saw_reads` tells whether any process has read them since the last call."""

    IN_ACCESS = 1

    def __init__(self, *paths):
        kernel = ctypes.CDLL(None)
        self.handle = kernel.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for path in paths:
            assert kernel.inotify_add_watch(self.handle, os.fsencode(path), self.IN_ACCESS) > 0

    def saw_reads(self):
        try:
            return bool(os.read(self.handle, 1 << 16))
        except BlockingIOError:
            return False
