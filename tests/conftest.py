"""The real program, and a small model it was trained with once for all tests."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import helpers.environment  # first of all
import helpers.generated  # noqa: F401 (the profile of hypothesis, for all tests)
import pytest
from helpers.building import hatch_build
from helpers.paths import ROOT
from helpers.program import Spamnb
from helpers.samples import ENOUGH, ham, spam, work

import spamnb as library

pytest_plugins = ["helpers.environment", "helpers.programs", "helpers.tiers"]
gc.disable()  # while tests are collected: 4.2 s, not 5.8, in each process; and they stay to the end


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    gc.freeze()
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to test a core in this tree that was compiled of older sources.

    Have programs die of Ctrl-C, even if these tests run where it is ignored: as a shell's `&` does.
    """
    root = Path(library.__path__[0]).parent
    is_first = not hasattr(config, "workerinput")  # it takes 0.2 s
    if is_first and root.is_relative_to(ROOT) and not hatch_build.is_compiled(root):
        raise pytest.UsageError("the core is older than its source: run `make env`")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def clothed(head: bytes, body: bytes) -> bytes:
    return head.partition(b"\n\n")[0] + b"\n\n" + body.partition(b"\n\n")[2]


@dataclass(frozen=True)
class Mail:
    """Folders of mail, and messages that are in none of them."""

    ham: str
    spam: str
    work: str
    messages: dict[str, bytes]


@pytest.fixture(scope="session")
def mail(tmp_path_factory: pytest.TempPathFactory) -> Mail:
    root = tmp_path_factory.mktemp("mail")
    folders = {}
    for name, make in (("ham", ham), ("spam", spam), ("work", work)):
        folder = root / name
        folder.mkdir()
        for n in range(ENOUGH):
            (folder / f"{n:02}").write_bytes(make(n))
        folders[name] = str(folder)
    # Two of a kind, one under each label: what is like them is `unsure`, however scores are made.
    (root / "ham" / "00").write_bytes(clothed(spam(77), ham(77)))
    (root / "spam" / "00").write_bytes(clothed(spam(78), ham(78)))
    messages = {
        "ham": ham(99),
        "spam": spam(99),
        "work": work(99),
        "unsure": clothed(spam(99), ham(99)) + b"cheap bonus\n",
        "unknown": b"Subject: xyzzy\n\nplugh\n",
    }
    return Mail(**folders, messages=messages)


@pytest.fixture(scope="session")
def spamnb(mail: Mail, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Spamnb]:
    """The program, with a model of ham and spam that no test changes."""
    home = tmp_path_factory.mktemp("home")
    run = Spamnb(str(home), str(home / "session.msgpack"))
    run(
        "train", "--jobs", "1", "--ham-loss", "1%", mail.ham, mail.spam
    ).succeeds()  # little mail: 0.1 % is more unsure
    yield run
    run.end()


@pytest.fixture
def own(spamnb: Spamnb, tmp_path: Path) -> str:
    """A copy of the model, to be changed."""
    return shutil.copy(spamnb.model, str(tmp_path / "model.msgpack"))


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A new model that has learned nothing yet."""
    from spamnb.training import train as training  # loads numpy

    path = str(tmp_path / "model")
    training.create(path, "spam")
    return path


@pytest.fixture
def damaged(mail: Mail, tmp_path: Path) -> Path:
    """The ham, and a file among it that cannot be read."""
    ham = tmp_path / "ham"
    shutil.copytree(mail.ham, ham)
    (ham / "cut.gz").write_bytes(b"\x1f\x8b\x08\0")
    return ham


@pytest.fixture(scope="session")
def three(spamnb: Spamnb, mail: Mail) -> str:
    """A model of three labels, one of them spam."""
    path = os.path.join(spamnb.home, "three.msgpack")
    labels = ("--ham", mail.ham, "--spam", mail.spam, "--label", f"work={mail.work}")
    spamnb("train", "--jobs", "1", "--model", path, *labels).succeeds()
    return path


@pytest.fixture(scope="session")
def bucket() -> Iterator[Any]:
    """`s3://mail`, on a server of its own."""
    from helpers.buckets import served_bucket  # boto3 takes half a second to import

    with served_bucket() as bucket:
        yield bucket


@pytest.fixture
def alike() -> tuple[str, str]:
    """Two words of one fingerprint, found by trying a million first halves."""
    return "collidescollides", "oinlionhf5nq5p5k"
