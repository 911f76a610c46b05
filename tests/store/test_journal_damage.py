"""A damaged journal costs at most its damaged records, and says which."""

import os
import stat
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from helpers.forging import flip
from helpers.learning import copied, fold, journal_of, seen, train_bulk
from helpers.textbook import counted
from helpers.tiers import LONG
from helpers.waiting import until

from spamnb.core.native import Tokenizer, hash_of_message, read
from spamnb.reading.settings import Settings
from spamnb.store.journal import FRAME, Journal
from spamnb.store.stored_model import StoredModel
from spamnb.training.learn import learn

LABELS = ["ham", "spam"]
MAIL = {
    "ann": b"Subject: tea\n\nnoon",
    "bob": b"Subject: tea\n\nbuy noon",
    "cid": b"Subject: buy\n\nnow now",
    "dan": b"dan noon",
    "eve": b"Subject: buy\n\neve",
}
RAW = list(MAIL.values())
TOKENS = sorted({token for raw in RAW for token in counted(Tokenizer(Settings()).features(read(raw)))})
IN_FILE = {"ann": "ham", "cid": "spam"}
# Words in common, so that what one lesson adds, the next finds; and lessons that rest on others.
LESSONS = [
    ("bob", "ham"),
    ("dan", "ham"),
    ("ann", "spam"),
    ("bob", "spam"),
    ("cid", None),
    ("eve", "spam"),
    ("dan", None),
    ("ann", "ham"),
    ("eve", "ham"),
]
MORE = b"Subject: more\n\nand later"


def counts_of(path):
    return seen(path, RAW, TOKENS)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A model and its journal, where each record of that starts and ends."""
    folder = tmp_path_factory.mktemp("start")
    path = train_bulk(str(folder), [(MAIL[name], label) for name, label in IN_FILE.items()])
    ends = [0]
    for name, label in LESSONS:
        learn(path, MAIL[name], label)
        ends.append(os.path.getsize(path + ".journal"))
    return path, list(pairwise(ends))


@pytest.fixture
def model(start, tmp_path):
    return copied(start[0], tmp_path)


@pytest.fixture(scope="module")
def generation(start):
    return StoredModel.open(start[0]).generation


@pytest.fixture
def no_fold(monkeypatch):
    """The folding that is begun when something is learned after damage."""
    monkeypatch.setattr("spamnb.training.learn.fold_in_background", lambda *_: None)


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """The counts of a model that never heard some of the lessons."""
    known = {}

    def without(*lost):
        key = frozenset(lost)
        if key not in known:
            labels: dict[str, str | None] = dict(IN_FILE)
            labels.update(lesson for number, lesson in enumerate(LESSONS) if number not in key)
            folder = str(tmp_path_factory.mktemp("without"))
            left = [(MAIL[name], label) for name, label in labels.items() if label]
            known[key] = counts_of(train_bulk(folder, left))
            known[key]["labels_of"] = {name: labels.get(name) for name in MAIL}
        return known[key]

    return without


def check(path, expected, damaged):
    found = counts_of(path)
    stored = StoredModel.open(path)
    found["labels_of"] = {name: stored.label_of(hash_of_message(read(raw))) for name, raw in MAIL.items()}
    assert found == expected
    assert stored.journal.damaged == damaged


# One record


@pytest.mark.slow
def test_any_byte_wrong_costs_its_record_and_none_before(start, generation):
    """Nor one behind, unless it is of the few bytes that say where the next begins."""
    whole, stretches = journal_of(start[0]).read_bytes(), start[1]
    lessons = [entry.digest for entry in Journal(LABELS, generation, whole).records]
    assert len(lessons) == len(LESSONS)
    for number, (first, end) in enumerate(stretches):
        for place in range(first, end):
            for bit in range(8) if LONG or place < first + 20 else [place % 8]:
                content = bytearray(whole)
                content[place] ^= 1 << bit
                found = Journal(LABELS, generation, bytes(content))
                left = [entry.digest for entry in found.records]
                assert left[:number] == lessons[:number]
                assert lessons[number] not in left[number:] or lessons.count(lessons[number]) > 1
                if place >= first + FRAME:
                    assert found.damaged == [(first, end)], (number, place - first, bit)
                    assert left[number:] == lessons[number + 1 :]
                else:
                    assert found.damaged in ([(first, end)], [(first, len(whole))])


@pytest.mark.usefixtures("no_fold")
@pytest.mark.parametrize("number", range(len(LESSONS)))
def test_each_record_lost(start, model, without, number):
    """What follows it rests on it no more; and the same when it is folded, or when more is learned."""
    first, end = start[1][number]
    content = bytearray(journal_of(model).read_bytes())
    content[first + 25] ^= 1
    journal_of(model).write_bytes(content)
    check(model, without(number), [(first, end)])
    name, label = LESSONS[number]
    learn(model, MAIL[name], label)
    labels = {**IN_FILE, **dict([*LESSONS, LESSONS[number]])}
    folder = tempfile.mkdtemp(dir=os.path.dirname(model))
    everything = [(MAIL[name], label) for name, label in labels.items() if label]
    expected = counts_of(train_bulk(folder, everything))
    assert counts_of(model) == expected
    assert journal_of(model).read_bytes().startswith(content)
    fold(model)
    assert counts_of(model) == expected


def test_cut_at_every_length_it_is_torn_and_nothing_is_told(start, model, without, generation, capfd):
    whole, stretches = journal_of(model).read_bytes(), start[1]
    for size in range(len(whole) + 1):
        found = Journal(LABELS, generation, whole[:size])
        assert found.damaged == [], size
        assert len(found.records) == sum(end <= size for _, end in stretches), size
        assert found.size == max([0, *(end for _, end in stretches if end <= size)])
    for number, (_, end) in enumerate(stretches[:-1]):
        journal_of(model).write_bytes(whole[: end + 20 * number])
        check(model, without(*range(number + 1, len(LESSONS))), [])
    assert capfd.readouterr().err == ""


# Put aside


def damage_a_record(path, stretch):
    flip(journal_of(path), stretch[0] + 30)
    return journal_of(path).read_bytes()


def aside(path):
    return Path(path + ".journal.damaged")


def test_the_damaged_journal_is_kept_aside(start, model, without, tmp_path):
    """A link there is not followed, whatever the umask. A sound one is not kept."""
    (tmp_path / "victim").write_bytes(b"precious")
    aside(model).symlink_to(tmp_path / "victim")
    content = damage_a_record(model, start[1][1])
    umask = os.umask(0)
    try:
        fold(model)
    finally:
        os.umask(umask)
    assert not journal_of(model).exists()
    assert aside(model).read_bytes() == content
    assert stat.S_IMODE(os.lstat(aside(model)).st_mode) == 0o600
    assert (tmp_path / "victim").read_bytes() == b"precious"
    check(model, without(1), [])
    aside(model).unlink()
    learn(model, MORE, "spam")
    fold(model)
    assert not aside(model).exists()


# Real processes


def test_every_command_goes_on_and_what_was_lost_is_learned_again(spamnb, own, mail):
    """One line is shown until the next lesson has the journal folded."""
    ends = [0]
    for number in range(3):
        raw = b"Subject: lesson %d\n\nnumber%d pills and casino\n" % (number, number)
        spamnb("train", "--spam", "-", "--model", own, stdin=raw).succeeds()
        ends.append(os.path.getsize(own + ".journal"))
    damage_a_record(own, ends[1:3])
    said = f"{own}.journal: damaged records are skipped, at bytes {ends[1]}-{ends[2] - 1}; learn"

    def says(done):
        assert done.code == 0
        assert done.err.decode().count("\n") == 1
        assert done.err.decode().startswith(f"spamnb: {said}")
        return done

    for command in ("inspect --json", f"classify {mail.ham} {mail.spam}", "export", "prune --dry-run"):
        says(spamnb(*command.split(), "--model", own))
    assert not aside(own).exists()
    learn_again = ("train", "--spam", "-", "--model", own)
    lost = b"Subject: lesson 1\n\nnumber1 pills and casino\n"
    assert says(spamnb.afresh(*learn_again, stdin=lost)).out == b"spam: 1 learned\n"
    until(lambda: not journal_of(own).exists())
    assert aside(own).exists()
    assert spamnb(*learn_again, stdin=lost).succeeds().out == b"spam: 1 already learned\n"
    assert spamnb("inspect", "--json", "--model", own).succeeds().json["messages"] == [14, 17]
