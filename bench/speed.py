"""Speed and memory of spamnb, beside the peers that are installed, on the same mail in one run."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

import models
from clock import BARE, MEGABYTE, Times, Weather, alone, contents, elapsed, race, together
from peers import Bogofilter, Command, Failed, Ifile, MultinomialNB, Spamnb, Spamprobe
from stages import training_stages
from tables import put_into, save, table

from corpora import LABELS, Corpus, hostile, lay_out, resampled, write, write_mbox
from spamnb.store.journal import FOLD_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from peers import Peer

    from corpora import Laid

REPEATS, QUICK = (5, 40), (1, 10)  # of bulk work, and of single messages
BESIDE: tuple[type[Peer], ...] = (Bogofilter, Ifile, Spamprobe, MultinomialNB)
ONCE = (Spamprobe, MultinomialNB)  # half a minute each: the others repeat, these do not
COLUMNS = ("what", "spamnb", "beside", "ratio", "wanted", "reached")
GROWTH = (20_000, 200_000)
JOURNAL_PATIENCE = 2_000  # messages to learn before giving up on a fold
FOLD_PATIENCE = 120  # seconds
BETWEEN_FOLDS = 25  # messages of middling size


@dataclass
class Row:
    """A line of the table; `ratio` is judged by `limit`, at least or at most."""

    what: str
    ours: str
    beside: str = ""
    ratio: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    unit: str = "×"
    digits: int = 2

    @property
    def reached(self) -> bool | None:
        if self.ratio is None or (self.at_least is None and self.at_most is None):
            return None
        return (self.at_least or self.ratio) <= self.ratio <= (self.at_most or self.ratio)

    def cells(self) -> list[str]:
        wanted = f"≥ {self.at_least:g}" if self.at_least else f"≤ {self.at_most:g}" if self.at_most else ""
        return [
            self.what,
            self.ours,
            self.beside,
            "" if self.ratio is None else f"{self.ratio:.{self.digits}f} {self.unit}".strip(),
            f"{wanted} {self.unit}" if wanted else "",
            {True: "yes", False: "NO", None: ""}[self.reached],
        ]


def seconds(times: Times) -> str:
    return f"{times.median:.2f} s{spread(times)}"


def milliseconds(times: Times) -> str:
    return f"{1000 * times.median:.1f} ms{spread(times)}"


def spread(times: Times) -> str:
    return "" if times.spread is None else f" ±{50 * times.spread:.0f} %"


def rate(messages: int, times: Times) -> str:
    return f"{messages / times.median:,.0f} msg/s{spread(times)}"


class Bench:
    """The corpus on disk, the filters trained with it, and a message of middling size."""

    def __init__(self, folder: str, quick: bool = False) -> None:
        self.folder = folder
        self.bulk_repeats, self.start_repeats = QUICK if quick else REPEATS
        beside = [kind for kind in BESIDE if not (quick and kind in ONCE)]
        self.corpus = Corpus.spamassassin()
        self.mail: Laid = lay_out(self.corpus, os.path.join(folder, "mail"))
        self.peers = [kind(self.at(kind.__name__)) for kind in beside if kind.missing() is None]
        self.gone = [f"{kind.name}: not installed" for kind in beside if kind.missing()]
        self.spamnb = Spamnb(self.at("spamnb"))
        self.single = Spamnb(self.at("single"))
        self.single.jobs = 1
        self.trained: set[str] = set()
        by_size = sorted((*self.corpus.ham, *self.corpus.spam), key=len)
        self.middling = by_size[len(by_size) // 2]
        self.message = write(self.at("message"), self.middling)

    def at(self, *names: str) -> str:
        return os.path.join(self.folder, *names)

    def peer(self, kind: type[Peer]) -> Peer | None:
        return next((peer for peer in self.peers if isinstance(peer, kind)), None)

    def ready(self, peer: Peer) -> Peer:
        """Trained, if it is not yet."""
        if peer.folder not in self.trained:
            peer.train(self.mail)
            self.trained.add(peer.folder)
        return peer

    def training_time(self, peer: Peer) -> float:
        """From nothing: what was learned before is put away first."""
        shutil.rmtree(peer.folder)
        type(peer).__init__(peer, peer.folder)
        spent = elapsed(*peer.training(self.mail))
        self.trained.add(peer.folder)
        return spent

    def sized(self, tokens: int) -> Spamnb:
        """spamnb with a model of so many tokens."""
        sized = Spamnb(self.at(f"tokens-{tokens}"))
        if not os.path.exists(sized.model):
            self.ready(self.spamnb)
            models.make(sized.model, self.spamnb.model, tokens)
        return sized


def train(bench: Bench) -> Iterator[Row]:
    """One mbox a label (ifile and scikit-learn: a file a message), from nothing."""

    def timed(peer: Peer) -> Callable[[], float]:
        return lambda: bench.training_time(peer)

    often = [peer for peer in bench.peers if not isinstance(peer, ONCE)]
    times = race(
        {"all": timed(bench.spamnb), "one": timed(bench.single), **{p.name: timed(p) for p in often}},
        bench.bulk_repeats,
    )
    for peer in bench.peers:
        if isinstance(peer, ONCE):
            times[peer.name] = Times([bench.training_time(peer)])
    count = bench.mail.count
    limits = {Bogofilter.name: {"all": 2.0, "one": 1.0}}
    for peer in bench.peers:
        for jobs, words in (("all", "all cores"), ("one", "--jobs 1")):
            yield Row(
                f"train {count:,} messages, {words}, against {peer.name}",
                rate(count, times[jobs]),
                rate(count, times[peer.name]),
                times[peer.name].median / times[jobs].median,
                at_least=limits.get(peer.name, {}).get(jobs),
            )
    for peer in bench.peers:
        ours, other = bench.spamnb.size(), peer.size()
        yield Row(
            f"size of what was learned, against {peer.name}",
            f"{ours / 1e6:.1f} MB",
            f"{other / 1e6:.1f} MB",
            ours / other,
        )


def classify(bench: Bench) -> Iterator[Row]:
    """All messages of the corpus, a file each."""
    paths = bench.mail.paths

    def timed(peer: Peer) -> Callable[[], float]:
        command = bench.ready(peer).scoring(paths)
        return lambda: elapsed(command)

    often = [peer for peer in bench.peers if not isinstance(peer, ONCE)]
    times = race({peer.name: timed(peer) for peer in (bench.spamnb, *often)}, bench.bulk_repeats)
    for peer in bench.peers:
        if isinstance(peer, ONCE):
            times[peer.name] = Times([timed(peer)()])
    limits = {Bogofilter.name: 3.0, Ifile.name: 1.5}
    ours = times[Spamnb.name]
    for peer in bench.peers:
        yield Row(
            f"classify {len(paths):,} messages in bulk, against {peer.name}",
            rate(len(paths), ours),
            rate(len(paths), times[peer.name]),
            times[peer.name].median / ours.median,
            at_least=limits.get(peer.name),
        )


def one(bench: Bench) -> Iterator[Row]:
    """One message as procmail runs it; learning one; the size of the model; the import."""
    small, large = bench.sized(models.SMALL), bench.sized(models.LARGE)
    runners: dict[str, Command] = {
        "bare": BARE,
        "import": Command([sys.executable, "-c", "import spamnb"]),
        "spamnb": bench.ready(bench.spamnb).one(bench.message),
        "small": small.one(bench.message),
        "large": large.one(bench.message),
    }
    others = [peer for peer in bench.peers if not isinstance(peer, MultinomialNB)]
    runners |= {peer.name: bench.ready(peer).one(bench.message) for peer in others}
    times = race({name: partial(elapsed, command) for name, command in runners.items()}, bench.start_repeats)
    times |= learning_times(bench, small, large)

    def row(what: str, ours: str, other: str, limit: float | None = None) -> Row:
        ratio = times[ours].median / times[other].median
        return Row(what, milliseconds(times[ours]), milliseconds(times[other]), ratio, at_most=limit)

    size = f"{len(bench.middling):,} bytes"
    yield row(f"one message ({size}), against python -c pass", "spamnb", "bare", 2.0)
    for peer in others:
        yield row(f"one message, against {peer.name}", "spamnb", peer.name)
    yield row("one message, 5 million tokens against 50 thousand", "large", "small", 1.1)
    yield row("learning one message, 5 million tokens against 50 thousand", "learn large", "learn small", 1.2)
    yield row("learning one message, 50 thousand tokens, against python -c pass", "learn small", "bare", 2.5)
    yield row("learning one message, 5 million tokens, against python -c pass", "learn large", "bare", 2.5)
    over = 1000 * (times["import"].median - times["bare"].median)
    yield Row(
        "import spamnb, over the bare interpreter",
        milliseconds(times["import"]),
        milliseconds(times["bare"]),
        over,
        at_most=25,
        unit="ms",
        digits=1,
    )


def learning_times(bench: Bench, small: Spamnb, large: Spamnb) -> dict[str, Times]:
    """Between two folds: the journal grows from nothing to its limit."""
    # A message known already would cost nothing, so each is new; both models learn the same ones.
    repeats = min(bench.start_repeats, BETWEEN_FOLDS)
    fresh = resampled([bench.middling], repeats + 1, 1)
    lessons = [write(bench.at(f"lesson-{n}"), message) for n, message in enumerate(fresh)]

    def learner(peer: Spamnb) -> Callable[[], float]:
        turns = iter(lessons)
        return lambda: elapsed(peer.learn(next(turns)))

    return race({"learn small": learner(small), "learn large": learner(large)}, repeats)


def memory(bench: Bench) -> Iterator[Row]:
    """One process: its peak resident memory. Several: the peak of the sum, and with shared pages once."""

    def peak(what: str, command: Command, limit: float | None) -> Row:
        used = alone(command)
        return Row(what, f"{used.peak:.1f} MB", "", used.peak, at_most=limit, unit="MB", digits=1)

    for tokens in (models.SMALL, models.LARGE):
        sized = bench.sized(tokens)
        yield peak(f"peak memory of one message, {tokens:,} tokens", sized.one(bench.message), 25)
        lesson = next(resampled([bench.middling], 1, seed=tokens))
        learn = sized.learn(write(bench.at("lesson"), lesson))
        yield peak(f"peak memory of learning one, {tokens:,} tokens", learn, None)
    trained = bench.peer(Bogofilter)
    if trained:
        yield peak("… of one message, bogofilter", bench.ready(trained).one(bench.message), None)
    for peer, words in ((bench.spamnb, "all cores"), (bench.single, "--jobs 1")):
        yield peak_of_all(f"peak memory of training, {words}", peer.training(bench.mail)[0], 200)
    yield peak_of_all("peak memory of bulk classifying", bench.ready(bench.spamnb).scoring(bench.mail.paths))


def peak_of_all(what: str, command: Command, limit: float | None = None) -> Row:
    used = together(command)
    shared = f"{used.proportional:.0f} MB with shared pages once"
    return Row(what, f"{used.peak:.0f} MB", shared, used.peak, at_most=limit, unit="MB", digits=0)


def growth(bench: Bench) -> Iterator[Row]:
    """Training time and memory as the mail grows: messages resampled, each made one of its own."""
    spent = {}
    for count in GROWTH:
        grown = Spamnb(bench.at(f"grown-{count}"))
        boxes = []
        for label in LABELS:
            share = round(count * len(bench.corpus.of(label)) / len(bench.corpus))
            messages = resampled(bench.corpus.of(label), share, seed=count)
            boxes.append(write_mbox(bench.at(f"{label}-{count}.mbox"), messages))
        size = sum(map(os.path.getsize, boxes)) / MEGABYTE
        peer_mail = GrownMail(*boxes)
        used = together(grown.training(peer_mail)[0])  # type: ignore[arg-type]
        for path in boxes:
            os.unlink(path)
        spent[count] = used.seconds
        learned = f"{grown.size() / 1e6:.0f} MB learned"
        yield Row(f"train {count:,} messages ({size:,.0f} MB)", f"{used.seconds:.1f} s", learned)
        yield Row(
            f"… peak memory of {count:,}",
            f"{used.peak:.0f} MB",
            f"{used.proportional:.0f} MB with shared pages once",
        )
    few, many = GROWTH
    yield Row(
        f"training time, from {few:,} to {many:,} messages",
        f"{spent[many]:.1f} s",
        f"{spent[few]:.1f} s",
        spent[many] / spent[few],
        at_most=11,
    )


@dataclass(frozen=True)
class GrownMail:
    """Mailboxes without the files that other filters ask for."""

    ham: str
    spam: str

    def mbox(self, label: str) -> str:
        return self.ham if label == "ham" else self.spam


def fold(bench: Bench) -> Iterator[Row]:
    """The learning in hundreds that has the journal folded into the model: how long a delivery waits."""
    for tokens in (models.SMALL, models.LARGE):
        sized = Spamnb(bench.at(f"fold-{tokens}"))
        bench.ready(bench.spamnb)
        models.make(sized.model, bench.spamnb.model, tokens)
        before = os.stat(sized.model).st_ino
        times: list[float] = []
        for message in resampled([bench.middling], JOURNAL_PATIENCE, seed=2):
            times.append(elapsed(sized.learn(write(bench.at("lesson"), message))))
            if os.path.getsize(sized.model + ".journal") > FOLD_LIMIT:
                break
        began = time.monotonic()
        while os.stat(sized.model).st_ino == before and time.monotonic() < began + FOLD_PATIENCE:
            time.sleep(0.01)
        usual = Times(times[:-1])
        yield Row(
            f"learning that has the journal folded, {tokens:,} tokens; one in {len(times):,}",
            f"{1000 * times[-1]:.0f} ms",
            f"{milliseconds(usual)}, folded {time.monotonic() - began:.1f} s later",
            times[-1] / usual.median,
        )


def hostile_messages(bench: Bench) -> Iterator[Row]:
    """A verdict each time, within a second and 200 MB."""
    bogofilter = bench.peer(Bogofilter)
    for name, made in hostile().items():
        path = write(bench.at("hostile"), made())
        used = alone(bench.ready(bench.spamnb).one(path))
        beside = ""
        if bogofilter:
            other = alone(bench.ready(bogofilter).one(path), patience=20)
            late = other.exit_code is None
            beside = "bogofilter " + ("> 20 s" if late else f"{other.seconds:.2f} s, {other.peak:.0f} MB")
        words = used.output.split()
        said = words[0].decode() if used.exit_code == 0 and words else f"NO VERDICT, exit {used.exit_code}"
        spent = used.seconds if used.exit_code == 0 else float("inf")
        yield Row(f"{name}: time", f"{used.seconds:.2f} s, {said}", beside, spent, at_most=1, unit="s")
        yield Row(
            f"{name}: peak memory", f"{used.peak:.0f} MB", "", used.peak, at_most=200, unit="MB", digits=0
        )


def stages(bench: Bench) -> Iterator[Row]:
    """Where the CPU time of training goes, in one process."""
    spent = training_stages({label: bench.mail.mbox(label) for label in LABELS})
    total = sum(seconds for name, seconds in spent.items() if not name.startswith("…"))
    for name, seconds in spent.items():
        share = 100 * seconds / total
        yield Row(f"CPU of training: {name}", f"{seconds:.2f} s", ratio=share, unit="%", digits=0)


GROUPS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "train": train,
    "stages": stages,
    "classify": classify,
    "one": one,
    "memory": memory,
    "hostile": hostile_messages,
    "fold": fold,
    "growth": growth,
}
ONLY_IN_FULL = ("fold", "growth")


def machine() -> str:
    lines = contents("/proc/cpuinfo").splitlines()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    processor = next(names, platform.machine())
    system = f"{platform.system()} {platform.release()}"
    return f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}, {system}"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help=f"also: {', '.join(ONLY_IN_FULL)}")
    parser.add_argument("--quick", action="store_true", help="few repeats, and only the fast peers")
    parser.add_argument("--only", action="append", choices=GROUPS, help="this group; again for more")
    parser.add_argument("--json", metavar="FILE", help="every figure")
    parser.add_argument("--page", metavar="FILE", help="put the tables into this page")
    return parser.parse_args()


def main() -> None:
    asked = options()
    names = asked.only or [name for name in GROUPS if asked.full or name not in ONLY_IN_FULL]
    start = time.monotonic()
    rows: list[Row] = []
    tables: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, asked.quick)
        weather = Weather()
        for name in names:
            weather.look()
            found: list[Row] = []
            try:
                found.extend(GROUPS[name](bench))
            except Failed as error:
                bench.gone.append(f"{name}: {error}")
            if found:
                tables.append(table(COLUMNS, [row.cells() for row in found]))
                print(tables[-1], end="\n\n", flush=True)
            rows += found
        weather.look()
    notes = [*bench.gone, machine(), *weather.lines(), f"{time.monotonic() - start:.0f} s"]
    print("\n".join(notes))
    how = f"`make bench ARGS='{' '.join(sys.argv[1:])}'`: {'; '.join(notes)}."
    put_into(asked.page, "\n\n".join((*tables, how)))
    save(asked.json, {"rows": [asdict(row) | {"reached": row.reached} for row in rows], "notes": notes})


if __name__ == "__main__":
    main()
