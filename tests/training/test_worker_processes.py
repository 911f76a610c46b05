"""Processes that work beside this one."""

import os
import struct
import subprocess
import sys
from multiprocessing import Pipe

import pytest

from spamnb.errors import SpamnbError
from spamnb.workers import processes

KILLED_AT_ONCE = """
from spamnb.errors import SpamnbError
from spamnb.workers import processes

start = processes.WorkerProcesses.start_one

def start_and_kill(workers):
    pipe = start(workers)
    workers.processes[-1].kill()
    workers.processes[-1].join()
    return pipe

def in_background():
    with processes.in_background(dict, jobs=2):
        pass

processes.WorkerProcesses.start_one = start_and_kill
for attempt in (lambda: list(processes.in_parallel(dict, [(), ()], jobs=2)), in_background):
    try:
        attempt()
    except SpamnbError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_process_killed_before_it_has_its_work_is_told_as_such():
    done = subprocess.run([sys.executable, "-c", KILLED_AT_ONCE], capture_output=True, text=True)
    assert (done.stdout.splitlines(), done.stderr) == ([processes.KILLED] * 2, "")


def test_one_killed_in_the_middle_of_its_result_is_told_as_such():
    pipe, far_end = Pipe()
    with pipe, far_end:
        os.write(far_end.fileno(), struct.pack("!i", 1000) + b"the first bytes of a thousand")
        far_end.close()
        with pytest.raises(SpamnbError, match="a worker process was killed"):
            processes.received(pipe)
