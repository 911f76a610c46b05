"""Merged models: the sum of their counts, what they began with only once, and what several learned told."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from helpers.generated import examples_times
from helpers.paths import ROOT
from helpers.program import PROGRAM
from helpers.recipes import blocks
from helpers.samples import ham, spam, work
from helpers.tables import grams_of
from hypothesis import example, given
from hypothesis import strategies as st

from spamnb.bayes.view import View
from spamnb.errors import DataError
from spamnb.exchange import merging
from spamnb.exchange.merging import Changes, merge
from spamnb.inspection.check import check
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel
from spamnb.tables.loading import load_table
from spamnb.training import replacing, writing
from spamnb.training import train as training
from spamnb.training.learn import learn
from spamnb.workers.local import LocalPool

MAIL = [
    b"Subject: lunch\nDate: Mon, 1 Jan 2024 10:00:00 +0100\n\nsee you at noon, noon, noon\n",
    b"Subject: BUY\nContent-Type: text/html\n\n<b>buy</b> <a href='http://example.com/money'>now</a>\n",
    b"Subject: empty\n\n",
    *(make(n) for make in (ham, spam, work) for n in (1, 2, 3)),
]
LABELS = ("ham", "spam", "work")


def change(path, number, label, alone=True):
    """Learn a message under a label, or forget it: by the journal, or by training."""
    if alone and (label is None or label in StoredModel.open(path).labels):
        learn(path, MAIL[number], label)
    else:
        mail = Path(f"{path}.mail")
        mail.write_bytes(MAIL[number])
        given = {label or "ham": [str(mail)]}
        training.train(path, given, forget=label is None, new_labels=LABELS, pool=LocalPool(1))


def model(path, outcome=(), began_with=None):
    """A model that began with another one, or with nothing, and learned messages under labels."""
    if began_with:
        for ending in ("", ".journal"):
            if os.path.exists(began_with + ending):
                shutil.copy(began_with + ending, f"{path}{ending}")
    else:
        training.create(str(path))
    for number, label in dict(outcome).items():
        change(str(path), number, label)
    return str(path)


def table_of(path):
    """A model that is sound, with no token in more messages than there are."""
    assert check(path).damage == []
    table = load_table(StoredModel.open(path)).clipped()
    assert (table.message_counts <= np.array(table.messages)[:, None]).all()
    return table


def content(path):
    """All that a model knows but scores and days."""
    own = table_of(path).relabelled(LABELS)
    columns = [own.fingerprints, own.texts.ends, own.texts.data, own.message_counts, own.occurrence_counts]
    columns += [own.learned.digests, own.learned.labels]
    return [own.messages, own.numbers, grams_of(own), *(column.tolist() for column in columns)]


some_changes = st.lists(
    st.tuples(st.integers(1, len(MAIL) - 1), st.sampled_from([*LABELS, None]), st.booleans()), max_size=6
)
some_hosts = st.lists(st.tuples(some_changes, st.booleans()), min_size=2, max_size=3)  # folded, or not


@given(
    began=st.one_of(st.none(), some_changes),
    hosts=some_hosts,
    shared=st.booleans(),
    size=st.sampled_from([1 << 10, 1 << 13, 1 << 25]),
)
@example(
    began=[(1, "ham", True), (2, "spam", True), (4, "spam", False)],
    hosts=[([(1, None, True), (2, "ham", True)], True), ([(1, None, False), (4, "ham", True)], False)],
    shared=True,
    size=1 << 10,
)
@examples_times(0.3)
@pytest.mark.slow
def test_one_machine_would_have_counted_the_same(began, hosts, shared, size):
    """If every message is changed by one host only; else the model is sound, and it is told how many."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(merging, "SHARD_SIZE", size)
        patch.setattr(os, "fsync", int)  # nothing crashes here
        base = began is not None and model(f"{folder}/base", {0: "ham"})  # which nobody changes
        start = {0: "ham"} if base else {}
        for number, label, alone in began or ():
            change(base, number, label, alone)
            start[number] = label
        paths, ends = [], []
        for at, (changed, folded) in enumerate(hosts):
            path, end = model(f"{folder}/{at}", began_with=base), dict(start)
            for number, label, alone in changed:
                if shared or number % len(hosts) == at:
                    change(path, number, label, alone)
                    end[number] = label
            if folded:
                training.fold(path)
            paths.append(path)
            ends.append(end)
        new = [
            [end[number] for end in ends if end.get(number) != start.get(number)]
            for number in range(len(MAIL))
        ]
        outcome = {number: own[0] if own else start.get(number) for number, own in enumerate(new)}
        merged = merge(f"{folder}/out", paths, base or None)
        assert merged.shared == sum(len(own) > 1 for own in new)
        assert merged.conflicting == sum(len(set(own)) > 1 for own in new)
        assert merged.messages == sum(label is not None for label in outcome.values())
        mine, other = content(f"{folder}/out"), f"{folder}/other"
        expected = content(model(f"{folder}/one", {n: label for n, label in outcome.items() if label}))
        assert mine[-2:] == expected[-2:]
        if not merged.shared:
            merge(other, paths[::-1], base or None)
            assert mine == content(other) == expected


@pytest.fixture
def base(tmp_path):
    return model(tmp_path / "base", {0: "ham", 3: "ham", 6: "spam"})


def test_what_several_learned_counts_for_each_and_is_told(spamnb, base, tmp_path):
    one = model(tmp_path / "one", {4: "ham", 7: "spam"}, base)
    two = model(tmp_path / "two", {4: "spam", 7: "spam", 8: "spam", 0: None}, base)
    out = tmp_path / "out"
    assert spamnb("merge", "--base", base, out, one, two).succeeds().lines == [
        f"{one}: 2 learned since the base",
        f"{two}: 3 learned, 1 forgotten since the base",
        "in several models: 2, counted for each",
        "under different labels: 1, known as the first model has them",
        "messages: 5",
        f"model: {out}",
    ]
    table = table_of(str(out))
    assert table.messages == (2, 5)
    assert np.bincount(table.learned.labels).tolist() == [2, 3]
    viagra = table.tokens(range(len(table))).index("viagra")
    assert table.message_counts[:, viagra].tolist() == [0, 4]
    answer = spamnb("merge", "--json", tmp_path / "reversed", two, one).succeeds().json
    assert answer == {
        "model": str(tmp_path / "reversed"),
        "messages": 6,
        "models": {path: {"learned": 5, "moved": 0, "forgotten": 0} for path in (two, one)},
        "shared": 4,
        "conflicting": 1,
    }
    assert np.bincount(table_of(answer["model"]).learned.labels).tolist() == [2, 4]
    assert "name it with --base" in spamnb("merge", "--fresh", out, one, two).succeeds().lines[2]


def test_what_several_forgot_leaves_nothing_below_zero(base, tmp_path):
    hosts = [model(tmp_path / name, {3: None, 6: "ham"}, base) for name in ("one", "two")]
    merged = merge(str(tmp_path / "out"), hosts, base)
    assert merged.models == [Changes(0, 1, 1)] * 2
    assert table_of(str(tmp_path / "out")).messages == (3, 0)
    for event in ("multinomial", "binary", "bernoulli", "gaussian"):
        Model.open(str(tmp_path / "out"), View(event=event)).classify(MAIL[0])


def test_models_that_did_not_begin_with_the_base(spamnb, base, tmp_path):
    """Counts of another filter are of no message that could be compared."""
    own, stranger = model(tmp_path / "own", {4: "ham"}, base), model(tmp_path / "stranger", {4: "ham"})
    spamnb("merge", "--base", base, tmp_path / "out", own, stranger).fails(65, "stranger: did not start from")
    paths = [str(tmp_path / name) for name in ("imported", "other")]
    for path, export in zip(paths, ("20 10 20260101\nviagra 9 0", "2 1 20260101\nviagra 1 0"), strict=True):
        (tmp_path / "bogofilter").write_text(f".MSG_COUNT {export} 20260101\n")
        spamnb("import", "--model", path, tmp_path / "bogofilter").succeeds()
    hosts = [model(tmp_path / name, {6: "spam"}, paths[0]) for name in ("one", "two")]
    spamnb("merge", "--base", paths[0], tmp_path / "out", hosts[0], paths[1]).fails(
        65, "other: did not start"
    )
    merge(str(tmp_path / "out"), hosts, paths[0])
    assert table_of(str(tmp_path / "out")).messages == (10, 22)


def test_what_is_learned_while_models_are_merged_is_carried_over(base, tmp_path, monkeypatch):
    """Into one of the models: what the other has, too, and what neither had. A torn record does no harm."""
    one, two = model(tmp_path / "one", {4: "ham"}, base), model(tmp_path / "two", {7: "spam"}, base)
    training.train(one, {}, ham_loss=0.05, pool=LocalPool(1))
    with open(f"{two}.journal", "ab") as file:
        file.write(b"\x92\xce1234\xc5\x10\x00torn")

    def meanwhile(*arguments):
        for number, label in ((8, "spam"), (7, "ham"), (0, None)):
            change(one, number, label)
        return original(*arguments)

    original = replacing.replace_model
    monkeypatch.setattr(writing, "replace_model", meanwhile)
    merge(one, [two, one], base)
    assert StoredModel.open(one).head["ham_loss"] == 0.05
    expected = model(tmp_path / "expected", {3: "ham", 6: "spam", 4: "ham", 7: "ham", 8: "spam"})
    assert content(one) == content(expected)


SSH = '#!/bin/sh\ncd "$1" && shift && exec "$@"\n'
SCP = '#!/bin/sh\nexec cp "$(echo "$1" | tr : /)" "$(echo "$2" | tr : /)"\n'  # a host is a folder


@pytest.mark.slow
def test_every_night(tmp_path):
    """The recipe as docs/scale.md has it: hosts learn, one is away for a night and one is lost."""
    begin, night = [b.code for b in blocks(ROOT / "docs/scale.md") if b.heading == "Several hosts that learn"]
    for name, script in (("ssh", SSH), ("scp", SCP)):
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.path.dirname(PROGRAM), os.environ["PATH"]])

    def run(code):
        subprocess.run(["/bin/sh", "-c", code], cwd=tmp_path, env=os.environ | {"PATH": path}, check=False)

    hosts = [tmp_path / f"host{number}" for number in (1, 2)]
    for host in hosts:
        host.mkdir()
    model(tmp_path / "all.msgpack", {0: "ham", 3: "ham", 6: "spam"})
    run(begin)
    one, two = (str(host / "model.msgpack") for host in hosts)
    change(one, 4, "ham")
    change(two, 7, "spam")
    hosts[1].rename(tmp_path / "away")
    run(night)
    (tmp_path / "away").rename(hosts[1])
    change(one, 0, None)
    change(two, 8, "spam")
    run(night)
    known = {3: "ham", 4: "ham", 6: "spam"}
    assert content(one) == content(model(tmp_path / "first", known))
    expected = content(model(tmp_path / "all", known | {7: "spam", 8: "spam"}))
    assert content(str(tmp_path / "all.msgpack")) == content(two) == expected


def test_labels_of_all(tmp_path):
    paths = [str(tmp_path / name) for name in ("work", "list", "many")]
    for path, labels in zip(paths, (["work", "spam"], ["list", "spam"], map(str, range(98))), strict=True):
        training.create(path, *labels)
    change(paths[0], 9, "work")
    change(paths[1], 3, "list")
    merge(str(tmp_path / "out"), paths[:2])
    table = table_of(str(tmp_path / "out"))
    assert (table.labels, table.messages) == (("work", "spam", "list"), (1, 0, 1))
    with pytest.raises(DataError, match="101 labels in all"):
        merge(str(tmp_path / "none"), paths)


def test_models_that_do_not_fit_or_are_damaged_change_nothing(spamnb, base, own, tmp_path, mail):
    out, other, link = (str(tmp_path / name) for name in ("out", "other", "link"))
    os.symlink(own, link)
    spamnb("merge", out, own, link).fails(64, "given twice")
    spamnb("merge", "--base", own, out, own).fails(64, "given twice")
    spamnb("merge", base, own).fails(73, base, "--fresh")
    spamnb("train", "--jobs", "1", "--model", other, "--ngrams", "2", mail.ham, mail.spam).succeeds()
    spamnb("merge", out, own, other).fails(65, other, "other settings", "ngrams")
    for column in ("tokens", "pairs", "text", "ends", "first_days", "digests", "digest_scores"):
        data = bytearray(Path(own).read_bytes())
        data[StoredModel.open(own).column(column).at + 3] ^= 0x40
        Path(other).write_bytes(data)
        spamnb("merge", out, base, other).fails(65, other, f"column {column} is damaged")
    assert not [name for name in os.listdir(tmp_path) if name.startswith("out") and name != "out.training"]
