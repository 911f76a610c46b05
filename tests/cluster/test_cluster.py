"""Training, evaluating and classifying by real workers of a real scheduler, over TCP on this machine."""

from __future__ import annotations

import gzip
import lzma
import os
import shutil
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from distributed import Client
from helpers.paths import SPAMASSASSIN
from helpers.tiers import LONG, only_long
from helpers.waiting import PATIENCE, until

from spamnb.errors import DataError, NoInput, SpamnbError, UsageError
from spamnb.mailboxes.stores import LOCAL
from spamnb.model import Model
from spamnb.reading.settings import Settings
from spamnb.training import train as training
from spamnb.training.batches import MailToRead
from spamnb.workers import open_pool
from spamnb.workers.cluster import connecting
from spamnb.workers.cluster import pool as pool_module
from spamnb.workers.cluster.pool import ClusterPool
from spamnb.workers.cluster.table_sum import MAIL_PER_TABLE as LEAF
from spamnb.workers.cluster.table_sum import depth_for
from spamnb.workers.local import LocalPool

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
        self.process = self.dask("scheduler", "--host", "127.0.0.1", "--port", "0")

    def start_workers(self, many: int) -> None:
        """Start workers until there are so many."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        more = ("worker", "--no-nanny", "--nthreads", "1", "--host", "127.0.0.1")
        self.workers += [self.dask(*more) for _ in range(many - len(self.workers))]
        with self.client() as client:
            client.wait_for_workers(many, timeout=PATIENCE)

    def client(self) -> Client:
        until(lambda: os.path.exists(self.file))
        return Client(scheduler_file=self.file, set_as_default=False, timeout=PATIENCE)

    def stop(self) -> None:
        for process in (*self.workers, self.process):
            if process:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def spamnb(spamnb):
    """The program, with Dask loaded: 0.8 s for each of some twenty runs."""
    run = replace(spamnb, imports="spamnb.workers.cluster.pool", warm=[])
    yield run
    run.end()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("cluster")
    environment = request.getfixturevalue("bucket").environment if LONG else {}
    scheduler = Scheduler(str(folder / "scheduler.json"), str(folder), environment)
    try:
        scheduler.start()
        scheduler.start_workers(2)
        yield scheduler
    finally:
        scheduler.stop()


@dataclass(frozen=True)
class Mail:
    folder: Path
    sources: dict[str, list[str]]
    later: dict[str, list[str]]

    @property
    def paths(self) -> list[str]:
        return [path for paths in self.sources.values() for path in paths]


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


@pytest.fixture(scope="module")
def alone(tmp_path_factory, post):
    """The model that one process makes."""
    return trained(tmp_path_factory.mktemp("alone") / "model", post.sources)


@pytest.fixture
def small_ranges(monkeypatch):
    """Mailboxes cut into many pieces."""
    monkeypatch.setattr(pool_module, "cut_mail", partial(pool_module.cut_mail, size=SMALL))


def trained(path, sources, pool=None, **options):
    training.train(str(path), sources, pool=pool or LocalPool(1), **options)
    return Path(path).read_bytes()


@pytest.mark.usefixtures("small_ranges")
class TestTheSameModel:
    """As one machine makes it, byte for byte."""

    @pytest.mark.parametrize(("workers", "depth"), [(2, 0), pytest.param(3, 2, marks=only_long)])
    def test_for_any_number_of_workers_and_parts(self, cluster, post, alone, tmp_path, workers, depth):
        cluster.start_workers(workers)
        with cluster.client() as client:
            pool = ClusterPool(client, post.paths, depth=depth)
            assert trained(tmp_path / "together", post.sources, pool) == alone

    @only_long
    def test_when_it_adds_to_a_model_and_forgets(self, cluster, post, tmp_path):
        models = {}
        with cluster.client() as client:
            for name, pool in (
                ("alone", LocalPool(1)),
                ("together", ClusterPool(client, post.paths, depth=1)),
            ):
                path = tmp_path / name
                trained(path, post.later)
                models[name] = [
                    trained(path, post.sources, pool),
                    trained(path, post.later, pool, forget=True),
                    trained(path, {"work": [str(post.folder / "Maildir")]}, pool, new_labels=["work"]),
                ]
        assert models["together"] == models["alone"]
        assert len(set(models["alone"])) == 3

    @only_long
    def test_when_a_worker_is_killed_in_the_middle(self, cluster, post, alone, tmp_path):
        cluster.start_workers(3)
        killed: list = []

        def kill_one(_batch):
            if not killed:
                killed.append(cluster.workers[0])
                killed[0].send_signal(signal.SIGKILL)

        with cluster.client() as client:
            pool = ClusterPool(client, post.paths, depth=1)
            together = trained(tmp_path / "together", post.sources, pool, progress=kill_one)
        assert killed[0].wait(PATIENCE) == -signal.SIGKILL
        assert together == alone

    @pytest.mark.parametrize("adds", [pytest.param(False, marks=only_long), True])
    def test_when_one_is_killed_with_the_sums_in_it(self, cluster, post, tmp_path, adds):
        cluster.start_workers(3)
        killed: list = []

        class KillingPool(ClusterPool):
            def map_shards(self, task, parts, *more):
                if not killed:
                    for part in parts:
                        getattr(part, "total", part).exception()  # waits until it is there
                    killed.append(cluster.workers[0])
                    killed[0].kill()
                return super().map_shards(task, parts, *more)

        models: list = []
        with cluster.client() as client:
            for pool in (LocalPool(1), KillingPool(client, post.paths, depth=1)):
                path = tmp_path / str(len(models))
                if adds:
                    trained(path, post.later)
                models.append(trained(path, post.sources, pool))
        assert killed
        assert models[1] == models[0]

    @only_long
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
            pool = ClusterPool(client, [*there["ham"], *there["spam"]], depth=1)
            assert trained(tmp_path / "together", there, pool) == alone


@pytest.mark.usefixtures("small_ranges")
@only_long
def test_batches_and_verdicts_are_those_of_one_machine(cluster, post, tmp_path):
    trained(tmp_path / "model", post.sources)
    model = Model.open(tmp_path / "model")
    with cluster.client() as client:
        pool = ClusterPool(client, post.paths)
        alone, together = (
            [*one.batches(MailToRead(post.sources, Settings()))] for one in (LocalPool(1), pool)
        )
        names = [[name for batch in batches for name in batch.whole().names] for batches in (alone, together)]
        digests = [[d for batch in batches for d in batch.digests] for batches in (alone, together)]
        judged = [
            [one for verdicts, _, _ in each.verdicts(model, post.paths) for one in verdicts]
            for each in (LocalPool(1), pool)
        ]
    assert names[1] == names[0]
    assert digests[1] == digests[0]
    assert [(path, at, one.label, one.score) for path, at, one, _ in judged[1]] == [
        (path, at, one.label, one.score) for path, at, one, _ in judged[0]
    ]
    assert len(judged[0]) == len(names[0]) > 100


def test_the_commands(cluster, post, tmp_path, spamnb):
    model, ham, spam = str(tmp_path / "model"), post.folder / "ham.mbox", post.folder / "spam.mbox.gz"
    there = ("--cluster", cluster.file)
    alone = spamnb("train", "--model", model, ham, spam).succeeds()
    content = Path(model).read_bytes()
    assert spamnb("train", "--fresh", "--model", model, *there, ham, spam).succeeds().out == alone.out
    assert Path(model).read_bytes() == content
    for words in (
        ("classify", "--model", model, ham, spam),
        ("classify", "--model", model, "--settings", "event=bernoulli", "--json", ham),
        ("classify", "--model", model, "--cutoff", "1,2", ham),
    ):
        here = spamnb(*words).succeeds()
        assert here.out
        assert spamnb(*words, *there).succeeds().out == here.out
    spamnb("classify", "--model", model, *there, "--jobs", "2", ham).fails(64, "--jobs")


@only_long
def test_workers_started_here(post, alone, tmp_path):
    with open_pool(post.paths, "local", jobs=2) as pool:
        assert pool.status() == ", 2 workers"
        assert trained(tmp_path / "together", post.sources, pool) == alone


@only_long
def test_the_same_mail_is_chosen(cluster, post, tmp_path):
    """Messages by their numbers, no archives, and no folder whose name speaks against the label."""
    box, folder = post.folder / "ham.mbox", tmp_path / "ham"
    shutil.copytree(post.folder / "more", folder / "Lists")
    shutil.copytree(post.folder / "Maildir", folder / "Trash")
    (folder / "mail.zip").write_bytes(b"PK\x03\x04")
    named = {"ham": [f"{box}:3", f"{box}:7", str(folder)]}
    with cluster.client() as client:
        pool = ClusterPool(client, named["ham"])
        summary = training.train(str(tmp_path / "together"), named, pool=pool)
        with pytest.raises(NoInput, match="no such message"):
            training.train(str(tmp_path / "together"), {"ham": [f"{box}:9999"]}, pool=pool)
    assert summary.outcomes["ham"]["learned"] < 2 + 10 + 40
    assert sorted(one.path for one in summary.passed_over) == [f"{folder}/Trash", f"{folder}/mail.zip"]
    assert trained(tmp_path / "alone", named) == (tmp_path / "together").read_bytes()


class TestWhatCannotBeRead:
    def test_fails_the_run_and_changes_nothing(self, cluster, tmp_path, post, spamnb):
        model, packed = str(tmp_path / "model"), tmp_path / "cut.mbox.gz"
        packed.write_bytes((post.folder / "spam.mbox.gz").read_bytes()[:-2000])
        words = ("train", "--model", model, "--cluster", cluster.file, post.folder / "ham.mbox", packed)
        spamnb(*words).fails(65, str(packed), "nothing was changed", "--skip-unreadable")
        assert not os.path.exists(model)
        done = spamnb(*words, "--skip-unreadable")
        assert done.code == 0
        assert str(packed) in done.err.decode()
        content = Path(model).read_bytes()
        here = ("train", "--fresh", "--model", model, post.folder / "ham.mbox", packed)
        assert [spamnb(*here).code, spamnb(*here, "--skip-unreadable").code] == [65, 0]
        assert Path(model).read_bytes() == content

    def test_a_folder_that_workers_do_not_see(self, cluster, post, tmp_path):
        """By their own namespace of files, as on another machine."""
        hidden = tmp_path / "hidden"
        shutil.copytree(post.folder / "more", hidden / "more")
        with cluster.client() as client:
            pool = ClusterPool(client, [str(hidden)])
            shutil.move(hidden, tmp_path / "elsewhere")
            far = client.submit(
                pool_module.tasks.batch,
                pool_module.tasks.MessageFiles(LOCAL, [str(hidden / "more" / "00")], 1),
                "ham",
                Settings(),
                pure=False,
            )
            with pytest.raises(DataError, match="not there on"):
                pool.result(far)
            with pytest.raises(NoInput, match="not there for the worker"):
                ClusterPool(client, [str(hidden)])

    @only_long
    def test_mail_that_changed_when_it_is_read_again(self, cluster, post, tmp_path):
        folder = tmp_path / "changing"
        shutil.copytree(post.folder / "more", folder)
        with cluster.client() as client:
            pool = ClusterPool(client, [str(folder)])
            (batch,) = pool.batches(MailToRead({"ham": [str(folder)]}, Settings()))
            (folder / "03").write_bytes(b"Subject: other\n\nother\n")
            again = client.submit(pool_module.tasks.batch, *_work(folder), Settings(), pure=False)
            batch.read = again  # as if the worker that had it was killed
            with pytest.raises(DataError, match="changed while it was read"):
                pool.result(batch.table(["ham", "spam"], _steps(batch), 1))


def _work(folder):
    ((chunk, label),) = pool_module.chunks_by_label({"ham": [str(folder)]}, pool_module.cut_mail)
    return chunk, label


def _steps(batch):
    return np.array([(n, 0, 1) for n in range(len(batch))])


class TestNoCluster:
    def test_nobody_answers(self, spamnb, post):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"  # bound, so that nobody else gets it
            for name in (address, f"tls://{address}", "nonsense://x", "missing.json"):
                spamnb("classify", "--cluster", name, post.paths[0]).fails(66, name, "no cluster answers")

    @pytest.mark.parametrize("greeting", [b"SSH-2.0-OpenSSH_9.2p1\r\n"])
    def test_another_server_answers(self, spamnb, post, greeting):
        """One that waits for a word, and one that speaks first."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            name = f"tcp://127.0.0.1:{server.getsockname()[1]}"
            run = partial(spamnb.afresh, "classify", "--cluster", name, post.paths[0])
            with ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(run)
                server.settimeout(PATIENCE)
                peer, _ = server.accept()
                with peer:
                    peer.sendall(greeting)
                    waiting.result(PATIENCE).fails(66, name, "no cluster answers")

    def test_a_file_that_no_scheduler_wrote(self, spamnb, post, tmp_path):
        for name, content in (("junk", "junk"), ("list", "[]"), ("empty", "{}")):
            (tmp_path / name).write_text(content)
            run = spamnb("classify", "--cluster", tmp_path / name, post.paths[0])
            run.fails(66, str(tmp_path / name), "no cluster answers there", "tcp://HOST:PORT")

    def test_a_cluster_without_workers(self, tmp_path, post, monkeypatch):
        scheduler = Scheduler(str(tmp_path / "scheduler.json"), str(tmp_path), {})
        patient = partial(Client, set_as_default=False, timeout=PATIENCE)
        monkeypatch.setattr(connecting, "Client", lambda address, **_: patient(address))
        monkeypatch.setattr(connecting, "TIMEOUT", 1)  # for a worker to come
        try:
            scheduler.start()
            scheduler.client().close()
            with pytest.raises(NoInput, match="no workers"), open_pool(post.paths, scheduler.file):
                pass
        finally:
            scheduler.stop()

    def test_the_extra_is_missing(self, monkeypatch, post):
        for name in ("spamnb.workers.cluster.connecting", "spamnb.workers.cluster.pool"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setitem(sys.modules, "distributed", None)
        with pytest.raises(UsageError, match=r"spamnb\[cluster\]"), open_pool(post.paths, "local"):
            pass

    def test_standard_input_is_here_only(self, cluster):
        with cluster.client() as client, pytest.raises(UsageError, match="standard input"):
            ClusterPool(client, ["-"])

    @only_long
    def test_the_cluster_goes_in_the_middle(self, tmp_path, post):
        scheduler = Scheduler(str(tmp_path / "scheduler.json"), str(tmp_path), {})
        try:
            scheduler.start()
            scheduler.start_workers(1)
            with scheduler.client() as client:
                pool = ClusterPool(client, post.paths)
                with pytest.raises(SpamnbError, match="nothing was changed"):
                    trained(tmp_path / "model", post.sources, pool, progress=lambda _: scheduler.stop())
        finally:
            scheduler.stop()
        assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("size", "depth"),
    [(0, 0), (LEAF, 0), (LEAF + 1, 1), (8 * LEAF, 1), (8 * LEAF + 1, 2), (1 << 60, 4)],
)
def test_more_mail_is_cut_more_often(size, depth):
    assert depth_for(size) == depth
