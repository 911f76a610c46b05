"""A model on top of another: what it learns, how it judges, and what becomes of it without its base."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from helpers.forging import forged_model
from helpers.learning import fold, train_bulk
from helpers.samples import ham, spam, work

from spamnb.bayes.view import View
from spamnb.core.native import read
from spamnb.errors import DataError, UsageError
from spamnb.in_memory import load_into_memory
from spamnb.inspection.explanation import explain
from spamnb.inspection.model_summary import ModelSummary
from spamnb.inspection.token_lookup import look_up
from spamnb.model import Model
from spamnb.store.stored_model import StoredModel
from spamnb.training import train as training
from spamnb.training.learn import learn

OWN = [(ham(n), "ham") for n in range(12)] + [(spam(n), "spam") for n in range(12)]
OTHERS = [(work(n), "ham") for n in range(40)] + [(spam(n), "spam") for n in range(50, 90)]
LATER = [work(100), spam(100), ham(100), b"Subject: deadline\n\nbuy viagra now, quarterly budget\n"]


@pytest.fixture
def base(tmp_path):
    return train_bulk(tmp_path, OTHERS, "base")


@pytest.fixture
def layered(tmp_path, base):
    """A model that counts beside its base."""
    path = train_bulk(tmp_path, OWN[:9] + OWN[12:21], "layered", base=base)
    for raw, label in OWN[9:12] + OWN[21:]:
        learn(path, raw, label)
    return path


def test_all_ways_to_judge_agree(layered):
    one_by_one, in_memory = Model.open(layered), load_into_memory(Model.open(layered))
    assert one_by_one.base
    for raw in LATER:
        features = in_memory.features(read(raw))
        assert in_memory.verdict(features).as_map() == one_by_one.classify(raw).as_map()
    alone = Model.open(layered, layered=False)
    assert [alone.classify(raw).score for raw in LATER] != [one_by_one.classify(raw).score for raw in LATER]


def verdicts(path, **options):
    judge = Model.open(path, **options)
    return [judge.classify(raw).as_map() for raw in LATER]


def test_a_few_lessons_change_no_verdict_of_the_base(tmp_path, base):
    """Learned at once or one by one, ham or spam alone, too: they say little of how the base judges."""
    few = OWN[:11] + OWN[12:23]
    at_once = train_bulk(tmp_path, few, "few", base=base)
    one_by_one = str(tmp_path / "one by one")
    training.create(one_by_one, "ham", "spam", base=base)
    for raw, label in few:
        learn(one_by_one, raw, label)
        assert verdicts(one_by_one) == verdicts(base)
    assert verdicts(at_once) == verdicts(base)
    assert load_into_memory(Model.open(at_once)).classify(LATER[0]).as_map() == verdicts(base)[0]


def test_then_it_judges_as_the_base_would_with_its_mail(tmp_path, base, layered):
    """By the sum of both, with cutoffs and view of the base."""
    summed = StoredModel.open(train_bulk(tmp_path, OTHERS + OWN, "summed"))
    judge, expected = Model.open(layered), Model(summed)
    assert judge.cutoffs
    assert (judge.cutoffs.ham, judge.cutoffs.spam) == tuple(StoredModel.open(base).head["cutoffs"])
    for raw in LATER:
        assert judge.classify(raw).score == pytest.approx(expected.classify(raw).score, abs=0.05)


def test_with_as_much_mail_as_its_base_it_judges_alone(tmp_path, layered):
    base = train_bulk(tmp_path, OTHERS[:12] + OTHERS[40:52], "small")
    train_bulk(tmp_path, [], "layered", base=base)
    assert Model.open(layered).base is None
    assert verdicts(layered) == verdicts(layered, layered=False)


def test_learning_leaves_the_base_alone(layered, base):
    before = Path(base).read_bytes()
    learn(layered, ham(50), "ham")
    learn(layered, ham(50), None)
    learn(layered, spam(200), "spam")
    fold(layered)
    assert StoredModel.open(layered).head["base"]["path"] == base
    assert Path(base).read_bytes() == before
    assert not os.path.exists(base + ".journal")


def test_without_its_base(layered, base, capfd):
    alone = [Model.open(layered, layered=False).classify(raw).as_map() for raw in LATER]
    os.rename(base, base + ".moved")
    assert [Model.open(layered).classify(raw).as_map() for raw in LATER[:1]] == alone[:1]
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "judging without this base" in said
    Path(base).write_bytes(Path(base + ".moved").read_bytes()[:-100])
    assert Model.open(layered).base is None
    assert "cut short" in capfd.readouterr().err


def test_a_base_that_does_not_fit_any_more(layered, base, capfd):
    """Told in a line, and the model judges alone."""
    alone = [Model.open(layered, layered=False).classify(raw).as_map() for raw in LATER]
    Path(base).write_bytes(forged_model(Path(base).read_bytes(), ("settings", "ngrams"), 2))
    judge = Model.open(layered)
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert "as these differ: ngrams (judging without this base)" in said
    assert [judge.classify(raw).as_map() for raw in LATER] == alone


@pytest.mark.parametrize("column", ["entries", "grams"])
def test_damage_that_is_found_late(layered, base, column, capfd):
    """A model in a file is verified where it is read."""
    found = StoredModel.open(base).columns[column]
    data = bytearray(Path(base).read_bytes())
    data[found.at : found.at + found.size] = bytes(found.size)
    Path(base).write_bytes(data)
    alone = Model.open(layered, layered=False)
    for prepared in (lambda model: model, load_into_memory):
        judge = prepared(Model.open(layered))
        for raw in LATER:
            assert judge.verdict(judge.features(read(raw))).as_map() == alone.classify(raw).as_map()
        said = capfd.readouterr().err
        assert said.count("\n") == 1
        assert "judging without this base" in said


def test_what_does_not_fit(tmp_path, base):
    with pytest.raises(DataError, match="ngrams"):
        train_bulk(tmp_path, OWN, "n", wanted={"ngrams": 2}, base=base)
    with pytest.raises(DataError, match="labels"):
        train_bulk(tmp_path, [*OWN, (work(1), "work")], "w", base=base)
    with pytest.raises(DataError, match="no cutoffs"):
        train_bulk(tmp_path, OWN, "o", base=train_bulk(tmp_path, OTHERS, "without", view=View()))
    path = train_bulk(tmp_path, OWN, "later")
    train_bulk(tmp_path, [], "later", base=base)
    assert StoredModel.open(path).head["base"]["path"] == base
    train_bulk(tmp_path, [], "later", base="")
    assert "base" not in StoredModel.open(path).head
    with pytest.raises(UsageError, match="cutoffs"):
        train_bulk(tmp_path, OWN, "textbook", view=View(), base=base)


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
    assert ModelSummary.of(model, 5).strongest == ModelSummary.of(model.alone(), 5).strongest
