"""A new model takes the old one's place: nothing acknowledged is lost or counted twice, whatever stops it."""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest
from helpers.learning import copied, fold, seen, train_bulk
from helpers.textbook import counted
from helpers.waiting import PATIENCE

from spamnb.core.native import Tokenizer, read
from spamnb.errors import InputOutputError
from spamnb.reading.settings import Settings
from spamnb.store.stored_model import StoredModel
from spamnb.training import plan, writing
from spamnb.training import train as training
from spamnb.training.learn import learn
from spamnb.workers import LocalPool


def letter(name):
    words = " ".join(f"{name}{n}" for n in range(3))
    return f"Subject: {name} mail\nTo: me@example.org\n\nhello from {name}, {words}\n".encode()


NAMES = "ann bob cid dan eve fay gus hal ivy jan kim".split()
MAIL = [letter(name) for name in NAMES]
TOKENS = sorted({token for raw in MAIL for token in counted(Tokenizer(Settings()).features(read(raw)))})

# What the model holds at first, in its file and in its journal; what a run of training adds; and what is
# learned, moved and forgotten while the new model is made.
IN_FILE = {"ann": "ham", "bob": "ham", "cid": "spam"}
IN_JOURNAL = {"dan": "ham", "eve": "spam"}
IN_RUN = {"fay": "ham", "gus": "spam", "hal": "ham", "ann": "spam"}
MEANWHILE = [
    ("ivy", "spam"),  # new
    ("ivy", "ham"),  # and moved
    ("bob", "spam"),  # moved, from the file
    ("cid", None),  # forgotten, from the file
    ("dan", None),  # from the journal
    ("eve", "ham"),
    ("fay", "ham"),  # by the run, too
    ("gus", "ham"),  # by the run under another label
    ("jan", "ham"),
    ("jan", None),
]


def after(*changes):
    """Which label each message has in the end."""
    labels = {}
    for change in changes:
        labels.update(change)
    return {name: label for name, label in labels.items() if label}


OLD = after(IN_FILE, IN_JOURNAL, dict(MEANWHILE))
NEW = after(IN_FILE, IN_JOURNAL, IN_RUN, dict(MEANWHILE))


def counts_of(path):
    return seen(path, MAIL, TOKENS)


def expected(folder, labels):
    """The counts of a model trained at once on what is left."""
    folder.mkdir()
    return counts_of(train_bulk(folder, [(letter(name), label) for name, label in labels.items()]))


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    return expected(tmp_path_factory.mktemp("replacing") / "old", OLD)


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    return expected(tmp_path_factory.mktemp("replacing") / "new", NEW)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A model and its journal, before anything begins."""
    folder = tmp_path_factory.mktemp("start")
    path = train_bulk(folder, [(letter(name), label) for name, label in IN_FILE.items()])
    for name, label in IN_JOURNAL.items():
        learn(path, letter(name), label)
    return path


@pytest.fixture
def model(start, tmp_path):
    return copied(start, tmp_path)


def learn_meanwhile(path):
    for name, label in MEANWHILE:
        learn(path, letter(name), label)


def folding(path):
    """A fold, as training.fold does it, with learning after it has read the journal."""
    before = StoredModel.open(path)
    learn_meanwhile(path)
    return lambda: writing.rewrite(before, writing.sum_of(before))


def a_run(path, folder, **options):
    """Training on mail, with learning after it has been read."""
    sources: dict[str, list[str]] = {"ham": [], "spam": []}
    for name, label in IN_RUN.items():
        (folder / name).write_bytes(letter(name))
        sources[label].append(str(folder / name))
    output = iter([options.pop("meanwhile", lambda: learn_meanwhile(path))])  # once, not for each batch
    return lambda: training.train(
        path, sources, pool=LocalPool(1), progress=lambda _: next(output, dict)(), **options
    )


# Carried over


def test_what_is_learned_while_training_is_carried_over(model, tmp_path, new):
    """The journal holds only what the new model does not know."""
    a_run(model, tmp_path)()
    assert counts_of(model) == new
    stored = StoredModel.open(model)
    steps = [(entry.before, entry.after) for entry in stored.journal.records]
    assert {(None, "spam"), ("spam", "ham")} <= {*steps}  # ivy
    assert len(steps) == len(MEANWHILE) - 1  # fay was learned by both
    assert Path(model + ".journal").stat().st_size == stored.journal.size
    fold(model)
    assert counts_of(model) == new


def gone(path):
    os.unlink(path)
    os.unlink(path + ".journal")


KNOWN = after(IN_FILE, IN_JOURNAL)
LATER = {"ann": "spam", "hal": "ham"}
# What happens while a run reads its mail, how it was asked for, and which labels hold: what was said last.
RUNS = {
    "removed": (gone, {}, after(KNOWN, IN_RUN)),
    "forgetting": (
        lambda path: [learn(path, letter(name), label) for name, label in LATER.items()],
        {"forget": True},
        after(KNOWN, dict.fromkeys(IN_RUN), LATER),
    ),
    "fresh": (learn_meanwhile, {"fresh": True}, after(IN_RUN, dict(MEANWHILE))),
}


@pytest.mark.parametrize("how", RUNS)
def test_what_a_run_leaves(model, tmp_path, how):
    meanwhile, options, labels = RUNS[how]
    a_run(model, tmp_path, meanwhile=lambda: meanwhile(model), **options)()
    assert os.path.exists(model + ".journal") == (how in ("forgetting", "fresh"))
    held = expected(tmp_path / "all", labels)
    assert counts_of(model) == held
    fold(model)
    assert counts_of(model) == held


# Stopped


class Stopped(BaseException):
    """As by kill -9: nothing cleans up after it."""


@contextlib.contextmanager
def stopped(at):
    """In the so many-th call that changes the disk, a write being done by half; none comes after it."""
    calls = 0

    def watched(function, call):
        def instead(*arguments, **options):
            nonlocal calls
            calls += 1
            if calls > at:
                if function == "write":
                    call(arguments[0], arguments[1][: len(arguments[1]) // 2])
                raise Stopped
            return call(*arguments, **options)

        return instead

    with pytest.MonkeyPatch.context() as patch:
        for function in ("write", "ftruncate", "fsync", "replace", "unlink"):
            patch.setattr(os, function, watched(function, getattr(os, function)))
        yield


def at_every_step(start, folder, prepare, check):
    """Stop it before the first call, before the second and so on, until it comes to its end."""
    for step in range(100):
        place = folder / str(step)
        place.mkdir()
        path = copied(start, place)
        run = prepare(path, place)
        try:
            with stopped(step):
                run()
        except Stopped:
            check(path, step)
        else:
            check(path, step)
            return step
    raise AssertionError("never ends")


@pytest.mark.slow
def test_a_fold_stopped_at_any_step(start, tmp_path, old):
    later = after(OLD, {"kim": "spam"})
    in_the_end = expected(tmp_path / "later", later)

    def check(path, step):
        assert counts_of(path) == old, step
        assert learn(path, letter("kim"), "spam") == "learned"
        assert learn(path, letter("ivy"), "ham") == "known"
        assert counts_of(path) == in_the_end, step
        fold(path)
        assert counts_of(path) == in_the_end, step
        assert not os.path.exists(path + ".journal")

    steps = at_every_step(start, tmp_path, lambda path, _: folding(path), check)
    assert steps >= 8  # the model, the journal, the renaming, the tidying up


@pytest.mark.slow
def test_a_run_stopped_at_any_step(start, tmp_path, old, new):
    """All of it holds, or nothing; what was learned meanwhile holds in any case."""
    states = []

    def check(path, step):
        found = counts_of(path)
        assert found in (old, new), step
        states.append(found == new)
        fold(path)
        assert counts_of(path) == found, step
        a_run(path, Path(path).parent, meanwhile=dict)()  # and once more, whether it was done or not
        again = after(OLD, IN_RUN)
        assert StoredModel.open(path).messages == [list(again.values()).count(one) for one in ("ham", "spam")]

    def prepare(path, folder):
        """Learning is not to be stopped: the run comes after it, and finds the model of before."""
        before = StoredModel.open(path)
        learn_meanwhile(path)
        return lambda: as_of(before, a_run(path, folder, meanwhile=dict))

    at_every_step(start, tmp_path, prepare, check)
    assert states == sorted(states)
    assert {*states} == {True, False}


def as_of(before, run):
    """A run that found a model as it was some time ago."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "open_if_there", lambda _: before)
        return run()


def test_a_journal_that_cannot_be_read_is_not_thrown_away(model, tmp_path):
    """Else what was learned meanwhile would be lost."""

    def lost():
        learn(model, letter("ivy"), "spam")
        os.rename(model + ".journal", model + ".away")
        os.mkdir(model + ".journal")

    with pytest.raises(InputOutputError):
        a_run(model, tmp_path, meanwhile=lost)()
    os.rmdir(model + ".journal")
    os.rename(model + ".away", model + ".journal")
    assert StoredModel.open(model).messages == [3, 3]
    assert learn(model, letter("ivy"), "spam") == "known"


# Real processes


@pytest.mark.slow
def test_two_runs_one_after_the_other(spamnb, model, tmp_path):
    """The second waits for the first, and begins with what that has made."""
    for name in ("fay", "gus"):
        (tmp_path / name).write_bytes(letter(name))
    runs = [
        subprocess.Popen(
            [spamnb.program, "train", "--ham", str(tmp_path / name), "--model", model],
            env=spamnb.environment,
            stdout=subprocess.PIPE,
        )
        for name in ("fay", "gus")
    ]
    for run in runs:
        with run:
            assert run.communicate(timeout=PATIENCE)[0].startswith(b"ham: 1 learned")
    labels = after(IN_FILE, IN_JOURNAL, {"fay": "ham", "gus": "ham"})
    assert counts_of(model) == expected(tmp_path / "all", labels)
