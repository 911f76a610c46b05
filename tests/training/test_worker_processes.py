"""Processes that work beside this one."""

import os
import struct
from multiprocessing import Pipe

import pytest

from spamnb.errors import SpamnbError
from spamnb.workers import processes


def test_a_process_killed_before_it_has_its_work_is_told_as_such(monkeypatch):
    start = processes.WorkerProcesses.start_one

    def start_and_kill(workers):
        pipe = start(workers)
        workers.processes[-1].kill()
        workers.processes[-1].join()
        return pipe

    monkeypatch.setattr(processes.WorkerProcesses, "start_one", start_and_kill)
    with pytest.raises(SpamnbError, match="a worker process was killed"):
        list(processes.in_parallel(dict, [(), ()], jobs=2))
    with (
        pytest.raises(SpamnbError, match="a worker process was killed"),
        processes.in_background(dict, jobs=2),
    ):
        pass


def test_one_killed_in_the_middle_of_its_result_is_told_as_such():
    pipe, far_end = Pipe()
    with pipe, far_end:
        os.write(far_end.fileno(), struct.pack("!i", 1000) + b"the first bytes of a thousand")
        far_end.close()
        with pytest.raises(SpamnbError, match="a worker process was killed"):
            processes.received(pipe)
