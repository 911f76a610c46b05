"""Speed and memory of spamnb, beside the peers that are installed, on the same mail in one run."""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import sys
import tempfile
import time
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import models
from clock import BARE, MEGABYTE, Times, Weather, alone, elapsed, race, together
from peers import SPAMNB, Bogofilter, Command, Failed, Ifile, MultinomialNB, Spamnb, Spamprobe
from rows import COLUMNS, Row, machine, milliseconds, rate, seconds
from serve import ours as serving
from stages import classification_stages, reading_rates, training_stages
from tables import save, table

import spamnb
from corpora import LABELS, Corpus, hostile, lay_out, resampled, write, write_mbox
from spamnb.store.journal import FOLD_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clock import Used
    from peers import Peer

    from corpora import Laid

REPEATS, QUICK = (5, 40), (1, 10)  # of bulk work, and of single messages
OFTEN: tuple[type[Peer], ...] = (Bogofilter, Ifile)
ONCE: tuple[type[Peer], ...] = (Spamprobe, MultinomialNB)  # half a minute each, so with --all only
LARGE, LARGE_REPEATS = 30_000, 3  # messages, over 150 MB
TODAY = 10_000  # messages of today, over 150 MB
SERVED = 3_000  # messages
WAITING = 21  # lessons in a journal
LAYERED = 50  # messages of each label in a model on top of another
FEW, MANY, MILLION = 20_000, 200_000, 1_000_000  # messages that memory is measured with
GROWN_MEMORY = 400  # megabytes, at most
JOURNAL_PATIENCE = 2_000  # messages to learn before giving up on a fold
FOLD_PATIENCE = 120  # seconds
BETWEEN_FOLDS = 25  # messages of middling size


class Bench:
    """The corpus on disk, the filters trained with it, and a message of middling size."""

    def __init__(self, folder: str, asked: argparse.Namespace) -> None:
        self.folder = folder
        self.today: str | None = asked.today
        self.bulk_repeats, self.start_repeats = QUICK if asked.quick else REPEATS
        beside = [*OFTEN, *(ONCE if asked.all and not asked.quick else ())]
        compileall.compile_dir(os.path.dirname(spamnb.__file__), quiet=1)  # else the first start writes it
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

    def training_time(self, peer: Peer, mail: Laid | None = None) -> float:
        """From nothing: what was learned before is put away first."""
        shutil.rmtree(peer.folder)
        type(peer).__init__(peer, peer.folder)
        spent = elapsed(*peer.training(mail or self.mail))
        self.trained.add(peer.folder)
        return spent

    def sized(self, tokens: int) -> Spamnb:
        """spamnb with a model of so many tokens."""
        sized = Spamnb(self.at(f"tokens-{tokens}"))
        if not os.path.exists(sized.model):
            self.ready(self.spamnb)
            models.make(sized.model, self.spamnb.model, tokens)
        return sized

    def waiting(self) -> Spamnb:
        """spamnb with all mail trained and some lessons more in its journal."""
        waiting = Spamnb(self.at("waiting"))
        shutil.copy(self.ready(self.spamnb).at("model.msgpack"), waiting.at("model.msgpack"))
        for n, lesson in enumerate(resampled([self.middling], WAITING, 2)):
            waiting.learn(write(self.at(f"waiting-{n}"), lesson)).run()
        return waiting

    def layered(self, base: str = "") -> str:
        """Return the path of a model of a few messages, on top of that of all, or of no base (none)."""
        some = [
            write_mbox(self.at(f"some-{n}"), mail[:LAYERED])
            for n, mail in enumerate((self.corpus.ham, self.corpus.spam))
        ]
        base, model = base or self.ready(self.spamnb).at("model.msgpack"), self.at(f"layered{base}.msgpack")
        Command([SPAMNB, "train", "--fresh", "--base", base, "--model", model, *some]).run()
        return model


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
    limits = {Bogofilter.name: {"all": 4.0, "one": 2.5}}
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
    limits = {Bogofilter.name: 6.0, Ifile.name: 5.0}
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
    mbox = write_mbox(bench.at("mbox"), [bench.middling])
    on_base = bench.layered()
    runners: dict[str, Command] = {
        "bare": BARE,
        "import": Command([sys.executable, "-c", "import spamnb"]),
        "spamnb": bench.ready(bench.spamnb).one(bench.message),
        "small": small.one(bench.message),
        "large": large.one(bench.message),
        "waiting": bench.waiting().one(bench.message),
        "layered": Command([SPAMNB, "classify", "--model", on_base], bench.message),
        "without base": Command([SPAMNB, "classify", "--model", bench.layered("none")], bench.message),
        "path": Command([SPAMNB, "classify", "--model", bench.spamnb.model, bench.message]),
        "mbox": Command([SPAMNB, "classify", "--model", bench.spamnb.model, mbox]),
    }
    others = [peer for peer in bench.peers if not isinstance(peer, MultinomialNB)]
    runners |= {peer.name: bench.ready(peer).one(bench.message) for peer in others}
    times = race({name: partial(elapsed, command) for name, command in runners.items()}, bench.start_repeats)
    times |= learning_times(bench, small, large)

    def row(what: str, ours: str, other: str, limit: float | None = None) -> Row:
        ratio = times[ours].median / times[other].median
        return Row(what, milliseconds(times[ours]), milliseconds(times[other]), ratio, at_most=limit)

    def over(what: str, ours: str, other: str, limit: float, digits: int) -> Row:
        more = 1000 * (times[ours].median - times[other].median)
        shown = milliseconds(times[ours]), milliseconds(times[other])
        return Row(what, *shown, more, at_most=limit, unit="ms", digits=digits)

    size = f"{len(bench.middling):,} bytes"
    yield row(f"one message ({size}), against python -c pass", "spamnb", "bare", 1.5)
    yield row(f"… with {WAITING} lessons in the journal, against python -c pass", "waiting", "bare", 1.6)
    yield row("classify FILE, one path, against python -c pass", "path", "bare", 1.5)
    yield row("classify FILE that is an mbox, against python -c pass", "mbox", "bare", 1.75)
    for peer in others:
        yield row(f"one message, against {peer.name}", "spamnb", peer.name)
    yield row("one message, 5 million tokens against 50 thousand", "large", "small", 1.1)
    yield row("learning one message, 5 million tokens against 50 thousand", "learn large", "learn small", 1.2)
    yield row("learning one message, 50 thousand tokens, against python -c pass", "learn small", "bare", 1.7)
    yield row("learning one message, 5 million tokens, against python -c pass", "learn large", "bare", 1.7)
    yield over("one message on a base, over one without", "layered", "without base", 0.5, 2)
    yield over("import spamnb, over the bare interpreter", "import", "bare", 25, 1)


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
        yield peak_of_all(f"memory of training, {words}", peer.training(bench.mail)[0], 120)
    yield peak_of_all("memory of bulk classifying", bench.ready(bench.spamnb).scoring(bench.mail.paths))


def peak_of_all(what: str, command: Command, limit: float | None = None) -> Row:
    """All processes together, each page counted once however many share it."""
    return memory_row(what, together(command), limit)


def memory_row(what: str, used: Used, limit: float | None) -> Row:
    ours, summed = f"{used.proportional:.0f} MB", f"{used.peak:.0f} MB with shared pages in each process"
    return Row(what, ours, summed, used.proportional, at_most=limit, unit="MB", digits=0)


def large(bench: Bench) -> Iterator[Row]:
    """Training and bulk classification of more mail: real messages, and copies in which words are changed."""
    return grown_mail(bench, bench.corpus, LARGE, "")


def today(bench: Bench) -> Iterator[Row]:
    """The same of mail of today: long HTML with style sheets, base64 parts, ARC and DKIM in the headers."""
    if bench.today is None:
        raise Failed("no mail of today: --today HAM,SPAM")
    ham, spam = bench.today.split(",")
    return grown_mail(bench, Corpus.read("today", [ham], [spam]), TODAY, " of today")


def grown_mail(bench: Bench, corpus: Corpus, count: int, kind: str) -> Iterator[Row]:
    grown = corpus.grown(count)
    mail = lay_out(grown, bench.at("large"))
    size = f"{grown.size / 1e6:,.0f} MB, {len(corpus):,} messages of it real"
    ours, single = Spamnb(bench.at(f"large-all{kind}")), Spamnb(bench.at(f"large-one{kind}"))
    single.jobs = 1
    others: dict[str, Peer] = {}
    if bench.peer(Bogofilter):
        others[Bogofilter.name] = Bogofilter(bench.at(f"large-bogofilter{kind}"))
    peers = {"all cores": ours, "--jobs 1": single, **others}
    times = race(
        {name: partial(bench.training_time, peer, mail) for name, peer in peers.items()}, LARGE_REPEATS
    )
    limits = {"all cores": 4.0, "--jobs 1": 2.5}
    yield from beside_bogofilter(f"train {count:,} messages{kind} ({size}), ", count, times, limits)
    judges = {"in bulk": ours, **others}
    commands = {name: peer.scoring(mail.paths) for name, peer in judges.items()}
    times = race({name: partial(elapsed, command) for name, command in commands.items()}, LARGE_REPEATS)
    yield from beside_bogofilter(f"classify {count:,} messages{kind} ", count, times, {"in bulk": 8.0})
    shutil.rmtree(mail.folder)


def beside_bogofilter(
    what: str, count: int, times: dict[str, Times], limits: dict[str, float]
) -> Iterator[Row]:
    other = times.get(Bogofilter.name)
    for name, limit in limits.items():
        ratio = other.median / times[name].median if other else None
        beside = rate(count, other) if other else ""
        ours = rate(count, times[name])
        yield Row(f"{what}{name}, against bogofilter", ours, beside, ratio, at_least=limit)


def evaluate(bench: Bench) -> Iterator[Row]:
    """Cross-validation beside training by bogofilter; evaluation in the order of time, on one core."""
    boxes = [bench.mail.mbox(label) for label in LABELS]
    other = bench.peer(Bogofilter)
    runners: dict[str, Callable[[], float]] = {
        **({"train": lambda: bench.training_time(other)} if other else {}),
        "folds": partial(elapsed, Command([SPAMNB, "evaluate", "--folds", "10", *boxes])),
        "online": partial(elapsed, Command([SPAMNB, "evaluate", "--online", "--jobs", "1", *boxes])),
    }
    times = race(runners, min(bench.bulk_repeats, 3))
    count = bench.mail.count
    yield Row(
        "10-fold cross-validation, all cores, against training of bogofilter",
        seconds(times["folds"]),
        seconds(times["train"]) if other else "",
        times["train"].median / times["folds"].median if other else None,
        at_least=2.5,
    )
    yield Row(
        "online evaluation, immediate, --jobs 1",
        rate(count, times["online"]),
        "",
        count / times["online"].median,
        at_least=8000,
        unit="msg/s",
        digits=0,
    )


def serve(bench: Bench) -> Iterator[Row]:
    """The CPU time of the server and all it starts, for the message of middling size, a connection each."""
    bench.ready(bench.spamnb)
    server = serving(bench.spamnb.model)
    try:
        for _ in range(SERVED // 10):
            server.ask(bench.middling)
        before = server.cpu_seconds()
        for _ in range(SERVED):
            server.ask(bench.middling)
        spent = 1000 * (server.cpu_seconds() - before) / SERVED
    finally:
        server.end()
    what = f"serve: CPU of the server a message ({len(bench.middling):,} bytes)"
    yield Row(what, f"{spent:.2f} ms", f"{SERVED:,} messages", spent, at_most=0.2, unit="ms")


def reading(bench: Bench) -> Iterator[Row]:
    """Megabytes a second of one core."""
    messages = [*bench.corpus.ham, *bench.corpus.spam]
    for (name, megabytes, times), limit in zip(
        reading_rates(messages, bench.bulk_repeats), (150, 400), strict=True
    ):
        found = megabytes / min(times)
        yield Row(
            name,
            f"{megabytes:.1f} MB in {min(times):.2f} s",
            "",
            found,
            at_least=limit,
            unit="MB/s",
            digits=0,
        )


def growth(bench: Bench) -> Iterator[Row]:
    """Training time and memory as the mail grows: messages resampled, each with new words of its own."""
    return grown_training(bench, FEW, MANY)


def million(bench: Bench) -> Iterator[Row]:
    """The same with a million messages, of which 6 GB are on disk meanwhile."""
    return grown_training(bench, MANY, MILLION)


def grown_training(bench: Bench, few: int, many: int) -> Iterator[Row]:
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
    yield Row(
        f"… CPU time, from {few:,} to {many:,} messages",
        f"{spent[many]:.1f} s",
        f"{spent[few]:.1f} s",
        spent[many] / spent[few],
        at_most=1.1 * many / few,
    )


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
    """Where the CPU time of training and of bulk classification goes, in one process."""
    boxes = {label: bench.mail.mbox(label) for label in LABELS}
    bench.ready(bench.spamnb)
    works = {
        "training": training_stages(boxes),
        "classification": classification_stages(bench.spamnb.model, boxes),
    }
    for work, spent in works.items():
        total = sum(took for name, took in spent.items() if not name.startswith("…"))
        for name, took in spent.items():
            yield Row(f"CPU of {work}: {name}", f"{took:.2f} s", ratio=100 * took / total, unit="%", digits=0)
        yield Row(f"CPU of {work}", f"{total:.2f} s")


GROUPS: dict[str, Callable[[Bench], Iterator[Row]]] = {
    "train": train,
    "classify": classify,
    "one": one,
    "evaluate": evaluate,
    "serve": serve,
    "memory": memory,
    "reading": reading,
    "stages": stages,
    "hostile": hostile_messages,
    "large": large,
    "today": today,
    "growth": growth,
    "million": million,
    "fold": fold,
}
LONG = ("large", "today", "growth", "million", "fold")  # minutes each


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help=f"also: {', '.join(LONG)}, and slower peers")
    parser.add_argument("--quick", action="store_true", help="few repeats, and only the fast peers")
    parser.add_argument("--only", action="append", choices=GROUPS, help="this group; again for more")
    parser.add_argument("--today", metavar="HAM,SPAM", help="mail of these years, for the group `today`")
    parser.add_argument("--json", metavar="FILE", help="every figure")
    return parser.parse_args()


def main() -> None:
    asked = options()
    names = asked.only or [name for name in GROUPS if asked.all or name not in LONG]
    start = time.monotonic()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, asked)
        weather = Weather()
        for name in names:
            weather.look()
            found: list[Row] = []
            try:
                found.extend(GROUPS[name](bench))
            except Failed as error:
                bench.gone.append(f"{name}: {error}")
            if found:
                print(table(COLUMNS, [row.cells() for row in found]), end="\n\n", flush=True)
            rows += found
        weather.look()
    notes = [*bench.gone, machine(), *weather.lines(), f"{time.monotonic() - start:.0f} s"]
    print("\n".join(notes))
    save(asked.json, {"rows": [asdict(row) | {"reached": row.reached} for row in rows], "notes": notes})


if __name__ == "__main__":
    main()
