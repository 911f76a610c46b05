"""Run the real program as other programs do, and keep what it answers."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import helpers.environment  # noqa: F401 (the program gets it)
from helpers.waiting import PATIENCE

PROGRAM = os.path.join(sysconfig.get_path("scripts"), "spamnb")


@dataclass(frozen=True)
class Done:
    """The result of a program that has ended: exit code and output."""

    code: int
    out: bytes
    err: bytes

    @property
    def lines(self) -> list[str]:
        return self.out.decode().splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def json_lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    def succeeds(self, code: int = 0) -> Done:
        assert (self.code, self.err) == (code, b"")
        return self

    def fails(self, code: int, *words: str) -> None:
        """Check that the program failed with `code`, printed one line with `words`, and no output."""
        assert self.code == code, self.err.decode()
        assert self.out == b""
        line = self.err.decode()
        assert line.startswith("spamnb: ")
        assert line.count("\n") == 1
        assert line.endswith("\n")
        assert "unexpected" not in line
        for word in words:
            assert word in line


# The program with all its imports done, which forks for every command line it is given: 15 ms for each of
# some thousand runs, where a fresh start takes 300. What depends on a fresh start is tested with one. Loaded
# are also modules that many commands load late, else each fork would: 100 of the 220 ms of `evaluate`.
WARM = """
import gc, json, os, sys
import click._textwrap, encodings.idna, fsspec.asyn, fsspec.core, numpy.ma, numpy.random, secrets
import multiprocessing.connection, multiprocessing.popen_fork
import rich.console, rich.table, spamnb.training.learn, spamnb.passthrough
import spamnb.cli, spamnb.evaluation.compare, spamnb.evaluation.evaluate, spamnb.exchange.export
import spamnb.cli.render.evaluation, spamnb.cli.render.explanation, spamnb.cli.render.model
import spamnb.imap.training, spamnb.imap.visit
import spamnb.inspection.check, spamnb.inspection.samples
import spamnb.exchange.bogofilter, spamnb.exchange.merging, spamnb.inspection.model_summary
import spamnb.training.train, spamnb.workers
from spamnb.__main__ import main

for name in spamnb.cli.COMMANDS:
    spamnb.cli.main.get_command(None, name)

gc.freeze()

def next_order():
    while line := sys.stdin.buffer.readline():
        child = os.fork()
        if not child:
            return json.loads(line)
        os.write(1, b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os._exit(0)

order = next_order()
for handle, path in enumerate(order["streams"]):
    os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND if handle else os.O_RDONLY), handle)
sys.stdin = open(0, closefd=False)
sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
os.environ.clear()
os.environ.update(order["environment"])
sys.argv = order["arguments"]
try:
    code = main()
except SystemExit as end:
    code = end.code or 0
try:
    sys.stdout.flush()
except OSError:
    code = 120  # as the interpreter ends then
os._exit(code)  # taking it all down again would cost more than the run
"""


@dataclass(frozen=True)
class Spamnb:
    """Runs `spamnb`, with the model of the test session unless a test names another."""

    home: str
    model: str
    program: str = PROGRAM
    imports: str = "json"  # one more module that commands load late
    warm: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"HOME": self.home, "SPAMNB_MODEL": self.model}

    def __call__(
        self, *arguments: str | bytes | Path, stdin: bytes = b"", env: dict[str, str] | None = None
    ) -> Done:
        """Run `spamnb` in a process forked from a Python that is already started, which saves time."""
        if not self.warm:
            command, pipe = [sys.executable, "-c", f"import {self.imports}{WARM}"], subprocess.PIPE
            self.warm.append(
                subprocess.Popen(command, env=self.environment, cwd=self.home, stdin=pipe, stdout=pipe)
            )
        streams = [os.path.join(self.home, name) for name in ("in", "out", "err")]
        for path, content in zip(streams, (stdin, b"", b""), strict=True):
            Path(path).write_bytes(content)
        order = {
            "streams": streams,
            "environment": env or self.environment,
            "arguments": ["spamnb", *map(os.fsdecode, arguments)],
        }
        orders, codes = self.warm[0].stdin, self.warm[0].stdout
        assert orders
        assert codes
        orders.write(json.dumps(order).encode() + b"\n")
        orders.flush()
        assert select.select([codes], [], [], PATIENCE)[0], f"{arguments} takes too long"
        return Done(int(codes.readline()), Path(streams[1]).read_bytes(), Path(streams[2]).read_bytes())

    def afresh(self, *arguments: str | bytes | Path, stdin: bytes = b"", **options: Any) -> Done:
        """Run `spamnb` from the start, by its script, as mail programs do."""
        return self.run([self.program, *arguments], stdin, **options)

    def run(self, command: list[Any], stdin: bytes = b"", **options: Any) -> Done:
        where: dict[str, Any] = {"env": self.environment, "cwd": self.home} | options
        ended = subprocess.run(command, input=stdin, capture_output=True, timeout=PATIENCE, **where)
        return Done(ended.returncode, ended.stdout, ended.stderr)

    def shell(self, line: str, stdin: bytes = b"") -> Done:
        """Run a line in the shell, in which "$0" is the program."""
        return self.run(["/bin/sh", "-c", line, self.program], stdin)

    def end(self) -> None:
        for process in self.warm:
            process.communicate(timeout=PATIENCE)
