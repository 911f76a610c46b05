"""Training by real workers of a real scheduler, over TCP on this machine."""

from __future__ import annotations

import gc
import gzip
import lzma
import os
import shutil
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from helpers.late import Late
from helpers.paths import SPAMASSASSIN
from helpers.waiting import PATIENCE, until

from spamnb.errors import DataError, NoInput, SpamnbError, UsageError
from spamnb.mailboxes.sources import chunks_by_label
from spamnb.reading.settings import Settings
from spamnb.training import train as training
from spamnb.training.batches import ChunkReader
from spamnb.workers import LocalPool, open_pool

distributed, pools = Late("distributed"), Late("spamnb.workers.cluster")
SOME = 300_000  # bytes of each mailbox
SMALL = 40_000  # bytes of a range


@dataclass
class Scheduler:
    """A scheduler with its file, and workers that can be killed."""

    file: str
    folder: str
    environment: dict[str, str]
    process: subprocess.Popen | None = None
    workers: list[subprocess.Popen] = field(default_factory=list)

    def dask(self, *words: str) -> subprocess.Popen:
        # Without the warm-up that Dask's own dashboards want, and away from anybody's settings.
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *words, "--scheduler-file", self.file, "--no-dashboard"],
            cwd=self.folder,
            env=os.environ | self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def start(self) -> None:
        Path(self.file).unlink(missing_ok=True)
        self.process = self.dask("scheduler", "--host", "127.0.0.1", "--port", "0")

    def start_workers(self, many: int) -> None:
        """Start workers until there are so many."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        more = ("worker", "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1")
        self.workers += [self.dask(*more) for _ in range(many - len(self.workers))]
        with self.client() as client:
            client.wait_for_workers(many, timeout=PATIENCE)

    def client(self):
        until(lambda: os.path.exists(self.file))
        return distributed.Client(scheduler_file=self.file, set_as_default=False, timeout=PATIENCE)

    def stop(self) -> None:
        for process in (*self.workers, self.process):
            if process:
                process.kill()
                process.wait()
        self.process, self.workers = None, []


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory, bucket):
    folder = tmp_path_factory.mktemp("cluster")
    scheduler = Scheduler(str(folder / "scheduler.json"), str(folder), bucket.environment)
    yield scheduler
    scheduler.stop()


@pytest.fixture
def cluster(scheduler):
    """Two workers at least; what a test has stopped is started again."""
    if not scheduler.process:
        scheduler.start()
    if len(scheduler.workers) < 2:
        scheduler.start_workers(2)
    return scheduler


@dataclass(frozen=True)
class Mail:
    folder: Path
    sources: dict[str, list[str]]
    later: dict[str, list[str]]


@pytest.fixture(scope="module")
def post(tmp_path_factory):
    """Real mail: a plain mailbox, a compressed one, a Maildir and a folder; a message in both labels."""
    folder = tmp_path_factory.mktemp("post")
    parts = {}
    for name in ("ham", "spam", "hard-ham"):
        with lzma.open(SPAMASSASSIN / f"{name}.mbox.xz") as packed:
            parts[name] = packed.read(SOME).rpartition(b"\n\nFrom ")[0] + b"\n\n"
    (folder / "ham.mbox").write_bytes(parts["ham"])
    with gzip.open(folder / "spam.mbox.gz", "wb") as file:
        file.write(parts["spam"])
    (folder / "later.mbox").write_bytes(parts["hard-ham"])
    maildir = folder / "Maildir"
    for name in ("new", "cur", "tmp"):
        (maildir / name).mkdir(parents=True)
    for number, message in enumerate(parts["hard-ham"].split(b"\n\nFrom ")[:40]):
        (maildir / "cur" / f"{number}.x:2,S").write_bytes(message.partition(b"\n")[2])
    (folder / "more").mkdir()
    for number, message in enumerate(parts["ham"].split(b"\n\nFrom ")[:10]):
        (folder / "more" / f"{number:02}").write_bytes(message.partition(b"\n")[2])
    sources = {
        "ham": [str(folder / "ham.mbox"), str(maildir)],
        "spam": [str(folder / "spam.mbox.gz"), str(folder / "more")],
    }
    later = {"ham": [str(folder / "later.mbox")], "spam": [str(folder / "more")]}
    return Mail(folder, sources, later)


@pytest.fixture
def small_ranges(monkeypatch):
    """Mailboxes cut into many pieces."""
    monkeypatch.setattr("spamnb.workers.cluster.CHUNK", SMALL)


def trained(path, sources, pool=None, **options):
    training.train(str(path), sources, pool=pool or LocalPool(1), **options)
    return Path(path).read_bytes()


@pytest.mark.usefixtures("small_ranges")
class TestTheSameModel:
    """As one machine makes it, byte for byte."""

    def test_from_any_number_of_processes_and_workers_though_one_is_killed(self, cluster, post, tmp_path):
        alone = trained(tmp_path / "alone", post.sources)
        assert trained(tmp_path / "processes", post.sources, LocalPool(3)) == alone
        cluster.start_workers(3)
        killed: list = []

        def kill_one(_batch):
            if not killed:
                killed.append(cluster.workers[0])
                killed[0].send_signal(signal.SIGKILL)

        with cluster.client() as client:
            pool = pools.ClusterPool(client)
            assert trained(tmp_path / "together", post.sources, pool, progress=kill_one) == alone
            assert killed[0].wait(PATIENCE) == -signal.SIGKILL
            assert trained(tmp_path / "two", post.sources, pool) == alone

    def test_when_it_adds_to_a_model_and_forgets(self, cluster, post, tmp_path):
        models = {}
        with cluster.client() as client:
            for name, pool in (("alone", LocalPool(1)), ("together", pools.ClusterPool(client))):
                path = tmp_path / name
                trained(path, post.later)
                models[name] = [
                    trained(path, post.sources, pool),
                    trained(path, post.later, pool, forget=True),
                ]
        assert models["together"] == models["alone"]
        assert len(set(models["alone"])) == 2

    def test_from_an_object_store(self, cluster, bucket, post, tmp_path, monkeypatch):
        for name, value in bucket.environment.items():
            monkeypatch.setenv(name, value)
        for name in ("ham.mbox", "spam.mbox.gz", "later.mbox"):
            bucket.put(f"cluster/{name}", (post.folder / name).read_bytes())
        here = {"ham": [str(post.folder / name) for name in ("ham.mbox", "later.mbox")]}
        here["spam"] = post.sources["spam"][:1]
        there = {"ham": ["s3://mail/cluster/*.mbox"], "spam": ["s3://mail/cluster/*.gz"]}
        alone = trained(tmp_path / "alone", here)
        with cluster.client() as client:
            assert trained(tmp_path / "together", there, pools.ClusterPool(client)) == alone


def test_the_command(cluster, post, tmp_path, spamnb):
    """The same model, output and exit code, also if some mail cannot be read."""
    packed = tmp_path / "cut.mbox.gz"
    packed.write_bytes((post.folder / "spam.mbox.gz").read_bytes()[:-2000])
    words = ("train", "--fresh", "--model", tmp_path / "model", post.folder / "ham.mbox")
    for spam, code in ((post.folder / "spam.mbox.gz", 0), (packed, 65)):
        alone = spamnb(*words, spam)
        content = (tmp_path / "model").read_bytes()
        together = spamnb(*words, spam, "--jobs", cluster.file)
        assert (together.code, together.out, together.err) == (code, alone.out, alone.err)
        assert (tmp_path / "model").read_bytes() == content


class TestWhatWorkersCannotDo:
    def test_to_see_a_folder_of_this_machine(self, cluster, post, tmp_path, monkeypatch):
        hidden = tmp_path / "hidden"
        shutil.copytree(post.folder / "more", hidden)

        def chunks(sources, size):
            found = list(chunks_by_label(sources, size))
            shutil.move(hidden, tmp_path / "elsewhere")  # as if it never was on their machine
            return found

        monkeypatch.setattr("spamnb.workers.cluster.chunks_by_label", chunks)
        with cluster.client() as client, pytest.raises(DataError, match="missing on"):
            trained(tmp_path / "model", {"ham": [str(hidden)]}, pools.ClusterPool(client))

    def test_to_read_standard_input(self, cluster, tmp_path):
        with cluster.client() as client, pytest.raises(UsageError, match="standard input"):
            trained(tmp_path / "model", {"ham": ["-"]}, pools.ClusterPool(client))

    def test_to_have_another_version(self, post):
        task = pools.CheckedTask(ChunkReader(Settings()))
        task.version = "0.0"
        ((chunk, label),) = chunks_by_label({"ham": [str(post.folder / "more")]})
        with pytest.raises(UsageError, match=r"this machine has 0\.0; install the same"):
            task(chunk, label)


class TestNoCluster:
    def test_nobody_answers(self, spamnb, post, tmp_path, monkeypatch):
        monkeypatch.setattr("spamnb.workers.cluster.TIMEOUT", 0.5)
        (tmp_path / "junk").write_text("junk")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"  # bound, so that nobody else gets it
            for name in (address, str(tmp_path / "junk")):
                with pytest.raises(NoInput, match="no cluster answers"), open_pool(name):
                    pass
                gc.collect()  # a client of Dask that is garbage may hold up the start of another one
        spamnb("train", "--jobs", "x://y", "--ham", post.folder).fails(66, "x://y: no cluster answers")

    def test_a_cluster_without_workers(self, cluster, monkeypatch):
        cluster.stop()
        cluster.start()
        cluster.client().close()
        monkeypatch.setattr(distributed.Client, "wait_for_workers", refuse_to_wait)
        with pytest.raises(NoInput, match="no workers"), open_pool(cluster.file):
            pass

    def test_the_extra_is_missing(self, monkeypatch):
        monkeypatch.delitem(sys.modules, "spamnb.workers.cluster", raising=False)
        monkeypatch.setitem(sys.modules, "distributed", None)
        with pytest.raises(UsageError, match=r"a package that is missing; install it with: .*\[cluster\]"):
            open_pool("tcp://127.0.0.1:1")

    @pytest.mark.usefixtures("small_ranges")
    def test_the_cluster_goes_in_the_middle(self, cluster, tmp_path, post, monkeypatch):
        monkeypatch.setattr("spamnb.workers.cluster.TIMEOUT", 2)  # to connect again
        with open_pool(cluster.file) as pool, pytest.raises(SpamnbError, match="nothing was changed"):
            trained(tmp_path / "model", post.sources, pool, progress=lambda _: cluster.stop())
        assert not (tmp_path / "model").exists()


def refuse_to_wait(*_, **__):
    raise TimeoutError
