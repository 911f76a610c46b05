"""What holds for any bytes that are read as a model, an export, or a request to the server."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from pathlib import Path
from unittest.mock import patch

from fuzz.common import new_folder
from fuzz.sealing import sealed_journal, sealed_model
from helpers.serving import Spoken

import spamnb
from spamnb.errors import SpamnbError
from spamnb.in_memory import load_into_memory
from spamnb.inspection.check import check
from spamnb.inspection.model_summary import ModelSummary
from spamnb.model import Model
from spamnb.serve.clients import HeldBytes
from spamnb.serve.judge import Judge
from spamnb.serve.learning import Lessons
from spamnb.serve.log import Log
from spamnb.serve.metrics import Counters
from spamnb.serve.options import Options
from spamnb.serve.rspamd import Rspamd
from spamnb.serve.service import Service
from spamnb.serve.spamd import Spamd
from spamnb.store.merging import Source, merged
from spamnb.store.stored_model import load_learned
from spamnb.training.learn import learn

HAM = b"From: ann@example.org\nSubject: notes\n\nagenda for tuesday, thanks\n"
SPAM = b"From: win@casino.example\nSubject: pills\n\nbuy now, casino http://casino.example/\n"
JOURNAL = b"\n--journal--\n"  # between a model and its journal
FOLDER = new_folder()


@cache
def sound_model() -> str:
    """A small model with a journal."""
    path = str(FOLDER / "sound")
    for label, raw in (("ham", HAM), ("spam", SPAM)):
        box = FOLDER / label
        box.mkdir()
        for n in range(12):
            (box / str(n)).write_bytes(raw + b"%d\n" % n)
    spamnb.train(path, {label: [FOLDER / label] for label in ("ham", "spam")}, jobs=1)
    learn(path, HAM, "ham")
    learn(path, SPAM, "spam")
    return path


def model(data: bytes) -> None:
    """Damage is reported as such, or does no harm; `spamnb check` finds it.

    A forged file with correct checksums is also reported, or judges by its counts.
    """
    forged, rest = data[:1] > b"\x7f", data[1:]
    file, _, journal = rest.partition(JOURNAL)
    if forged:
        file, journal = sealed_model(file, blocks=True), sealed_journal(journal)
    path = FOLDER / "changed"
    path.write_bytes(file)
    (FOLDER / "changed.journal").write_bytes(journal)
    with suppress(*([SpamnbError] if forged else [])):
        damage = check(str(path)).damage
        assert forged or damage or file == Path(sound_model()).read_bytes()
    with suppress(SpamnbError):
        judge = Model.open(path)
        verdict = judge.classify(SPAM)
        in_memory = load_into_memory(Model.open(path)).classify(SPAM)
        assert forged or in_memory.score == verdict.score
        judge.stored.histogram()
        ModelSummary.of(judge, 3)
        merged(judge.stored.labels, [Source(judge.stored)])
        load_learned(judge.stored)
    with suppress(SpamnbError), patch("spamnb.training.learn.fold_in_background"):  # begun after damage
        learn(str(path), HAM + b"more\n", "ham")


class Listening(Log):
    """Keeps what was refused instead of telling it."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def refused(self, why: str, user: str = "", message_id: str = "") -> None:  # noqa: ARG002
        self.heard.append(why)

    def unexpected(self, error: BaseException | None) -> None:
        self.heard.append(f"unexpected {error!r}")


LOG = Listening()
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
# Times, and why a request is refused: h11 says that in other words where less has come.
VARYING = re.compile(rb'"(time_real|uptime)": [\d.e-]+|Content-Length: \d+|"error": .*')


@cache
def server(kind: type[Service]) -> Service:
    options = Options(sound_model(), max_size=1 << 20)
    lessons = Lessons(Log(), HeldBytes(1 << 30))
    return kind(Judge(options, Counters()), lessons, LOG, options)


def spamd(data: bytes) -> None:
    answers(Spamd, data, b"SPAMD/1.")


def rspamd(data: bytes) -> None:
    answers(Rspamd, data, b"HTTP/1.1 ")


def answers(kind: type[Service], data: bytes, start: bytes) -> None:
    """Every request has one answer, whatever pieces it comes in, and none is a surprise."""
    step = 1 + data[0] if data else 1
    request = data[1:]
    answer = said(kind, [request[at : at + step] for at in range(0, len(request), step)])
    # Of a last line without end, what follows is counted as far as it has come: as spamd does.
    assert answer == said(kind, [request]) or any("mismatch" in why for why in LOG.heard)
    assert answer == b"" or answer.startswith(start)
    status = answer.partition(b"\r\n")[0]
    assert status.decode("ascii").isprintable()
    assert not any(why.startswith("unexpected ") for why in LOG.heard), LOG.heard
    LOG.heard.clear()


def said(kind: type[Service], pieces: list[bytes]) -> bytes:
    """Answer to a request that comes in pieces, without what differs from run to run."""
    return VARYING.sub(b"", Spoken(pieces).talk(server(kind).handle)).removeprefix(CONTINUE)
