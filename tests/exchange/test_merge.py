"""Merged models: the sum of their counts; a common start counts once; messages in several are reported."""

import os
import tempfile
from pathlib import Path

import pytest
from helpers.generated import examples_times
from helpers.samples import ham, spam, work
from hypothesis import given
from hypothesis import strategies as st

from spamnb.errors import DataError
from spamnb.exchange.export import exported
from spamnb.exchange.merging import merge
from spamnb.inspection.check import check
from spamnb.store.stored_model import StoredModel
from spamnb.training import replacing, writing
from spamnb.training import train as training
from spamnb.training.learn import learn
from spamnb.workers import LocalPool

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
        training.train(path, given, forget=label is None, pool=LocalPool(1))


def model(path, outcome=()):
    """A model that learned messages under labels."""
    training.create(str(path))
    for number, label in dict(outcome).items():
        change(str(path), number, label)
    return str(path)


def content(path):
    """All that a sound model knows but scores and days, by the names of its labels."""
    assert check(path).damage == []
    stored = StoredModel.open(path)
    many = len(stored.labels)

    def named(counts):
        return {label: count for label, count in zip(stored.labels, counts, strict=True) if any([*count])}

    found: list[dict[object, object]] = [{}, {}, {}]  # tokens, pairs and grams; numbers; messages
    for kind, *row in [line.split("\t") for line in exported(path)][1:]:
        if kind == "m":
            found[2][row[0]] = stored.labels[int(row[1])]
        else:
            counts = row[2:-1] if kind == "t" else row[2:] if kind == "p" else row[1:]
            key = row[-1] if kind == "t" else row[0]
            found[0][kind, key] = [
                named([[int(c)] for c in counts[at : at + many]]) for at in range(0, len(counts), many)
            ]
            for of_label, count in zip(stored.messages * 2, counts[:many], strict=False):
                assert int(count) <= of_label
    found[1] = {name: named(sums) for name, sums in stored.numbers.items() if any(map(any, sums))}
    return [named([[count] for count in stored.messages]), *found]


some_changes = st.lists(
    st.tuples(st.integers(1, len(MAIL) - 1), st.sampled_from([*LABELS, None]), st.booleans()), max_size=6
)
some_hosts = st.lists(st.tuples(some_changes, st.booleans()), min_size=2, max_size=3)  # folded, or not


@given(hosts=some_hosts, shared=st.booleans())
@examples_times(0.3)
@pytest.mark.slow
def test_one_machine_would_have_counted_the_same(hosts, shared):
    """If every message is learned by one host only; else the model is sound, and it is said how many."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", int)  # nothing crashes here
        paths, ends = [], []
        for at, (changed, folded) in enumerate(hosts):
            path, end = model(f"{folder}/{at}"), {}
            for number, label, alone in changed:
                if shared or number % len(hosts) == at:
                    change(path, number, label, alone)
                    end[number] = label
            if folded:
                training.fold(path)
            paths.append(path)
            ends.append(end)
        labels = [[end[number] for end in ends if end.get(number)] for number in range(len(MAIL))]
        outcome = {number: own[0] for number, own in enumerate(labels) if own}
        merged = merge(f"{folder}/out", paths)
        assert merged.shared == sum(len(own) > 1 for own in labels)
        assert merged.messages == len(outcome)
        mine, other = content(f"{folder}/out"), f"{folder}/other"
        expected = content(model(f"{folder}/one", outcome))
        assert mine[-1] == expected[-1]
        if not merged.shared:
            merge(other, paths[::-1])
            assert mine == content(other) == expected


def test_what_several_learned_counts_for_each_and_is_told(spamnb, tmp_path):
    one = model(tmp_path / "one", {0: "ham", 3: "ham", 6: "spam", 4: "ham", 7: "spam"})
    two = model(tmp_path / "two", {3: "ham", 6: "spam", 4: "spam", 7: "spam", 8: "spam"})
    out = tmp_path / "out"
    assert spamnb("merge", out, one, two).succeeds().lines == [
        "messages: 6",
        "learned by several models: 4; each was added once for each of them",
        f"model: {out}",
    ]
    assert StoredModel.open(str(out)).messages == [4, 6]
    assert sorted(content(str(out))[-1].values()) == ["ham"] * 3 + ["spam"] * 3
    spamnb("merge", tmp_path / "reversed", two, one).succeeds()
    assert sorted(content(str(tmp_path / "reversed"))[-1].values()) == ["ham"] * 2 + ["spam"] * 4


def test_what_is_learned_while_models_are_merged_is_carried_over(tmp_path, monkeypatch):
    """Into one of the models: what the other has, too, and what neither had. A torn record does no harm."""
    one, two = model(tmp_path / "one", {0: "ham", 4: "ham"}), model(tmp_path / "two", {6: "spam"})
    training.train(one, {}, ham_loss=0.05, pool=LocalPool(1))
    with open(f"{two}.journal", "ab") as file:
        file.write(b"\x92\xce1234\xc5\x10\x00torn")

    def meanwhile(*arguments):
        for number, label in ((8, "spam"), (4, "spam"), (0, None)):
            change(one, number, label)
        return original(*arguments)

    original = replacing.replace_model
    monkeypatch.setattr(writing, "replace_model", meanwhile)
    merge(one, [two, one])
    assert StoredModel.open(one).head["ham_loss"] == 0.05
    expected = model(tmp_path / "expected", {6: "spam", 4: "spam", 8: "spam"})
    assert content(one) == content(expected)


def test_labels_of_all(tmp_path):
    paths = [str(tmp_path / name) for name in ("work", "list", "many")]
    for path, labels in zip(paths, (["work", "spam"], ["list", "spam"], map(str, range(98))), strict=True):
        training.create(path, *labels)
    change(paths[0], 9, "work")
    change(paths[1], 3, "list")
    merge(str(tmp_path / "out"), paths[:2])
    out = StoredModel.open(str(tmp_path / "out"))
    assert (out.labels, out.messages) == (["work", "spam", "list"], [1, 0, 1])
    with pytest.raises(DataError, match="101 labels in all"):
        merge(str(tmp_path / "none"), paths)


def test_models_that_do_not_fit_or_are_damaged_change_nothing(spamnb, own, tmp_path, mail):
    out, other, link = (str(tmp_path / name) for name in ("out", "other", "link"))
    os.symlink(own, link)
    spamnb("merge", out, own, link).fails(64, "named twice")
    base = model(tmp_path / "base", {0: "ham", 3: "ham", 6: "spam"})
    spamnb("merge", base, own).fails(73, base, "--fresh")
    spamnb("train", "--jobs", "1", "--model", other, "--settings", "ngrams=2", mail.ham, mail.spam).succeeds()
    spamnb("merge", out, own, other).fails(65, other, "other settings", "ngrams")
    for column in ("entries", "learned"):
        data = bytearray(Path(own).read_bytes())
        data[StoredModel.open(own).columns[column].at + 3] ^= 0x40
        Path(other).write_bytes(data)
        spamnb("merge", out, base, other).fails(65, other, f"column {column} is damaged")
    assert not [name for name in os.listdir(tmp_path) if name.startswith("out") and name != "out.training"]
