"""A user's home for a test: mail folders, a filter that a test can break, programs that deliver there."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from helpers.waiting import PATIENCE
from spamnb.core.native import hash_of_message, read
from spamnb.store.stored_model import StoredModel

# Some programs refuse to work for root. In his place, an ordinary user who may read the tests' files.
NOBODY = 65534
AS_A_USER = [] if os.getuid() else f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups".split()
AS_A_USER += [] if os.getuid() else ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
# Nothing is closed to root, unless he gives that up.
AS_ANYBODY = [] if os.getuid() else ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
# Where Python lies in a folder that is closed to others, as root's own, that is opened for one program.
CLOSED = [str(path) for path in Path(os.__file__).resolve().parents if not path.stat().st_mode & 1][-1:]
OPEN = 'mount --bind "$1" /mnt && mount -t tmpfs -o mode=755 none "$0"'
OPEN += ' && mkdir -p "$1" && mount --move /mnt "$1"'
OPEN_PYTHON = ["unshare", "--mount", "sh", "-c", f'{OPEN}; shift; exec "$@"', *CLOSED, sys.base_prefix]
WITH_OPEN_PYTHON = OPEN_PYTHON if CLOSED else []

# No file can grow past 400 blocks of 512 bytes: to a program, a full disk.
ON_A_FULL_DISK = ["sh", "-c", 'trap "" XFSZ; ulimit -f 400; exec "$@"', "sh"]


def hand_over(folder):
    """If root runs the tests, make an ordinary user the owner of a folder and all that is in it."""
    if os.getuid() == 0:
        for path, _, files in os.walk(folder):
            for name in (path, *(os.path.join(path, file) for file in files)):
                os.chown(name, NOBODY, NOBODY, follow_symlinks=False)


def procmail(home, rules):
    """Return the command by which procmail delivers a message to `home`, by the rules in a file."""
    return ["procmail", "-tm", f"HOME={home}", f"ORGMAIL={home}/Maildir/", str(rules)]


@contextmanager
def a_home(spamnb):
    """Yield a home with spamnb in ~/.local/bin, and a model at the default path.

    It is not in pytest's folder, which other users may not enter, and whose name is too long for a socket.
    """
    # What a mail reader shows in a terminal of its own may outlive it, and write as the folder goes.
    with tempfile.TemporaryDirectory(prefix="spamnb-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Home(Path(folder) / "home", spamnb)


class Home:
    def __init__(self, path, spamnb):
        self.path = path
        self.spamnb = spamnb
        self.maildir = path / "Maildir"
        self.program = path / ".local" / "bin" / "spamnb"
        self.model = path / ".local" / "share" / "spamnb" / "model.msgpack"
        self.program.parent.mkdir(parents=True)
        self.model.parent.mkdir(parents=True)
        self.program.symlink_to(spamnb.program)
        shutil.copy(spamnb.model, self.model)

    @property
    def environment(self):
        """Return the few variables that a mail server sets."""
        return {"HOME": str(self.path), "PATH": f"{self.program.parent}:/usr/bin:/bin"}

    def write(self, name, text):
        """Write a file that only its owner can read, as mail programs require for rules; return its path."""
        path = self.path / name
        path.write_text(text)
        path.chmod(0o600)
        return str(path)

    def run(self, *command, stdin=b"", code=0):
        done = subprocess.run(
            command, input=stdin, capture_output=True, timeout=PATIENCE, env=self.environment, cwd=self.path
        )
        assert done.returncode == code, done
        return done

    def taken(self):
        """Return (folder, bytes) of each message delivered since the last call, and delete these messages."""
        found = []
        for part in ("new", "cur"):
            for file in sorted(self.maildir.glob(f"**/{part}/*")):
                found.append((str(file.parent.parent.relative_to(self.maildir)), file.read_bytes()))
                file.unlink()
        return found

    def label_of(self, raw):
        """Return the label under which the model has learned a message, even while the journal is folded."""
        return StoredModel.open(str(self.model)).label_of(hash_of_message(read(raw)))
