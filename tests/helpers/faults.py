"""What goes wrong with a filter, for real: each breaks the one of a home."""

import pytest

HALF_READ = """#!/bin/sh
mkfifo {pipe}.$$
exec 3<&0
(head -c 20000 <&3; sleep 0.3; kill -9 $$) >{pipe}.$$ &
exec {spamnb} "$@" <{pipe}.$$ 3<&-
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
    home.program.write_text(script.format(spamnb=home.spamnb.program, pipe=home.path / "pipe"))
    home.program.chmod(0o755)


FAULTS = {
    "spamnb is missing": lambda home: home.program.unlink(),
    "no model": lambda home: home.model.unlink(),
    "an empty model": lambda home: home.model.write_bytes(b""),
    "a damaged model": lambda home: home.model.write_bytes(home.model.read_bytes()[:-1000]),
    "killed as it reads": lambda home: put_in_its_place(home, HALF_READ),
    "no memory": lambda home: put_in_its_place(home, NO_MEMORY),
    "no room for its answer": lambda home: put_in_its_place(home, NO_ROOM),
}
every_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)


def killed_as_it_writes(home):
    put_in_its_place(home, HALF_WRITTEN)
