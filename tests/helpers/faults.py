"""Real faults of a filter: each function here breaks the filter or the model of a home."""

import sys

import pytest

# Killed when it has read the beginning of a message, and waits for the rest.
HALF_READ = """#!/bin/sh
exec "{python}" -IS -c '
import fcntl, os, signal, sys, termios, time
reading, writing = os.pipe()
reader = os.getpid()
if os.fork():
    os.dup2(reading, 0)
    os.execv("{spamnb}", ["{spamnb}", *sys.argv[1:]])
os.write(writing, os.read(0, 20000))
while any(fcntl.ioctl(writing, termios.FIONREAD, bytes(4))) and os.getppid() == reader:
    time.sleep(0.005)
if os.getppid() == reader:
    os.kill(reader, signal.SIGKILL)
' "$@"
"""
# Of a message of more than a pipe holds, so that the rest of it waits for the killer.
HALF_WRITTEN = """#!/bin/sh
mkfifo {pipe}.$$
(head -c 20000 <{pipe}.$$; kill -9 $$) &
exec {spamnb} "$@" >{pipe}.$$
"""
NO_MEMORY = """#!/bin/sh
ulimit -v 13500
exec {spamnb} "$@"
"""
NO_ROOM = """#!/bin/sh
exec {spamnb} "$@" >/dev/full
"""


def put_in_its_place(home, script):
    home.program.unlink()
    names = {"python": sys.executable, "spamnb": home.spamnb.program, "pipe": home.path / "pipe"}
    home.program.write_text(script.format(**names))
    home.program.chmod(0o755)


FAULTS = {
    "spamnb is missing": lambda home: home.program.unlink(),
    "no model": lambda home: home.model.unlink(),
    "a damaged model": lambda home: home.model.write_bytes(home.model.read_bytes()[:-1000]),
    "killed as it reads": lambda home: put_in_its_place(home, HALF_READ),
    "no memory": lambda home: put_in_its_place(home, NO_MEMORY),
    "no room for its answer": lambda home: put_in_its_place(home, NO_ROOM),
}
every_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
SOME = ("spamnb is missing", "a damaged model", "killed as it reads")
some_faults = pytest.mark.parametrize("fault", [FAULTS[name] for name in SOME], ids=SOME)


def killed_as_it_writes(home):
    put_in_its_place(home, HALF_WRITTEN)
