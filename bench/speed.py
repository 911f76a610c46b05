"""Speed and memory of spamnb beside bogofilter, on the same mail in one run."""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING

import models
from clock import BARE, MEGABYTE, Times, Weather, alone, elapsed, race, together
from peers import SPAMNB, Bogofilter, Command, Failed, Spamnb
from rows import COLUMNS, Row, machine, milliseconds, rate, seconds
from tables import table

import spamnb
from corpora import LABELS, Corpus, hostile, lay_out, resampled, write, write_mbox
from spamnb.core.native import read, render_page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clock import Used
    from peers import Peer

    from corpora import Laid

REPEATS, QUICK = (5, 40), (1, 10)  # of bulk work, and of single messages
TODAY, TODAY_REPEATS = 10_000, 3  # messages of today, over 150 MB
FEW, MANY, MILLION = (
    20_000,
    200_000,
    1_000_000,
)  # messages that the growth of time and memory is measured with
GROWN_MEMORY = 400  # megabytes, at most
BETWEEN_FOLDS = 25  # messages of middling size


class Bench:
    """The corpus on disk, the filters trained with it, and a message of medium size."""

    def __init__(self, folder: str, asked: argparse.Namespace) -> None:
        self.folder = folder
        self.today: str | None = asked.today
        self.bulk_repeats, self.start_repeats = QUICK if asked.quick else REPEATS
        compileall.compile_dir(os.path.dirname(spamnb.__file__), quiet=1)  # else the first start writes it
        self.corpus = Corpus.spamassassin()
        self.mail: Laid = lay_out(self.corpus, os.path.join(folder, "mail"))
        self.spamnb, self.single = Spamnb(self.at("spamnb")), Spamnb(self.at("single"))
        self.single.jobs = 1
        self.others: list[Peer] = [] if Bogofilter.missing() else [Bogofilter(self.at("bogofilter"))]
        self.trained: set[str] = set()
        by_size = sorted((*self.corpus.ham, *self.corpus.spam), key=len)
        self.middling = by_size[len(by_size) // 2]
        self.message = write(self.at("message"), self.middling)

    def at(self, *names: str) -> str:
        return os.path.join(self.folder, *names)

    def ready(self, peer: Peer) -> Peer:
        """Return a filter; train it first if it was not trained yet."""
        if peer.folder not in self.trained:
            peer.train(self.mail)
            self.trained.add(peer.folder)
        return peer

    def training_time(self, peer: Peer, mail: Laid | None = None) -> float:
        """Remove the filter's older model, train anew, and return the seconds that training takes."""
        shutil.rmtree(peer.folder)
        type(peer).__init__(peer, peer.folder)
        spent = elapsed(*peer.training(mail or self.mail))
        self.trained.add(peer.folder)
        return spent

    def sized(self, tokens: int) -> Spamnb:
        """Return spamnb with a model of this many tokens."""
        sized = Spamnb(self.at(f"tokens-{tokens}"))
        if not os.path.exists(sized.model):
            self.ready(self.spamnb)
            models.make(sized.model, self.spamnb.model, tokens)
        return sized


def train(bench: Bench) -> Iterator[Row]:
    """Yield the rows for training new models, with one mbox per label."""
    peers = {"all cores": bench.spamnb, "--jobs 1": bench.single}
    yield from training(bench, peers, bench.mail, "", bench.bulk_repeats, {"all cores": 4.0, "--jobs 1": 2.5})
    for peer in bench.others:
        ours, other = bench.spamnb.size(), peer.size()
        shown = f"{ours / 1e6:.1f} MB", f"{other / 1e6:.1f} MB"
        yield Row(f"size of what was learned, against {peer.name}", *shown, ours / other)


def training(
    bench: Bench, peers: dict[str, Spamnb], mail: Laid, kind: str, repeats: int, limits: dict[str, float]
) -> Iterator[Row]:
    all_peers = {**peers, **{peer.name: peer for peer in bench.others}}
    works = {name: partial(bench.training_time, peer, mail) for name, peer in all_peers.items()}
    what = f"train {mail.count:,} messages{kind}, "
    yield from beside(bench, what, mail.count, race(works, repeats), limits)


def classify(bench: Bench) -> Iterator[Row]:
    """Yield the rows for classifying all messages of the corpus, one file each."""
    ready = [bench.ready(peer) for peer in (bench.spamnb, *bench.others)]
    yield from classifying(bench, ready, bench.mail, "", bench.bulk_repeats, 6.0)


def classifying(
    bench: Bench, peers: Sequence[Peer], mail: Laid, kind: str, repeats: int, limit: float
) -> Iterator[Row]:
    works = {peer.name: partial(elapsed, peer.scoring(mail.paths)) for peer in peers}
    times = race(works, repeats)
    times["in bulk"] = times.pop(Spamnb.name)
    what = f"classify {mail.count:,} messages{kind} "
    yield from beside(bench, what, mail.count, times, {"in bulk": limit})


def beside(
    bench: Bench, what: str, count: int, times: dict[str, Times], limits: dict[str, float]
) -> Iterator[Row]:
    for peer in bench.others:
        other = times[peer.name]
        for name, limit in limits.items():
            shown = rate(count, times[name]), rate(count, other)
            ratio = other.median / times[name].median
            yield Row(f"{what}{name}, against {peer.name}", *shown, ratio, at_least=limit)


def one(bench: Bench) -> Iterator[Row]:
    """Yield the rows for judging one message as procmail does, learning one, model size, and importing."""
    small, large = bench.sized(models.SMALL), bench.sized(models.LARGE)
    commands: dict[str, Command] = {
        "bare": BARE,
        "spamnb": bench.ready(bench.spamnb).one(bench.message),
        "small": small.one(bench.message),
        "large": large.one(bench.message),
        "file": Command([SPAMNB, "classify", "--model", bench.spamnb.model, bench.message]),
        **{peer.name: bench.ready(peer).one(bench.message) for peer in bench.others},
    }
    times = race({name: partial(elapsed, command) for name, command in commands.items()}, bench.start_repeats)
    times |= learning_times(bench, small, large)

    def row(what: str, ours: str, other: str, limit: float | None = None) -> Row:
        ratio = times[ours].median / times[other].median
        return Row(what, milliseconds(times[ours]), milliseconds(times[other]), ratio, at_most=limit)

    size = f"{len(bench.middling):,} bytes"
    yield row(f"one message ({size}), against python -c pass", "spamnb", "bare", 1.5)
    yield row("classify FILE, against python -c pass", "file", "bare", 1.5)
    for peer in bench.others:
        yield row(f"one message, against {peer.name}", "spamnb", peer.name)
    yield row("one message, 5 million tokens against 50 thousand", "large", "small", 1.1)
    yield row("learning one message, 50 thousand tokens, against python -c pass", "learn small", "bare", 1.7)
    yield row("learning one message, 5 million tokens, against python -c pass", "learn large", "bare", 1.7)


def learning_times(bench: Bench, small: Spamnb, large: Spamnb) -> dict[str, Times]:
    """Measure how long learning one message takes while the journal grows from nothing to its limit."""
    # A message known already would cost nothing, so each is new; both models learn the same ones.
    repeats = min(bench.start_repeats, BETWEEN_FOLDS)
    fresh = resampled([bench.middling], repeats + 1, 1)
    lessons = [write(bench.at(f"lesson-{n}"), message) for n, message in enumerate(fresh)]

    def learner(peer: Spamnb) -> Callable[[], float]:
        turns = iter(lessons)
        return lambda: elapsed(peer.learn(next(turns)))

    return race({"learn small": learner(small), "learn large": learner(large)}, repeats)


def evaluate(bench: Bench) -> Iterator[Row]:
    """Yield the rows for cross-validation, compared with training of other filters, and online evaluation."""
    boxes = [bench.mail.mbox(label) for label in LABELS]
    works: dict[str, Callable[[], float]] = {
        **{peer.name: partial(bench.training_time, peer) for peer in bench.others},
        "folds": partial(elapsed, Command([SPAMNB, "evaluate", "--folds", "10", *boxes])),
        "online": partial(elapsed, Command([SPAMNB, "evaluate", "--online", "--jobs", "1", *boxes])),
    }
    times = race(works, min(bench.bulk_repeats, 3))
    for peer in bench.others:
        shown = seconds(times["folds"]), seconds(times[peer.name])
        what = f"10-fold cross-validation, all cores, against training of {peer.name}"
        yield Row(what, *shown, times[peer.name].median / times["folds"].median, at_least=2.5)
    found, shown_rate = bench.mail.count / times["online"].median, rate(bench.mail.count, times["online"])
    yield Row("online evaluation, --jobs 1", shown_rate, "", found, at_least=8000, unit="msg/s", digits=0)


def memory(bench: Bench) -> Iterator[Row]:
    """Yield the rows of peak memory; memory that several processes share is counted once."""
    for tokens in (models.SMALL, models.LARGE):
        sized = bench.sized(tokens)
        used = alone(sized.one(bench.message))
        yield memory_row(f"peak memory of one message, {tokens:,} tokens", used, 25, 1)
        lesson = next(resampled([bench.middling], 1, seed=tokens))
        used = alone(sized.learn(write(bench.at("lesson"), lesson)))
        yield memory_row(f"peak memory of learning one, {tokens:,} tokens", used, None, 1)
    for peer in bench.others:
        used = alone(bench.ready(peer).one(bench.message))
        yield memory_row(f"… of one message, {peer.name}", used, None, 1)
    yield memory_row("memory of training, all cores", together(bench.spamnb.training(bench.mail)[0]), 120)
    used = together(bench.ready(bench.spamnb).scoring(bench.mail.paths))
    yield memory_row("memory of bulk classifying", used)


def memory_row(what: str, used: Used, limit: float | None = None, digits: int = 0) -> Row:
    return Row(what, f"{used.peak:.{digits}f} MB", "", used.peak, at_most=limit, unit="MB", digits=digits)


def reading(bench: Bench) -> Iterator[Row]:
    """Yield rows of speed on one core, in megabytes per second: HTML to text, and bytes to messages."""
    raws = [*bench.corpus.ham, *bench.corpus.spam]
    parts = [part for raw in raws for part in read(raw).leaves if part.content_type == "text/html"]
    pages = [part.text for part in parts if part.text]
    for name, megabytes, work, limit in (
        ("HTML to text", sum(map(len, pages)) / 1e6, lambda: [render_page(page) for page in pages], 150),
        ("reading messages", sum(map(len, raws)) / 1e6, lambda: [read(raw) for raw in raws], 400),
    ):
        took = min(cpu_of(work) for _ in range(bench.bulk_repeats))
        shown = f"{megabytes:.1f} MB in {took:.2f} s"
        yield Row(name, shown, "", megabytes / took, at_least=limit, unit="MB/s", digits=0)


def cpu_of(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def hostile_messages(bench: Bench) -> Iterator[Row]:
    """Yield the rows of hostile messages: each must get a verdict within a second and 200 MB."""
    for name, made in hostile().items():
        path = write(bench.at("hostile"), made())
        used = alone(bench.ready(bench.spamnb).one(path))
        well = used.exit_code == 0
        said = used.output.split()[0].decode() if well else f"NO VERDICT, exit {used.exit_code}"
        spent = used.seconds if well else float("inf")
        yield Row(f"{name}: time", f"{used.seconds:.2f} s, {said}", "", spent, at_most=1, unit="s")
        yield memory_row(f"{name}: peak memory", used, 200)


def today(bench: Bench) -> Iterator[Row]:
    """Yield the rows for recent mail: long HTML with style sheets, base64 parts, long headers."""
    if bench.today is None:
        raise Failed("the group `today` needs mail: --today HAM,SPAM")
    ham, spam = bench.today.split(",")
    corpus = Corpus.read("today", [ham], [spam])
    grown = corpus.grown(TODAY)
    mail = lay_out(grown, bench.at("large"))
    size = f" of today ({grown.size / 1e6:,.0f} MB, {len(corpus):,} messages of it real)"
    ours, single = Spamnb(bench.at("today-all")), Spamnb(bench.at("today-one"))
    single.jobs = 1
    limits = {"all cores": 4.0, "--jobs 1": 2.5}
    yield from training(bench, {"all cores": ours, "--jobs 1": single}, mail, size, TODAY_REPEATS, limits)
    yield from classifying(bench, [ours, *bench.others], mail, " of today", TODAY_REPEATS, 8.0)
    bench.trained.clear()  # the others have learned this mail now
    shutil.rmtree(mail.folder)


def growth(bench: Bench, few: int = FEW, many: int = MANY) -> Iterator[Row]:
    """Yield the rows of training time and memory for growing mail: resampled messages with new words."""
    spent = {}
    for count in (few, many):
        grown = Spamnb(bench.at(f"grown-{count}"))
        boxes = {}
        for label in LABELS:
            share = round(count * len(bench.corpus.of(label)) / len(bench.corpus))
            messages = resampled(bench.corpus.of(label), share, seed=count)
            boxes[label] = write_mbox(bench.at(f"{label}-{count}.mbox"), messages)
        size = sum(map(os.path.getsize, boxes.values())) / MEGABYTE
        used = together(grown.training_of(boxes["ham"], boxes["spam"]))
        for path in boxes.values():
            os.unlink(path)
        spent[count] = used.cpu
        learned = f"{used.cpu:.0f} s of CPU, {grown.size() / 1e6:.0f} MB learned"
        yield Row(f"train {count:,} messages of new words ({size:,.0f} MB)", f"{used.seconds:.1f} s", learned)
        yield memory_row("… its memory", used, GROWN_MEMORY)
    shown = f"{spent[many]:.1f} s", f"{spent[few]:.1f} s"
    what = f"… CPU time, from {few:,} to {many:,} messages"
    yield Row(what, *shown, spent[many] / spent[few], at_most=1.1 * many / few)


GROUPS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "train": train,
    "classify": classify,
    "one": one,
    "evaluate": evaluate,
    "memory": memory,
    "reading": reading,
    "hostile": hostile_messages,
    "today": today,
    "growth": growth,
    "million": partial(growth, few=MANY, many=MILLION),  # 6 GB are on disk meanwhile
}
LONG = ("today", "growth", "million")  # minutes each


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help=f"also: {', '.join(LONG)}")
    parser.add_argument("--quick", action="store_true", help="few repeats")
    parser.add_argument("--only", action="append", choices=GROUPS, help="only this group; may be repeated")
    parser.add_argument("--today", metavar="HAM,SPAM", help="mail of these years, for the group `today`")
    return parser.parse_args()


def main() -> None:
    asked = options()
    names = asked.only or [name for name in GROUPS if name != "million" and (asked.all or name not in LONG)]
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, asked)
        notes = [] if bench.others else [f"{Bogofilter.name}: not installed"]
        weather = Weather()
        for name in names:
            weather.look()
            rows: list[Row] = []
            try:
                rows.extend(GROUPS[name](bench))
            except Failed as error:
                notes.append(f"{name}: {error}")
            if rows:
                print(table(COLUMNS, [row.cells() for row in rows]), end="\n\n", flush=True)
        weather.look()
    print("\n".join([*notes, machine(), *weather.lines(), f"{time.monotonic() - start:.0f} s"]))


if __name__ == "__main__":
    main()
