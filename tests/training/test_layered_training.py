"""A model on top of another: what it learns, how it judges, and what becomes of it without its base."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from helpers.forging import forged_model
from helpers.learning import counting, fold, train_bulk
from helpers.samples import ham, spam, work

from spamnb.bayes.view import View
from spamnb.errors import DataError, ModelError, UsageError
from spamnb.exchange.backup import exported, restore
from spamnb.exchange.importing.exports import Lines
from spamnb.in_memory import load_into_memory
from spamnb.inspection.explanation import explain
from spamnb.inspection.model_summary import ModelSummary
from spamnb.inspection.token_lookup import look_up
from spamnb.lock import TRAINING, Lock
from spamnb.model import Model
from spamnb.reading.identity import digest
from spamnb.reading.message import read
from spamnb.store.stored_model import StoredModel
from spamnb.tables.learned import LearnedMessages
from spamnb.training import learn as learning
from spamnb.training import train as training
from spamnb.training.learn import learn
from spamnb.training.limits import USUAL_WEIGHT, WEIGHTS

OWN = [(ham(n), "ham") for n in range(6)] + [(spam(n), "spam") for n in range(6)]
OTHERS = [(work(n), "ham") for n in range(40)] + [(spam(n), "spam") for n in range(50, 90)]
LATER = [work(100), spam(100), ham(100), b"Subject: deadline\n\nbuy viagra now, quarterly budget\n"]


@pytest.fixture
def base(tmp_path):
    return train_bulk(tmp_path, OTHERS, "base")


@pytest.fixture
def layered(tmp_path, base):
    """A model on a base that counts, whatever its mail would choose."""
    path = train_bulk(tmp_path, OWN[:3] + OWN[6:9], "layered", base=base)
    for raw, label in OWN[3:6] + OWN[9:]:
        learn(path, raw, label)
    return counting(path)


def test_the_own_part_is_as_without_a_base(tmp_path, base):
    alone, on_base = train_bulk(tmp_path, OWN, "alone"), train_bulk(tmp_path, OWN, "on base", base=base)
    one, two = StoredModel.open(alone), StoredModel.open(on_base)
    about = two.head.pop("base")
    assert about["path"] == base
    assert about["weight"] in WEIGHTS
    for name, column in one.columns.items():
        assert two.column(name).read() == column.read(), name
    differing = {"columns", "generation"}
    assert {name: one.head[name] for name in one.head.keys() - differing} == {
        name: two.head[name] for name in two.head.keys() - differing
    }
    assert [Model.open(on_base, layered=False).classify(raw).as_map() for raw in LATER] == [
        Model.open(alone).classify(raw).as_map() for raw in LATER
    ]


def test_all_ways_to_judge_agree(layered):
    one_by_one, in_memory = Model.open(layered), load_into_memory(Model.open(layered))
    assert one_by_one.base
    assert in_memory.scorer
    for raw in LATER:
        features = in_memory.features(read(raw))
        assert in_memory.verdict(features).as_map() == one_by_one.classify(raw).as_map()
    alone = Model.open(layered, layered=False)
    assert [alone.classify(raw).score for raw in LATER] != [one_by_one.classify(raw).score for raw in LATER]


def test_a_word_that_only_the_base_knows_counts(layered):
    score, alone = (Model.open(layered, layered=both).classify(work(7)).score for both in (True, False))
    assert score < alone


def test_each_message_is_scored_without_itself(tmp_path, base):
    score, expected = scores_of_the_first(tmp_path, base, base)
    assert score == pytest.approx(expected, abs=0.01)


def test_mail_that_the_base_has_too_is_left_out_of_both(tmp_path):
    """Else each message would find itself in the base, and the scores that set cutoffs would be too good."""
    base = train_bulk(tmp_path, [*OTHERS, *OWN], "all")
    base_without = train_bulk(tmp_path, [*OTHERS, *OWN[1:]], "all but one")
    score, expected = scores_of_the_first(tmp_path, base, base_without)
    assert score == pytest.approx(expected, abs=0.05)


def scores_of_the_first(folder, base, base_without):
    """What training scores a message on a base, and what a model without it does, on a base without it."""
    stored = StoredModel.open(train_bulk(folder, OWN, "whole", base=base))
    learned, raw = LearnedMessages.load(stored), OWN[0][0]
    without = train_bulk(folder, OWN[1:], "without", base=base_without)
    without = counting(without, stored.head["base"]["weight"])
    place = int(np.searchsorted(learned.digests, np.uint64(digest(read(raw)))))
    return learned.base_scores[place], Model.open(without).classify(raw).score


def test_learning_leaves_the_base_alone(layered, base):
    before = Path(base).read_bytes()
    learn(layered, ham(50), "ham")
    learn(layered, ham(50), None)
    learn(layered, spam(200), "spam")
    record = StoredModel.open(layered).journal.records[-1]
    assert record.base_score == record.base_score != record.score
    fold(layered)
    assert StoredModel.open(layered).head["base"]["path"] == base
    assert Path(base).read_bytes() == before
    assert not os.path.exists(base + ".journal")


def test_the_base_is_retrained(layered, tmp_path):
    before = Model.open(layered).classify(LATER[3]).score
    train_bulk(tmp_path, [(work(n), "spam") for n in range(300, 340)], "base")
    assert Model.open(layered).classify(LATER[3]).score > before


def test_without_its_base(layered, base, capfd):
    alone = [Model.open(layered, layered=False).classify(raw).as_map() for raw in LATER]
    os.rename(base, base + ".moved")
    assert [Model.open(layered).classify(raw).as_map() for raw in LATER[:1]] == alone[:1]
    told = capfd.readouterr().err
    assert told.count("\n") == 1
    assert "judging without this base" in told
    Path(base).write_bytes(Path(base + ".moved").read_bytes()[:-100])
    assert Model.open(layered).base is None
    assert "cut short" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("places", "value", "words"),
    [
        (("settings", "ngrams"), 2, "ngrams"),
        (("labels", 0), "good", "labels"),
    ],
)
def test_a_base_that_does_not_fit_any_more(layered, base, capfd, places, value, words):
    """Told in a line, and the model judges alone."""
    alone = [Model.open(layered, layered=False).classify(raw).as_map() for raw in LATER]
    Path(base).write_bytes(forged_model(Path(base).read_bytes(), places, value))
    judge = Model.open(layered)
    told = capfd.readouterr().err
    assert told.count("\n") == 1
    assert f"made with other {words} (judging without this base)" in told
    assert [judge.classify(raw).as_map() for raw in LATER] == alone


def one_by_one(path, mail, monkeypatch):
    """Learn messages one after the other, and fold the journal when all are in it."""
    monkeypatch.setattr(learning, "YOUNG", 0)
    for raw, label in mail:
        learn(path, raw, label)
    with Lock(path, kind=TRAINING):
        training.fold(path, StoredModel.open(path).head["base"]["path"])
    return StoredModel.open(path).head


def test_learned_one_by_one_it_counts_as_if_learned_at_once(tmp_path, base, monkeypatch):
    """How much the base counts is chosen by the messages of the journal, each left out, as training does."""
    at_once = StoredModel.open(train_bulk(tmp_path, OWN, "at once", base=base)).head
    path = str(tmp_path / "model")
    training.create(path, "ham", "spam", base=base)
    head = one_by_one(path, OWN, monkeypatch)
    assert head["base"] == at_once["base"]
    assert (head["messages"], len(StoredModel.open(path).journal.records)) == ([0, 0], len(OWN))
    monkeypatch.setattr(training, "FOLD_LIMIT", 0)
    head = one_by_one(path, [], monkeypatch)
    assert head["base"] == at_once["base"]
    assert (head["messages"], StoredModel.open(path).journal.records) == ([6, 6], [])
    alone = str(tmp_path / "alone")
    training.create(alone, "ham", "spam")
    for raw, label in OWN:
        learn(alone, raw, label)
    fold(alone)
    assert [head[name] for name in ("cutoffs", "calibration", "misfiled")] == [
        StoredModel.open(alone).head[name] for name in ("cutoffs", "calibration", "misfiled")
    ]


def test_a_base_that_misleads_is_given_up(tmp_path, monkeypatch):
    """By half of the mail, and by less."""
    other = {"ham": "spam", "spam": "ham"}
    base = train_bulk(tmp_path, [(raw, other[label]) for raw, label in OTHERS + OWN], "base")
    mail = [(ham(n), "ham") for n in range(20, 50)] + [(spam(n), "spam") for n in range(120, 150)]
    path = str(tmp_path / "model")
    training.create(path, "ham", "spam", base=base)
    assert one_by_one(path, mail[:4] + mail[30:34], monkeypatch)["base"]["weight"] == 0
    path = counting(train_bulk(tmp_path, mail[:20] + mail[30:50], "bulk", base=base))
    assert one_by_one(path, mail[20:30] + mail[50:], monkeypatch)["base"]["weight"] == 0


@pytest.mark.parametrize("column", ["tokens", "pairs", "grams"])
def test_damage_that_is_found_late(layered, base, column, capfd):
    """A model in a file is verified where it is read."""
    found = StoredModel.open(base).column(column)
    data = bytearray(Path(base).read_bytes())
    data[found.at : found.at + found.size] = bytes(found.size)
    Path(base).write_bytes(data)
    alone = Model.open(layered, layered=False)
    for prepared in (lambda model: model, load_into_memory):
        judge = prepared(Model.open(layered))
        for raw in LATER:
            assert judge.verdict(judge.features(read(raw))).as_map() == alone.classify(raw).as_map()
        told = capfd.readouterr().err
        assert told.count("\n") == 1
        assert "judging without this base" in told


def test_what_does_not_fit(tmp_path, base):
    with pytest.raises(DataError, match="ngrams"):
        train_bulk(tmp_path, OWN, "n", wanted={"ngrams": 2}, base=base)
    with pytest.raises(DataError, match="labels"):
        train_bulk(tmp_path, [*OWN, (work(1), "work")], "w", base=base)
    path = train_bulk(tmp_path, OWN, "later")
    with pytest.raises(DataError, match="base needs cutoffs of its own"):
        train_bulk(tmp_path, OWN[:1], "later", base=base)
    train_bulk(tmp_path, OWN, "later", base=base)
    assert StoredModel.open(path).head["base"]["path"] == base
    train_bulk(tmp_path, [], "later", base="")
    assert "base" not in StoredModel.open(path).head
    with pytest.raises(UsageError, match="cutoffs"):
        train_bulk(tmp_path, OWN, "textbook", view=View(), base=base)


def test_few_messages_have_the_rule_of_the_first_days(tmp_path, base):
    """A base makes a model no bolder than its own mail would."""
    path = train_bulk(tmp_path, [OWN[0], OWN[6]], "few", base=base)
    about = StoredModel.open(path).head["base"]
    assert about["cutoffs"] == [-np.inf, np.inf]
    assert about["weight"] == USUAL_WEIGHT
    path = train_bulk(tmp_path, OWN, "more", base=base)
    head = StoredModel.open(path).head
    assert head["base"]["cutoffs"][1] > 8


def test_a_backup_keeps_it(layered, tmp_path):
    copy = str(tmp_path / "copy")
    restore(copy, Lines(copy, [f"{line}\n".encode() for line in exported(layered)]))
    assert StoredModel.open(copy).head["base"] == StoredModel.open(layered).head["base"]
    assert [Model.open(copy).classify(raw).as_map() for raw in LATER] == [
        Model.open(layered).classify(raw).as_map() for raw in LATER
    ]
    one, two = (LearnedMessages.load(StoredModel.open(path)).base_scores for path in (copy, layered))
    assert np.array_equal(one, two, equal_nan=True)


def test_an_explanation_tells_which_layer_says_what(layered):
    """Its sum is the score; counts are those of the model, and of its base."""
    model, raw = Model.open(layered), work(7)
    why = explain(model, raw)
    assert sum(part.adds for part in why.part_sums) == pytest.approx(why.verdict.score)
    found = {entry["token"]: entry for entry in why.as_map("-")["evidence"]}
    assert found["quarterly"]["messages"] == {"ham": 0, "spam": 0}
    assert found["quarterly"]["base_messages"] == {"ham": 40, "spam": 0}
    facts = look_up(model, "quarterly")
    assert facts.known
    assert (facts.messages, facts.base_messages) == ({"ham": 0, "spam": 0}, {"ham": 40, "spam": 0})
    assert facts.weights
    assert facts.weights["ham"] > 2.5
    assert ModelSummary.of(model, 5).telling == ModelSummary.of(model.alone(), 5).telling


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ((), 1),
        ((), []),
        (("path",), 7),
        (("path",), "/a\0b"),
        (("weight",), -1),
        (("weight",), 1.5),
        (("weight",), ...),
        (("cutoffs",), [1.0]),
        (("cutoffs", 1), float("nan")),
        (("calibration",), None),
        (("misfiled",), [2, 0]),
    ],
)
def test_a_head_that_says_nonsense_of_its_base(layered, place, value):
    data = Path(layered).read_bytes()
    Path(layered).write_bytes(forged_model(data, ("base", *place), value))
    with pytest.raises(ModelError, match="its head is damaged"):
        Model.open(layered)


def test_a_base_with_absurd_counts(layered, base):
    """Whoever wrote it: sums have room."""
    for name in ("vocabulary", "pair_vocabulary"):
        data = Path(base).read_bytes()
        Path(base).write_bytes(forged_model(data, (name,), (1 << 63) - 1))
    for name in ("messages", "presences", "pair_presences"):
        data = Path(base).read_bytes()
        Path(base).write_bytes(forged_model(data, (name,), [(1 << 63) - 1] * 2))
    for judge in (Model.open(layered), load_into_memory(Model.open(layered))):
        verdict = judge.verdict(judge.features(read(LATER[1])))
        assert np.isfinite(verdict.score)
    Path(base).write_bytes(b"")
    os.unlink(base)
    os.mkfifo(base)  # which would wait for a writer
    assert Model.open(layered).base is None
