"""Models of many hosts made one: the same counts as if one machine had learned every message once."""

import os
import shutil
import subprocess
import sys
import tempfile
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from helpers.generated import examples_times
from helpers.samples import ham, spam, work
from hypothesis import example, given
from hypothesis import strategies as st

from spamnb.errors import DataError
from spamnb.exchange import merging
from spamnb.exchange.merging import merge
from spamnb.inspection.check import check
from spamnb.model import Model
from spamnb.reading.identity import digest
from spamnb.reading.message import read
from spamnb.reading.settings import Settings
from spamnb.store.stored import Stored
from spamnb.tables.count_table import Columns
from spamnb.tables.learned import Learned
from spamnb.training import placing
from spamnb.training import train as training
from spamnb.training.learn import learn
from spamnb.training.ledger import Ledger, mark_of
from spamnb.workers.local import LocalPool

MAIL = [
    b"Subject: lunch\nDate: Mon, 1 Jan 2024 10:00:00 +0100\n\nsee you at noon, noon, noon\n",
    b"Subject: lunch\nTo: ann@example.org, bob@example.org\n\nnoon is fine! see you\n",
    b"Subject: money\n\nbuy now now now\n",
    b"Subject: BUY\nContent-Type: text/html\n\n<b>buy</b> <a href='http://example.com/money'>now</a>\n",
    b"just a body, see noon",
    b"Subject: empty\n\n",
    *(make(n) for make in (ham, spam, work) for n in (1, 2)),
]
LABELS = ("ham", "spam", "work", "list")


class Host:
    """A model that learns, with a ledger."""

    def __init__(self, path, began_with=None, labels=("ham", "spam"), ledger=True):
        self.path = str(path)
        if began_with:
            copy(began_with, self.path)
        else:
            training.create(self.path, *labels)
        if ledger:
            start_ledger(self.path)

    def learn(self, number, label):
        learn(self.path, MAIL[number], label)

    def train(self, number, label):
        mail = Path(f"{self.path}.mail")
        mail.write_bytes(MAIL[number])
        labels = {label or "ham": [str(mail)]}
        training.train(self.path, labels, forget=label is None, pool=LocalPool(1))

    def change(self, number, label, alone=True):
        known = label is None or label in Stored.open(self.path).labels
        (self.learn if alone and known else self.train)(number, label)

    def fold(self):
        training.fold(self.path)


def start_ledger(path):
    with Ledger.beside(path, mark_of(Stored.open(path)), start=True):
        pass


def copy(path, where):
    for ending in ("", ".journal"):
        if os.path.exists(path + ending):
            shutil.copy(path + ending, str(where) + ending)
    return str(where)


def table_of(path):
    assert check(path).damage == []
    return Columns.load(Stored.open(path)).settled()


def assert_same(mine, theirs):
    """All but scores and days; labels may stand in another order, or be of no mail."""
    labels = sorted({*mine.labels, *theirs.labels})
    mine, theirs = mine.relabelled(labels), theirs.relabelled(labels)
    assert (mine.messages, mine.numbers) == (theirs.messages, theirs.numbers)
    for name in ("hashes", "ends", "text", "containing", "occurring"):
        assert np.array_equal(getattr(mine, name), getattr(theirs, name)), name
    for name in ("digests", "labels"):
        assert np.array_equal(getattr(mine.learned, name), getattr(theirs.learned, name)), name


def one_machine(path, outcome):
    """What learned each message once, under the label it has in the end."""
    host = Host(path, ledger=False)
    for number, label in outcome.items():
        if label:
            host.change(number, label)
    return table_of(host.path)


some_changes = st.lists(
    st.tuples(
        st.integers(0, len(MAIL) - 1),
        st.sampled_from([*LABELS, None]),
        st.booleans(),  # alone, or by bulk training
    ),
    max_size=6,
)


some_host = st.tuples(st.sets(st.sampled_from(LABELS)), some_changes, st.booleans())  # folded, or not


@given(
    began=st.one_of(st.none(), some_changes),
    hosts=st.lists(some_host, min_size=2, max_size=4),
    size=st.sampled_from([1 << 10, 1 << 13, 1 << 25]),
)
@example(
    began=[(0, "ham", True), (1, "spam", True), (2, "spam", False)],
    hosts=[
        (set(), [(0, None, True), (1, "ham", True), (3, "list", False)], True),
        (set(), [(0, None, False), (1, "ham", False), (2, "ham", True)], False),
        (set(), [(0, "spam", True), (1, None, True), (2, None, False)], True),
    ],
    size=1 << 10,
)
@examples_times(0.12)
@pytest.mark.slow
def test_one_machine_would_have_counted_the_same(began, hosts, size):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "PART", size)
        patch.setattr(os, "fsync", int)  # nothing crashes here
        start = {}
        base = None
        if began is not None:
            base = Host(f"{folder}/base")
            for number, label, alone in began:
                base.change(number, label, alone)
                start[number] = label
        paths, ends = [], []
        for at, (labels, changed, folded) in enumerate(hosts):
            host = Host(f"{folder}/{at}", began_with=base and base.path, labels=sorted(labels))
            after = dict(start)
            for number, label, alone in changed:
                host.change(number, label, alone)
                after[number] = label
            if folded:
                host.fold()
            paths.append(host.path)
            ends.append(after)
        by_message = {
            number: {end.get(number) for end in ends} - {start.get(number)} for number in range(len(MAIL))
        }
        first = {
            number: next(
                (end.get(number) for end in ends if end.get(number) != start.get(number)), start.get(number)
            )
            for number in range(len(MAIL))
        }
        done = merge(f"{folder}/out", paths, base and base.path, forgotten=True)
        expected = one_machine(f"{folder}/one", first)
        assert_same(table_of(f"{folder}/out"), expected)
        assert done.messages == sum(label is not None for label in first.values())
        assert done.torn == sum(len(labels) > 1 for labels in by_message.values())
        if not done.torn:
            for number, order in enumerate(list(permutations(paths))[1:3]):
                merge(f"{folder}/out{number}", order, base and base.path, forgotten=True)
                assert_same(table_of(f"{folder}/out{number}"), expected)


@pytest.fixture
def base(tmp_path):
    """What all hosts begin with."""
    host = Host(tmp_path / "base", ledger=False)
    for number in (0, 1, 2):
        host.learn(number, "spam" if number == 2 else "ham")
    host.fold()
    return host.path


@pytest.fixture
def hosts(base, tmp_path):
    return [Host(tmp_path / name, base) for name in ("one", "two")]


def merged(tmp_path, hosts, base=None, **options):
    out = str(tmp_path / "out")
    return merge(out, [host.path for host in hosts], base, fresh=True, **options), table_of(out)


def test_a_torn_journal_counts_up_to_its_last_record(hosts, base, tmp_path):
    hosts[0].learn(6, "ham")
    hosts[1].learn(7, "ham")
    with open(f"{hosts[1].path}.journal", "ab") as file:
        file.write(b"\x92\xce1234\xc5\x10\x00torn")
    done, table = merged(tmp_path, hosts, base)
    assert [changes.learned for changes in done.models] == [1, 1]
    assert_same(
        table, one_machine(tmp_path / "expected", {0: "ham", 1: "ham", 2: "spam", 6: "ham", 7: "ham"})
    )


def test_what_is_learned_while_models_are_merged_is_carried_over(hosts, base, tmp_path, monkeypatch):
    """Into one of the models: its own, what the other has, and what neither had."""
    hosts[0].learn(6, "ham")
    hosts[1].learn(8, "spam")

    def meanwhile(*arguments):
        for number, label in ((9, "spam"), (8, "ham"), (0, None)):
            hosts[0].learn(number, label)
        return original(*arguments)

    original = placing.put_in_place
    monkeypatch.setattr(training, "put_in_place", meanwhile)
    merge(hosts[0].path, [host.path for host in hosts], base)
    assert_same(
        table_of(hosts[0].path),
        one_machine(tmp_path / "expected", {1: "ham", 2: "spam", 6: "ham", 8: "ham", 9: "spam"}),
    )


@pytest.mark.parametrize("journal", [True, False], ids=["with its journal", "the file only"])
def test_a_host_takes_over_what_all_know_and_keeps_what_it_learned_since(hosts, base, tmp_path, journal):
    """What it sent may be kept with its journal or without: what that had is known to both then."""
    one, two = hosts
    one.learn(6, "ham")
    two.learn(8, "spam")
    two.learn(0, None)
    sent = copy(one.path, tmp_path / "sent")
    merge(str(tmp_path / "all"), [sent, two.path], base)
    if not journal:
        os.unlink(f"{sent}.journal")
    one.learn(9, "spam")  # after it was sent
    one.learn(8, "spam")  # which the other had learned, too
    one.learn(1, "spam")
    merge(one.path, [str(tmp_path / "all"), one.path], sent)
    outcome = {1: "spam", 2: "spam", 6: "ham", 8: "spam", 9: "spam"}
    assert_same(table_of(one.path), one_machine(tmp_path / "expected", outcome))
    merge(str(tmp_path / "next"), [one.path, two.path], str(tmp_path / "all"), forgotten=True)


def test_the_base_itself_may_be_renewed(hosts, base, tmp_path):
    hosts[0].learn(0, None)
    hosts[1].learn(8, "spam")
    merge(base, [host.path for host in hosts], base)
    assert_same(table_of(base), one_machine(tmp_path / "expected", {1: "ham", 2: "spam", 8: "spam"}))


def test_one_model_is_copied_with_its_journal(hosts, tmp_path):
    hosts[0].learn(6, "ham")
    _, table = merged(tmp_path, hosts[:1])
    assert_same(table, table_of(hosts[0].path))
    assert not os.path.exists(tmp_path / "out.journal")


def test_hosts_that_learned_nothing_add_nothing(hosts, base, tmp_path):
    done, table = merged(tmp_path, hosts, base)
    assert [(one.learned, one.moved, one.forgotten) for one in done.models] == [(0, 0, 0)] * 2
    assert_same(table, table_of(base))


def drop_all_words(path):
    training.train(path, {}, rare=9, pool=LocalPool(1))


def count_of(table, *words):
    """Of each word, how many messages of each label contain it."""
    places = [table.tokens(range(len(table))).index(word) for word in words]
    return table.containing[:, places].T.tolist()


def test_what_was_pruned_is_not_undone_a_second_time(hosts, base, tmp_path):
    """Both learn messages; one drops all its words. What the other counted of them must stay."""
    for host in hosts:
        host.learn(8, "spam")
        host.learn(4, "ham")
    drop_all_words(hosts[1].path)
    _, table = merged(tmp_path, hosts, base)
    assert table.messages == (3, 2)
    assert count_of(table, "viagra", "bonus") == [[0, 1], [0, 1]]
    assert count_of(table, "noon") == [[1, 0]]  # the two of the base were pruned


def test_nothing_is_left_of_words_that_all_have_pruned(base, tmp_path):
    """What is undone would bring back counts of words that nobody could name."""
    drop_all_words(base)
    hosts = [Host(tmp_path / name, base) for name in ("one", "two")]
    for host in hosts:
        host.learn(0, None)
        host.learn(2, "ham")
    for host in hosts:
        drop_all_words(host.path)
    _, table = merged(tmp_path, hosts, base)
    assert table.messages == (2, 0)
    assert len(table) == 0


def test_words_that_two_forgot_and_a_third_learned_anew(hosts, base, tmp_path):
    """Their text comes from where it is known."""
    third = Host(tmp_path / "three", base)
    third.learn(3, "spam")
    for host in hosts:
        host.learn(2, None)
    _, table = merged(tmp_path, [*hosts, third], base)
    assert_same(table, one_machine(tmp_path / "expected", {0: "ham", 1: "ham", 3: "spam"}))


def test_a_message_that_somebody_else_has_the_words_of(hosts, base, tmp_path):
    """Any journal or ledger will do: a message is the same everywhere."""
    for host in (hosts[0], Host(tmp_path / "three", base, ledger=False)):
        host.learn(6, "ham")
        host.fold()
    silent = Host(tmp_path / "three", base, ledger=False)
    silent.train(6, "ham")
    done, table = merged(tmp_path, [hosts[0], silent], base)
    assert (done.again, done.twice) == (1, 0)
    assert_same(table, one_machine(tmp_path / "expected", {0: "ham", 1: "ham", 2: "spam", 6: "ham"}))


@pytest.fixture
def silent(base, tmp_path):
    """Hosts that keep no ledger."""
    return [Host(tmp_path / name, base, ledger=False) for name in ("mute", "dumb")]


def test_words_that_nobody_knows_are_an_error(silent, base, tmp_path):
    for host in silent:
        host.train(6, "ham")
        host.train(7, "ham")
    named = f"{digest(read(MAIL[6])):016x}"
    with pytest.raises(DataError, match=f"2 messages are in several models.*{named}.*--twice"):
        merge(str(tmp_path / "out"), [host.path for host in silent], base)
    assert not os.path.exists(tmp_path / "out")
    done, table = merged(tmp_path, silent, base, twice=True)
    assert (done.messages, done.again, done.twice) == (5, 2, 2)
    assert table.messages == (6, 1)


def test_taken_out_twice_leaves_nothing_below_zero(silent, base, tmp_path):
    for host in silent:
        for number in (0, 1):
            host.train(number, None)
        host.train(2, "ham")
    done, table = merged(tmp_path, silent, base, twice=True)
    assert (done.messages, done.twice) == (1, 3)
    assert table.messages == (2, 0)
    assert (table.containing >= 0).all()
    assert (table.containing <= np.array(table.messages)[:, None]).all()
    assert all(n >= 0 for by_label in table.numbers.values() for n, _, _ in by_label)
    for event in ("multinomial", "binary", "bernoulli", "gaussian"):
        view = training.DEFAULT_VIEW.__class__(event=event)
        Model.open(str(tmp_path / "out"), view).classify(MAIL[0])


def test_a_model_that_did_not_begin_with_the_base(base, tmp_path):
    stranger = Host(tmp_path / "stranger")
    stranger.learn(6, "ham")
    other = Host(tmp_path / "other", base)
    with pytest.raises(DataError, match=r"stranger: did not begin with .*base"):
        merge(str(tmp_path / "out"), [other.path, stranger.path], base)
    assert not os.path.exists(tmp_path / "out")


def test_a_host_that_missed_an_evening(hosts, base, tmp_path):
    """It would seem to have forgotten all that the others had learned, and all would forget it."""
    hosts[0].learn(6, "ham")
    first = str(tmp_path / "first")
    merge(first, [host.path for host in hosts], base)
    there = Host(tmp_path / "there", first)
    there.learn(8, "spam")
    late = hosts[1]
    late.learn(7, "ham")
    late.learn(0, None)
    with pytest.raises(DataError, match=r"two: lacks 1 messages of .*first"):
        merge(str(tmp_path / "out"), [there.path, late.path], first)
    merge(str(tmp_path / "mended"), [first, late.path], base)
    merge(str(tmp_path / "out"), [there.path, str(tmp_path / "mended")], first)
    outcome = {1: "ham", 2: "spam", 6: "ham", 7: "ham", 8: "spam"}
    assert_same(table_of(str(tmp_path / "out")), one_machine(tmp_path / "expected", outcome))
    merge(str(tmp_path / "told"), [there.path, late.path], first, forgotten=True)
    outcome = {1: "ham", 2: "spam", 7: "ham", 8: "spam"}
    assert_same(table_of(str(tmp_path / "told")), one_machine(tmp_path / "expected2", outcome))


def test_counts_of_another_filter_are_the_bases_only_once(spamnb, tmp_path):
    """They have no digests; a model that lacks them did not begin with them."""
    export = tmp_path / "bogofilter"
    export.write_text(".MSG_COUNT 20 10 20260101\nviagra 9 0 20260101\nagenda 0 8 20260101\n")
    imported, other = str(tmp_path / "imported"), str(tmp_path / "other")
    spamnb("import", "--model", imported, export).succeeds()
    hosts = [Host(tmp_path / name, imported) for name in ("one", "two")]
    hosts[0].learn(6, "ham")
    for host in hosts:
        host.train(8, "spam")  # its words are not in the model, but for one
    _, table = merged(tmp_path, hosts, imported)
    assert table.messages == (11, 21)
    assert sorted(table.tokens(range(len(table)))) == ["agenda", "viagra"]
    assert table.containing.T[np.argsort(table.tokens(range(len(table))))].tolist() == [[9, 0], [0, 10]]
    shutil.copy(imported, other)
    export.write_text(".MSG_COUNT 2 1 20260101\nviagra 1 0 20260101\n")
    spamnb("import", "--fresh", "--model", other, export).succeeds()
    with pytest.raises(DataError, match="other: did not begin with"):
        merge(str(tmp_path / "none"), [hosts[0].path, other], imported)


def test_labels_of_all(tmp_path):
    hosts = [Host(tmp_path / name, labels=[name, "spam"]) for name in ("work", "list")]
    hosts[0].learn(10, "work")
    hosts[1].learn(6, "list")
    _, table = merged(tmp_path, hosts)
    assert table.labels == ("work", "spam", "list")
    assert table.messages == (1, 0, 1)


def test_too_many_labels(tmp_path):
    for name in "ab":
        training.create(str(tmp_path / name), *(f"{name}{n}" for n in range(60)))
    with pytest.raises(DataError, match="120 labels in all"):
        merge(str(tmp_path / "out"), [str(tmp_path / "a"), str(tmp_path / "b")])


def test_a_hosts_own_ham_loss_stays(hosts, base):
    training.train(hosts[1].path, {}, ham_loss=0.05, pool=LocalPool(1))
    merge(hosts[1].path, [hosts[0].path, hosts[1].path], base)
    assert Stored.open(hosts[1].path).head["ham_loss"] == 0.05


@pytest.fixture
def two(tmp_path, mail):
    """Models of real training, each of half of the mail."""
    paths = []
    for half in (0, 1):
        sources = {
            label: [os.path.join(folder, name) for name in sorted(os.listdir(folder))[half::2]]
            for label, folder in (("ham", mail.ham), ("spam", mail.spam))
        }
        paths.append(str(tmp_path / f"half{half}"))
        training.train(paths[-1], sources, ledger=True, pool=LocalPool(1))
    return paths


def scores_of(path):
    learned = Learned.load(Stored.open(str(path)))
    return dict(zip(learned.digests.tolist(), learned.scores.tolist(), strict=True))


def test_as_a_command(spamnb, two, tmp_path):
    out = tmp_path / "all"
    done = spamnb("merge", out, *two).succeeds()
    assert done.lines == [
        f"{two[0]}: 14 learned",
        f"{two[1]}: 14 learned",
        "messages: 28",
        f"model: {out}",
    ]
    assert_same(table_of(str(out)), table_of(spamnb.model))
    scores = [scores_of(path) for path in (out, *two)]
    assert scores[0] == scores[1] | scores[2]
    learn(two[0], work(1), "ham")
    learn(two[1], work(1), "spam")
    answer = spamnb("merge", "--fresh", "--json", "--base", out, tmp_path / "next", out, *two)
    answer.fails(64, "named twice")
    lines = spamnb("merge", "--fresh", out, *two).succeeds().lines
    assert lines[2:4] == ["in several: 1, 1 not alike: as the first has them", "messages: 29"]
    answer = spamnb("merge", "--json", tmp_path / "next", *two).succeeds().json
    assert answer == {
        "model": str(tmp_path / "next"),
        "messages": 29,
        "models": {path: {"learned": 15, "moved": 0, "forgotten": 0} for path in two},
        "again": 0,
        "torn": 1,
        "twice": 0,
    }


def test_help_says_what_counts_once(spamnb):
    text = " ".join(spamnb("merge", "--help").succeeds().out.decode().split())
    for words in ("spamnb merge [OPTIONS] OUT IN...", "counts once", "--base", "train --ledger", "Examples:"):
        assert words in text


def test_what_makes_no_sense_changes_nothing(spamnb, two, tmp_path, mail):
    out, one = tmp_path / "out", two[0]
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    spamnb("merge", out).fails(64, "IN...")
    spamnb("merge", out, one, one).fails(64, one, "named twice")
    spamnb("merge", out, one, f"{tmp_path}/./half0").fails(64, "named twice")
    spamnb("merge", "--base", one, out, *two).fails(64, "named twice")
    spamnb("merge", out, one, tmp_path / "none").fails(66, "none: no such model")
    spamnb("merge", two[1], one, tmp_path / "none").fails(66, "none: no such model")
    spamnb("merge", two[1], one).fails(73, two[1], "--fresh")
    spamnb("merge", mail.ham + "/00", one).fails(73, "is no model")
    spamnb("merge", tmp_path, one).fails(73, "a folder")
    os.symlink(one, tmp_path / "link")
    spamnb("merge", out, one, tmp_path / "link").fails(64, "link: named twice")
    for name, options in (("ngrams", ("--ngrams", "2")), ("headers", ("--no-headers",))):
        other = tmp_path / "other"
        spamnb("train", "--fresh", "--jobs", "1", "--model", other, *options, mail.ham, mail.spam).succeeds()
        spamnb("merge", out, one, other).fails(65, str(other), "other settings", name)
    for path in (tmp_path / "other", tmp_path / "link"):
        path.unlink()
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert {name: data for name, data in after.items() if not name.endswith((".lock", ".training"))} == {
        name: data for name, data in before.items() if not name.endswith((".lock", ".training"))
    }


@pytest.mark.parametrize(
    "column", ["tokens", "pairs", "text", "ends", "first_days", "digests", "digest_scores"]
)
def test_a_damaged_model_is_found_before_anything_is_written(spamnb, two, tmp_path, column):
    stored = Stored.open(two[1])
    at = stored.column(column).at + 3
    with open(two[1], "r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 0x40]))
    names = sorted(os.listdir(tmp_path))
    spamnb("merge", tmp_path / "out", *two).fails(65, two[1], f"column {column} is damaged")
    spamnb("merge", two[0], *two).fails(65, two[1])
    assert {name for name in os.listdir(tmp_path) if not name.endswith(".training")} <= set(names)


def test_keyed_models_of_one_key(spamnb, mail, tmp_path):
    key = spamnb.environment | {"SPAMNB_KEY": str(tmp_path / "key")}
    paths = [str(tmp_path / name) for name in ("one", "two", "both")]
    for path, folders in zip(paths, ([mail.ham], [mail.spam], [mail.ham, mail.spam]), strict=True):
        labels = ["--ham" if folder == mail.ham else "--spam" for folder in folders]
        named = [word for pair in zip(labels, folders, strict=True) for word in pair]
        options = ("--keyed", "--ledger", "--jobs", "1", "--model", path)
        spamnb("train", *options, *named, env=key).succeeds()
    for path in paths[:2]:
        spamnb("train", "--spam", "-", "--model", path, stdin=spam(7), env=key)
        spamnb("train", "--ham", "-", "--model", path, stdin=work(1), env=key)
    spamnb("train", "--ham", "-", "--model", paths[2], stdin=work(1), env=key)
    out = tmp_path / "out"
    done = spamnb("merge", out, *paths[:2], env=key).succeeds()
    assert done.lines[-1].startswith(f"key: {tmp_path / 'key'}")
    assert_same(table_of(str(out)), table_of(paths[2]))
    elsewhere = tmp_path / "elsewhere"
    done = spamnb("merge", elsewhere, *paths[:2]).succeeds()
    assert (
        done.lines[-1]
        == f"key: {elsewhere}.key (not there yet: the model needs a copy of the one it was made with)"
    )
    spamnb("train", "--keyed", "--jobs", "1", "--model", tmp_path / "own", mail.ham, mail.spam).succeeds()
    spamnb("merge", tmp_path / "none", paths[0], tmp_path / "own").fails(65, "other settings", "keyed")
    spamnb("merge", out, spamnb.model, "--fresh", env=key).fails(65, "keeps no words")


# Not getrusage: that begins with what the parent had.
MEASURED = """
import sys
from spamnb.exchange import merging
merging.PART = int(sys.argv[1])
def peak():
    return int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
before = peak()
merging.merge(sys.argv[2], sys.argv[3:])
print(peak() - before)
"""


@pytest.mark.slow
def test_memory_is_bounded_by_the_size_of_a_part(tmp_path):
    """Two models of 200,000 tokens, 6 MB each."""
    many, chance = 200_000, np.random.default_rng(1)
    paths = [str(tmp_path / name) for name in ("one", "two")]
    for path in paths:
        table = Columns(
            ("ham", "spam"),
            (1, 1),
            {},
            np.unique(chance.integers(0, 1 << 63, many, np.uint64) * np.uint64(2)),
            np.cumsum(np.full(many, 8)),
            chance.integers(97, 123, 8 * many, np.uint8),
            np.ones((2, many), np.int32),
            np.ones((2, many), np.int32),
            np.ones(many, np.uint16),
        )
        training.write(path, table, Settings())
    assert sum(map(os.path.getsize, paths)) > 8e6
    used, written = [], []
    for part in (1 << 19, 1 << 30):
        out = str(tmp_path / f"out{part}")
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, str(part), out, *paths],
            capture_output=True,
            check=True,
            text=True,
        )
        used.append(int(done.stdout))
        written.append(Path(out).read_bytes())
    assert written[0] == written[1]
    assert used[0] < used[1] / 3
    assert used[0] < 20_000
